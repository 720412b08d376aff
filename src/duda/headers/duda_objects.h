/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_COMPAT_OBJECTS_H
#define DUDA_COMPAT_OBJECTS_H
#include "duda_api.h"

/* every object but param, which has a table for each level */
#define DUDA_OBJECTS(X)                                                                            \
    X(monkey, plugin_api)                                                                          \
    X(map, duda_api_map)                                                                           \
    X(router, duda_api_router)                                                                     \
    X(msg, duda_api_msg)                                                                           \
    X(request, duda_api_request)                                                                   \
    X(response, duda_api_response)                                                                 \
    X(debug, duda_api_debug)                                                                       \
    X(event, duda_api_event)                                                                       \
    X(console, duda_api_console)                                                                   \
    X(logger, duda_api_logger)                                                                     \
    X(gc, duda_api_gc)                                                                             \
    X(mem, duda_api_mem)                                                                           \
    X(session, duda_api_session)                                                                   \
    X(cookie, duda_api_cookie)                                                                     \
    X(qs, duda_api_qs)                                                                             \
    X(data, duda_api_data)                                                                         \
    X(conf, duda_api_conf)                                                                         \
    X(fconf, duda_api_fconf)                                                                       \
    X(global, duda_api_global)                                                                     \
    X(worker, duda_api_worker)                                                                     \
    X(xtime, duda_api_xtime)                                                                       \
    X(dthread, duda_api_dthread)

/* those of level 3 alone */
#define DUDA_OBJECTS_3(X)                                                                          \
    X(query, duda_api_query)                                                                       \
    X(form, duda_api_form)                                                                         \
    X(sse, duda_api_sse)                                                                           \
    X(timer, duda_api_timer)                                                                       \
    X(task, duda_api_task)                                                                         \
    X(journal, duda_api_journal)                                                                   \
    X(metrics, duda_api_metrics)                                                                   \
    X(cache, duda_api_cache)                                                                       \
    X(guard, duda_api_guard)                                                                       \
    X(input, duda_api_input)                                                                       \
    X(http, duda_api_http)                                                                         \
    X(view, duda_api_view)

struct mk_request; /* <monkey/request.h> */

/* What a service or package is given when it is loaded. New members come at the end. */
struct duda_api_objects {
    size_t size; /* sizeof(struct duda_api_objects) of the plugin */
#define DUDA_OBJECT_MEMBER(name, type) const struct type *name;
    DUDA_OBJECTS(DUDA_OBJECT_MEMBER)
    const struct duda_api_param_by_index *param_by_index;
    const struct duda_api_param_by_key *param_by_key;
    /* calls without an object */
    void (*global_init)(struct web_service *ws, duda_global_t *g, void *(*callback)(void *),
                        void *arg);
    int (*logger_create)(struct web_service *ws, duda_logger_t *log, char *name);
    void (*set_signal_callback)(struct web_service *ws, void (*func)(int fd, uint64_t val));
    void *(*load_package)(struct web_service *ws, const char *name); /* NULL: it was not found */
    const struct duda_host *host;                                    /* for packages: duda_host.h */
    DUDA_OBJECTS_3(DUDA_OBJECT_MEMBER)
#undef DUDA_OBJECT_MEMBER
    struct mk_request *(*request_of)(duda_request_t *dr); /* duda_request() */
};

#if defined(DUDA_INSIDE) || defined(__cplusplus)
/* The plugin itself has the tables, and none of the names that its services have. For C++: mk_core.h. */
#undef end
#undef finalize
#undef debug
#undef dashboard
#undef set_path
#undef get_path
#undef locate
#undef bind_messages
#undef service_name
#undef service_root
#undef force_redirect
#undef read_conf
#undef spawn
#undef static_add
#undef static_add_ref
#undef static_root
#undef add_interface
#undef map
#undef root
#undef describe
#undef specify
#endif
#ifndef DUDA_INSIDE

#define DUDA_OBJECT(name, type) DUDA_OBJ struct type *name;
DUDA_OBJECTS(DUDA_OBJECT)
#if DUDA_API_LEVEL >= 3
DUDA_OBJECTS_3(DUDA_OBJECT)
#endif
#undef DUDA_OBJECT
#if DUDA_API_LEVEL >= 2
DUDA_OBJ struct duda_api_param_by_key *param;
#else
DUDA_OBJ struct duda_api_param_by_index *param;
#endif
DUDA_OBJ struct web_service *self;
/* lists the macros pass along (contents private) */
DUDA_OBJ struct mk_list duda_map_urls, duda_map_interfaces, duda_router_list, duda_worker_list;
DUDA_OBJ const struct duda_api_objects *duda_objects_given;

extern MK_EXPORT const int duda_compiled_level; /* for which a service or package was compiled */

/* called once by duda_main() and duda_package_main(), before anything of the service or package runs */
static inline void duda_take_objects(const struct duda_api_objects *given, struct web_service *ws)
{
    duda_objects_given = given;
    self = ws;
#define DUDA_OBJECT_TAKE(name, type) name = (struct type *)given->name;
    DUDA_OBJECTS(DUDA_OBJECT_TAKE)
#if DUDA_API_LEVEL >= 3
    DUDA_OBJECTS_3(DUDA_OBJECT_TAKE)
#endif
#undef DUDA_OBJECT_TAKE
#if DUDA_API_LEVEL >= 2
    param = (struct duda_api_param_by_key *)given->param_by_key;
#else
    param = (struct duda_api_param_by_index *)given->param_by_index;
#endif
    mk_list_init(&duda_map_urls);
    mk_list_init(&duda_map_interfaces);
    mk_list_init(&duda_router_list);
    mk_list_init(&duda_worker_list);
}

#if DUDA_API_LEVEL >= 3
/*
 * [R] Level 3: the same request as libmonkey-web and <monkey/request.h> have it, until the request ends: in the end call-back
 * it is NULL, as it is for anything that is no request of this worker. Include <monkey/web.h> too.
 *
 * Calls that read may be made at any time before: fields, cookies, the query, what the client prefers, values of the path.
 * The body has been read, so body, forms and tasks are those of the service. A call that answers takes the place of
 * `response`: it has no fields of response->header() or of the session, and response->end() after it only says what is
 * called at the end. Where it is made outside the call-back of the request, as in a timer, response->end() must follow.
 */
static inline struct mk_request *duda_request(duda_request_t *dr)
{
    return duda_objects_given->request_of(dr);
}
#endif

/* [M] same as global->init */
static inline void duda_global_init(duda_global_t *g, void *(*callback)(void *), void *arg)
{
    duda_objects_given->global_init(self, g, callback, arg);
}

/* [M] file <LogDir>/<name> */
static inline int duda_logger_create(duda_logger_t *log, char *name)
{
    return duda_objects_given->logger_create(self, log, name);
}

/* [M] runs on every worker per signal */
static inline void duda_event_set_signal_callback(void (*func)(int fd, uint64_t val))
{
    duda_objects_given->set_signal_callback(self, func);
}

/* [M] load <PackagesRoot>/<name>.dpkg once for this service; a missing package is said, and the service is skipped */
static inline void *duda_load_package_by_name(const char *name,
                                              const struct duda_api_objects *given,
                                              struct web_service *ws)
{
    return given->load_package(ws, name);
}
#endif
#endif
