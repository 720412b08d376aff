/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_EVENTS_H
#define MONKEY_EVENTS_H

/*
 * A plugin's own descriptors and timers, on a worker's loop beside the connections, and its work off the loop.
 * Functions and callbacks run on the worker's thread unless their comment says otherwise, and must not block.
 */

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_request;
struct mk_server;
struct mk_server_handle;
struct mk_worker;

/* ---- workers ---- */

/** @return the worker's number, from 0. */
MK_API unsigned mk_worker_index(const struct mk_worker *w);
MK_API struct mk_server *mk_worker_server(const struct mk_worker *w);
/** @return a worker's share of MaxMemory, in bytes. */
MK_API uint64_t mk_worker_memory(const struct mk_worker *w);
/**
 * Promise memory to peers, as by a window that grows: all that is promised on a worker may be a quarter of its share of
 * MaxMemory as it is now. Below a smaller share after a reload, nothing is promised until enough was given back.
 * @param bytes  below 0: given back, which always is right
 * @return false: there is not that much left, and nothing was promised. On the worker's thread.
 */
MK_API bool mk_worker_promise(struct mk_worker *w, int64_t bytes);
/**
 * What a plugin calls on a worker for somebody else, such as a function of a service. When it does not return, the error log
 * gets it while the worker is blocked.
 */
struct mk_errand {
    size_t size; /* sizeof(struct mk_errand) */
    /**
     * Describe it for the log, as in ` service="..." stack="..."`, terminated, escaped. On a thread of the server's own, while the
     * worker is blocked.
     */
    void (*describe)(const struct mk_errand *errand, char *text, size_t size);
};

/** On the worker's thread; NULL: there is none any more. Borrowed. While nothing is called, describe writes nothing. */
MK_API void mk_worker_set_errand(struct mk_worker *w, const struct mk_errand *errand);

/** Monotonic time in ms, and seconds since 1970, as read once a turn of the loop. */
MK_API int64_t mk_worker_now_ms(const struct mk_worker *w);
MK_API int64_t mk_worker_wall_s(const struct mk_worker *w);

/**
 * Run fn(w, arg) on a worker's thread, between two events. Any thread.
 * @return 0 or MK_E_NOMEM. On success fn is called exactly once; after the worker has ended, by the thread that
 *         frees the server.
 */
MK_API int mk_worker_post(struct mk_worker *w, void (*fn)(struct mk_worker *w, void *arg),
                          void *arg) MK_MUST_USE;
/** Run fn on every worker, once each. Any thread. @return 0, or MK_E_NOMEM: it runs on none. */
MK_API int mk_server_each_worker(struct mk_server *server,
                                 void (*fn)(struct mk_worker *w, void *arg), void *arg) MK_MUST_USE;
/** @return the worker of this number; NULL: there is none. Any thread. */
MK_API struct mk_worker *mk_server_worker(struct mk_server *server, unsigned index);

/**
 * A reference to a server for threads that do not know when it ends: valid also after mk_server_free(). Each is given back.
 * Any thread, while the server lives. @return NULL: no memory.
 */
MK_API struct mk_server_handle *mk_server_handle(struct mk_server *server) MK_MUST_USE;
/** Give it back; NULL is allowed. Any thread, at any time. */
MK_API void mk_server_handle_put(struct mk_server_handle *h);
/**
 * @return whether it is a reference to this server, and not to one before it at the same address: what outlives a server is
 *         told from others by this. Any thread, while the server lives.
 */
MK_API bool mk_server_handle_is_of(const struct mk_server_handle *h, struct mk_server *server);
/** As mk_server_each_worker(), at any time. @return 0; MK_E_NOMEM, MK_E_PEER: the server has ended: it runs on none. */
MK_API int mk_server_handle_each_worker(struct mk_server_handle *h,
                                        void (*fn)(struct mk_worker *w, void *arg),
                                        void *arg) MK_MUST_USE;

/* ---- descriptors ---- */

enum mk_io_events {
    MK_IO_READ = 1,     /* readable, or at its end */
    MK_IO_WRITE = 2,    /* writable */
    MK_IO_ERROR = 4,    /* broken; always reported */
    MK_IO_HANGUP = 8,   /* the peer closed the connection or its sending half; always reported */
    MK_IO_TIMEOUT = 16, /* mk_io_timeout expired */
    MK_IO_EDGE = 32,    /* a wish, never an event: edge-triggered */
};

