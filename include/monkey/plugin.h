/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_PLUGIN_H
#define MONKEY_PLUGIN_H

/*
 * The plugin interface. A plugin is one constant struct mk_plugin, and its only exported symbol:
 *
 *     #include <monkey/plugin.h>
 *
 *     static enum mk_verdict hello(struct mk_request *r, const struct mk_context *ctx, void *data)
 *     {
 *         return mk_reply_bytes(r, 200, "text/plain", MK_STR("Hello\n"));
 *     }
 *
 *     static const struct mk_plugin plugin = {
 *         MK_PLUGIN("hello", "says hello"),
 *         .on_handle = hello,
 *     };
 *     MK_PLUGIN_EXPORT(plugin);
 *
 * A plugin includes <monkey/...> only, is built as a shared object or into the library from the same
 * source, and keeps no static state: what a hook needs comes in its context.
 *
 * Threads. The control thread is the one that calls mk_config_check, mk_server_start, mk_server_reload
 * and mk_server_free. All hooks that get a request or a connection run on that connection's worker.
 *
 * Life of a plugin's objects:
 *
 *     check, check_site   control thread   builds the objects of one configuration; changes nothing else
 *     start               control thread   that configuration is about to be in force: open, connect, adopt
 *     worker_start        each worker      the same for what a worker has for itself
 *     ... requests; each keeps the configuration it began with ...
 *     worker_stop         each worker      the last request of that configuration has ended there
 *     stop                any thread       and everywhere: close what was not adopted
 *
 * A reload runs this for the new configuration while the old one still serves; `monkey --test` runs
 * check and check_site only.
 */

#include <monkey/events.h>
#include <monkey/request.h>
#include <monkey/server.h>
#include <monkey/settings.h>
#include <monkey/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Changes when an older plugin can no longer run; additions at the ends of structs do not change it. */
#define MK_PLUGIN_MAJOR 1

/**
 * Where a hook acts: the plugin's objects for it. What check and check_site keep none for is the settings
 * of the first FILE and of the first SITE section; with their defaults where there is no such section.
 */
struct mk_context {
    size_t size;              /* sizeof(struct mk_context) */
    struct mk_server *server; /* NULL in check: there may be none */
    struct mk_worker *worker; /* NULL off the workers */
    void *config;             /* of this configuration: mk_setup_keep in check */
    void *local; /* of this worker for this configuration: what worker_start gave; NULL before */
    void *site;  /* of this site: mk_setup_keep in check_site; NULL where no site is known */
};

/** Bits of hooks that can be silent: mk_setup_act. */
enum mk_acts {
    /* on a site */
    MK_ACTS_REQUEST = 1,
    MK_ACTS_HEAD = 2, /* the response filter */
    MK_ACTS_FINISH = 4,
    MK_ACTS_DIRECTORY = 8,
    MK_ACTS_OF_SITES = 15,
    /* on connections, whose site is not known */
    MK_ACTS_ACCEPT = 16,
    MK_ACTS_CLOSE = 32,
    MK_ACTS_CONN_EVENT = 64,
    MK_ACTS_OF_CONNECTIONS = 112,
};

/** Bits of what a plugin is: mk_plugin.traits. */
enum mk_traits {
    /* Its handler answers from elsewhere: no file of a site is its source, and may be an error page though a route matches it. */
    MK_TRAIT_ELSEWHERE = 1,
    /* Built in, it is loaded without a Load line, and before those that have one. */
    MK_TRAIT_ALWAYS = 2,
};

struct mk_head;
struct mk_metric;
typedef void (*mk_metric_fn)(void *arg, const struct mk_metric *metric);

struct mk_plugin {
    size_t size;       /* sizeof(struct mk_plugin) of the header that it was built with */
    unsigned major;    /* MK_PLUGIN_MAJOR likewise */
    const char *name;  /* lower case letters, digits and `_`; also of its folder below plugins/ */
    const char *about; /* one line for people */
    const struct mk_section_spec *const *sections; /* NULL-terminated; NULL: it has none */

    /* ---- context ---- */

