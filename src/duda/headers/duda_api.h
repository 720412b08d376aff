/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_COMPAT_API_H
#define DUDA_COMPAT_API_H
#include "mk_core.h"
#ifdef __cplusplus
#define delete del
#define _end end
#endif

/*
 * The objects of a service. Each call says where it may be made:
 *
 *     [M]  in duda_main() alone
 *     [W]  on a worker: in any call-back of the server
 *     [R]  on the worker of the request `dr`, from its call-back to its end call-back
 *
 * Others may be made in all call-backs of the service, and where it is said on any thread. -1 and NULL are failures, 0 is
 * success; nothing that a service passes ends the server. A text is terminated.
 */

#define MAP_WS_MAX_PARAMS 8 /* parameters of a method of level 1 */
#define QS_ENTRIES_SIZE 32  /* pairs of a query that are kept */

/* `self`: the service */
struct web_service {
    mk_pointer name;                              /* the first segment of its paths */
    mk_pointer fixed_name;                        /* as the site's configuration has it */
    mk_pointer docroot, confdir, datadir, logdir; /* with a slash at the end; data NULL: none */
    int enabled, is_root, url_force_redirect, bind_messages;
};

/* `dr`: a request, valid until its end call-back has returned */
typedef struct duda_request {
    struct web_service *ws_root;
    mk_pointer appname, interface, method; /* level 1: segments of the path */
    mk_pointer params[MAP_WS_MAX_PARAMS];
    short int n_params;
    int socket; /* of the client; for request->validate_socket() */
    struct client_session *cs;
    struct session_request *sr;
    void (*end_callback)(struct duda_request *);
} duda_request_t;

typedef void *duda_callback_t;
struct duda_webservice {
    char *app_name;
    char *app_path;
};
struct duda_api_objects; /* what duda_main() is given */

/* msg: Lines for people, on standard output with the time and a colour. Any thread. */
struct duda_api_msg {
    /* A line as with printf; a line end is added. */
    DUDA_PRINTF(1, 2) void (*info)(const char *fmt, ...);
    /* Likewise, as a warning. */
    DUDA_PRINTF(1, 2) void (*warn)(const char *fmt, ...);
    /* Likewise, as an error. */
    DUDA_PRINTF(1, 2) void (*err)(const char *fmt, ...);
    /* Likewise, as a fault of the program; it goes on. */
    DUDA_PRINTF(1, 2) void (*bug)(const char *fmt, ...);
};

/* debug: Help for those who look for a fault. Any thread. */
struct duda_api_debug {
    /* Nothing; it is there for older services. */
    void (*trace)(void);
    /* Print the calls that led here. */
    void (*stacktrace)(void);
};

/* mem: The memory of all calls: that of malloc() and free(). Any thread. */
struct duda_api_mem {
    /* size bytes; NULL: no memory. */
    void *(*alloc)(const size_t size);
    /* Likewise, zeroed. */
    void *(*alloc_z)(const size_t size);
    /* Another size for a block, which may move. */
    void *(*realloc)(void *ptr, const size_t size);
    /* Give back a block of these calls, or of a call whose result the caller owns. */
    void (*free)(void *ptr);
};

/* gc: Memory that lasts as long as a request. */
struct duda_api_gc {
    /* [R] Free ptr (of mem or malloc()) when the request has ended, behind its end call-back. NULL is allowed. 0;
       -1: no memory, and the caller keeps it. */
    int (*add)(duda_request_t *dr, void *ptr);
#if DUDA_API_LEVEL >= 3
    /* [R] Level 3: likewise for what free() does not end: call end(arg). */
    int (*call)(duda_request_t *dr, void (*end)(void *arg), void *arg);
#endif
};

struct cJSON; /* json_t of packages/json/json.h */
struct duda_receiver;

/* request: What a client asks for. [R] */
struct duda_api_request {
    /* MK_TRUE: POST or PUT with a body. */
    int (*is_data)(duda_request_t *dr);
    /* MK_TRUE: the method is GET. */
    int (*is_get)(duda_request_t *dr);
    /* MK_TRUE: the method is POST. */
    int (*is_post)(duda_request_t *dr);
    /* MK_TRUE: the method is HEAD. */
    int (*is_head)(duda_request_t *dr);
    /* MK_TRUE: the method is PUT. */
    int (*is_put)(duda_request_t *dr);
    /* MK_TRUE: the method is DELETE. */
    int (*is_delete)(duda_request_t *dr);
    /* MK_TRUE: the whole value of Content-Type is `type`, in its case. */
    int (*is_content_type)(duda_request_t *dr, const char *type);
    /* A copy of the body, terminated, owned by the caller; *len: its bytes. NULL and 0: none. */
    void *(*get_data)(duda_request_t *dr, unsigned long *len);
    /* Bytes of the body; -1: none. */
    long (*content_length)(duda_request_t *dr);
    /* The value of the field of that name, in any case, with a blank before it; without the blank at level 3, or if
       the name is given with its colon. Owned by the caller; NULL: no such field. */
    char *(*header_get)(duda_request_t *dr, const char *name);
    /* 0: the value of that field begins with val, in its case. The name may have its colon. */
    int (*header_cmp)(duda_request_t *dr, const char *name, const char *val);
    /* Where the value of that field has val, in any case: an offset from 0; -1: nowhere. */
    int (*header_contains)(duda_request_t *dr, const char *name, const char *val);
    /* [W] MK_TRUE: a request of this worker has that descriptor. Any number is allowed. */
    int (*validate_socket)(int socket);
    /* [W] MK_TRUE: dr is a request of this worker that has not ended. Any pointer is allowed. */
    int (*validate_request)(duda_request_t *dr);
#if DUDA_API_LEVEL >= 3
    /* Level 3: the value of the field of that name, in any case, freed with the request; NULL: no such field. */
    char *(*header)(duda_request_t *dr, const char *name);
    /* Level 3: the body, terminated, borrowed until the request has ended; *len: its bytes, unless len is NULL. NULL:
       none, or a multipart form, whose parts `form` has. */
    const char *(*body)(duda_request_t *dr, size_t *len);
    /* Level 3: the body as a tree of JSON, for calls of the package json that only read, borrowed until the end call-back
       has returned. NULL: the request was answered, by 415 for another Content-Type, 413 for more than 1 MB, or 400, with
       line and column, for what is no JSON, has more than 32 levels or 10,000 values, or a key twice; the call-back
       returns. */
    const struct cJSON *(*json_body)(duda_request_t *dr);
    /* Level 3: take a body of any type piece by piece as it arrives, in a call-back of router->early(): as form->receive()
       takes a form, with one part, whose name and filename are NULL and whose type is that of the body. Of no body the part
       is empty. form->go_on() and form->progress() serve it too. 0; -1, and nothing is called: its body was read or is being
       received, the request has an answer, or no memory. */
    int (*read)(duda_request_t *dr, const struct duda_receiver *receiver, void *arg);
#endif
};

/* response: What the service answers. [R] All calls copy what they are given; they return -1, and log, when they
   come too late. */
