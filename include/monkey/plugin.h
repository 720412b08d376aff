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
 * A plugin includes <monkey/...> only. The same source is built as a shared object or into the library. A plugin
 * keeps no static state: a hook finds its objects in its context.
 *
 * Threads. The control thread is the one that calls mk_config_check, mk_server_start, mk_server_reload
 * and mk_server_free. All hooks that get a request or a connection run on that connection's worker.
 *
 * Life of a plugin's objects:
 *
 *     check, check_site   control thread   builds the objects of one configuration; changes nothing else
 *     start               control thread   that configuration is about to be in force: open, connect, adopt
 *     worker_start        each worker      the same for the worker's own objects
 *     ... requests; each keeps the configuration with which it began ...
 *     worker_stop         each worker      the last request of that configuration has ended on this worker
 *     stop                any thread       and on all workers: close what was not adopted
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

/** Changes when older plugins can no longer run. Additions at the ends of structs do not change it. */
#define MK_PLUGIN_MAJOR 1

/**
 * Where a hook acts, with the plugin's objects for it. If check or check_site keeps no object, the member is the
 * settings of the first FILE or SITE section, or their defaults without such a section.
 */
struct mk_context {
    size_t size;              /* sizeof(struct mk_context) */
    struct mk_server *server; /* NULL in check: there may be none */
    struct mk_worker *worker; /* NULL off the workers */
    void *
        config; /* of this configuration: mk_setup_keep in check, or the argument of mk_config_plugin */
    void *local; /* of this worker, from worker_start; NULL before */
    void *site;  /* of this site: mk_setup_keep in check_site; NULL: no site is known */
};

/** Bits: hooks that can be switched off by mk_setup_act. */
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

/** Bits: traits of a plugin, for mk_plugin.traits. */
enum mk_traits {
    /* The handler answers from other machines. No file of a site is its source, so a file may be an error page even if a route matches it. */
    MK_TRAIT_ELSEWHERE = 1,
    /* If built in, the plugin is loaded without a Load line, before plugins that have one. */
    MK_TRAIT_ALWAYS = 2,
    /* on_head leaves the bodies of answers with parts (206) as they are, so clients still get ranges. */
    MK_TRAIT_PARTS = 4,
    /* on_handle answers every request, so lines after one that has all of their paths are never asked: --test warns. */
    MK_TRAIT_ANSWERS = 8,
    /* start and worker_start, and hooks of connections and requests, read files at most and change nothing outside of the
     * process: mk_config_explain calls them as they are, for a single request. */
    MK_TRAIT_PURE = 16,
};

struct mk_explain;
struct mk_head;
struct mk_metric;
struct mk_protocol;
typedef void (*mk_metric_fn)(void *arg, const struct mk_metric *metric);
/** A part of the reply to an order: a key in lower case and its value, both borrowed for the call. */
typedef void (*mk_order_fn)(void *arg, const char *key, struct mk_str value);

struct mk_plugin {
    size_t size;       /* sizeof(struct mk_plugin) of the header that it was built with */
    unsigned major;    /* MK_PLUGIN_MAJOR likewise */
    const char *name;  /* lower case letters, digits and `_`; also of its folder below plugins/ */
    const char *about; /* one line for people */
    const struct mk_section_spec *const *sections; /* NULL-terminated; NULL: it has none */

    /* ---- context ---- */

