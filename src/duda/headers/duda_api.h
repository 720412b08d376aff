/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_COMPAT_API_H
#define DUDA_COMPAT_API_H
#include "mk_core.h"

#define MAP_WS_MAX_PARAMS 8 /* most path parameters of a level-1 method */
#define QS_ENTRIES_SIZE 32  /* query string variables kept per request   */

struct web_service {                              /* `self` */
    mk_pointer name;                              /* current name (URL prefix)         */
    mk_pointer fixed_name;                        /* name from the virtual host/file   */
    mk_pointer docroot, confdir, datadir, logdir; /* with trailing '/'; data == NULL if unset */
    int enabled, is_root, url_force_redirect, bind_messages;
};

typedef struct
    duda_request { /* `dr`: one per client connection, reused for each keep-alive request */
    struct web_service *ws_root;
    mk_pointer appname, interface, method; /* level 1 URI parts */
    mk_pointer params[MAP_WS_MAX_PARAMS];
    short int n_params;
    int socket; /* client socket; id for request->validate_socket() */
    struct client_session *cs;
    struct session_request *sr;
    void (*end_callback)(struct duda_request *);
} duda_request_t;

typedef void *duda_callback_t;
struct duda_webservice {
    char *app_name;
    char *app_path;
};
struct duda_api_objects; /* opaque bag handed to duda_main() */

/* -- msg: coloured time-stamped lines on stdout ---------------------------------------------- */
struct duda_api_msg {
    void (*info)(const char *fmt, ...);
    void (*warn)(const char *fmt, ...);
    void (*err)(const char *fmt, ...);
    void (*bug)(const char *fmt, ...); /* prints only, does not abort */
};
/* -- debug ------------------------------------------------------------------------------------ */
struct duda_api_debug {
    void (*trace)(void);      /* never assigned in the reference */
    void (*stacktrace)(void); /* print a backtrace */
};
/* -- mem: the allocator every buffer handed to/from Duda uses ---------------------------------- */
struct duda_api_mem {
    void *(*alloc)(const size_t size);
    void *(*alloc_z)(const size_t size); /* zeroed */
    void *(*realloc)(void *ptr, const size_t size);
    void (*free)(void *ptr);
};
/* -- gc: free with the request ------------------------------------------------------------------ */
struct duda_api_gc {
    int (*add)(duda_request_t *dr, void *ptr); /* mem->free(ptr) once this request has ended */
};
/* -- request ----------------------------------------------------------------------------------- */
struct duda_api_request {
    int (*is_data)(duda_request_t *dr); /* POST or PUT with Content-Length > 0 */
    int (*is_get)(duda_request_t *dr);
    int (*is_post)(duda_request_t *dr);
    int (*is_head)(duda_request_t *dr);
    int (*is_put)(duda_request_t *dr);
    int (*is_delete)(duda_request_t *dr);
    int (*is_content_type)(duda_request_t *dr,
                           const char *type); /* exact, case-sensitive, whole value */
    void *(*get_data)(duda_request_t *dr,
                      unsigned long *len); /* copy of the body, owned by caller; NULL if none */
    long (*content_length)(duda_request_t *dr); /* -1 when there is no body */
    char *(*header_get)(
        duda_request_t *dr,
        const char *name); /* owned by caller or NULL; see duda.md for the leading blank */
    int (*header_cmp)(duda_request_t *dr, const char *name,
                      const char *val); /* 0 = value starts with val */
    int (*header_contains)(duda_request_t *dr, const char *name,
                           const char *val); /* >= 0 offset, -1 not found; ignores case */
    int (*validate_socket)(
        int socket); /* [W] MK_TRUE if this worker holds a request on that socket */
    int (*validate_request)(
        duda_request_t *dr); /* [W] MK_TRUE if dr is still alive on this worker */
};
/* -- response ---------------------------------------------------------------------------------- */
struct duda_api_response {
    int (*send_headers)(duda_request_t *dr); /* send status line + headers now */
    int (*headers_off)(duda_request_t *dr);  /* service writes the raw response itself */
    int (*http_status)(duda_request_t *dr,
                       int status); /* mandatory before end() unless headers_off() */
    int (*http_header)(duda_request_t *dr, char *row); /* "Name: value", no CRLF */
    int (*http_header_n)(duda_request_t *dr, char *row, int len);
    int (*http_content_length)(duda_request_t *dr,
                               long length); /* override; -1 = send no Content-Length */
    int (*http_content_type)(duda_request_t *dr,
                             char *extension);               /* by file extension; -1 if unknown */
    int (*print)(duda_request_t *dr, char *raw, int len);    /* queue bytes */
    int (*printf)(duda_request_t *dr, const char *fmt, ...); /* queue formatted text */
    int (*sendfile)(duda_request_t *dr,
                    char *path); /* queue a whole file; -1 if missing/unreadable */
    int (*sendfile_range)(duda_request_t *dr, char *path, off_t offset,
                          size_t count); /* count 0 = to end of file */
    int (*wait)(duda_request_t *dr);     /* [R] park the connection */
    int (*cont)(duda_request_t *dr);     /* [R] undo wait() */
    int (*_end)(duda_request_t *dr, void (*end_cb)(duda_request_t *));
    int (*flush)(duda_request_t *dr); /* push queued body */
};
#define end(dr, cb)                                                                                \
    _end(dr, cb);                                                                                  \
    return;                            /* finish the response AND return from the (void) callback */