    /**
     * A configuration was read: judge it and build what the other hooks need (mk_setup_*).
     * Called on the control thread, for `--test` too: it opens nothing that others would notice.
     * @return 0, also when faults were noted; MK_E_NOMEM.
     */
    int (*check)(struct mk_setup *setup);
    /** The same for each site, after check. */
    int (*check_site)(struct mk_setup *setup);
    /**
     * A line `Match REGEX PLUGIN PARAMETER...` of a site's [HANDLERS]; NULL: parameters are refused. Called before check_site.
     * @param data  out: what on_handle gets
     */
    int (*check_match)(struct mk_setup *setup, const struct mk_setting *line,
                       const struct mk_words *parameters, void **data);
    /**
     * This configuration is about to be in force. Control thread, no worker uses it yet: ctx->config, and whatever it and
     * its sections' structs hold, may be written here for the last time without a lock. What *old has is read by workers
     * meanwhile: only what is shared under locks of the plugin's own, or counted, may be touched.
     * @param old  the context of the configuration before, still in force; NULL at the start of the server. What both share is
     *             taken over from here, with a reference of its own
     * @return 0; an error refuses start or reload, and mk_plugin_why gives the sentence. stop is not called then.
     */
    int (*start)(const struct mk_context *ctx, const struct mk_context *old);
    /** Its last request has ended. Any thread, once for each start that succeeded. */
    void (*stop)(const struct mk_context *ctx);
    /**
     * On each worker before it serves with this configuration.
     * @param local  out: ctx->local from then on
     * @return 0; an error refuses start or reload; worker_stop is not called for this worker then.
     */
    int (*worker_start)(const struct mk_context *ctx, void **local);
    /**
     * On each worker after its last request of this configuration. At the end of the server: on the
     * thread that frees it, when the worker's own has ended.
     */
    void (*worker_stop)(const struct mk_context *ctx);

    /* ---- stages ---- */

    /** Stage 10: a connection was accepted, or its address became known by the PROXY protocol. No site is known. PASS or CLOSE. */
    enum mk_verdict (*on_accept)(struct mk_conn *c, const struct mk_context *ctx);
    /**
     * Stage 20: the head was read, the site chosen and the path decoded; called again when an index or
     * fallback file takes the path's place, since rules may speak of that. PASS, DONE, LATER, CLOSE.
     * Requests that the server itself refuses before that never come here: a malformed or too large head, a body longer
     * than MaxBodySize says by its Content-Length, a path that cannot be decoded, climbs above the root or is too long,
     * CONNECT, and `OPTIONS *`. Refused later, and seen here: methods that no handler takes, files that are not there.
     * on_finish sees them all.
     */
    enum mk_verdict (*on_request)(struct mk_request *r, const struct mk_context *ctx);
    /**
     * Stage 30: a route of this plugin matches (mk_setup_route, or a line of [HANDLERS]). PASS, DONE, LATER, CLOSE.
     * An Expect: 100-continue is answered when the body is first read.
     * @param data  of the route
     */
    enum mk_verdict (*on_handle)(struct mk_request *r, const struct mk_context *ctx, void *data);
    /**
     * Stage 30 too: the path ends in a slash and is a directory of the site without index file.
     * @param fd  of the directory, borrowed for the call
     */
    enum mk_verdict (*on_directory)(struct mk_request *r, const struct mk_context *ctx, int fd);
    /** Stage 40: the answer is complete or was broken off (facts.whole), refused requests included. The request cannot be changed any more. */
    void (*on_finish)(struct mk_request *r, const struct mk_context *ctx);
    /** Stage 50: a connection ends. Once for each that passed stage 10, however it ends. */
    void (*on_close)(struct mk_conn *c, const struct mk_context *ctx);

    /* ---- filters ---- */

    /**
     * The head of an answer is complete but for its framing: read and change it (mk_head_*), and ask for
     * its body with mk_head_filter. On a site where this hook acts, requests for ranges get the whole.
     * @return 0, or an error: the answer is broken off.
     */
    int (*on_head)(struct mk_request *r, const struct mk_context *ctx, struct mk_head *head);

    /* ---- events ---- */

    /** An event of a client's connection, before the server sees to it: enum mk_io_events. */
    void (*on_conn_event)(struct mk_conn *c, const struct mk_context *ctx, unsigned events);

    /* ---- networking ---- */

    /** A transport of the plugin's name: for `Listen ... NAME`, TransportLayer and backends. */
    const struct mk_transport *transport;

    /* ---- logs ---- */

    /** Somebody renamed log files: open them again by name (SIGUSR1). Control thread, between start and stop, on the configuration in force. */
    void (*reopen)(const struct mk_context *ctx);

    /* ---- commands ---- */

    /**
     * Do something for whoever runs the program, such as `monkey --make-cert`: see mk_config_command. There is
     * neither server nor configuration, and it may block.
     * @param words  the command and its arguments, terminated by NULL; never empty
     * @param text   out: what came of it, one sentence or a few lines for people, terminated
     * @return 0; MK_E_UNSUPPORTED: there is no such command; any other error but MK_E_NOENT.
     */
    int (*command)(const char *const *words, char *text, size_t size);

    /* ---- shells and metrics ---- */