    /**
     * Called when a configuration was read: check it and build the objects of the other hooks (mk_setup_*).
     * Control thread, for `--test` too, so it opens nothing that others would notice.
     * @return 0, even after noted errors; MK_E_NOMEM.
     */
    int (*check)(struct mk_setup *setup);
    /** Called for each site, after check, with the same duties. */
    int (*check_site)(struct mk_setup *setup);
    /**
     * Called for a line `Match REGEX PLUGIN PARAMETER...` of a site's [HANDLERS], before check_site. NULL: parameters are errors.
     * @param data  out: passed to on_handle
     */
    int (*check_match)(struct mk_setup *setup, const struct mk_setting *line,
                       const struct mk_words *parameters, void **data);
    /**
     * Called when this configuration is about to be in force. Control thread; no worker uses it yet, so ctx->config and the
     * structs of its sections may be written without a lock, for the last time. Workers read the objects of *old meanwhile:
     * touch only those that are protected by locks of the plugin's own, or counted.
     * @param old  the context of the previous configuration, still in force; NULL at the start of the server. Adopt shared
     *             objects from it, each with another reference
     * @return 0; an error refuses start or reload, and mk_plugin_why sets the sentence. stop is not called then.
     */
    int (*start)(const struct mk_context *ctx, const struct mk_context *old);
    /** Called when the last request of this configuration has ended. Any thread, once for each successful start. */
    void (*stop)(const struct mk_context *ctx);
    /**
     * Called on each worker before it serves with this configuration.
     * @param local  out: ctx->local from now on
     * @return 0; an error refuses start or reload, and worker_stop is not called for this worker.
     */
    int (*worker_start)(const struct mk_context *ctx, void **local);
    /**
     * Called on each worker after its last request of this configuration. When the server is freed: on the
     * thread that frees it, after the worker's thread has ended.
     */
    void (*worker_stop)(const struct mk_context *ctx);

    /* ---- stages ---- */

    /** Stage 10: a connection was accepted, after its PROXY header if it has one. No site is known. PASS or CLOSE. */
    enum mk_verdict (*on_accept)(struct mk_conn *c, const struct mk_context *ctx);
    /**
     * Stage 20: the head was read, the site chosen and the path decoded. Called again when an index or
     * fallback file replaces the path, because rules may apply to that file. PASS, DONE, LATER, CLOSE.
     * Not called for requests that the server refuses earlier: a malformed or too large head, a Content-Length above
     * MaxBodySize, a path that cannot be decoded, climbs above the root or is too long, CONNECT, and `OPTIONS *`.
     * Called for requests that the server refuses later: methods without a handler, missing files.
     * on_finish is called for all of them.
     */
    enum mk_verdict (*on_request)(struct mk_request *r, const struct mk_context *ctx);
    /**
     * Stage 30: a route of this plugin matches (mk_setup_route, or a line of [HANDLERS]). PASS, DONE, LATER, CLOSE.
     * The first read of the body answers an Expect: 100-continue.
     * @param data  of the route
     */
    enum mk_verdict (*on_handle)(struct mk_request *r, const struct mk_context *ctx, void *data);
    /**
     * Also stage 30: the path ends in a slash and is a directory of the site without an index file.
     * @param fd  the directory, borrowed for the call
     */
    enum mk_verdict (*on_directory)(struct mk_request *r, const struct mk_context *ctx, int fd);
    /** Stage 40: the answer is complete or was broken off (facts.whole). Refused requests are included. The request cannot be changed any more. */
    void (*on_finish)(struct mk_request *r, const struct mk_context *ctx);
    /** Stage 50: a connection is closed. Called once for each connection that passed stage 10. */
    void (*on_close)(struct mk_conn *c, const struct mk_context *ctx);

    /* ---- filters ---- */

    /**
     * The head of an answer is complete except for its framing. Read and change it (mk_head_*), and filter
     * its body with mk_head_filter. On a site where this hook acts, requests for ranges get the complete file,
     * unless the plugin has MK_TRAIT_PARTS.
     * @return 0, or an error: the answer is broken off.
     */
    int (*on_head)(struct mk_request *r, const struct mk_context *ctx, struct mk_head *head);

    /* ---- events ---- */

    /** An event of a client's connection (enum mk_io_events), before the server handles it. */
    void (*on_conn_event)(struct mk_conn *c, const struct mk_context *ctx, unsigned events);

    /* ---- networking ---- */

    /** A transport of the plugin's name: for `Listen ... NAME`, TransportLayer and backends. */
    const struct mk_transport *transport;

    /* ---- logs ---- */

    /** Log files were renamed (SIGUSR1): open them again by name. Control thread, between start and stop, for the configuration in force. */
    void (*reopen)(const struct mk_context *ctx);

