/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_ROUTER_H
#define MONKEY_WEB_ROUTER_H

/*
 * Handlers by method and path, in a program or in a plugin.
 *
 *     static enum mk_verdict item(struct mk_request *r, void *shop)
 *     {
 *         return show(r, shop, mk_path_value(r, MK_STR("id")));
 *     }
 *     ...
 *     mk_config_handle(config, "GET", "/items/:id", item, shop);
 *
 * A pattern is an absolute path. Its segments match the decoded, normalised path of a request byte by byte, except:
 *
 *     :name        one whole segment, not empty
 *     :name<type>  one whole segment of this type: int, uint (no minus), both decimal and in the range of int64_t;
 *                  hex (hexadecimal digits); word (letters, digits, _ and -); uuid (RFC 9562 section 4)
 *     *name        the rest of the path, slashes included, perhaps empty; only at the end. The name may be absent
 *
 * "/files/" and "/files/" followed by `*` are different: the second one is a prefix. Of several patterns that match, the one
 * with bytes of its own at the first difference wins over `:name<type>`, that over `:name`, and that over `*name`; of types,
 * the order is uuid, uint, int, hex, word. One whose methods do not fit gives way to the next. The order of the calls has no
 * effect.
 *
 * A handler of GET answers HEAD too, without a body. A path with handlers for other methods only is answered with 405 and
 * Allow, OPTIONS without a handler of its own with 204 and Allow (RFC 9110 sections 9.3.7, 15.5.6), a method that neither
 * RFC 9110, RFC 5789 nor a handler of this router has with 501 (section 15.6.2). A path without any handler goes on to the
 * next plugin, and then to the files of the site.
 */

#include <monkey/request.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_config;
struct mk_router;

/** Bounds of one pattern, and of the methods of one path. */
enum { MK_ROUTE_PATTERN = 1024, MK_ROUTE_VALUES = 16, MK_ROUTE_METHODS = 32 };
/** Bounds of groups: how deep one may be in others, the group of all routes among them, and hooks of one. */
enum { MK_ROUTE_DEPTH = 16, MK_ROUTE_HOOKS = 32 };

/** A handler of mk_config_handle that keeps its worker for longer, in ms, is reported in the error log (LogLevel warn). */
enum { MK_HANDLER_HELD_MS = 500 };

/**
 * Answers a request, on the thread of its worker, as on_handle of a plugin does (<monkey/plugin.h>): it must not block, and
 * after MK_VERDICT_LATER it is called again. MK_VERDICT_PASS goes on to the next plugin and the files.
 * @param arg  that of the call which added it
 */
typedef enum mk_verdict (*mk_handle_fn)(struct mk_request *r, void *arg);

/**
 * Answer requests with functions of the program, on all sites, before their files and after their [HANDLERS]. The handlers of
 * a server stay when it is reloaded with a configuration for which this was never called; calls for the new one replace all
 * of them at once. For a server that was started without handlers, one in a reload is a fault (mk_server_reload returns 1) and changes nothing. Requests in flight keep the handlers that they began with.
 * @param methods  separated by blanks, any tokens: "GET", "PUT PATCH"; NULL: every method
 * @param pattern  copied, as are the methods
 * @param arg      borrowed until the last request of this configuration, and of those that keep its handlers, has ended:
 *                 mk_server_free at the latest
 * @return 0; MK_E_INVALID: the pattern or a method is malformed, or config, pattern or fn is NULL; MK_E_EXISTS: a
 *         method of this path has a handler; MK_E_LIMIT: more than the bounds above; MK_E_NOMEM.
 * On the control thread.
 */
MK_API int mk_config_handle(struct mk_config *config, const char *methods, const char *pattern,
                            mk_handle_fn fn, void *arg) MK_MUST_USE;

/**
 * The value that a `:name`, `:name<type>` or `*name` of the handler's pattern has in this request.
 * @return it, valid as long as facts.path; {NULL, 0}: the pattern has no such name. Empty for a `*name` without a rest.
 */
MK_API struct mk_str mk_path_value(const struct mk_request *r, struct mk_str name);

/**
 * The same as a number, as after `:name<int>`.
 * @param number  out: unchanged unless the result is 1
 * @return 1; 0: the pattern has no such name; MK_E_BAD: the value is no decimal number of the range.
 */
MK_API int mk_path_int(const struct mk_request *r, struct mk_str name, int64_t *number) MK_MUST_USE;

/* ---- groups: a prefix, and hooks around handlers ----
 *
 *     struct mk_routes *api;
 *
 *     mk_routes_before(mk_config_routes(config), name_request, NULL);
 *     mk_routes_group(mk_config_routes(config), "/api", &api);
 *     mk_routes_before(api, need_key, keys);
 *     mk_routes_add(api, "GET", "/items/:id", item, shop);
 *
 * The order of these calls has no effect, except that hooks of one group are called in the order in which they were added.
 */

