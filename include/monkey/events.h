/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_EVENTS_H
#define MONKEY_EVENTS_H

/*
 * A plugin's own descriptors, timers and work: on a worker's loop, beside the connections, and off it.
 * Everything runs on the worker's thread unless it says otherwise, and must not block there.
 */

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_request;
struct mk_server;
struct mk_worker;

/* ---- workers ---- */

/** Its number, from 0. */
MK_API unsigned mk_worker_index(const struct mk_worker *w);
MK_API struct mk_server *mk_worker_server(const struct mk_worker *w);
/** Monotonic time in ms, and seconds since 1970, as read once a turn of the loop. */
MK_API int64_t mk_worker_now_ms(const struct mk_worker *w);
MK_API int64_t mk_worker_wall_s(const struct mk_worker *w);

/**
 * Run fn(w, arg) on a worker's thread, between two events. Any thread.
 * @return 0 or MK_E_NOMEM. It is called exactly once: when the worker has ended, by the thread that
 *         frees the server.
 */
MK_API int mk_worker_post(struct mk_worker *w, void (*fn)(struct mk_worker *w, void *arg),
                          void *arg) MK_MUST_USE;
/** The same on every worker, once each. Any thread. @return 0, or MK_E_NOMEM: on none. */
MK_API int mk_server_each_worker(struct mk_server *server,
                                 void (*fn)(struct mk_worker *w, void *arg), void *arg) MK_MUST_USE;
/** The worker by its number; NULL when there is none. Any thread. */
MK_API struct mk_worker *mk_server_worker(struct mk_server *server, unsigned index);

/* ---- descriptors ---- */

enum mk_io_events {
    MK_IO_READ = 1,     /* readable, or at its end */
    MK_IO_WRITE = 2,    /* writable */
    MK_IO_ERROR = 4,    /* broken; always told */
    MK_IO_HANGUP = 8,   /* the other side closed, wholly or its sending half; always told */
    MK_IO_TIMEOUT = 16, /* mk_io_timeout ran out */
    MK_IO_EDGE = 32,    /* asked for only: tell changes, not states */
};

/*
 * States are told in every turn in which they last. What is told unasked would then come for ever, so
 * the end of the peer's sending half is told once while reading is not wanted, and with no event
 * wanted at all only changes are told.
 */

struct mk_io;

/** @param events  what happened, at least one bit. The io may be closed inside. */
typedef void (*mk_io_fn)(struct mk_io *io, unsigned events, void *arg);

/**
 * Watch a descriptor on a worker's loop.
 * @param fd      non-blocking; taken, but on failure
 * @param events  enum mk_io_events to be told; 0: only errors and the end
 * @return 0, MK_E_NOMEM, or MK_E_INVALID: it cannot be watched (a regular file).
 */
MK_API int mk_io_open(struct mk_io **io, struct mk_worker *w, int fd, unsigned events, mk_io_fn fn,
                      void *arg) MK_MUST_USE;
/** Be told of other events from now on; with MK_IO_EDGE, of what lasts now once more. @return 0 or MK_E_NOMEM: as before. */
MK_API int mk_io_want(struct mk_io *io, unsigned events) MK_MUST_USE;
/** MK_IO_TIMEOUT once, so many ms from now, exact to 100 ms; 0: not any more. Replaces an earlier one. */
MK_API void mk_io_timeout(struct mk_io *io, unsigned ms);
MK_API int mk_io_fd(const struct mk_io *io);
/** Stop watching and close the descriptor. fn is not called again. NULL is allowed. */
MK_API void mk_io_close(struct mk_io *io);
/** Stop watching; the descriptor is the caller's again. */
MK_API int mk_io_release(struct mk_io *io) MK_MUST_USE;

/* ---- timers ---- */

struct mk_alarm;
typedef void (*mk_alarm_fn)(struct mk_alarm *alarm, void *arg);