    /* ---- commands ---- */

    /**
     * Carry out a command of the program's user, such as `monkey --make-cert`; see mk_config_command. There is
     * neither a server nor a configuration, and the hook may block.
     * @param words  the command and its arguments, terminated by NULL; never empty
     * @param text   out: the result for people, one sentence or a few lines, terminated
     * @return 0; MK_E_UNSUPPORTED: there is no such command; any other error except MK_E_NOENT.
     */
    int (*command)(const char *const *words, char *text, size_t size);

    /* ---- shells and metrics ---- */

    /** Report metrics over all workers: call tell(arg, ...) for each sample, with samples of one name in sequence. Called on a worker, for the default site. */
    void (*metrics)(const struct mk_context *ctx, mk_metric_fn tell, void *arg);

    /* ---- traits ---- */

    unsigned traits; /* enum mk_traits */

    /* ---- protocols ---- */

    /** A protocol beside HTTP/1, for connections whose clients choose it (<monkey/protocol.h>). */
    const struct mk_protocol *protocol;

    /* ---- the end of a check ---- */

    /** Called after check_site of the last site, with the same duties as check: for what no site has used. */
    int (*check_end)(struct mk_setup *setup);

    /* ---- explanations ---- */

    /**
     * Called for mk_config_explain, before a hook with MK_TRAIT_PURE and in the place of any other one: say what decides about
     * the request (<monkey/explain.h>). Without MK_TRAIT_PURE neither start nor worker_start was called, so ctx->local is NULL,
     * and this hook connects to nothing and starts nothing.
     * @return without MK_TRAIT_PURE: what the hook would. DONE without an answer: only the handler knows which status there
     *         would be
     */
    enum mk_verdict (*explain)(struct mk_request *r, const struct mk_context *ctx,
                               struct mk_explain *e);

    /* ---- orders ---- */

    /**
     * Carry out an order of an administrator of the running server, such as `drain shop 10.0.0.1:80`; see mk_worker_order. Called on
     * a worker, for the default site. It does not block.
     * @param words   of the order, nwords of them, perhaps none
     * @param tell    call tell(arg, ...) for each part of the reply
     * @return 0; an error except MK_E_UNSUPPORTED: nothing was done, and the last value told is the reason.
     */
    int (*order)(const struct mk_context *ctx, const struct mk_str *words, size_t nwords,
                 mk_order_fn tell, void *arg);
};

/** The first members of every plugin. */
#define MK_PLUGIN(plugin_name, plugin_about)                                                       \
    .size = sizeof(struct mk_plugin), .major = MK_PLUGIN_MAJOR, .name = (plugin_name),             \
    .about = (plugin_about)

/*
 * Export a plugin: as the only exported symbol of a shared object, or, built into the library with
 * -DMK_PLUGIN_STATIC, in a section that the linker gathers.
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
 * Walk the plugin's sections of this kind in the order written: in check those of its files, in check_site
 * those of the site's file. A section that may appear only once is returned even if it is not written, with its
 * defaults and inherited values: in check any such section, in check_site an INHERIT one.
 * @param before  the result of the last call; NULL at first
 * @return the settings struct, which lives as long as the configuration; NULL after the last.
 */
MK_API void *mk_setup_section(struct mk_setup *setup, const struct mk_section_spec *spec,
                              void *before);
/** @return where the section of a settings struct was written; NULL: it was not written. */
MK_API const struct mk_origin *mk_setup_origin(struct mk_setup *setup, const void *settings);

/** @return where the value of a key of that section was written, in a site's file or the plugin's; the section's place if the key was not written. */
MK_API const struct mk_origin *mk_setup_place(struct mk_setup *setup, const void *settings,
                                              const char *key);

/** Store the object for ctx->config (in check) or ctx->site (in check_site). */
MK_API void mk_setup_keep(struct mk_setup *setup, void *object);
/** @return the object that check stored. In check_site and check_match. */
MK_API void *mk_setup_config(struct mk_setup *setup);

/** @return the argument of mk_config_plugin; NULL for plugins that were loaded. */
MK_API void *mk_setup_argument(struct mk_setup *setup);