struct duda_api_response {
    /* Send the head now; what is queued follows, and what is queued later as soon as the client takes it. In chunks
       unless the length was told. 0; -1: it was sent. */
    int (*send_headers)(duda_request_t *dr);
    /* The service prints the whole answer with its head; no status is needed. Before the first bytes are sent. */
    int (*headers_off)(duda_request_t *dr);
    /* 100 to 599. Required before end(); informational ones are none. */
    int (*http_status)(duda_request_t *dr, int status);
    /* A field "Name: value" without a line end. Fields of the framing and the connection are the server's: they are
       left out. -1: no such field, or more than 12 KB of them. */
    int (*http_header)(duda_request_t *dr, char *row);
    /* Likewise, of len bytes. */
    int (*http_header_n)(duda_request_t *dr, char *row, int len);
    /* The length in place of that of what is queued; what is queued beyond it is cut off. -1: none, so that the
       body is sent in chunks. */
    int (*http_content_length)(duda_request_t *dr, long length);
    /* The media type of a file name extension such as "html"; -1: it is unknown, and nothing is changed. */
    int (*http_content_type)(duda_request_t *dr, char *extension);
    /* Queue bytes. */
    int (*print)(duda_request_t *dr, char *raw, int len);
    /* Queue text as printf() makes it, of at most 64 MB. Text of a client belongs behind "%s", never into fmt. */
    DUDA_PRINTF(2, 3) int (*printf)(duda_request_t *dr, const char *fmt, ...);
    /* Queue a whole file, with the size that it has now; -1: it is missing, unreadable or no regular file. */
    int (*sendfile)(duda_request_t *dr, char *path);
    /* Queue count bytes of a file from offset on; count 0: to its end. -1 also if the range is not in the file. */
    int (*sendfile_range)(duda_request_t *dr, char *path, off_t offset, size_t count);
    /* Park the request: it goes on after the call-back returns, without a thread, for at most WaitTimeout of
       monkey-duda(5). */
    int (*wait)(duda_request_t *dr);
    /* End wait(); the service then ends the request. 0, also if it goes on already; -1: it did not wait. */
    int (*cont)(duda_request_t *dr);
    /* End the answer. end_cb, unless NULL, is called exactly once when all was sent or the client has left, which
       request->validate_request() tells. end() returns from the function that calls it, finalize() does not. -1: it
       was ended. */
    int (*_end)(duda_request_t *dr, void (*end_cb)(duda_request_t *));
    /* Send what is queued, after the head. Bytes that still wait; -1. */
    int (*flush)(duda_request_t *dr);
#if DUDA_API_LEVEL >= 3
    /* Level 3: a field, in place of those of that name. 0; -1 as for http_header(). */
    int (*header)(duda_request_t *dr, const char *name, const char *value);
    /* Level 3: answer with this status, 200 to 599, this media type (NULL: none, or what header() has set), and text as
       printf() makes it, in place of what is queued; with the fields that were set. It ends the answer, and returns. 0; -1: its head was sent, or no
       status. So for the next two. */
    DUDA_PRINTF(4, 5)
    int (*send)(duda_request_t *dr, int status, const char *type, const char *fmt, ...);
    /* Level 3: likewise with a Location: 301, 302, 303 (after POST), 307 or 308. */
    int (*redirect)(duda_request_t *dr, int status, const char *location);
    /* Level 3: likewise with an error from 400 on, for programs: application/problem+json. detail: what this request
       has wrong; NULL: nothing to add. RFC 9457 */
    int (*problem)(duda_request_t *dr, int status, const char *title, const char *detail);
    /* Level 3: say what the answer is about. version: a text that changes with it, such as a number or all of its
       bytes, which becomes its ETag; NULL: none. modified: seconds since 1970; 0: not known. MK_TRUE: the client has
       it already, or asks for another version: it was answered by 304 or 412, and the call-back returns. RFC 9110
       section 13 */
    int (*unchanged)(duda_request_t *dr, const char *version, time_t modified);
    /* Level 3: begin the answer, and call more(dr, arg) each time that the client has taken all that was queued: it
       queues the next piece, or ends the answer. So an answer of any length needs the memory of one piece. 0; -1. */
    int (*stream)(duda_request_t *dr, void (*more)(duda_request_t *dr, void *arg), void *arg);
    /* Level 3: in end call-backs and hooks of router->after(), the status that was sent; before, that of the service. 0:
       none; -1: the client has left. */
    int (*status)(duda_request_t *dr);
#endif
};
#define end(dr, cb)                                                                                \
    _end(dr, cb);                                                                                  \
    return;                            /* finish the response AND return from the (void) callback */
#define finalize(dr, cb) _end(dr, cb); /* same, without the return */

#if DUDA_API_LEVEL >= 3
/* sse: Level 3: server-sent events: an answer without an end, to which events are added as they happen. [R]

       static void events(duda_request_t *dr)
       {
           if (sse->open(dr, forget) == 0)
               remember(dr);
       }

   Texts are UTF-8. A comment every 15 seconds keeps quiet streams open in proxies. */
struct duda_api_sse {
    /* Begin the stream, with the fields that were set. end_cb, as of response->end(), is called when it has ended.
       0; -1: the head was sent. */
    int (*open)(duda_request_t *dr, void (*end_cb)(duda_request_t *));
    /* The id of the last event that the client saw before it connected again; NULL: none. Freed with the request. */
    char *(*last_id)(duda_request_t *dr);
    /* Send an event. type: NULL is "message"; id: NULL: none; data: lines, as many as there are. 0; 1: 64 KB wait for
       a slow client, and this one was left out; -1: no stream, or a type or id with a line end. */
    int (*send)(duda_request_t *dr, const char *type, const char *id, const char *data);
    /* End the stream behind what waits. 0; -1: there is none. */
    int (*close)(duda_request_t *dr);
};
#endif

/* param: Level 1: segments of the path behind the interface and the method, decoded. [R] */
struct duda_api_param_by_index {
    /* A segment from 0 on, terminated, owned by the caller; NULL: there are fewer. */
    char *(*get)(duda_request_t *dr, short int idx);
    /* 0: the whole segment is a decimal number, which is put into *res; -1: *res is unchanged. */
    int (*get_number)(duda_request_t *dr, short int idx, long *res);
    /* How many there are. */
    short int (*count)(duda_request_t *dr);
    /* Bytes of a segment; -1: there are fewer. */
    short int (*len)(duda_request_t *dr, short int idx);
};

/* param: Level 2: segments that a pattern of router->map() names. Level 3: and those that other patterns name. [R] */
struct duda_api_param_by_key {
    /* The segment at `:key`, decoded and terminated, freed with the request; NULL: the pattern has no such
       variable. */
    char *(*get)(duda_request_t *dr, const char *key);
    /* 0: the whole segment is a decimal number, which is put into *res; -1: *res is unchanged. */
    int (*get_number)(duda_request_t *dr, const char *key, long *res);
};

/* qs: Pairs key=value of the query, as they were sent: %XX and + are not decoded. Pairs without a key or `=` are
   left out; there are at most QS_ENTRIES_SIZE. [R] */
struct duda_api_qs {
    /* How many pairs there are. */
    int (*count)(duda_request_t *dr);
    /* The value of the first pair with this key, freed with the request; NULL: none. */
    char *(*get)(duda_request_t *dr, const char *key);
    /* The value of the pair of this number, from 0; NULL: there are fewer. */
    char *(*get_id)(duda_request_t *dr, int idx);
    /* 0: the first pair with this key has exactly this value; -1. */
    int (*cmp)(duda_request_t *dr, const char *key, const char *value);
};

#if DUDA_API_LEVEL >= 3
/* query: Level 3: values of the query, decoded and terminated. [R]

   The query "?q=a%20b&page=2" has a value "a b" of the name q. A value with NUL or with % but without two hexadecimal
   digits is malformed. */
struct duda_api_query {
    /* The first value of that name, freed with the request; "" if it has no `=`. NULL: absent or malformed. */
    char *(*get)(duda_request_t *dr, const char *name);
    /* 0: the whole value is a decimal number, which is put into *res; -1: *res is unchanged. */
    int (*get_number)(duda_request_t *dr, const char *name, long *res);
    /* The next pair, freed with the request. *at: 0 at first. Malformed pairs are left out. 0; -1: there are no more. */
    int (*next)(duda_request_t *dr, size_t *at, char **name, char **value);
};

/* A value of a form, or a file. Texts are terminated. */
struct duda_field {
    const char *name;
    const char *filename; /* NULL: it is a value. What the client says, never a path */
    const char *type;     /* media type of a file, as sent; NULL: none */
    const char *value;    /* all of it; NULL: it lies in fd */
    size_t length;
    int fd; /* a file without a name, for pread(); -1: it lies in value */
};

