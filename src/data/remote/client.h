/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_REMOTE_CLIENT_H
#define MK_DATA_REMOTE_CLIENT_H

#include "data/remote/place.h"

#include <monkey/types.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mk_upstream;

/*
 * For those that ask servers by a protocol whose answers come in the order of the calls: connections, time limits, and what
 * happens when a server fails. A user, such as a package of services, writes and reads the protocol, and chooses the server
 * of each call.
 *
 * Connections are streams of the server (<monkey/upstream.h>). Hosts are looked up without blocking, and again when no
 * address can be connected to; TLS is the transport of the plugin tls or mbedtls, which also verifies the server. A
 * server has at most so many connections over all workers; workers wait for them in first-in first-out order, and so do calls
 * on a worker. A connection carries many calls, which are sent without waiting for answers.
 *
 * A server fails when it cannot be connected to, closes a connection with calls, keeps one waiting beyond its deadline, or
 * sends what is no answer. It gets no calls until it answers a call that it still has, a greeting, or a probe: the first after
 * retry_first_ms, the next after twice as long, up to retry_last_ms. A probe goes over an idle connection if there is one, and
 * over a new one if that fails. Each worker sees for itself; the first one that leaves a server out logs it, and the last one
 * that has it back. A further connection that is refused beside one that works or is being made is no failure: it is tried
 * again as late as a probe. Likewise one that takes too long beside one that works, and one that keeps calls waiting beside
 * one that has answered and does not: only their calls are lost.
 *
 * Every call that remote_client_send() took ends once: by answer(), lost() or late() of the protocol, within timeout_ms plus
 * two ticks of 100 ms. Only remote_client_free() ends calls without telling. Nothing is called inside the functions of this
 * header.
 *
 * Optional: a connection that begins with a greeting takes calls after the greeting was answered, and a refused greeting is a
 * connection that could not be made. With late() a server that does not answer a call in time is merely slow: the connection
 * goes on, and fails when it keeps its first call waiting for timeout_ms more; and a call waits up to a tick for a new
 * connection before it is sent after others. Workers can add servers; where one has as many as it may have, that which was sent a
 * call the longest ago makes room, unless calls of it are under way.
 */

enum { REMOTE_SERVERS_MAX = 64 };

/** What surrounds clients on a worker: a service, or a program. */
struct remote_home {
    struct mk_worker *worker;
    const char *tls; /* the transport for TLS to servers; NULL: there is none. Borrowed */
    void *seat;      /* of the owner of the home */
    /** Call fn(arg), which may call functions of the protocol. NULL: nothing has to be done for it. */
    void (*run)(const struct remote_home *home, void (*fn)(void *arg), void *arg);
    /** Write a line, without its end, to the log of the user. */
    void (*log)(const struct remote_home *home, enum mk_log_level level, const char *line);
};

/** A server, shared by all workers. Zeroed at first but for its place and name, which do not change. */
struct remote_server {
    struct remote_place place;
    const char *name; /* of its certificate; NULL: its host. Borrowed */
    pthread_mutex_t lock;
    struct mk_upstream *upstream; /* under lock; NULL: no worker has it */
    unsigned users;               /* likewise: workers */
    unsigned nout;                /* likewise: of them, those that leave it out */
    /* Of those that workers have added, behind the first of the spec and under its lock. */
    struct remote_server *next;
    unsigned nadded; /* workers that have added it; it is freed with the last */
};

/** Begins what a user knows of a call, in one block of malloc(). The user's until it is taken, and again when it ends. */
struct remote_call {
    struct remote_call *next;
    int64_t deadline_ms; /* of CLOCK_MONOTONIC */
    const char *bytes;   /* what is sent; unchanged until it ends */
    size_t len;          /* > 0 */
    bool is_over;        /* the client's own: late() was called */
};

/** Why a call has no answer. */
enum remote_end {
    REMOTE_LATE,      /* its deadline is over; it may have been carried out */
    REMOTE_LOST,      /* its connection ended; likewise */
    REMOTE_MALFORMED, /* its answer is none; likewise */
    REMOTE_UNSENT /* the server has failed before the call was sent, so another one may have it */
};

