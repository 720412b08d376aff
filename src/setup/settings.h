/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_SETTINGS_H
#define MK_SETUP_SETTINGS_H

#include "core/addr.h"
#include "core/log.h"
#include "settings/field.h"
#include "setup/via.h"

#include <monkey/variables.h>

#include <stdbool.h>

/* What the sections of a configuration mean, as structs. Filled by the tables in settings.c. */

enum mk_scheduler { MK_SCHEDULER_FAIR, MK_SCHEDULER_REUSEPORT };
enum mk_over_capacity { MK_OVER_RESIST, MK_OVER_DROP, MK_OVER_TOO_BUSY };

/** One Listen line. */
struct mk_listen {
    struct mk_addr addr;
    const char *text;      /* the address as written, without flags */
    bool proxy;            /* a PROXY protocol header comes first */
    bool needs_port;       /* old form: the port comes from Port */
    bool has_no_http;      /* the flag !http */
    bool has_no_h2;        /* the flag !h2 */
    const char *transport; /* its flag; NULL: TransportLayer's */
    const char *protocol;  /* its flag; NULL: only what is agreed on by ALPN */
    unsigned site;         /* that has the line, from 1; 0: the server's */
    struct mk_via via;     /* set by mk_via_choose */
    const struct mk_setting *setting;
};

enum { MK_LISTEN_SOCKET = MK_ADDR_TEXT + 2 };

/**
 * Whom a unix socket lets in decides which addresses are believed, when it expects a PROXY header.
 * @return whether it is such a one: for the server's user and group alone.
 */
bool mk_listen_is_for_some(const struct mk_listen *listen);
/** The name by which mk_socket_bind understands such an address. */
void mk_listen_socket_name(const char *text, char name[MK_LISTEN_SOCKET]);

struct mk_log_choice {
    int level, traced_level;
    unsigned traced;
};

/**
 * LogLevel: `level` for everything, or `level:component,...` for these alone, which leaves the rest as it is in choice.
 * @return 0; MK_E_BAD: no such level; MK_E_INVALID: no such component. choice is untouched then.
 */
int mk_log_choice_read(struct mk_str text, struct mk_log_choice *choice) MK_MUST_USE;

/** [SERVER]. Times in ms, sizes in bytes. */
struct mk_server_settings {
    struct mk_listen *listens;
    size_t nlistens;
    int64_t port; /* 0: not given */
    int64_t workers;
    struct mk_words cpu_affinity;
    int scheduler;
    bool shared_sockets;
    const char *error_log;
    struct mk_log_choice log;
    int64_t timeout_ms, body_timeout_ms, write_timeout_ms, keepalive_timeout_ms, graceful_ms,
        handler_timeout_ms;
    int64_t handler_threads, handler_queue; /* of tasks; queue 0: as many as connections */
    int64_t min_rate, min_read_rate;        /* bytes a second; 0: none */
    int64_t max_memory;                     /* 0: by the machine's */
    bool keepalive;
    int64_t max_keepalive_requests;
    int64_t max_request_size, max_body_size, max_headers;
    int64_t max_connections, max_connections_per_ip;
    struct mk_net *trusted;
    size_t ntrusted;
    struct mk_words trusted_users;
    uid_t *trusted_uids; /* of them; as many */
    int over_capacity;
    int64_t fd_limit;
    const char *pid_file, *user, *user_dir;
    bool core_dumps;
    int restart; /* index in restart_names: 0 auto, odd on, even off */
    struct mk_words index_files;
    bool hide_version, resume, symlink;
    const char *default_type, *default_charset;
    bool fdt;
    int64_t file_cache;
    const char *transport;
    struct mk_origin transport_at;
    bool fast_open;
};

struct mk_header_line {
    struct mk_str name, value;   /* empty value: the field is removed */
    struct mk_template template; /* of the value */
    bool varies;                 /* it has variables of requests */
};

/** The text of a template without variables of requests; p NULL: no memory. */
struct mk_str mk_template_text(struct mk_setup *ctx, const struct mk_template *t);

struct mk_cache_line {
    const struct mk_pattern *files;
    struct mk_str value;
    const struct mk_setting *setting; /* while the configuration is checked */
};

struct mk_error_page {
    unsigned status;
    struct mk_str path;               /* below the document root, with a leading slash */
    const struct mk_setting *setting; /* while the configuration is checked */
};

struct mk_handler_line {
    struct mk_str pattern, plugin;
    struct mk_words params;
    const struct mk_setting *setting;
};

/** An item of TryFiles. */
struct mk_try {
    struct mk_str name;         /* "@name", a route's; p NULL: none */
    unsigned status;            /* 0: none */
    struct mk_template path;    /* of a file, or of a handler */
    struct mk_template query;   /* in place of the request's */
    bool has_query, is_of_path; /* it has one; its path begins with $uri */
};

/** The sections of one file in sites/, or what holds in a place of it. Lists are arrays in the arena. */
struct mk_site_settings {
    struct mk_words names;
    const char *document_root;
    bool is_apart;      /* it has Listen lines, and answers at these addresses alone */
    struct mk_str path; /* of [LOCATION]: decoded, without a slash at its end */
    const char *match;  /* of [LOCATION]; NULL: it has a path */
    struct mk_words index_files;
    int64_t max_body_size, handler_timeout_ms, body_timeout_ms, min_rate;
    bool symlink;
    struct mk_str redirect;         /* as written; p NULL: none */
    struct mk_template redirect_to; /* with variables of requests; empty: it has none */
    unsigned redirect_status;
    struct mk_header_line *headers;
    size_t nheaders;
    struct mk_cache_line *cache_lines; /* of a location: before those around it */
    size_t ncache_lines;
    struct mk_try *tries;
    size_t ntries;
    const struct mk_setting *try_setting; /* while the configuration is checked */
    bool precompressed, slash_redirect;
    bool lenient_paths; /* rules hold against a path as others may read it too */
    struct mk_error_page *error_pages;
    size_t nerror_pages;
    struct mk_handler_line *handlers;
    size_t nhandlers;
};

/** @return the name of the last item of TryFiles if it is that of a route, "@name"; otherwise NULL. */
const struct mk_str *mk_site_named_try(const struct mk_site_settings *set);

/** [MIMETYPES]: pairs in the order written. */
struct mk_mime_settings {
    struct mk_mime_line {
        struct mk_str ext, type;
    } * lines;
    size_t nlines;
};

/** One Load line: a name, or a path with a slash. */
struct mk_load_line {
    struct mk_str what;
    const struct mk_setting *setting;
};

/** [PLUGINS]. */
struct mk_plugin_settings {
    struct mk_load_line *loads;
    size_t nloads;
};

extern const struct mk_section_spec mk_spec_server;
extern const struct mk_section_spec mk_spec_host, mk_spec_location;
extern const struct mk_section_spec mk_spec_error_pages, mk_spec_handlers;
extern const struct mk_section_spec mk_spec_mime;
extern const struct mk_section_spec mk_spec_plugins;

/** Add the Listen lines of a site. @param tree  of it @param site  its index @return 0 or MK_E_NOMEM. */
int mk_server_settings_listen(struct mk_server_settings *s, const struct mk_tree *tree,
                              unsigned site, struct mk_setup *ctx) MK_MUST_USE;

/**
 * What no single row can check: old-form Listen with Port, defaults that depend on others.
 * @param tree    as written
 * @param common  sites have no address of their own @return 0 or MK_E_NOMEM.
 */
int mk_server_settings_finish(struct mk_server_settings *s, const struct mk_tree *tree, bool common,
                              struct mk_setup *ctx) MK_MUST_USE;

#endif