/* A part of a multipart form while it arrives: a value, or a file. Texts are terminated, and last as long as the part. */
struct duda_part {
    const char *name;
    const char *filename; /* NULL: it is a value. What the client says, never a path */
    const char *type;     /* media type, as sent; NULL: none */
};

/* How a form ended that was received part by part. */
enum duda_form_error {
    DUDA_FORM_OK,        /* all of it has come */
    DUDA_FORM_BAD,       /* it is malformed */
    DUDA_FORM_TOO_LARGE, /* more parts or bytes than are allowed */
    DUDA_FORM_STOPPED,   /* `begin`, `data` or `end` has failed, or answered */
    DUDA_FORM_NO_MEMORY,
    DUDA_FORM_LEFT /* the client has left: dr is NULL */
};
enum { DUDA_FORM_LATER = -1 }; /* a result of `begin`, `data` and `end` */

/* The functions that take a form part by part. Each of the first three returns 0; DUDA_FORM_LATER: taken, and no more (but
   up to 16 KB that are here already) before form->go_on(), by which a client that has left is noticed too; less: nothing
   more is wanted. */
struct duda_receiver {
    /* A part begins. [none] */
    int (*begin)(duda_request_t *dr, const struct duda_part *part, void *arg);
    /* Its next bytes. */
    int (*data)(duda_request_t *dr, const struct duda_part *part, const char *bytes, size_t length,
                void *arg);
    /* It is whole. [none] */
    int (*end)(duda_request_t *dr, const struct duda_part *part, void *arg);
    /* Called once after all of them, with an enum duda_form_error: it answers, and frees arg. */
    void (*done)(duda_request_t *dr, int error, void *arg);
    unsigned parts;    /* at most so many [1,000] */
    size_t length;     /* bytes of one part [no bound but MaxBodySize] */
    void *reserved[4]; /* zero */
};

/* form: Level 3: what a page sent in the body, as application/x-www-form-urlencoded or multipart/form-data. [R]

   Values are decoded; they last until the end call-back. The body was read before the call-back. Routes of
   router->post() and its like have forms of both types, those of router->map() urlencoded ones alone. A form
   of more than 1,000 fields was answered by 413, as was a multipart one with 256 KB of values, and by 400 one that is
   malformed; its files of more than 16 KB lie on the disk. Of an urlencoded one malformed pairs are left out. */
struct duda_api_form {
    /* The first value of that name; NULL: there is none. */
    const char *(*get)(duda_request_t *dr, const char *name);
    /* 0: the whole value is a decimal number, which is put into *res; -1: *res is unchanged. */
    int (*get_number)(duda_request_t *dr, const char *name, long *res);
    /* The first file of that name; NULL: there is none. One without a choice has an empty filename. */
    const struct duda_field *(*file)(duda_request_t *dr, const char *name);
    /* A value or file by its number from 0 on, in the order sent; NULL: there are fewer. */
    const struct duda_field *(*field)(duda_request_t *dr, unsigned idx);
    /* Write a file to a path, which must not exist. 0; -1: errno says why, and nothing is left there. It blocks. */
    int (*save)(duda_request_t *dr, const struct duda_field *file, const char *path);
    /* Take a multipart form part by part as it arrives, in a call-back of router->early(): with the functions of
       struct duda_receiver, which is copied. The request waits until `done` has answered. What the service does not take
       yet (DUDA_FORM_LATER) stays with the client. 0; -1, and nothing is called: it is no multipart form, its body was
       read or is being received, the request has an answer, or no memory. */
    int (*receive)(duda_request_t *dr, const struct duda_receiver *receiver, void *arg);
    /* Take more after DUDA_FORM_LATER. 0; -1: it does not wait. */
    int (*go_on)(duda_request_t *dr);
    /* How far it is: bytes of the body that have come, and into *total, unless NULL, how many there will be; 0: not
       known. -1: nothing is being received. */
    long long (*progress)(duda_request_t *dr, long long *total);
};
#endif

#if DUDA_API_LEVEL >= 3
/* {.name = "theme", .value = "dark"} is one for the site until the browser ends, not sent from other sites' pages */
struct duda_cookie {
    const char *name, *value;
    const char *path;      /* NULL: "/" */
    const char *domain;    /* and its subdomains; NULL: this host alone */
    const char *same_site; /* "Strict", "Lax" or "None"; NULL: "Lax" */
    long max_age;          /* seconds; 0: until the browser ends; less: the browser forgets it */
    int is_secure;         /* for https alone */
    int is_http_only;      /* not for scripts */
    int is_partitioned;    /* by the site of the page around; needs is_secure */
};
#endif

/* cookie: Cookies of the request and of the answer. [R] */
struct duda_api_cookie {
    /* Set a cookie for the paths of the service (level 1) or of the site (level 2). expires: seconds since 1970; 0:
       until the browser ends. -1: bytes that no cookie may have. */
    int (*set)(duda_request_t *dr, char *key, int key_len, char *val, int val_len, int expires);
    /* 0: *val and *val_len are the value, in the request and not terminated; -1: no such cookie. */
    int (*get)(duda_request_t *dr, char *key, char **val, int *val_len);
    /* 0: the cookie has exactly this value; -1. */
    int (*cmp)(duda_request_t *dr, char *key, char *val);
    /* Let the browser forget a cookie. */
    int (*destroy)(duda_request_t *dr, char *key, int key_len);
#if DUDA_API_LEVEL >= 3
    /* Level 3: the value of the first cookie of that name, terminated, freed with the request; NULL: none. */
    char *(*value)(duda_request_t *dr, const char *name);
    /* Level 3: set a cookie with all that it may have. 0; -1, which is logged: bytes that no cookie may have, or one
       that browsers ignore, such as same_site "None" without is_secure. RFC 6265 */
    int (*put)(duda_request_t *dr, const struct duda_cookie *cookie);
#endif
};
#define COOKIE_EXPIRE_TIME 337606980 /* the "delete" date: 12 Sep 1980 11:43:00 GMT */
#define SESSION_KEY                                                                                \
    "DUDA_SESSION" /* the cookie's name, followed by _ and that of the service on path / */
/* session: Values that the server keeps for a browser, found by a random cookie. They end with the server, unless
   SessionStore of monkey-duda(5) keeps them in a file or in Redis, where several servers share them. The manual page has
   the bounds. */
struct duda_api_session {
    /* [M] Needed before all others. 0, -1. */
    int (*init)(char *store_name);
    /* [R] Keep a value, and send the cookie. expires: seconds since 1970; 0: a day after its last use, and the
       browser forgets the cookie when it ends. A value of a new name, or a new one of a name that guard->login() or
       guard->csrf() has (any new value in a service without these guards), may be a log-in, so it gives the session a
       new id; requests on their way find what it had by the old one for 30 seconds. Names that begin with "_" are the
       server's own. 0, -1. */
    int (*create)(duda_request_t *dr, char *name, char *value, int expires);
    /* [R] Drop a value; with the last one the session ends. -1: there is none. */
    int (*destroy)(duda_request_t *dr, char *name);
    /* [R] A copy of the value, owned by the caller; NULL: none. */
    void *(*get)(duda_request_t *dr, char *name);
    /* [R] 0: there is such a value; -1. */
    int (*isset)(duda_request_t *dr, char *name);
};