enum remote_progress {
    REMOTE_MORE,     /* all bytes are used, and the answer is not complete */
    REMOTE_DONE,     /* it is */
    REMOTE_CONFUSED, /* likewise, and nobody knows what the server would send after it */
    REMOTE_FULL, /* it is none: the server refuses the connection, and does nothing of what was sent */
    REMOTE_BAD /* it is none */
};

/** Functions of a user. `of` is that of the client; `reader` has reader_size bytes and is one connection's, zeroed at first. */
struct remote_protocol {
    const char *name; /* in logs */
    size_t reader_size;
    unsigned retry_first_ms, retry_last_ms;
    /** @return a call that each server answers; it is freed by free(). NULL: no memory */
    struct remote_call *(*probe)(void);
    /**
     * Optional. *call: what a new connection begins with, as a call of probe(), whose answer is bad if it is refused; NULL:
     * nothing. @return 0; -1: no memory
     */
    int (*greet)(void *of, struct remote_call **call);
    /** The answer to a call begins. @param is_first  the connection has had none before: it may be a refusal */
    void (*begin)(void *of, void *reader, const struct remote_call *call, bool is_first);
    /** Read the next bytes of it. @param used  out: bytes, unless it is bad */
    enum remote_progress (*read)(void *reader, const char *bytes, size_t len, size_t *used);
    /** @return why it is bad, in words */
    const char *(*why)(const void *reader);
    /** The answer is complete; the reader has it until the function returns. Takes the call. */
    void (*answer)(void *of, struct remote_call *call, const void *reader);
    /** It will not come, or the rest of it. Takes the call, which may be sent again if it is REMOTE_UNSENT. */
    void (*lost)(void *of, struct remote_call *call, enum remote_end end, const char *text);
    /** Optional. Its time is over: takes what the call is for, but not the call, which is freed by free() after its answer. */
    void (*late)(void *of, struct remote_call *call);
    /** Free what the reader has of an answer; it may be zeroed, or reset twice. */
    void (*reset)(void *reader);
    /** Optional. The connection ends: free what the reader has, after reset(). */
    void (*fini)(void *reader);
};

/** What a service or program asked for: shared by all workers, and never changed. */
struct remote_spec {
    const struct remote_protocol *protocol;
    struct remote_server *servers; /* nservers, borrowed */
    unsigned nservers;             /* 1 to REMOTE_SERVERS_MAX */
    unsigned nmore;                /* that each worker may add */
    unsigned connections;          /* of a worker to a server, probes not counted */
    unsigned timeout_ms;           /* of a call, and to connect */
    unsigned calls_max; /* of a worker, without an answer: those that late() has had, too */
};

struct remote_client;

/**
 * Begin on this worker; no connection is made before it is needed.
 * @param spec  borrowed until the client is freed; its servers' locks are initialized
 * @param home  of this thread; copied
 * @return owned by the caller; NULL: no memory
 */
struct remote_client *remote_client_new(const struct remote_spec *spec,
                                        const struct remote_home *home, void *of);

/** Free it with its calls and connections. On its worker, or after the end of its thread. */
void remote_client_free(struct remote_client *c);

/**
 * Add a server that is none of the client's. It takes calls of this worker like the others. Workers share one with its bound of
 * connections.
 * @param name  as in struct remote_server. @return its number here, which may be that of another one before: this made room;
 *              -1: nmore of them have calls under way, or no memory
 */
int remote_client_add(struct remote_client *c, const struct remote_place *place, const char *name);
/** @return how many servers there are; their number does not decrease */
unsigned remote_client_servers(const struct remote_client *c);
const struct remote_place *remote_client_place(const struct remote_client *c, unsigned server);

/** @return a bit for each server that takes calls */
uint64_t remote_client_alive(const struct remote_client *c);

/**
 * Count a call, and set its deadline, which may be set anew before it is sent.
 * @return 0; -1: there are calls_max, or no memory
 */
int remote_client_begin(struct remote_client *c, struct remote_call *call);
/** Undo it: no server has taken the call. */
void remote_client_cancel(struct remote_client *c);

/** Send a call that was begun, was REMOTE_UNSENT, or has an answer that sends it elsewhere. @return 0: it is taken; -1: the server takes no calls now */
int remote_client_send(struct remote_client *c, unsigned server, struct remote_call *call);

/** A call that answer(), lost() or late() has had has ended: count it no more. It stays the caller's. */
void remote_client_end(struct remote_client *c, const struct remote_call *call);

#endif
