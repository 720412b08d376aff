/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_INSPECT_H
#define MONKEY_INSPECT_H

/*
 * Looking into a running server: for shells, metrics and status pages. What is asked of a worker is
 * asked on its thread.
 */

#include <monkey/request.h>
#include <monkey/server.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_server_facts {
    size_t size;       /* sizeof(struct mk_server_facts), set by the caller */
    int64_t started_s; /* when the server was made, in seconds since 1970 */
    int64_t uptime_ms;
    unsigned workers;
    const char *scheduler;   /* "Fair" or "ReusePort" */
    unsigned snapshots;      /* configurations alive: 1, and those that old requests still need */
    uint64_t reloads;        /* that succeeded */
    int log_level;           /* enum mk_log_level */
    uint64_t reloads_failed; /* the configuration before stayed in force */
};
/** Any thread. */
MK_API void mk_server_facts(const struct mk_server *server, struct mk_server_facts *facts);

/**
 * What the last reload found wrong, a line each, errors and warnings, as in the error log; nothing when all was well.
 * Any thread. @return bytes written, at most size.
 */
MK_API size_t mk_server_reload_report(struct mk_server *server, char *text, size_t size);

/**
 * Until the next reload: error, warn, info, debug or trace for everything, or with `:component,...` for
 * these besides what is logged already. Any thread. @return 0 or MK_E_INVALID.
 */
MK_API int mk_server_log_level(struct mk_server *server, struct mk_str level) MK_MUST_USE;

/** The settings of [SERVER] in force, line by line as `Key value`, without line ends. @return 0, or MK_E_NOMEM: some are missing. */
MK_API int mk_worker_settings(struct mk_worker *w, mk_text_fn fn, void *arg);

struct mk_site_facts {
    size_t size;                /* sizeof(struct mk_site_facts), set by the caller */
    const struct mk_str *names; /* ServerName; borrowed until the hook returns */
    size_t nnames;
    const char *document_root; /* NULL: none */
};
/** @return false when there is no such site; index counts from 0, the default site. */
MK_API bool mk_worker_site(struct mk_worker *w, unsigned index, struct mk_site_facts *facts);

/** Call fn for each connection of this worker; it may not close any. */
MK_API void mk_worker_each_conn(struct mk_worker *w, void (*fn)(void *arg, const struct mk_conn *c),
                                void *arg);
/** The name of a connection's state: "idle", "head", ... */
MK_API const char *mk_conn_state(const struct mk_conn *c);

/**
 * Why requests were refused ("refused.NOT_FOUND"), also because their head was none ("head.TARGET_LONG"),
 * and why connections were closed ("closed.IDLE"): a static name and how often, in this worker. Any
 * thread.
 * @return false behind the last row; index counts from 0.
 */
MK_API bool mk_worker_refusals(const struct mk_worker *w, unsigned index, const char **name,
                               uint64_t *count);

#ifdef __cplusplus
}
#endif

#endif