/* console: What a service tells its author. */
struct duda_api_console {
    /* [R] Append a line with the time, the descriptor, the file and the line to /tmp/SERVICE.duda.messages. */
    DUDA_PRINTF(4, 5) void (*_debug)(duda_request_t *dr, char *file, int line, char *fmt, ...);
    /* [M] Level 2: answer with a page about the service at this path. -1: it does not begin with a slash, or has a
       colon. */
    int (*_dashboard)(char *uri, struct web_service *ws);
};
#define debug(dr, fmt, ...)                                                                        \
    _debug(dr, __FILE__, __LINE__, fmt,                                                            \
           ##__VA_ARGS__) /* append a line to the service's messages file */
#if DUDA_API_LEVEL >= 2
#define dashboard(uri) _dashboard(uri, self); /* [M] serve an HTML status page at uri */
#endif
#define TIME_HOUR 3600
#define TIME_DAY (TIME_HOUR * 24)
/* xtime: The clock of the worker, in whole seconds since 1970. Any thread. */
struct duda_api_xtime {
    /* The present time. */
    time_t (*now)(void);
    /* 24 hours later. */
    time_t (*tomorrow)(void);
    /* So many hours later. */
    time_t (*next_hours)(int hours);
};
typedef struct {
    pthread_key_t key;
    void *(*callback)(void *);
    void *data;
    struct mk_list _head;
} duda_global_t;
/* global: A value for each worker, and for each thread of worker->spawn(). */
struct duda_api_global {
    /* [M] callback(data) runs once on each; its result is the first value. NULL: the first value is NULL. */
    void (*init)(duda_global_t *g, void *(*callback)(void *), void *data);
    /* Set the value of this thread. 0, -1: init() was not called for it. */
    int (*set)(duda_global_t g, const void *value);
    /* The value of this thread. NULL if init() was not called for it. */
    void *(*get)(duda_global_t g);
#if DUDA_API_LEVEL >= 3
    /* [M] Level 3: likewise, and end(value) is called on each thread for the value that is there last, unless it is NULL:
       when the worker has no more use for this version of the service, or the thread ends. After a reload it may call
       what is for workers; at the end of the server it must only free. */
    void (*init_with_end)(duda_global_t *g, void *(*callback)(void *), void *data,
                          void (*end)(void *value));
#endif
};
typedef struct {
    int enabled; /* services flip this at run time */
    duda_global_t global_key;
    char *name;
} duda_logger_t;
/* logger: Files of lines in LogDir, written by a thread of the server. duda_logger_create() makes one in
   duda_main(). */
struct duda_api_logger {
    /* Append "[time] " and text as printf() makes it; a line end is the caller's. Bytes; 0: the log is not enabled;
       -1: the queue is full, or it was not made. Any thread. */
    DUDA_PRINTF(2, 3) int (*print)(duda_logger_t *log, char *fmt, ...);
};

/* data: The folder of the service's data: DataDir. */
struct duda_api_data {
    /* Another folder, which must exist. 0, -1. */
    int (*_set_path)(struct web_service *ws, const char *dir);
    /* The folder with a slash at its end; NULL: none. */
    const char *(*_get_path)(struct web_service *ws);
    /* [R] The folder and this name, freed with the request; NULL: there is no folder. The caller has a variable
       `dr`. */
    char *(*_locate)(duda_request_t *dr, const char *file);
};
#define set_path(dir) _set_path(self, dir) /* data and fconf: directory must exist */
#define get_path() _get_path(self)         /* data and fconf: with trailing '/', or NULL */
#define locate(f)                                                                                  \
    _locate(dr, f) /* data only: needs a variable named dr in scope; freed with the request */
/* conf: How the service presents itself. [M] */
struct duda_api_conf {
    /* Level 1: answer paths of static maps without a slash at their end by 301 to those with one. */
    void (*_force_redirect)(struct web_service *ws);
    /* Standard output and errors of the whole process go to /tmp/SERVICE.duda.messages from now on. */
    void (*_bind_messages)(struct web_service *ws);
    /* Another first segment of the paths. */
    void (*_service_name)(struct web_service *ws, const char *name);
    /* All paths of the site are the service's. */
    void (*_service_root)(struct web_service *ws);
};
#define bind_messages() _bind_messages(self)   /* stdout/stderr go to the service's messages file */
#define service_name(n) _service_name(self, n) /* change the URL prefix */
#define service_root(n)                                                                            \
    _service_root(self) /* own the whole virtual host; called with no argument */
#if DUDA_API_LEVEL < 2
#define force_redirect() _force_redirect(self) /* 301 to the same URL + '/' for static maps */
#endif
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

/* fconf: Files of its configuration, in ConfDir: [SECTION] lines, and below them lines of a key and a value. */
struct duda_api_fconf {
    /* The folder with a slash at its end; NULL: none. */
    const char *(*_get_path)(struct web_service *ws);
    /* Another folder, which must exist. 0, -1. */
    int (*_set_path)(struct web_service *ws, const char *dir);
    /* All bytes of the file at this path, terminated, owned by the caller; NULL. */
    char *(*read_file)(const char *path);
    /* Read a file of the folder; NULL: it cannot be read, or has a fault, which is logged with its line. */
    struct duda_config *(*_read_conf)(struct web_service *ws, const char *file);
    /* Free it with all that was found in it. */
    void (*free_conf)(struct duda_config *cnf);
    /* The first section of that name, in any case; NULL: none. */
    struct duda_config_section *(*section_get)(struct duda_config *cnf, const char *name);
    /* The value of a key by its type; NULL: no such key. STR: text, owned by the caller. NUM: a long in the
       pointer. BOOL: 1 or 0 in the pointer, -1: neither on nor off. LIST: a struct mk_list of duda_string_line. */
    void *(*section_key)(struct duda_config_section *s, char *key, int type);
};
#define read_conf(f) _read_conf(self, f) /* <ConfDir>/<f>; NULL on error */
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

/* event: Descriptors beside the connections, and signals between the threads of a service. */
struct duda_api_event {
    /* [W] Watch a descriptor on this worker. A call-back returns DUDA_EVENT_OWNED, _CLOSE (the server closes the
       descriptor) or _CONTINUE. An error, the other end's close or a time-out is told once: to on_timeout or
       on_close, else on_error, else on_read. 0; -1: it is none. One that is
       watched already is watched anew. */
    int (*add)(int fd, int mode, int behavior, int (*on_read)(int, void *),
               int (*on_write)(int, void *), int (*on_error)(int, void *),
               int (*on_close)(int, void *), int (*on_timeout)(int, void *), void *data);
    /* [W] What add() was given; NULL: it is not watched here. */
    struct duda_event_handler *(*lookup)(int fd);
    /* [W] Watch it for something else. DUDA_EVENT_SLEEP: for nothing; DUDA_EVENT_WAKEUP: as before that. 0, -1. */
    int (*mode)(int fd, int mode, int behavior);
    /* [W] Watch it no more; it stays open. 0, -1. */
    int (*delete)(int fd);
    /* Call the functions of duda_event_set_signal_callback() of all services once on each worker, and write val to
       the descriptors of create_signal_fd(). 0, -1. On workers and threads of worker->spawn(). */
    int (*signal)(uint64_t val);
    /* A descriptor for a thread of the service, from which it reads 8 bytes for each signal; -1. A thread that does
       not read them loses some. */
    int (*create_signal_fd)(void);
    /* Level 2: a loop for a thread of its own. size: events of one wait. NULL: no memory. */
    mk_event_loop_t *(*loop_create)(int size);
    /* Level 2: watch a descriptor. mask: MK_EVENT_READ, MK_EVENT_WRITE. 0, -1. */
    int (*loop_add)(mk_event_loop_t *loop, int fd, int mask, void *data);
    /* Level 2: watch it no more. 0, -1. */
    int (*loop_delete)(mk_event_loop_t *loop, int fd);
    /* Level 2: a descriptor that has 8 bytes to read every so many seconds; it is watched. -1. */
    int (*loop_timeout_create)(mk_event_loop_t *loop, int seconds);
    /* Level 2: a pipe whose reading end is watched. 0, -1. */
    int (*loop_channel_create)(mk_event_loop_t *loop, int *r_fd, int *w_fd);
    /* Level 2: wait for events. How many there are in loop->events; -1. */
    int (*loop_wait)(mk_event_loop_t *loop);
    /* Level 2: "epoll", which is not freed. */
    char *(*loop_backend)(void);
};

/* worker: Threads. [M] */
struct duda_api_worker {
    /* Start a thread of the service after duda_main(). It must not return while the server runs. 0, -1. */
    int (*_spawn)(void *(*func)(void *), void *arg, struct mk_list *list);
    /* Level 2: run a function once on each worker before its first request. */
    void (*pre_loop)(void (*func)(void *), void *data);
};
#define spawn(routine, arg)                                                                        \
    _spawn(routine, arg, &duda_worker_list) /* [M] detached thread started after duda_main() */

#if DUDA_API_LEVEL >= 3
typedef struct duda_timer duda_timer_t; /* opaque to services */
/* timer: Level 3: functions that are called later, on the worker that asks for it. [W]

   They may make all calls of a worker, also for its requests. worker->pre_loop() is the place for those that every
   worker has. Timers end with their service. */
struct duda_api_timer {
    /* Call cb(arg) once after so many milliseconds, exact to 100. The timer, valid until cb returns; NULL: no memory,
       or no worker. */
    duda_timer_t *(*after)(unsigned ms, void (*cb)(void *arg), void *arg);
    /* Likewise again and again, so long after each return, until it is cancelled. At least 100. */
    duda_timer_t *(*every)(unsigned ms, void (*cb)(void *arg), void *arg);
    /* Do not call it any more; also inside cb. 0; -1: there is no such timer on this worker. Any pointer is allowed. */
    int (*cancel)(duda_timer_t *timer);
};

/* task: Level 3: work that blocks, such as a query to a database, without keeping others waiting. [R]

       static void show(duda_request_t *dr)
       {
           struct search *s = new_search(query->get(dr, "q"));

           if (task->run(dr, search, answer, mem->free, s) < 0)
               response->problem(dr, 503, "Try again later", NULL);
       } */
struct duda_api_task {
    /* Park the request, call work(arg) on another thread, then done(dr, arg) on the worker, which answers; done is not
       called if the client has left, or WaitTimeout is over. work may block, and makes no calls that are [M], [W] or
       [R]. end(arg), unless NULL, is called once after both and the request, on any thread: mem->free, for example. A
       request has one task at a time; done may run the next. Tasks of one `work` wait for a thread first-in first-out, and
       different ones take turns. 0; -1: as many wait as HandlerQueue allows, it has a task or an answer already, or no
       memory, and nothing is called. */
    int (*run)(duda_request_t *dr, void (*work)(void *arg),
               void (*done)(duda_request_t *dr, void *arg), void (*end)(void *arg), void *arg);
};

/* journal: Level 3: what a service reports, for programs: each line is a JSON object with time, level, event and fields.
   Any thread of the service.

       journal->info("login", "user", name, "from", place, NULL);

   gives {"time":"2014-05-01T10:00:00Z","level":"info","event":"login","user":"ann","from":"home"}, and "request" where
   guard->request_id() has named the request whose call-back runs. The file is
   SERVICE.log in LogDir; without a LogDir it is /tmp/SERVICE.duda.messages. A thread of the server writes it. */
struct duda_api_journal {
    /* A line with this event, and pairs of texts: a name and its value, which may be any; NULL ends them. 0; -1: the
       line is longer than 4 KB, or the disk is too slow. */
    int (*info)(const char *event, ...);
    /* Likewise, of what should be looked at. */
    int (*warn)(const char *event, ...);
    /* Likewise, of what failed. */
    int (*error)(const char *event, ...);
};

typedef struct duda_metric duda_metric_t; /* opaque to services */
/* metrics: Level 3: numbers of a service among the metrics of the server, which its shell prints for Prometheus as
   monkey_duda_SERVICE_NAME. NULL in place of a metric is allowed. */
struct duda_api_metrics {
    /* [M] What only grows. name: letters, digits and `_`; help: one sentence. NULL: no name, there is one of that name,
       or no memory. */
    duda_metric_t *(*counter)(const char *name, const char *help);
    /* [M] Likewise what goes up and down. */
    duda_metric_t *(*gauge)(const char *name, const char *help);
    /* [M] Likewise how many seconds something takes: NAME_bucket, with bounds from 1 ms to 10 s, NAME_sum and NAME_count. */
    duda_metric_t *(*histogram)(const char *name, const char *help);
    /* Add to a counter, which takes nothing negative, or to a gauge. Any thread. */
    void (*add)(duda_metric_t *metric, double n);
    /* Set a gauge. Any thread. */
    void (*set)(duda_metric_t *metric, double n);
    /* Count a value of a histogram. Any thread. */
    void (*observe)(duda_metric_t *metric, double seconds);
};

typedef struct duda_cache duda_cache_t; /* opaque to services */
/* cache: Level 3: values by key, which all workers see. There is room for so many bytes; what was not used for the
   longest time makes room. Any thread. */
struct duda_api_cache {
    /* [M] A cache for max bytes with its keys, at least 4,096. It forgets a value seconds after it was set; 0: never.
       It ends with the service. NULL: no memory. */
    duda_cache_t *(*create)(size_t max, unsigned seconds);
    /* Keep a copy of len bytes, in place of those that the key has. 0; -1: more than a quarter of the cache, or no
       memory. */
    int (*set)(duda_cache_t *cache, const char *key, const void *value, size_t len);
    /* A copy of the value, terminated, owned by the caller; *len, unless NULL: its bytes. NULL: none. */
    void *(*get)(duda_cache_t *cache, const char *key, size_t *len);
    /* Forget a value. 0; -1: there is none. */
    int (*drop)(duda_cache_t *cache, const char *key);
    /* set() of a value that is forgotten after milliseconds, give or take 10, in place of the cache's seconds; 0: never. */
    int (*set_for)(duda_cache_t *cache, const char *key, const void *value, size_t len,
                   unsigned milliseconds);
};

/* How a call of `http` ended. */
enum duda_http_error {
    DUDA_HTTP_OK,         /* the whole answer is there, whatever its status */
    DUDA_HTTP_NO_NAME,    /* the server's name is unknown, or cannot be looked up now */
    DUDA_HTTP_REFUSED,    /* no connection: refused, unreachable, or its TLS handshake failed */
    DUDA_HTTP_TIMEOUT,    /* time_ms, silence_ms, or 5 seconds without a connection */
    DUDA_HTTP_BROKEN,     /* the connection ended before the answer was whole */
    DUDA_HTTP_BAD_ANSWER, /* what came is no answer of HTTP/1.1 */
    DUDA_HTTP_TOO_LARGE,  /* a body of more than max_body, or a head of more than 16 KB */
    DUDA_HTTP_REDIRECTS,  /* too many, or one that cannot be followed */
    DUDA_HTTP_STOPPED,    /* `part` or `more` has failed */
    DUDA_HTTP_NO_ROOM,    /* no memory or no descriptor, or 64 other servers are in use */
    DUDA_HTTP_NO_TLS      /* https, and the server has no plugin for it */
};
enum { DUDA_HTTP_LATER = -1 }; /* a result of `part` and `more` */

/* An answer, valid until the call-back that was given it returns. */
struct duda_http_answer {
    int error; /* enum duda_http_error */
    const char
        *why;   /* a sentence for logs: "127.0.0.1:81: Connection refused"; "" for DUDA_HTTP_OK */
    int status; /* 0: no head has come */
    const char *body;   /* terminated; "": none, not whole, or `part` was given it */
    size_t length;      /* of body */
    const char *url;    /* that was answered, after redirects */
    const char *fields; /* for http->field() */
};

/* What a call may say beside its URL. Members that are zero have the value in brackets. */
struct duda_http_options {
    const char *method; /* [GET; POST with a body] */
    const char *const
        *fields;      /* "Name: value", one after another, NULL at the end; copied [none] */
    const void *body; /* copied [none] */
    size_t length;    /* of body, or of all that `more` gives */
    /* In place of body: write up to size bytes of it. Their number; 0: there are no more; DUDA_HTTP_LATER: go on
       after http->go_on(); less: the call fails. Without a length it is sent in chunks. */
    long (*more)(duda_request_t *dr, char *bytes, size_t size, void *arg);
    /* Take bytes of the body of the answer as they come, in place of gathering them. 0; DUDA_HTTP_LATER: taken, and the
       next after http->go_on(); less: the call fails. */
    int (*part)(duda_request_t *dr, const struct duda_http_answer *answer, const char *bytes,
                size_t length, void *arg);
    /* Called once when nothing of the call is called any more: for arg. Also when the request has ended. */
    void (*end)(void *arg);
    unsigned time_ms;    /* for the whole call, with redirects [60,000] */
    unsigned silence_ms; /* in which the server takes and gives nothing [30,000] */
    size_t max_body;     /* bytes of the answer's body [1 MB; with `part` any] */
    unsigned redirects;  /* to follow, at most 100 [none: they are the answer] */
    void *reserved[4];   /* zero */
};
typedef void (*duda_http_done_fn)(duda_request_t *dr, const struct duda_http_answer *answer,
                                  void *arg);

/* http: Level 3: ask other servers by HTTP/1.1, without keeping others waiting. [W]

       static void show(duda_request_t *dr, const struct duda_http_answer *answer, void *arg)
       {
           if (answer->error)
               response->problem(dr, 502, "The shop does not answer", answer->why);
           else
               response->send(dr, 200, "application/json", "%s", answer->body);
       }

       static void prices(duda_request_t *dr)
       {
           if (http->get(dr, "http://127.0.0.1:8080/prices", show, NULL) < 0)
               response->problem(dr, 503, "Try again later", NULL);
       }

   A call parks its request, and continues it for each call-back, which gets it as dr. A request may have several calls
   under way. If it ends before them, because its client has left or for another reason, they are broken off, and of their
   functions `end` alone is called. Calls without a request, dr NULL, are broken off at the end of their service.

   Connections are kept for the next call to the same server: 16 a worker, and at most 64 are open; further calls wait.
   A call is repeated once if a kept connection turns out to be closed and the server cannot have acted on it.
   https needs one of the server's plugins tls or mbedtls, and certificates are verified as its section [TLS_BACKEND] says, by
   default against the authorities of the system. Redirects from https to http are not followed, and Authorization
   and Cookie are not passed to another server.

   A service that asks URLs of its clients' choice opens the network of its machine to them: compare them with a list first. */
struct duda_api_http {
    /* Ask a URL by GET, and call done(dr, answer, arg). The number of the call, > 0. -1, and nothing is called: the URL
       is none of http or https, the request has ended or is another worker's, 4,096 calls of the service are under way on
       this worker, or no memory. dr NULL: the call belongs to no request. */
    long (*get)(duda_request_t *dr, const char *url, duda_http_done_fn done, void *arg);
    /* Likewise by POST with a body of this type, which is copied. */
    long (*post)(duda_request_t *dr, const char *url, const char *type, const void *body,
                 size_t length, duda_http_done_fn done, void *arg);
    /* Likewise as the members of struct duda_http_options say. -1 also: a malformed method or field, a field of the
       framing, more than 8 KB of fields, both `body` and `more`, or more than 100 redirects. */
    long (*call)(duda_request_t *dr, const char *url, const struct duda_http_options *options,
                 duda_http_done_fn done, void *arg);
    /* The value of the first field of that name in any case; NULL: none. Valid as long as the answer. */
    const char *(*field)(const struct duda_http_answer *answer, const char *name);
    /* Go on with a call whose `part` or `more` has returned DUDA_HTTP_LATER. 0; -1: there is no such call on this worker, or
       it does not wait. Any number is allowed. */
    int (*go_on)(long call);
    /* Break a call off: of its functions `end` alone is called, before this returns or, inside one of them, after it.
       0; -1 as above. The request stays parked if it has other calls, and is continued otherwise. */
    int (*cancel)(long call);
};
#endif

typedef struct duda_interface duda_interface_t; /* opaque to services */
typedef struct duda_method duda_method_t;
typedef struct duda_param duda_param_t;
/* map: Level 1: which call-back has which paths. [M] Names are of functions that the service exports, and are
   looked up when the service is loaded. */
struct duda_api_map {
    /* Paths of the service that begin with `path`; the first that fits is called. 0, -1. */
    int (*_static_add)(const char *path, const char *cb_name, struct mk_list *list);
    /* Likewise, with a function that need not be exported. */
    int (*_static_add_ref)(const char *path, void (*cb)(duda_request_t *), struct mk_list *list);
    /* The path of the service itself. */
    int (*_static_root)(struct web_service *ws, const char *cb_name);
    /* Paths /SERVICE/INTERFACE/METHOD/PARAMETERS, which come before static ones. */
    void (*_add_interface)(duda_interface_t *iface, struct mk_list *list);
    /* An interface of that name; NULL: no memory. */
    duda_interface_t *(*interface_new)(char *name);
    /* Give a method to an interface. */
    void (*interface_add_method)(duda_method_t *method, duda_interface_t *iface);
    /* A method with exactly so many parameters, at most MAP_WS_MAX_PARAMS; NULL. */
    duda_method_t *(*method_new)(char *name, char *cb_name, int n_params);
    /* Likewise, with a function that need not be exported. */
    duda_method_t *(*method_builtin_new)(char *name, void (*cb)(duda_request_t *), int n_params);
    /* Give a parameter to a method, in their order. */
    void (*method_add_param)(duda_param_t *param, duda_method_t *method);
    /* A parameter of at most max_len bytes, 0: any; NULL: no memory. */
    duda_param_t *(*param_new)(char *name, short int max_len);
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

#if DUDA_API_LEVEL >= 3
/* Where a request has an input. */
enum duda_in { DUDA_IN_PATH = 1, DUDA_IN_QUERY, DUDA_IN_HEADER, DUDA_IN_FORM, DUDA_IN_BODY };

/* What it is, and what its member of the struct of the values is. */
enum duda_type {
    DUDA_TEXT = 1, /* const char *: UTF-8, terminated, without NUL */
    DUDA_INTEGER,  /* int64_t */
    DUDA_NUMBER,   /* double, finite */
    DUDA_FLAG,     /* int: 1 or 0; in texts true, on and 1, or false, off and 0 */
    DUDA_LIST      /* struct duda_list; not of paths and fields of the head */
};

struct duda_list {
    const void *items; /* an array of such members, or of the structs of objects */
    size_t count;
};

/* An input of a route: a row of its table, which ends with a row without a name. */
struct duda_input {
    const char *name; /* a member of the body by its path, as "address.city" */
    enum duda_in in;
    enum duda_type type;
    size_t to;       /* offsetof() its member */
    int is_required; /* one of the path always is */
    double min,
        max; /* of the value; characters of a text (both 0: at most 1,000); items of a list (100). Both 0: any;
                           max 0 below min: no upper one */
    const char *pattern; /* of a whole text: an extended regular expression (POSIX) */
    const char *choices; /* of a text: words separated by blanks, of which it is one */
    const char *preset;  /* the value of an absent one, as in a query; NULL: NULL or 0 */
    const char *about;   /* one sentence */
    /* Of a list: one row without a name for its values; or, with item_size, the table of its objects, for the struct of
       one. */
    const struct duda_input *items;
    size_t item_size;
};

/* All inputs of a route. Tables and their texts are static: they last as long as the service. */
struct duda_inputs {
    const char *about; /* what the route does: one sentence */
    size_t size;       /* of the struct of the values */
    const struct duda_input *rows;
};

/* An answer of a route: a row of its table, which ends with a row without a status. Several rows of one status have
   different types. Static, as tables of inputs. */
struct duda_answer {
    int status;       /* 200 to 599 */
    const char *type; /* of the body, without parameters: "application/json"; NULL: there is none */
    const char *about; /* one sentence */
    /* Of JSON: the table of its members, which has no others: name, type, is_required, min, max, pattern, choices, about and items
       matter. NULL: any JSON. */
    const struct duda_input *rows;
    int is_list; /* the body is an array of such objects */
};

/* input: Level 3: what a route takes, told by a table: checked before its call-back runs, and given to it in a struct. [R]

       struct search {
           const char *words;
           int64_t page;
       };

       static const struct duda_input search_rows[] = {
           {.name = "q", .in = DUDA_IN_QUERY, .type = DUDA_TEXT, .to = offsetof(struct search, words), .is_required = 1,
            .min = 1, .max = 80, .about = "Words of the title"},
           {.name = "page", .in = DUDA_IN_QUERY, .type = DUDA_INTEGER, .to = offsetof(struct search, page), .min = 1,
            .max = 1000, .preset = "1"},
           {0}};
       static const struct duda_inputs search = {"Look for books", sizeof(struct search), search_rows};

       static void find(duda_request_t *dr)
       {
           const struct search *s = input->values(dr);

           show(dr, s->words, s->page);
       }

       int duda_main()
       {
           router->describe("GET", "/books", find, &search);
           return 0;
       }

   A request with a wrong input never reaches the call-back: it is answered by 400 with application/problem+json, whose
   `errors` name each one with `in`, `name` and `detail`; the hooks of router->before() and guards have run. A value given twice is
   wrong unless it is a list; so is a member of the body that no row names. Of a query or form, names without a row are
   left out, and empty values of other types than text count as absent. A body is JSON with a Content-Type that says so (else 415), of at most 1 MB
   (413), 32 levels and 10,000 values; its faults are answered by 400 with line and column. A form that is malformed (400) or
   too large (413) is answered with application/problem+json, too. */
struct duda_api_input {
    /* The struct of the values, until the end call-back has returned; NULL: the route has no table. */
    const void *(*values)(duda_request_t *dr);
    /* MK_TRUE: the client gave the input of that name, of the rows that are in no list; its value is no preset then. */
    int (*is_given)(duda_request_t *dr, const char *name);
    /* [M] Add two routes to the group that is open: GET /openapi.json, a document of OpenAPI 3.1 about all routes of the
       service that name their methods, and GET /openapi.html, a page with a form for each of them. Both show what the
       tables say to those who may call them: guards and hooks of the group hold. title, version: of the service.
       0; -1: no title or version, or it was called before. */
    int (*publish)(const char *title, const char *version);
};

typedef struct duda_view duda_view_t; /* opaque to services */
/* view: Level 3: pages made of templates.

       <ul>{{#books}}<li><a href="{{link}}">{{title}}</a></li>{{/books}}</ul>
       {{^books}}<p>The shelf is empty.</p>{{/books}}

       static duda_view_t *shelf;

       static void show(duda_request_t *dr)
       {
           struct page page = {find_books()};

           view->send(dr, 200, shelf, page_rows, &page);
       }

       int duda_main()
       {
           shelf = view->load("shelf.html");
           router->get("/", show);
           return 0;
       }

   `{{name}}` is a value, escaped; nothing where there is none. `{{#name}}` to `{{/name}}` appears once for each item of a list, or once
   for any other value but false, 0, an empty text or none; names in it are looked for in the item first, and `{{.}}` is
   the item itself. `{{^name}}` to `{{/name}}` appears where that does not. `{{> file}}` is another file of the folder,
   `{{raw name}}` a value that is HTML already, and `{{! text}}` nothing. `{{address.city}}` is a member of an object.

   Templates are files of ConfDir, which `dudac watch` loads anew, and are read once. Values stand in text and in attributes with quotes; a template
   that has one where escaping does not protect, as in a script, a style or `onclick`, is refused, and so is one whose
   tags do not match, with file and line. A value that begins a URL, as in href, and has another scheme than http,
   https, mailto or tel becomes `#`. */
struct duda_api_view {
    /* [M] Read a template of ConfDir. NULL: it is wrong, larger than 1 MB with its partials, or has more than 16 sections
       or 8 partials in each other; the start is refused. */
    duda_view_t *(*load)(const char *file);
    /* [R] End the answer with a page of a struct: rows as of struct duda_inputs say what its members are; name, type, to,
       items and item_size matter alone. status: 200 to 599. 0; -1: the head was sent, or the page is longer than 8 MB or a
       million steps, and was answered by 500. */
    int (*send)(duda_request_t *dr, int status, const duda_view_t *view,
                const struct duda_input *rows, const void *values);
    /* [R] Likewise with a tree of the package json, or of request->json_body(). */
    int (*send_tree)(duda_request_t *dr, int status, const duda_view_t *view,
                     const struct cJSON *tree);
};
#endif

/* router: Which call-back has which paths. [M]

   Level 2 asks the patterns of map() in the order of the calls. Level 3 finds a route at once, however many there
   are, before it asks those:

       static void api(void)
       {
           router->before(check_key);
           router->get("/books", list);
           router->post("/books", add);
           router->get("/books/:id<int>", show);
       }

       int duda_main()
       {
           router->group("/api", api);
           return 0;
       }

   A pattern is a path below that of the service. `:name` is one segment; with a type only one that fits it:
   `<int>`, `<uint>` (numbers for param->get_number()), `<hex>`, `<word>` (letters, digits, `_`, `-`) or `<uuid>`.
   `*name`, at the end, is the rest of the path. Paths that are spelt out come before `:name`, and those before `*name`. A path
   may have several routes of a method whose types differ: they are asked in the order of the calls, one without types last,
   and where none fits, the next pattern is tried. Routes of GET answer HEAD; a path with routes of other methods only is
   answered by 405, OPTIONS by 204, both with Allow.
   A call that fails stops the start of the server, with its pattern. */
struct duda_api_router {
    /* Level 2: paths of the service that begin with "/a/b/"; or those whose segments are those of "/a/:name/b",
       where :name is any one, for param->get(). 0, -1. */
    int (*_map)(char *pattern, void (*cb)(duda_request_t *), char *cb_name, struct mk_list *list);
    /* Level 2: the path of the service itself. 0, -1. */
    int (*_root)(struct web_service *ws, void (*cb)(void *), char *cb_name);
#if DUDA_API_LEVEL >= 3
    /* Level 3: call cb for GET and HEAD. 0; -1: the pattern is malformed, longer than 1,024 bytes, has more than 16
       variables, or a route of this method without types has it. So for all methods. */
    int (*get)(const char *pattern, void (*cb)(duda_request_t *dr));
    /* Level 3: likewise for POST. */
    int (*post)(const char *pattern, void (*cb)(duda_request_t *dr));
    /* Level 3: likewise for PUT. */
    int (*put)(const char *pattern, void (*cb)(duda_request_t *dr));
    /* Level 3: likewise for PATCH. */
    int (*patch)(const char *pattern, void (*cb)(duda_request_t *dr));
    /* Level 3: likewise for DELETE. */
    int (*delete)(const char *pattern, void (*cb)(duda_request_t *dr));
    /* Level 3: likewise for methods that blanks separate, such as "GET POST"; NULL: every method. */
    int (*route)(const char *methods, const char *pattern, void (*cb)(duda_request_t *dr));
    /* Level 3: call routes(), whose patterns stand behind this prefix; they may be "" then. Groups may be in groups.
       0; -1: it does not begin with a slash, ends in one, or is too long. */
    int (*group)(const char *prefix, void (*routes)(void));
    /* Level 3: for the routes that follow in this group and the groups in it, call hook first. A request that hook
       ends, begins to answer or parks goes no further; other hooks come in the order of these calls. 0, -1. */
    int (*before)(void (*hook)(duda_request_t *dr));
    /* Level 3: for the same routes, call hook when a request has ended: the answer was sent, or the client has left, and
       the end call-back has returned. Hooks run in the reverse order of these calls. 0, -1. */
    int (*after)(void (*hook)(duda_request_t *dr));
    /* Level 3: as route(), for what `input` describes: the table of its inputs. 0; -1 also where the table is wrong: the
       start is refused with file, line, route and input. At most 64 rows, lists in lists 3 deep, and a struct of 64 KB. */
    int (*_describe)(const char *methods, const char *pattern, void (*cb)(duda_request_t *dr),
                     const struct duda_inputs *inputs, const char *file, int line);
    /* Level 3: as route(), but cb is called before the body of the request has come, for form->receive(). Where cb
       answers, the body is not read. */
    int (*early)(const char *methods, const char *pattern, void (*cb)(duda_request_t *dr));
    /* Level 3: as describe(), with the table of the answers that cb gives, at most 32, which input->publish() shows; inputs
       NULL: it has no table of them. What the server answers itself, as to wrong inputs, conditions and ranges, stands in no table.
       With CheckAnswers of the configuration, another status or type of cb is logged as an error. 0; -1 also where a table is wrong. */
    int (*_specify)(const char *methods, const char *pattern, void (*cb)(duda_request_t *dr),
                    const struct duda_inputs *inputs, const struct duda_answer *answers,
                    const char *file, int line);
#endif
};
#if DUDA_API_LEVEL >= 2
#define map(pattern, cb)                                                                           \
    _map(pattern, cb, #cb,                                                                         \
         &duda_router_list) /* [M] "/a/b/" prefix or "/a/:var/b" fields, in order */
#define root(cb) _root(self, (void (*)(void *))cb, #cb) /* [M] the service's own root URL */
#endif
#if DUDA_API_LEVEL >= 3
#define describe(methods, pattern, cb, inputs)                                                     \
    _describe(methods, pattern, cb, inputs, __FILE__, __LINE__) /* [M] a route with its inputs */
#define specify(methods, pattern, cb, inputs, answers)                                             \
    _specify(methods, pattern, cb, inputs, answers, __FILE__,                                      \
             __LINE__) /* [M] a route with its inputs and answers */
/* Which pages of other sites may use a group. Texts are lists, separated by blanks. */
struct duda_cors {
    const char
        *origins; /* "https://app.example http://localhost:3000"; "*": all, without credentials */
    const char *methods; /* NULL: "GET HEAD POST PUT PATCH DELETE" */
    const char *headers; /* fields that requests may have; NULL: "Content-Type"; "*": all */
    const char
        *exposed; /* fields of answers that scripts may read beyond the usual ones; NULL: none */
    long
        max_age; /* seconds for which browsers keep the answer to their question; 0: 600; less: none */
    int credentials; /* with cookies */
};

/* guard: Level 3: ready hooks for groups. [M]

   Each is added as by router->before(): for the routes that follow in the group, in the order of the calls. What a guard
   refuses is answered with application/problem+json. Those that stand before all hooks of the service decide by the
   head, so that a client that is refused sends no body; csrf() unless the body is a form and the client was given a token.

       static void api(void)
       {
           guard->request_id();
           guard->cors(&(struct duda_cors){.origins = "https://app.example"});
           guard->rate(100, 60);
           router->get("/books", list);

           guard->login("user", "/login");
           guard->csrf("user");
           router->post("/books", add);
       }

   A call that fails stops the start of the server. */
struct duda_api_guard {
    /* Give each request a request ID: that of its field X-Request-Id, of at most 64 letters, digits, `.`, `_` and `-`, or a
       new one. The answer has it in the same field, and lines of `journal` in "request". 0, -1. */
    int (*request_id)(void);
    /* [R] That ID, until the end call-back has returned; NULL: none. */
    const char *(*id)(duda_request_t *dr);
    /* CORS: let pages of other sites use these routes, by fields of struct duda_cors, which is copied. What browsers ask
       before (OPTIONS with Access-Control-Request-Method) is answered before all hooks, for each path of the group; 403 for other
       origins. Answers name Origin in Vary. It replaces that of the group around. 0; -1: no origins, one with a path, or
       "*" with credentials. Fetch standard, section 3.2 */
    int (*cors)(const struct duda_cors *cors);
    /* A rate limit: let a client send so many requests at once, and regain as many in so many seconds; others are answered
       by 429 with Retry-After. A client is an IPv4 address or a network of 64 bits: that of the connection, which a PROXY header may
       have named, or, from peers in TrustedProxies, the last one of X-Forwarded-For. The busiest 16,384 are remembered, on
       all workers together. 0; -1: no requests or no seconds, or more than a million. */
    int (*rate)(unsigned requests, unsigned seconds);
    /* Refuse requests without a value of this name in the session. page: a path of the service to which browsers are sent
       by 303, with `next`: the path and query that they asked for; NULL: none. What does not ask for text/html is answered
       by 401. 0; -1: no name, or session->init() was not called. */
    int (*login)(const char *name, const char *page);
    /* Against CSRF: refuse by 403 what another site's page made a browser send, that is, requests of methods other than GET,
       HEAD and OPTIONS without a token of their session, in the form as csrf_token or in the field X-CSRF-Token. name: the value of the
       session that says who has logged in: tokens end when it changes; NULL: none, so tokens end when a session begins,
       and when it gets a new id. 0; -1: session->init() was not called, or another name was given before. */
    int (*csrf)(const char *name);
    /* [R] A token for a form or script of this answer, freed with the request. Without a session its secret is in a cookie, so
       nothing of the answer was sent. NULL: csrf() was not called, or the answer can have no cookie. */
    const char *(*token)(duda_request_t *dr);
};
#endif
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
/* dthread: Level 2: functions that wait in their middle, all on the thread that makes them, and channels between
   them. */
struct duda_api_dthread {
    /* An id from 0 on; it does not run yet. -1: no memory. */
    int (*create)(duda_dthread_func func, void *data);
    /* DTHREAD_DEAD, _READY, _RUNNING or _SUSPEND. */
    int (*status)(int id);
    /* Go back to where resume() was called outside all of them. */
    void (*yield)(void);
    /* Run it until it yields, waits or ends. */
    void (*resume)(int id);
    /* A channel for size + 1 pointers; NULL: no memory. */
    duda_dthread_channel_t *(*chan_create)(int size);
    /* Free a channel that none of them uses any more. */
    void (*chan_free)(duda_dthread_channel_t *chan);
    /* The id of the one that sends. */
    int (*chan_get_sender)(duda_dthread_channel_t *chan);
    /* Who sends. */
    void (*chan_set_sender)(duda_dthread_channel_t *chan, int id);
    /* The id of the one that receives. */
    int (*chan_get_receiver)(duda_dthread_channel_t *chan);
    /* Who receives. */
    void (*chan_set_receiver)(duda_dthread_channel_t *chan, int id);
    /* True: it was ended, and all was received. */
    int (*chan_done)(duda_dthread_channel_t *chan);
    /* No more will be sent. */
    void (*chan_end)(duda_dthread_channel_t *chan);
    /* DTHREAD_CHANNEL_OK; DTHREAD_CHANNEL_BROKEN: the receiver has ended. The receiver runs first when the channel
       is full. */
    int (*chan_send)(duda_dthread_channel_t *chan, void *data);
    /* The next pointer. The sender runs first when the channel is empty. */
    void *(*chan_recv)(duda_dthread_channel_t *chan);
    /* The id of the one that runs; -1: none. */
    int (*running)(void);
};

/* -- the pre-instantiated objects, and the calls without one: */
#ifdef __cplusplus
#undef delete
#undef _end
#endif
#include "duda_objects.h"
#endif