    /** Tell what was counted, over all workers: tell(arg, ...) for each sample, those of one name one after the other. Called on a worker, at the default site. */
    void (*metrics)(const struct mk_context *ctx, mk_metric_fn tell, void *arg);

    /* ---- what it is ---- */

    unsigned traits; /* enum mk_traits */
};

/** The first members of every plugin. */
#define MK_PLUGIN(plugin_name, plugin_about)                                                       \
    .size = sizeof(struct mk_plugin), .major = MK_PLUGIN_MAJOR, .name = (plugin_name),             \
    .about = (plugin_about)

/*
 * Make a plugin known: as the one exported symbol of a shared object, or, built into the library with
 * -DMK_PLUGIN_STATIC, by a section that the linker gathers.
 */
#ifdef MK_PLUGIN_STATIC
#define MK_PLUGIN_EXPORT(plugin)                                                                   \
    static const struct mk_plugin *const mk_plugin_row                                             \
        __attribute__((used, section("mk_plugins"))) = &(plugin)
#else
#define MK_PLUGIN_EXPORT(plugin)                                                                   \
    extern MK_API const struct mk_plugin *const mk_plugin;                                         \
    const struct mk_plugin *const mk_plugin = &(plugin)
#endif

/* ---- in check, check_site and check_match ---- */

/**
 * The plugin's sections of this kind, in the order written: in check those of its files, in check_site
 * those of the site's file. One that is not written is given all the same, with its defaults and what it
 * inherits, if it may stand only once: any such in check, an INHERIT one in check_site.
 * @param before  what the last call returned; NULL for the first
 * @return the settings struct, which lives as long as the configuration; NULL after the last.
 */
MK_API void *mk_setup_section(struct mk_setup *setup, const struct mk_section_spec *spec,
                              void *before);
/** Where the section of a settings struct was written; NULL for one that was not. */
MK_API const struct mk_origin *mk_setup_origin(struct mk_setup *setup, const void *settings);

/** Where the value of a key of that section was written, in a site's file or in the plugin's; the section's place for one that is not there. */
MK_API const struct mk_origin *mk_setup_place(struct mk_setup *setup, const void *settings,
                                              const char *key);

/** Make object ctx->config (in check) or ctx->site (in check_site). */
MK_API void mk_setup_keep(struct mk_setup *setup, void *object);
/** What check kept: in check_site and check_match. */
MK_API void *mk_setup_config(struct mk_setup *setup);

/**
 * What the lines `Match ... PLUGIN` of plugins that answer nothing by routes say. Where a site has such lines, hooks of requests
 * are called for the paths that match one of them only.
 */
enum mk_switch {
    MK_SWITCH_UNSAID, /* no site has such a line */
    MK_SWITCH_OFF,    /* another site has, not this one */
    MK_SWITCH_ON,
};
/** In check_site. Only for plugins without on_handle. The plugin that mk_config_one_shot loads is always on. */
MK_API enum mk_switch mk_setup_switch(struct mk_setup *setup);

/**
 * Which hooks act (enum mk_acts): in check_site those on this site, in check those on connections. Until this
 * is called all do; on a site, if the plugin has no SITE sections or the site has one. What does not act costs nothing.
 */
MK_API void mk_setup_act(struct mk_setup *setup, unsigned acts);

/**
 * In check_site: ask on_handle for paths that match. Routes from the site's sections come before those
 * from the plugin's files, and both behind the site's [HANDLERS].
 * @param pattern  POSIX extended, unanchored, any case, on the decoded path; copied
 * @param data     what on_handle gets
 * @param at       where it was written, for a fault
 * @param global   it comes from the plugin's own file
 * @return 0, MK_E_INVALID (the fault is noted) or MK_E_NOMEM.
 */
MK_API int mk_setup_route(struct mk_setup *setup, struct mk_str pattern, void *data,
                          const struct mk_origin *at, bool global) MK_MUST_USE;

/** The names of the site in check_site: its ServerName words. */
MK_API const struct mk_words *mk_setup_site_names(struct mk_setup *setup);
MK_API const char *mk_setup_document_root(struct mk_setup *setup);
/** Each address of the configuration as text, like "[::]:80"; port 0 is chosen later. */
MK_API void mk_setup_addresses(struct mk_setup *setup,
                               void (*fn)(void *arg, const char *text, size_t len), void *arg);
/** User of [SERVER], as it is written. @return NULL: none is set. */
MK_API const char *mk_setup_user(struct mk_setup *setup);
/** Is there a transport of that name in this configuration, to dial backends with? */
MK_API bool mk_setup_has_transport(struct mk_setup *setup, struct mk_str name);