/**
 * The effect of lines `Match ... PLUGIN` for a plugin without on_handle. On a site with such lines, its hooks of requests
 * are called only for paths that match one of them.
 */
enum mk_switch {
    MK_SWITCH_UNSAID, /* no site has such a line */
    MK_SWITCH_OFF,    /* another site has one, this site has none */
    MK_SWITCH_ON,     /* this site has one */
};
/** @return the effect for this site. In check_site. The plugin that mk_config_one_shot loads is always on. */
MK_API enum mk_switch mk_setup_switch(struct mk_setup *setup);

/**
 * Choose the hooks that act (enum mk_acts): in check_site on this site, in check on connections. Without this call
 * all hooks act on connections, and on a site if the plugin has no SITE sections or the site has one. A hook that does
 * not act costs nothing.
 */
MK_API void mk_setup_act(struct mk_setup *setup, unsigned acts);

/**
 * Add a route: on_handle is called for paths that match. In check_site. Routes from the site's sections come before those
 * from the plugin's files, and both after the site's [HANDLERS].
 * @param pattern  POSIX extended, unanchored, any case, on the decoded path; copied
 * @param data     passed to on_handle
 * @param at       where the pattern was written, for an error
 * @param global   the route comes from the plugin's own file
 * @return 0, MK_E_INVALID (the error is noted) or MK_E_NOMEM.
 */
MK_API int mk_setup_route(struct mk_setup *setup, struct mk_str pattern, void *data,
                          const struct mk_origin *at, bool global) MK_MUST_USE;

/** @return the names of the site: its ServerName words. In check_site. */
MK_API const struct mk_words *mk_setup_site_names(struct mk_setup *setup);
MK_API const char *mk_setup_document_root(struct mk_setup *setup);
/** @return ctx->site of the location that a decoded path of the request's site is in. For paths of mk_request_reading. */
MK_API void *mk_request_site_at(const struct mk_request *r, const struct mk_context *ctx,
                                struct mk_str path);
/** Pass each address of the configuration to fn as text, like "[::]:80"; port 0 is chosen later. */
MK_API void mk_setup_addresses(struct mk_setup *setup,
                               void (*fn)(void *arg, const char *text, size_t len), void *arg);
/** @return User of [SERVER] as written; NULL: none is set. */
MK_API const char *mk_setup_user(struct mk_setup *setup);
/** @return whether this configuration has a transport of that name, to dial backends with. */
MK_API bool mk_setup_has_transport(struct mk_setup *setup, struct mk_str name);

/** @return whether an address of this configuration uses the plugin's own transport. In check and check_site. */
MK_API bool mk_setup_carries(struct mk_setup *setup);

/** Announce a resource that will be opened by name, with which the surrounding program may have to help (mk_config_resources). @return 0 or MK_E_NOMEM. */
MK_API int mk_setup_needs(struct mk_setup *setup, enum mk_resource kind,
                          const char *name) MK_MUST_USE;

/** Open a file for reading during the check; the surrounding program helps where rights are missing. @return a descriptor, owned by the caller, or an enum mk_error. */
MK_API int mk_setup_open(struct mk_setup *setup, const char *path) MK_MUST_USE;

/** @return the content of a file, terminated, in the settings' memory; on failure p is NULL and *error set. A file longer than max is an error. */
MK_API struct mk_str mk_setup_read(struct mk_setup *setup, const char *path, size_t max,
                                   int *error);

/* ---- in start and worker_start ---- */

/** Set the reason for which start or worker_start is about to fail: one sentence for people. */
MK_API void mk_plugin_why(const struct mk_context *ctx, const char *fmt, ...) MK_PRINTF(2, 3);

/* ---- in on_head ---- */

MK_API unsigned mk_head_status(const struct mk_head *head);
/** @return the length of the body; -1: unknown. */
MK_API int64_t mk_head_length(const struct mk_head *head);
/** @return the value of the first field of a name, valid until the head is changed; {NULL, 0}: absent. */
MK_API struct mk_str mk_head_get(const struct mk_head *head, struct mk_str name);
/** Walk all fields. @param at  0 at first. */
MK_API bool mk_head_next(const struct mk_head *head, uint32_t *at, struct mk_str *name,
                         struct mk_str *value);
