/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_BACKEND_H
#define PROXY_BACKEND_H

#include "entry/settings.h"

#include <monkey/upstream.h>

/*
 * The backends of entries: which is to answer a request, and what became of it. On one side of this header is
 * the path of a request (exchange/), which asks; on the other are balancers, health and the pages of
 * statistics, which know.
 *
 * Backends belong to no configuration. A reload hands on those whose entry, address and way of connecting stay
 * as they were, with everything that was learnt of them.
 */

/** What became of an attempt. */
enum proxy_outcome {
    PROXY_ANSWERED, /* a whole answer, or one that its client did not wait for to the end. A status of RetryOn: failed */
    PROXY_REFUSED,  /* no connection: refused, timed out, no such name, no handshake. Failed. */
    PROXY_BROKE,    /* connected, but closed, reset, or no HTTP. Failed. */
    PROXY_SILENT,   /* for too long. Failed, unless others were answered meanwhile */
    PROXY_UNFIT,    /* an answer whose head is not passed on: says nothing of it */
    PROXY_STALE,    /* a kept connection that the backend had closed: says nothing of it */
    PROXY_FULL,     /* its queue was full, or the wait in it too long: says nothing of it */
    PROXY_LEFT, /* before the answer began the client left, or kept the backend waiting for the rest of
                       its request, or we had no memory: says nothing of it */
};

/** A set of backends of an entry, by number. */
struct proxy_tried {
    uint64_t bits[PROXY_SERVERS_MAX / 64];
};

/** Who asks: all that a balancer may look at. */
struct proxy_ask {
    struct mk_request *r;
    struct mk_worker *worker;
    struct proxy_tried tried; /* proxy_begin takes none of these; zeroed at first */
    bool has_answer;          /* of another one already: those that are offline are not asked */
    int64_t last_ms;          /* since when it asks those that are offline; 0 at first */
};

/**
 * One attempt with one backend. From proxy_begin to proxy_end it holds the backend, also when the
 * configuration has ended long since (tunnels).
 */
struct proxy_attempt {
    struct proxy_backend *backend; /* NULL: none */
    struct mk_upstream *upstream;  /* of the backend */
    struct uploads *uploads;       /* that hold its connections */
    const char *name;              /* of the backend, as written in ServerList */
    struct mk_str authority;       /* for a Host field */
    uint8_t pass;                  /* enum health_pass: how the request was let in */
    bool sets_cookie;              /* its answer gives the client a cookie: proxy_attempt_cookie */
};

/** How an attempt went. Times are from its beginning, in microseconds; 0: did not come to that. */
struct proxy_report {
    enum proxy_outcome outcome;
    unsigned status;            /* of the answer; 0: none */
    bool is_repeated;           /* another backend is asked in its place (RetryOn) */
    uint64_t head_us, whole_us; /* until the head of the answer, until its end */
    uint64_t sent, received;    /* bytes of bodies */
};

/**
 * Choose a backend that is online, or whose time for a probe has come, and that was not tried: the one that the client's cookie
 * names (Sticky), another one, or a backup. It counts as in use at once, and as tried in ask->tried from then on.
 * @return false: there is none.
 */
bool proxy_begin(struct proxy_entry *entry, struct proxy_ask *ask, struct proxy_attempt *attempt);
/**
 * The head of a final answer came: a probe need not wait for the end to let others follow.
 * @param status  one of RetryOn is a failure
 */
void proxy_answers(struct proxy_attempt *attempt, unsigned status);
/** The value that names its backend. Lives as long as the attempt. */
struct mk_str proxy_attempt_cookie(const struct proxy_attempt *attempt);
/** Once for each attempt that began. attempt->backend is NULL afterwards. */
void proxy_end(struct proxy_attempt *attempt, const struct proxy_report *report);

/* ---- life: from the hooks of the same names in proxy_reverse.c ---- */

/** The backends of all entries. @param old  of the configuration before; NULL: none. @return 0, or an error with mk_plugin_why. */
int proxy_backends_start(const struct mk_context *ctx, const struct proxy_config *old);
/** Of a start that failed half way, too. */
void proxy_backends_stop(struct proxy_config *config);

struct proxy_calls;
struct proxy_checks;
/** Active checks on this worker (which may leave them to another). @param checks  out, may be NULL. @return 0 or MK_E_NOMEM. */
int proxy_checks_start(const struct mk_context *ctx, struct proxy_calls *calls,
                       struct proxy_checks **checks);
/** NULL is allowed. */
void proxy_checks_stop(struct proxy_checks *checks);

#endif