/** In check and check_site: does an address of this configuration use the plugin's own transport? */
MK_API bool mk_setup_carries(struct mk_setup *setup);

/** A file that will be opened by name: the surrounding program may have to help (mk_config_resources). @return 0 or MK_E_NOMEM. */
MK_API int mk_setup_needs(struct mk_setup *setup, enum mk_resource kind, const char *name);

/** Open a file for reading while checking, with the help of the surrounding program where rights are missing. @return a descriptor, the caller's, or an enum mk_error. */
MK_API int mk_setup_open(struct mk_setup *setup, const char *path) MK_MUST_USE;

/** The whole of a file, terminated, with the settings' memory; p NULL and *error when it cannot be read or is longer than max. */
MK_API struct mk_str mk_setup_read(struct mk_setup *setup, const char *path, size_t max,
                                   int *error);

/* ---- in start and worker_start ---- */

/** Why start or worker_start is about to fail: one sentence for people. */
MK_API void mk_plugin_why(const struct mk_context *ctx, const char *fmt, ...) MK_PRINTF(2, 3);

/* ---- in on_head ---- */

MK_API unsigned mk_head_status(const struct mk_head *head);
/** Length of the body to come; -1: not known. */
MK_API int64_t mk_head_length(const struct mk_head *head);
/** The first field of a name; {NULL, 0} when absent. Valid until the head is changed. */
MK_API struct mk_str mk_head_get(const struct mk_head *head, struct mk_str name);
/** Walk all fields. @param at  0 at first. */
MK_API bool mk_head_next(const struct mk_head *head, uint32_t *at, struct mk_str *name,
                         struct mk_str *value);
/** Every field of that name goes; then one with value comes, if its p is not NULL. Framing fields cannot be set. @return 0, MK_E_LIMIT, MK_E_INVALID. */
MK_API int mk_head_set(struct mk_head *head, struct mk_str name, struct mk_str value);

/**
 * Change bytes of a body on their way. Pieces are those that happen to be there: a word may be cut in two.
 * @param in, in_len    bytes given, at most 8 KB a call and none only with last; out: bytes used. The others are given
 *                      again, before further ones; both buffers are borrowed for the call
 * @param out, out_len  room, at least 8 KB, whatever was given; out: bytes written
 * @param last          no more will be given
 * @return 1: all is written that will be; 0: call again with more input or room; an error breaks the answer off,
 *         and so does a call that neither uses nor gives a byte when it was given one, or the last.
 */
typedef int (*mk_filter_fn)(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                            bool last);

/**
 * Pass the body through fn. The answer becomes chunked (until close for HTTP/1.0), its ETag weak, and
 * Accept-Ranges goes; file bodies are read instead of sent by sendfile. Filters that were asked for first
 * are nearest to the source.
 * @param state  lives as long as the request; use mk_request_on_end for what is not memory
 * @return 0, also when no body will be sent and fn is never called (HEAD, 204, 304; their heads say what the head of
 *         GET says); MK_E_NOMEM; MK_E_LIMIT: more than 8 filters; MK_E_INVALID: parts of a body (206) cannot be changed.
 */
MK_API int mk_head_filter(struct mk_head *head, mk_filter_fn fn, void *state);

/* ---- facts for shells and metrics. Any thread but where a worker is named. ---- */

struct mk_plugin_facts {
    size_t size; /* sizeof(struct mk_plugin_facts), set by the caller */
    const char *name, *about;
    const char *file; /* NULL: built in */
    unsigned major;
    bool has_transport;
};
/** @return false when there is no such plugin; index counts from 0 in the order of loading. */
MK_API bool mk_server_plugin(const struct mk_server *server, unsigned index,
                             struct mk_plugin_facts *facts);

enum { MK_METRIC_LABELS = 4 };

/** A sample of a metric, as Prometheus has them. Texts are borrowed for the call. */
struct mk_metric {
    size_t size; /* sizeof(struct mk_metric) */
    const char *
        name; /* "monkey_PLUGIN_..."; the same name has the same type and help, and labels that differ */
    const char *help; /* one sentence */
    bool is_counter;  /* it never falls; otherwise a gauge */
    bool is_brief;    /* for a short overview too */
    double value;
    unsigned nlabels;
    struct {
        const char *name; /* letters, digits and `_` */
        struct mk_str value;
    } labels[MK_METRIC_LABELS];
};
/** Ask all plugins, in the order of loading. On the worker's thread. */
MK_API void mk_worker_metrics(struct mk_worker *w, mk_metric_fn tell, void *arg);

#ifdef __cplusplus
}
#endif

#endif