#define finalize(dr, cb) _end(dr, cb); /* same, without the return */

/* -- param: path parameters ---------------------------------------------------------------------- */
struct duda_api_param_by_index {                     /* level 1 */
    char *(*get)(duda_request_t *dr, short int idx); /* owned by caller; NULL if idx >= count */
    int (*get_number)(duda_request_t *dr, short int idx, long *res); /* strict decimal */
    short int (*count)(duda_request_t *dr);
    short int (*len)(duda_request_t *dr, short int idx);
};
struct duda_api_param_by_key {                         /* level 2 */
    char *(*get)(duda_request_t *dr, const char *key); /* freed with the request */
    int (*get_number)(duda_request_t *dr, const char *key, long *res);
};
/* -- qs: query string (raw, no percent-decoding in the reference) --------------------------------- */
struct duda_api_qs {
    int (*count)(duda_request_t *dr);
    char *(*get)(duda_request_t *dr, const char *key); /* freed with the request; NULL if absent */
    char *(*get_id)(duda_request_t *dr, int idx);
    int (*cmp)(duda_request_t *dr, const char *key, const char *value); /* 0 = present and equal */
};
/* -- cookie ----------------------------------------------------------------------------------------- */
struct duda_api_cookie {
    int (*set)(duda_request_t *dr, char *key, int key_len, char *val, int val_len,
               int expires); /* expires: unix time, 0 = session */
    int (*get)(duda_request_t *dr, char *key, char **val,
               int *val_len); /* *val points into the request, not NUL terminated */
    int (*cmp)(duda_request_t *dr, char *key, char *val); /* 0 = equal */
    int (*destroy)(duda_request_t *dr, char *key, int key_len);
};
#define COOKIE_EXPIRE_TIME 337606980 /* the "delete" date: 12 Sep 1980 11:43:00 GMT */
/* -- session ------------------------------------------------------------------------------------------ */
#define SESSION_KEY "DUDA_SESSION" /* cookie name */
struct duda_api_session {
    int (*init)(char *store_name); /* [M] */
    int (*create)(duda_request_t *dr, char *name, char *value,
                  int expires); /* also sends the cookie */
    int (*destroy)(duda_request_t *dr, char *name);
    void *(*get)(duda_request_t *dr, char *name); /* value as C string, owned by caller; NULL */
    int (*isset)(duda_request_t *dr, char *name); /* 0 = yes, -1 = no */
};
/* -- console -------------------------------------------------------------------------------------------- */
struct duda_api_console {
    void (*_debug)(duda_request_t *dr, char *file, int line, char *fmt, ...);
    int (*_dashboard)(char *uri, struct web_service *ws); /* level 2 */
};
#define debug(dr, fmt, ...)                                                                        \
    _debug(dr, __FILE__, __LINE__, fmt,                                                            \
           ##__VA_ARGS__) /* append a line to the service's messages file */
#if DUDA_API_LEVEL >= 2
#define dashboard(uri) _dashboard(uri, self); /* [M] serve an HTML status page at uri */
#endif
/* -- xtime ------------------------------------------------------------------------------------------------ */
#define TIME_HOUR 3600
#define TIME_DAY (TIME_HOUR * 24)
struct duda_api_xtime {
    time_t (*now)(void);
    time_t (*tomorrow)(void); /* now + 24 h */
    time_t (*next_hours)(int hours);
};
/* -- global: one value per worker thread ------------------------------------------------------------------ */
typedef struct {
    pthread_key_t key;
    void *(*callback)(void *);
    void *data;
    struct mk_list _head;
} duda_global_t;
struct duda_api_global {
    void (*init)(duda_global_t *g, void *(*callback)(void *),
                 void *data); /* [M] callback runs once in every worker */
    int (*set)(duda_global_t g, const void *value);
    void *(*get)(duda_global_t g);
};
/* -- logger -------------------------------------------------------------------------------------------------- */
typedef struct {
    int enabled; /* services flip this at run time */
    duda_global_t global_key;
    char *name;
} duda_logger_t;
struct duda_api_logger {
    int (*print)(duda_logger_t *log, char *fmt,
                 ...); /* not from duda_main(); bytes written, 0 if disabled */
};
/* -- data: the service's data directory ------------------------------------------------------------------------ */
struct duda_api_data {
    int (*_set_path)(struct web_service *ws, const char *dir);
    const char *(*_get_path)(struct web_service *ws);
    char *(*_locate)(duda_request_t *dr, const char *file);
};
#define set_path(dir) _set_path(self, dir) /* data and fconf: directory must exist */
#define get_path() _get_path(self)         /* data and fconf: with trailing '/', or NULL */
#define locate(f)                                                                                  \
    _locate(dr, f) /* data only: needs a variable named dr in scope; freed with the request */
/* -- conf: service set-up, [M] ----------------------------------------------------------------------------------- */
struct duda_api_conf {
    void (*_force_redirect)(struct web_service *ws);
    void (*_bind_messages)(struct web_service *ws);
    void (*_service_name)(struct web_service *ws, const char *name);
    void (*_service_root)(struct web_service *ws);
};
#define bind_messages() _bind_messages(self)   /* stdout/stderr go to the service's messages file */
#define service_name(n) _service_name(self, n) /* change the URL prefix */
#define service_root(n)                                                                            \
    _service_root(self) /* own the whole virtual host; called with no argument */
#if DUDA_API_LEVEL < 2
#define force_redirect() _force_redirect(self) /* 301 to the same URL + '/' for static maps */
#endif
/* -- fconf: configuration files from ConfDir ---------------------------------------------------------------------- */
#define DUDA_CONFIG_STR MK_CONFIG_VAL_STR
#define DUDA_CONFIG_NUM MK_CONFIG_VAL_NUM
#define DUDA_CONFIG_BOOL MK_CONFIG_VAL_BOOL
#define DUDA_CONFIG_LIST MK_CONFIG_VAL_LIST
#define duda_string_line mk_string_line
struct duda_config {
    int created;
    char *file;
    struct mk_list sections;
};
struct duda_config_section {
    char *name;
    struct mk_list entries;
    struct mk_list _head;
};
struct duda_config_entry {
    char *key;
    char *val;
    struct mk_list _head;
};
struct duda_api_fconf {
    const char *(*_get_path)(struct web_service *ws);
    int (*_set_path)(struct web_service *ws, const char *dir);
    char *(*read_file)(const char *path); /* whole file, path as given; owned by caller */
    struct duda_config *(*_read_conf)(struct web_service *ws, const char *file);
    void (*free_conf)(struct duda_config *cnf);
    struct duda_config_section *(*section_get)(struct duda_config *cnf,
                                               const char *name); /* ignores case */
    void *(*section_key)(struct duda_config_section *s, char *key, int type);
    /* STR: char* owned by caller; NUM: (void*)(long); BOOL: 1/0, -1 if neither on nor off;
           LIST: struct mk_list* of duda_string_line; NULL when the key is absent */
};
#define read_conf(f) _read_conf(self, f) /* <ConfDir>/<f>; NULL on error */
/* -- event --------------------------------------------------------------------------------------------------------- */
#define DUDA_EVENT_READ MK_EPOLL_READ
#define DUDA_EVENT_WRITE MK_EPOLL_WRITE
#define DUDA_EVENT_RW MK_EPOLL_RW
#define DUDA_EVENT_SLEEP MK_EPOLL_SLEEP
#define DUDA_EVENT_WAKEUP MK_EPOLL_WAKEUP
#define DUDA_EVENT_LEVEL_TRIGGERED MK_EPOLL_LEVEL_TRIGGERED
#define DUDA_EVENT_EDGE_TRIGGERED MK_EPOLL_EDGE_TRIGGERED
#define DUDA_EVENT_OWNED MK_PLUGIN_RET_EVENT_OWNED       /* handled                       */
#define DUDA_EVENT_CLOSE MK_PLUGIN_RET_EVENT_CLOSE       /* handled, close the descriptor */
#define DUDA_EVENT_CONTINUE MK_PLUGIN_RET_EVENT_CONTINUE /* not handled                   */
struct duda_event_handler {
    int sockfd, mode, behavior;
    int (*cb_on_read)(int fd, void *data);
    int (*cb_on_write)(int fd, void *data);
    int (*cb_on_error)(int fd, void *data);
    int (*cb_on_close)(int fd, void *data);
    int (*cb_on_timeout)(int fd, void *data);
    void *cb_data;
};
struct duda_api_event {
    int (*add)(int fd, int mode, int behavior, /* [W] watch fd on this worker */
               int (*on_read)(int, void *), int (*on_write)(int, void *),
               int (*on_error)(int, void *), int (*on_close)(int, void *),
               int (*on_timeout)(int, void *), void *data);
    struct duda_event_handler *(*lookup)(int fd); /* [W] */
    int (*mode)(int fd, int mode, int behavior);  /* [W] */
    int (*delete)(int fd);                        /* [W] does not close(fd) */
    int (*signal)(uint64_t val);                  /* notify every worker */
    int (*create_signal_fd)(void); /* read end for own threads; each signal is 8 bytes */
    /* level 2: private loops for own threads */
    mk_event_loop_t *(*loop_create)(int size);
    int (*loop_add)(mk_event_loop_t *loop, int fd, int mask, void *data);
    int (*loop_delete)(mk_event_loop_t *loop, int fd);
    int (*loop_timeout_create)(mk_event_loop_t *loop,
                               int seconds); /* periodic; returns fd; read(2) 8 bytes each time */
    int (*loop_channel_create)(mk_event_loop_t *loop, int *r_fd, int *w_fd);
    int (*loop_wait)(mk_event_loop_t *loop); /* n ready, described in loop->events[0..n-1] */
    char *(*loop_backend)(void);             /* "epoll" */
};
/* -- worker ---------------------------------------------------------------------------------------------------------- */
struct duda_api_worker {
    int (*_spawn)(void *(*func)(void *), void *arg, struct mk_list *list);
    void (*pre_loop)(void (*func)(void *),
                     void *data); /* [M] level 2: run in each worker before its loop */
};
#define spawn(routine, arg)                                                                        \
    _spawn(routine, arg, &duda_worker_list) /* [M] detached thread started after duda_main() */

/* -- map: URL routing of level 1 ---------------------------------------------------------------------------------------- */
typedef struct duda_interface duda_interface_t; /* opaque to services */
typedef struct duda_method duda_method_t;
typedef struct duda_param duda_param_t;
struct duda_api_map {
    int (*_static_add)(const char *path, const char *cb_name, struct mk_list *list);
    int (*_static_add_ref)(const char *path, void (*cb)(duda_request_t *), struct mk_list *list);
    int (*_static_root)(struct web_service *ws, const char *cb_name);
    void (*_add_interface)(duda_interface_t *iface, struct mk_list *list);
    duda_interface_t *(*interface_new)(char *name);
    void (*interface_add_method)(duda_method_t *method, duda_interface_t *iface);
    duda_method_t *(*method_new)(char *name, char *cb_name, int n_params);
    duda_method_t *(*method_builtin_new)(char *name, void (*cb)(duda_request_t *), int n_params);
    void (*method_add_param)(duda_param_t *param, duda_method_t *method);
    duda_param_t *(*param_new)(char *name, short int max_len); /* max_len 0 = unlimited */
};
#define static_add(p, cb)                                                                          \
    _static_add(p, cb,                                                                             \
                &duda_map_urls) /* [M] prefix match, first registered wins; cb by exported name */
#define static_add_ref(p, cb) _static_add_ref(p, cb, &duda_map_urls) /* [M] same, cb by pointer */
#define static_root(cb) _static_root(self, cb) /* [M] the service's own root URL */
#define add_interface(i)                                                                           \
    _add_interface(i, &duda_map_interfaces) /* [M] /service/interface/method/params... */
#define duda_service_add_interface(i)                                                              \
    do {                                                                                           \
        map->add_interface(i);                                                                     \
    } while (0);
#define duda_map_add_interface(i) map->add_interface(i)

/* -- router: URL routing of level 2 ------------------------------------------------------------------------------------- */
struct duda_api_router {
    int (*_map)(char *pattern, void (*cb)(duda_request_t *), char *cb_name, struct mk_list *list);
    int (*_root)(struct web_service *ws, void (*cb)(void *), char *cb_name);
};
#if DUDA_API_LEVEL >= 2
#define map(pattern, cb)                                                                           \
    _map(pattern, cb, #cb,                                                                         \
         &duda_router_list) /* [M] "/a/b/" prefix or "/a/:var/b" fields, in order */
#define root(cb) _root(self, (void (*)(void *))cb, #cb) /* [M] the service's own root URL */
#endif
/* -- dthread: cooperative threads and channels of level 2 ------------------------------------------------------------------- */
#define DTHREAD_DEAD 0
#define DTHREAD_READY 1
#define DTHREAD_RUNNING 2
#define DTHREAD_SUSPEND 3
#define DTHREAD_CHANNEL_OK 0
#define DTHREAD_CHANNEL_BROKEN -EPIPE
typedef void (*duda_dthread_func)(void *data);
typedef struct duda_dthread_channel_t {
    int size, used, sender, receiver, ended, done;
    struct mk_list bufs, _head;
} duda_dthread_channel_t;
struct duda_api_dthread {
    int (*create)(duda_dthread_func func, void *data); /* id >= 0, not started */
    int (*status)(int id);
    void (*yield)(void); /* back to whoever resumed the scheduler */
    void (*resume)(int id);
    duda_dthread_channel_t *(*chan_create)(int size);
    void (*chan_free)(duda_dthread_channel_t *chan);
    int (*chan_get_sender)(duda_dthread_channel_t *chan);
    void (*chan_set_sender)(duda_dthread_channel_t *chan, int id);
    int (*chan_get_receiver)(duda_dthread_channel_t *chan);
    void (*chan_set_receiver)(duda_dthread_channel_t *chan, int id);
    int (*chan_done)(duda_dthread_channel_t *chan);             /* true: ended and drained */
    void (*chan_end)(duda_dthread_channel_t *chan);             /* sender: no more data */
    int (*chan_send)(duda_dthread_channel_t *chan, void *data); /* resumes the receiver when full */
    void *(*chan_recv)(duda_dthread_channel_t *chan);           /* resumes the sender when empty */
    int (*running)(void);                                       /* id, or -1 */
};

/* -- the pre-instantiated objects, and the calls without one: */
#include "duda_objects.h"
#endif
