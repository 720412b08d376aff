/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_INSPECT_H
#define MONKEY_INSPECT_H

/*
 * Inspecting a running server, for shells, metrics and status pages. Functions that take a worker are called on
 * its thread unless their comment says otherwise.
 */

#include <monkey/request.h>
#include <monkey/server.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_server_facts {
    size_t size;       /* sizeof(struct mk_server_facts), set by the caller */
    int64_t started_s; /* time of mk_server_new, in seconds since 1970 */
    int64_t uptime_ms;
    unsigned workers;
    const char *scheduler;   /* "Fair" or "ReusePort" */
    unsigned snapshots;      /* configurations in memory: one, and older ones in use */
    uint64_t reloads;        /* successful ones */
    int log_level;           /* enum mk_log_level */
    uint64_t reloads_failed; /* the previous configuration stayed in force */
    bool is_stopping;        /* mk_server_stop was called */
    unsigned
        restarts; /* mk_host.restarts: servers of this program that ended unexpectedly before this one */
    const char *restart_reason; /* why the last of them did; NULL: none */
};
/** Any thread. */
MK_API void mk_server_facts(const struct mk_server *server, struct mk_server_facts *facts);

/**
 * Copy the errors and warnings of the last reload, one a line, as in the error log.
 * @return bytes written, at most size; 0: there were none. Any thread.
 */
MK_API size_t mk_server_reload_report(struct mk_server *server, char *text, size_t size);

/**
 * Set the level of the error log until the next reload: error, warn, info, debug or trace. With `:component,...` the
 * level applies to these components only, in addition to what is logged already. Any thread. @return 0 or MK_E_INVALID.
 */
MK_API int mk_server_log_level(struct mk_server *server, struct mk_str level) MK_MUST_USE;

/** Pass the settings of [SERVER] in force to fn, as lines `Key value` without line ends. @return 0, or MK_E_NOMEM: some are missing. */
MK_API int mk_worker_settings(struct mk_worker *w, mk_text_fn fn, void *arg);

struct mk_site_facts {
    size_t size;                /* sizeof(struct mk_site_facts), set by the caller */
    const struct mk_str *names; /* ServerName; borrowed until the hook returns */
    size_t nnames;
    const char *document_root; /* NULL: none */
};
/** @param index  from 0, the default site. @return false: there is no such site. */
MK_API bool mk_worker_site(struct mk_worker *w, unsigned index, struct mk_site_facts *facts);

/** Call fn for each connection of this worker. fn must not close connections. */
MK_API void mk_worker_each_conn(struct mk_worker *w, void (*fn)(void *arg, const struct mk_conn *c),
                                void *arg);
/** The name of a connection's state: "idle", "head", ... */
MK_API const char *mk_conn_state(const struct mk_conn *c);

/**
 * Walk this worker's counters of refused requests ("refused.NOT_FOUND"), invalid heads ("head.TARGET_LONG") and closed
 * connections ("closed.IDLE"), by reason. Any thread.
 * @param index  of the row, from 0
 * @param name   out: static
 * @return false after the last row.
 */
MK_API bool mk_worker_refusals(const struct mk_worker *w, unsigned index, const char **name,
                               uint64_t *count);

#ifdef __cplusplus
}
#endif

#endif
