/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_SETTINGS_H
#define PROXY_SETTINGS_H

#include "entry/balancers.h"

#include "kit/pure/random.h"

#include <monkey/plugin.h>
#include <monkey/variables.h>

/* What the configuration says: [PROXY_DEFAULTS], and one struct proxy_settings for each [PROXY_ENTRY]. */

enum proxy_hash_key { PROXY_HASH_ADDRESS, PROXY_HASH_URI, PROXY_HASH_HEADER };
enum proxy_host { PROXY_HOST_CLIENT, PROXY_HOST_SERVER, PROXY_HOST_TEXT };
enum proxy_forwarded {
    PROXY_FORWARDED_APPEND,
    PROXY_FORWARDED_REPLACE,
    PROXY_FORWARDED_OFF,
    PROXY_FORWARDED_AUTO, /* append what a trusted peer says, replace what others say */
};
enum proxy_accel {
    PROXY_ACCEL_OFF,
    PROXY_ACCEL_ON,      /* X-Accel-Redirect names any path of the site */
    PROXY_ACCEL_BENEATH, /* one beneath a path whose files nobody else gets */
};
enum proxy_protocol { PROXY_PROTOCOL_OFF, PROXY_PROTOCOL_V1, PROXY_PROTOCOL_V2 };

enum { PROXY_COOKIE_MAX = 64 }; /* bytes of its name */

/** A word of ServerList; written again, it counts more. */
struct proxy_server {
    const char *name;        /* as it was written */
    const char *host;        /* as for mk_resolve: without port and brackets, or "unix:/path" */
    struct mk_str authority; /* for a Host field; "localhost" for unix sockets */
    unsigned port;
    unsigned weight; /* how often it was written */
    bool is_backup;  /* asked only while none that is no backup can be */
};

struct proxy_match {
    struct proxy_match *next;
    struct mk_str pattern;
    struct mk_origin at;
};

struct proxy_line {
    struct proxy_line *next;
    struct mk_str name;
    struct mk_template value; /* of SetHeader */
};

/** Times are in ms; 0 means none unless it says otherwise. */
struct proxy_settings {
    const char *name; /* for lines of [HANDLERS], logs and the status page; NULL: was not written */
    struct proxy_match *matches;
    struct proxy_server *servers; /* at least one, but in [PROXY_DEFAULTS] */
    size_t nservers, weights;     /* weights: the sum */
    size_t nmain;                 /* that are no backups: the first ones */

    /* which backend */
    int balancer; /* enum proxy_balancer */
    int hash_key; /* enum proxy_hash_key, of ConsistentHash */
    struct mk_str hash_header;
    struct mk_str sticky;   /* Sticky: the name of the cookie that names a backend; p NULL: none */
    const char *sticky_key; /* StickyKey, of its values; NULL: that of the configuration */

    /* backends that fail */
    int64_t attempts;   /* AttemptsCount: failures within window_ms that put a backend offline */
    int64_t window_ms;  /* AttemptsWindow; 0: as offline_ms */
    int64_t offline_ms; /* OfflineTimeOut; 0: no backend is ever offline */
    int64_t slow_start_ms;
    unsigned retry_on;      /* RetryOn: a bit for each status from 500 on; 0: none */
    bool offline_single;    /* a single backend is put offline too */
    const char *check_path; /* HealthCheck; NULL: no active checks */
    int64_t check_ms;       /* from one to the next */
    unsigned check_status;  /* 0: any 2xx or 3xx */

    /* connections */
    int64_t max_connections; /* to a backend, over all workers; 0: no bound */
    int64_t queue;           /* requests that wait for one of them */
    int64_t queue_ms;
    int64_t connect_ms, send_ms, read_ms;
    int64_t tunnel_ms;           /* without a byte in either direction */
    int64_t keep_alive, idle_ms; /* connections that each worker keeps to a backend, and how long */
    const char *transport;       /* NULL: plain */
    const char *server_name;     /* for SNI and verification; NULL: host of the backend */
    int protocol;                /* enum proxy_protocol */
    bool is_h2;                  /* backends speak HTTP/2 */
    bool is_clear;               /* and not by TLS: h2c */
    bool is_secure;              /* the transport is */

    /* the request */
    int buffering; /* enum intake_mode */
    const char *spool_dir;
    int64_t max_answer_head; /* of a backend */
    int host;                /* enum proxy_host */
    struct mk_str host_text;
    int forwarded;                /* enum proxy_forwarded */
    bool real_ip, forwarded_port; /* X-Real-IP, X-Forwarded-Port */
    struct mk_str rewrite_from;   /* p NULL: the target goes as it came */
    struct mk_str rewrite_to;     /* in its place at the beginning of the path */
    bool is_lenient;              /* answers with bare LF in heads, blanks behind sizes of chunks */
    bool rewrites_answers;        /* and the other way round */
    int accel;                    /* enum proxy_accel: AccelRedirect */
    struct mk_str accel_path;     /* of BENEATH, with a slash at both ends */
    const char *sendfile_root;    /* of files that X-Sendfile may name; NULL: it is not obeyed */
    struct proxy_line *sets;      /* SetHeader */
    struct proxy_line *removes;   /* RemoveHeader */
    const char *statistics_url;   /* NULL: no page */
    struct mk_words statistics_allow; /* networks as text */
};

/** Is an answer perhaps an order to send something else? */
static inline bool proxy_takes_orders(const struct proxy_settings *set)
{
    return set->accel != PROXY_ACCEL_OFF || set->sendfile_root != NULL;
}

/** Does RetryOn name this status of an answer? */
static inline bool proxy_retries_on(unsigned retry_on, unsigned status)
{
    return retry_on != 0 && status >= 500 && status <= 504 && (retry_on >> (status - 500) & 1);
}

struct proxy_group; /* these two of the backends */
struct proxy_reign;

/** A [PROXY_ENTRY] of a configuration. */
struct proxy_entry {
    struct proxy_entry *next;
    const struct proxy_settings *set; /* NULL: it stands for a path of AccelRedirect alone */
    const char *name; /* Name, else one made of the first server's: no other entry has it */
    unsigned site;    /* whose file it is in; 0: the plugin's, for every site */
    bool is_named;    /* by a Match line */
    struct proxy_group *group; /* its backends while the configuration is in force */
};

/** ctx->site */
struct proxy_site {
    unsigned number; /* from 1 */
};

/** ctx->config */
struct proxy_config {
    struct proxy_entry *entries,
        **last; /* in the order written, those of sites behind the file's */
    unsigned nentries, nsites;
    bool has_statistics; /* some entry has a page */
    const struct mk_origin
        *unused_servers; /* in check: of [PROXY_DEFAULTS]; NULL: none, or an entry has them */
    char sticky_key[RANDOM_TEXT_LEN +
                    1]; /* where StickyKey was not written: of the server's start */
    struct proxy_reign *reign,
        *before; /* its own, and that of the configuration it follows; NULL: none */
};

extern const struct mk_section_spec *const proxy_sections[];

/** The hooks of <monkey/plugin.h>. The data of routes is a struct proxy_entry, NULL for pages of statistics. */
int proxy_check(struct mk_setup *setup);
int proxy_check_site(struct mk_setup *setup);
/** `Match REGEX proxy_reverse NAME` */
int proxy_check_end(struct mk_setup *setup);
int proxy_check_match(struct mk_setup *setup, const struct mk_setting *line,
                      const struct mk_words *parameters, void **data);

#endif