/** A timer that is not set. @return it, or NULL without memory. */
MK_API struct mk_alarm *mk_alarm_new(struct mk_worker *w, mk_alarm_fn fn, void *arg) MK_MUST_USE;
/** Call fn once, so many ms from now, exact to 100 ms; replaces an earlier setting. */
MK_API void mk_alarm_set(struct mk_alarm *alarm, unsigned ms);
/**
 * Call fn once at the end of the present turn of the loop, after its events: to send together what
 * gathered. Replaces an earlier setting; inside an fn called so: of the next turn, which comes at once.
 */
MK_API void mk_alarm_soon(struct mk_alarm *alarm);
MK_API void mk_alarm_cancel(struct mk_alarm *alarm);
/** Inside fn too. NULL is allowed. */
MK_API void mk_alarm_free(struct mk_alarm *alarm);

/* ---- work that would block ---- */

/** What work waits for. Each kind has two threads and a queue of 64 of its own: a crowd of one kind delays no other. */
enum mk_work_kind {
    MK_WORK_OTHER,   /* anything else */
    MK_WORK_HASH,    /* the processor: hashes of passwords */
    MK_WORK_LISTING, /* long reading: directories, large files */
    MK_WORK_FILE, /* short work on files and processes that nobody provokes: a look at a file that may have changed */
    MK_WORK_NAME, /* the network: look-ups of names, mk_resolve's too */
    MK_WORK_KINDS
};

/**
 * Run work(arg) on a low-priority thread for this kind, then done(arg) on the worker. The queue is
 * shared by all plugins. Any thread. A server that is freed waits for work that runs; what still waited
 * is not worked, only done.
 * @return 0: done will be called exactly once (when the worker has ended, by the thread that frees the
 *         server); otherwise neither is called: MK_E_BUSY: the queue is full; MK_E_NOMEM;
 *         MK_E_UNSUPPORTED: no such kind.
 */
MK_API int mk_offload_kind(struct mk_worker *w, enum mk_work_kind kind, void (*work)(void *arg),
                           void (*done)(void *arg), void *arg) MK_MUST_USE;
/** The same as MK_WORK_OTHER. */
MK_API int mk_offload(struct mk_worker *w, void (*work)(void *arg), void (*done)(void *arg),
                      void *arg) MK_MUST_USE;

/* ---- the server ---- */

/** A line in the error log. Any thread. */
MK_API void mk_server_log(struct mk_server *server, enum mk_log_level level, const char *fmt, ...)
    MK_PRINTF(3, 4);

/** Open a file by name, with the help of the surrounding program (mk_host) where rights are missing. Any thread but a worker's. @return a descriptor, the caller's, or an enum mk_error. */
MK_API int mk_server_open_file(struct mk_server *server, const char *path, int flags,
                               mode_t mode) MK_MUST_USE;

/**
 * Start a helper program of the plugin, with the help of the surrounding program (mk_host) where that has more rights. Helpers
 * end when the last copy of this descriptor is closed. Blocks for some milliseconds. Any thread but a worker's.
 * @param name  "USER:PROGRAM" as for mk_helper_spawn; named in check by mk_setup_needs
 * @return a connected SOCK_SEQPACKET socket, the caller's, or an enum mk_error.
 */
MK_API int mk_server_start_helper(struct mk_server *server, const char *name) MK_MUST_USE;

/**
 * Bind a unix socket that not everybody may connect to, with the help of the surrounding program where rights are missing:
 * name it in check by mk_setup_needs (MK_RESOURCE_SOCKET). From any thread but a worker's.
 * @param name  as mk_socket_bind has it
 * @return a bound descriptor, non-blocking, not listening yet, or an enum mk_error with errno where the system said it.
 */
MK_API int mk_server_bind_socket(struct mk_server *server, const char *name) MK_MUST_USE;

/** Ask for a reload of the configuration, as SIGHUP does: the surrounding program carries it out (mk_host.reload), after this call. Any thread. @return 0; MK_E_UNSUPPORTED: it cannot; or its error. */
MK_API int mk_server_ask_reload(struct mk_server *server) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