/*
 * Events are level-triggered: an event is reported in every turn of the loop while its state lasts. Two
 * exceptions, because unwanted events would otherwise never cease: while MK_IO_READ is not wanted, the end
 * of the peer's sending half is reported once; while no event is wanted, all are edge-triggered.
 */

struct mk_io;

/** @param events  what happened, at least one bit. The callback may close the io. */
typedef void (*mk_io_fn)(struct mk_io *io, unsigned events, void *arg);

/**
 * Watch a descriptor on a worker's loop.
 * @param fd      non-blocking; taken, except on failure
 * @param events  enum mk_io_events to report; 0: only errors and the end
 * @return 0, MK_E_NOMEM, or MK_E_INVALID: the descriptor cannot be watched (a regular file).
 */
MK_API int mk_io_open(struct mk_io **io, struct mk_worker *w, int fd, unsigned events, mk_io_fn fn,
                      void *arg) MK_MUST_USE;
/**
 * Change the events to report; with MK_IO_EDGE, states that last now are reported once more.
 * @return 0, or MK_E_NOMEM: unchanged.
 */
MK_API int mk_io_want(struct mk_io *io, unsigned events) MK_MUST_USE;
/** Report MK_IO_TIMEOUT once after ms milliseconds, exact to 100 ms; 0 cancels. Replaces an earlier time-out. */
MK_API void mk_io_timeout(struct mk_io *io, unsigned ms);
MK_API int mk_io_fd(const struct mk_io *io);
/** Stop watching and close the descriptor. fn is not called again. NULL is allowed. */
MK_API void mk_io_close(struct mk_io *io);
/** Stop watching. @return the descriptor, which the caller owns again. */
MK_API int mk_io_release(struct mk_io *io) MK_MUST_USE;

/* ---- timers ---- */

struct mk_alarm;
typedef void (*mk_alarm_fn)(struct mk_alarm *alarm, void *arg);

/** Make a timer that is not set. @return the timer, or NULL without memory. */
MK_API struct mk_alarm *mk_alarm_new(struct mk_worker *w, mk_alarm_fn fn, void *arg) MK_MUST_USE;
/** Call fn once after ms milliseconds, exact to 100 ms. Replaces an earlier setting. */
MK_API void mk_alarm_set(struct mk_alarm *alarm, unsigned ms);
/**
 * Call fn once at the end of the current turn of the loop, after its events, for example to send gathered
 * bytes together. Replaces an earlier setting. Inside such an fn it means the next turn, which begins at once.
 */
MK_API void mk_alarm_soon(struct mk_alarm *alarm);
MK_API void mk_alarm_cancel(struct mk_alarm *alarm);
/** Also allowed inside fn. NULL is allowed. */
MK_API void mk_alarm_free(struct mk_alarm *alarm);

/* ---- work that would block ---- */

/**
 * Kinds of work, by what they wait for. Each kind has threads and a queue of its own, so a crowd of one kind delays no
 * other: two threads and room for 64 that wait; for handlers by HandlerThreads and HandlerQueue of the configuration. A
 * thread starts when it is first needed.
 */
enum mk_work_kind {
    MK_WORK_OTHER,   /* anything else */
    MK_WORK_HASH,    /* the processor: hashes of passwords */
    MK_WORK_LISTING, /* long reading: directories, large files */
    /* short work on files and processes that no client can provoke: checks whether a file has changed */
    MK_WORK_FILE,
    MK_WORK_NAME, /* the network: look-ups of names, including those of mk_resolve */
    MK_WORK_HANDLER, /* whatever a program or service does for a request: a database (<monkey/web/task.h>) */
    MK_WORK_KINDS
};

/** A piece of work. */
struct mk_work {
    size_t size; /* sizeof(struct mk_work) */
    enum mk_work_kind kind;
    /**
     * Lanes of one kind take turns, and work of one lane keeps its order: any address, compared only. NULL: that of all
     * work without a lane. Lanes that come to HandlerThreads threads leave one more to others.
     */
    const void *lane;
    unsigned
        most; /* of this lane at a time, by the first that waits or runs; 0, or more than the threads of the kind: so many */
    void (*work)(void *arg); /* on a thread of the kind */
    void (*done)(void *arg); /* on the worker */
    void *arg;
};