/** Remove all fields of that name; then add one with this value, unless its p is NULL. Framing fields cannot be set. @return 0, MK_E_LIMIT, MK_E_INVALID. */
MK_API int mk_head_set(struct mk_head *head, struct mk_str name, struct mk_str value) MK_MUST_USE;

/** Results of a filter. */
enum mk_filter_result {
    MK_FILTER_MORE = 0, /* call again with more input or room */
    MK_FILTER_DONE = 1, /* the output is complete */
    /* as MORE, and input is held back for better output: if the source has nothing for now, call with empty input, and
     * all that is held will be written. Again after each call that writes something and returns this */
    MK_FILTER_HOLDS = 2,
};

/**
 * Transform bytes of a body. Input arrives in arbitrary pieces: a word may be cut in two.
 * @param in, in_len    in: input, at most 8 KB a call, empty only with last or after MK_FILTER_HOLDS; out: bytes used.
 *                      Unused bytes are passed again before further ones. Both buffers are borrowed for the call
 * @param out, out_len  in: room, always at least 8 KB; out: bytes written
 * @param last          the input ends with these bytes
 * @return enum mk_filter_result; an error breaks the answer off, and so does a call that uses and writes nothing
 *         although it had input or last.
 */
typedef int (*mk_filter_fn)(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                            bool last);

/**
 * Pass the body through fn. The answer becomes chunked (until close for HTTP/1.0), its ETag becomes weak, and
 * Accept-Ranges is removed; files are read instead of sent by sendfile. The filter that was added first
 * is nearest to the source.
 * @param state  lives as long as the request; use mk_request_on_end for resources that are not memory
 * @return 0, also if there is no body and fn is never called (HEAD, 204, 304, whose heads are those of GET);
 *         MK_E_NOMEM; MK_E_LIMIT: more than 8 filters; MK_E_INVALID: parts of a body (206) cannot be changed.
 */
MK_API int mk_head_filter(struct mk_head *head, mk_filter_fn fn, void *state) MK_MUST_USE;

/* ---- facts for shells and metrics. Any thread, except where a worker is named. ---- */

struct mk_plugin_facts {
    size_t size; /* sizeof(struct mk_plugin_facts), set by the caller */
    const char *name, *about;
    const char *file; /* NULL: built in */
    unsigned major;
    bool has_transport;
};
/** @param index  from 0, in the order of loading. @return false: there is no such plugin. */
MK_API bool mk_server_plugin(const struct mk_server *server, unsigned index,
                             struct mk_plugin_facts *facts);

enum { MK_METRIC_LABELS = 4 };

/** A sample of a metric, as in Prometheus. Texts are borrowed for the call. */
struct mk_metric {
    size_t size; /* sizeof(struct mk_metric) */
    /* "monkey_PLUGIN_..."; samples of one name have the same type and help, and different labels */
    const char *name;
    const char *help; /* one sentence */
    bool is_counter;  /* never decreases; otherwise a gauge */
    bool is_brief;    /* also for a short overview */
    double value;
    unsigned nlabels;
    struct {
        const char *name; /* letters, digits and `_` */
        struct mk_str value;
    } labels[MK_METRIC_LABELS];
};
/** Collect the metrics of all plugins, in the order of loading. On the worker's thread. */
MK_API void mk_worker_metrics(struct mk_worker *w, mk_metric_fn tell, void *arg);

/**
 * Give an order to a plugin by its hook `order`. For shells, which see to it that only administrators give any. On the worker's thread.
 * @param plugin  its name
 * @return as the hook; MK_E_UNSUPPORTED: no plugin of that name is loaded, or it takes no orders.
 */
MK_API int mk_worker_order(struct mk_worker *w, struct mk_str plugin, const struct mk_str *words,
                           size_t nwords, mk_order_fn tell, void *arg) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