/** Routes with a prefix and hooks in common. They live as long as their router. */
struct mk_routes;

/**
 * Called after the answer of a request was sent, or its client has left: mk_request_result and mk_request_is_whole say how it
 * ended. On the thread of its worker; it must not block.
 */
typedef void (*mk_finish_fn)(struct mk_request *r, void *arg);

/** @return the group of all handlers of a configuration, without a prefix; NULL: config is NULL, or no memory. On the control thread. */
MK_API struct mk_routes *mk_config_routes(struct mk_config *config);

/**
 * Make a group in another one.
 * @param prefix  of the patterns of its routes, behind those of the groups around it: "/api", which may have names, but no `*` and
 *                no slash at its end; copied. NULL or "": none
 * @return 0; MK_E_INVALID: the prefix is malformed, or an argument is NULL; MK_E_LIMIT: more than the bounds above; MK_E_NOMEM.
 * On the control thread, as the next calls.
 */
MK_API int mk_routes_group(struct mk_routes *around, const char *prefix,
                           struct mk_routes **group) MK_MUST_USE;

/** As mk_config_handle, in a group. @param pattern  behind its prefix */
MK_API int mk_routes_add(struct mk_routes *routes, const char *methods, const char *pattern,
                         mk_handle_fn fn, void *arg) MK_MUST_USE;

/**
 * Have fn called before the handlers of a group and of the groups in it, those of the outer group first; mk_path_value has
 * the values of the handler's pattern. After MK_VERDICT_PASS, without an answer, the next hook or the handler is called, and this one
 * not again for the request, also where the handler returns LATER. With LATER it is called again itself; any other verdict, mostly
 * DONE with an answer such as 401, is that of the request, and no further hook or handler is called. Answers that no handler
 * gives, such as 405, have no hooks.
 * @return 0, MK_E_INVALID, MK_E_LIMIT or MK_E_NOMEM.
 */
MK_API int mk_routes_before(struct mk_routes *routes, mk_handle_fn fn, void *arg) MK_MUST_USE;

/**
 * Have fn called once after each request for which a hook or handler of the group was called, those of the inner group first
 * and of one group the last one first. @return as mk_routes_before.
 */
MK_API int mk_routes_after(struct mk_routes *routes, mk_finish_fn fn, void *arg) MK_MUST_USE;

/* ---- a router as an object, for plugins ---- */

/** Make an empty router, in start, because nothing ends what check alone has made. @return 0 or MK_E_NOMEM. */
MK_API int mk_router_new(struct mk_router **router) MK_MUST_USE;
/** Free it, in stop: after the last request that it was run for. NULL is allowed. */
MK_API void mk_router_free(struct mk_router *router);

/** @return the group of all its routes; NULL: router is NULL. */
MK_API struct mk_routes *mk_router_routes(struct mk_router *router);

/** As mk_config_handle, for this router; not while another thread runs it. A failed call changes nothing but memory. */
MK_API int mk_router_add(struct mk_router *router, const char *methods, const char *pattern,
                         mk_handle_fn fn, void *arg) MK_MUST_USE;

/**
 * Does a handler take a request whose method and path fit? mk_path_value has the values of its pattern. It may be asked
 * several times for one request, also about handlers of other methods, so it changes nothing.
 */
typedef bool (*mk_fits_fn)(const struct mk_request *r, void *arg);

/**
 * As mk_router_add, for a handler that takes only some of those requests: where fits(r, arg) is false, the search goes on as
 * if the pattern did not match. One method of one path may have several such handlers, asked in the order of the calls, and
 * behind them one that takes all.
 * @return as mk_router_add; MK_E_EXISTS: a handler of this method and path takes all requests already.
 */
MK_API int mk_router_add_if(struct mk_router *router, const char *methods, const char *pattern,
                            mk_fits_fn fits, mk_handle_fn fn, void *arg) MK_MUST_USE;

/**
 * Call the handler of a request, in on_handle or on_request. Any number of workers at once. Allocates nothing, except some
 * bytes of the request for the values of a pattern that has names.
 * @param prefix  bytes at the beginning of the path that the patterns do not know: of "/shop/items/1" with 5 they match
 *                "/items/1"; 0: none. MK_VERDICT_PASS unless a slash follows
 * @return the handler's verdict; DONE: answered with 405, 501, 204, or 500 without memory; PASS: no pattern matches.
 */
MK_API enum mk_verdict mk_router_run(const struct mk_router *router, struct mk_request *r,
                                     size_t prefix) MK_MUST_USE;

/** Call the hooks that mk_routes_after has added, in on_finish of the plugin. Of a request that several routers took, the last one's. */
MK_API void mk_router_finish(const struct mk_router *router, struct mk_request *r);

#ifdef __cplusplus
}
#endif

#endif