struct mk_offloaded;

/**
 * Run work->work on a low-priority thread for its kind, then done on the worker. All plugins share the queue. Any thread.
 * mk_server_free waits for running work; for work still in the queue it calls done without work.
 * @param work  copied
 * @param out   out: for mk_offload_drop; NULL: not wanted
 * @return 0: done will be called exactly once (after the worker has ended, by the thread that frees the
 *         server). Otherwise neither is called: MK_E_BUSY: the queue is full; MK_E_NOMEM;
 *         MK_E_UNSUPPORTED: no such kind, or a work->size that is too small.
 */
MK_API int mk_offload_work(struct mk_worker *w, const struct mk_work *work,
                           struct mk_offloaded **out) MK_MUST_USE;
/**
 * Take work back that waits in the queue, for example because its request has ended: another gets its place. On the
 * worker, until done is called. NULL is allowed.
 * @return true: neither work nor done will be called; false: it has begun.
 */
MK_API bool mk_offload_drop(struct mk_offloaded *offloaded) MK_MUST_USE;
/**
 * mk_offload_work without a lane.
 * @return as mk_offload_work
 */
MK_API int mk_offload_kind(struct mk_worker *w, enum mk_work_kind kind, void (*work)(void *arg),
                           void (*done)(void *arg), void *arg) MK_MUST_USE;
/** mk_offload_kind with MK_WORK_OTHER. */
MK_API int mk_offload(struct mk_worker *w, void (*work)(void *arg), void (*done)(void *arg),
                      void *arg) MK_MUST_USE;

/* ---- the server ---- */

/** Write a line to the error log. Any thread. */
MK_API void mk_server_log(struct mk_server *server, enum mk_log_level level, const char *fmt, ...)
    MK_PRINTF(3, 4);
/** Would mk_server_log write lines of this level now? For those that log each step of something: asked once, at its start. Any thread. */
MK_API bool mk_server_logs(struct mk_server *server, enum mk_log_level level);

/**
 * Give lines of a log that a setting names "program:NAME" to the surrounding program (mk_host.log_lines). From one thread at
 * a time.
 * @param log  the whole name. @param len  0: only ask whether the program takes them
 * @return 0; MK_E_UNSUPPORTED: it is a file's name, or the program takes no lines.
 */
MK_API int mk_server_log_lines(struct mk_server *server, const char *log, const char *lines,
                               size_t len) MK_MUST_USE;

/**
 * Open a file by name; the surrounding program (mk_host) helps where rights are missing. Any thread but a worker's.
 * @return a descriptor, owned by the caller, or an enum mk_error.
 */
MK_API int mk_server_open_file(struct mk_server *server, const char *path, int flags,
                               mode_t mode) MK_MUST_USE;

/**
 * Start a helper program of the plugin; the surrounding program (mk_host) helps if it has more rights. A helper
 * exits when the last copy of this descriptor is closed. Blocks for some milliseconds. Any thread but a worker's.
 * @param name  "USER:PROGRAM" as for mk_helper_spawn; announced in check by mk_setup_needs
 * @return a connected SOCK_SEQPACKET socket, owned by the caller, or an enum mk_error.
 */
MK_API int mk_server_start_helper(struct mk_server *server, const char *name) MK_MUST_USE;

/**
 * Bind a unix socket with restricted access; the surrounding program helps where rights are missing. Announce the
 * socket in check by mk_setup_needs (MK_RESOURCE_SOCKET). Any thread but a worker's.
 * @param name  as for mk_socket_bind
 * @return a bound descriptor, non-blocking, not listening yet; or an enum mk_error, with errno from a failed system call.
 */
MK_API int mk_server_bind_socket(struct mk_server *server, const char *name) MK_MUST_USE;

/**
 * Ask for a reload of the configuration, as SIGHUP does. The surrounding program reloads it (mk_host.reload) after this
 * call. Any thread.
 * @return 0; MK_E_UNSUPPORTED: the program cannot reload; or the program's error.
 */
MK_API int mk_server_ask_reload(struct mk_server *server) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
