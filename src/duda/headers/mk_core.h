/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_COMPAT_MK_CORE_H
#define DUDA_COMPAT_MK_CORE_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
/* The plugin has these sizes of off_t and time_t on 32-bit machines too. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#ifndef _TIME_BITS
#define _TIME_BITS 64
#endif
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <stdint.h>
#include <time.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/types.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/socket.h>
#include <sys/epoll.h>

/* The compiler compares text as printf() makes it with what follows: of the call, the number of fmt, and of the first value. */
#define DUDA_PRINTF(fmt, first) __attribute__((format(__printf__, fmt, first)))

#undef printf /* with _FORTIFY_SOURCE clang's is a macro, and response->printf() is none */

static_assert(sizeof(off_t) == 8,
              "compile with -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64, or include webservice.h first");

#ifndef DUDA_API_LEVEL
#define DUDA_API_LEVEL 1
#endif
/*
 * In C++17, at level 3: a word of the language is no name, so delete is del; and names that are macros in C would be those of
 * the standard library. response->end() does not return then, like finalize(), which is C's alone; the others are called
 * with all of their arguments, as in conf->_service_root(self).
 */
#ifdef __cplusplus
#if DUDA_API_LEVEL < 3
#error "services in C++ need DUDA_API_LEVEL 3"
#endif
#define DUDA_EXTERN_C extern "C"
#else
#define DUDA_EXTERN_C
#endif
/* marks the per-service object pointers: one instance per .duda/.dpkg, shared by all of its
   translation units, never exported, never preempted by the server's own symbols            */
#define DUDA_OBJ __attribute__((weak, visibility("hidden")))

#define MK_FALSE 0
#define MK_TRUE 1
#define MK_ERROR -1
#define MK_EXPORT __attribute__((visibility("default")))
#define MK_MAX_PATH 1024
#define MK_INFO 0x1000
#define MK_ERR 0x1001
#define MK_WARN 0x1002
#define MK_BUG 0x1003
#define MK_STR_SENSITIVE 0
#define MK_STR_INSENSITIVE 1
#define MK_CONFIG_VAL_STR 0
#define MK_CONFIG_VAL_NUM 1
#define MK_CONFIG_VAL_BOOL 2
#define MK_CONFIG_VAL_LIST 3
#define mk_unlikely(x) __builtin_expect((x), 0)
#define mk_likely(x) __builtin_expect((x), 1)
#define mk_is_bool(x) (((x) == MK_TRUE || (x) == MK_FALSE) ? 1 : 0)
#define UNUSED_PARAM __attribute__((unused))
#define PLUGIN_TRACE(...)                                                                          \
    do {                                                                                           \
    } while (0) /* tracing; a no-op unless built with tracing */
#define ANSI_RESET "\033[0m"
#define ANSI_BOLD "\033[1m"
#define ANSI_CYAN "\033[36m"
#define ANSI_MAGENTA "\033[35m"
#define ANSI_RED "\033[31m"
#define ANSI_YELLOW "\033[33m"
#define ANSI_BLUE "\033[34m"
#define ANSI_GREEN "\033[32m"
#define ANSI_WHITE "\033[37m"

typedef struct {
    char *data;
    unsigned long len;
} mk_pointer;                /* not NUL terminated */
typedef mk_pointer mk_ptr_t; /* the DST-2 name      */

/* request methods, as stored in dr->sr->method */
#define MK_HTTP_METHOD_UNKNOWN -1
#define MK_HTTP_METHOD_GET 0
#define MK_HTTP_METHOD_POST 1
#define MK_HTTP_METHOD_HEAD 2
#define MK_HTTP_METHOD_PUT 3
#define MK_HTTP_METHOD_DELETE 4
#define MK_HTTP_METHOD_OPTIONS 5
/* status names some services use instead of numbers */
#define MK_HTTP_OK 200
#define MK_HTTP_CREATED 201
#define MK_HTTP_NOCONTENT 204
#define MK_REDIR_MOVED 301
#define MK_REDIR_MOVED_T 302
#define MK_NOT_MODIFIED 304
#define MK_CLIENT_BAD_REQUEST 400
#define MK_CLIENT_UNAUTH 401
#define MK_CLIENT_FORBIDDEN 403
#define MK_CLIENT_NOT_FOUND 404
#define MK_CLIENT_METHOD_NOT_ALLOWED 405
#define MK_SERVER_INTERNAL_ERROR 500
#define MK_SERVER_NOT_IMPLEMENTED 501
#define MK_CUSTOM_STATUS 7 /* status line taken from headers.custom_status */

/* intrusive circular doubly linked list */
struct mk_list {
    struct mk_list *prev, *next;
};
static inline void mk_list_init(struct mk_list *list)
{
    list->prev = list->next = list;
}
static inline void mk_list_add(struct mk_list *entry, struct mk_list *head) /* append at tail */
{
    entry->prev = head->prev;
    entry->next = head;
    head->prev->next = entry;
    head->prev = entry;
}
static inline void mk_list_del(struct mk_list *entry)
{
    entry->prev->next = entry->next;
    entry->next->prev = entry->prev;
    entry->prev = entry->next = NULL;
}
static inline int mk_list_is_empty(struct mk_list *head) /* 0 when EMPTY, -1 when not (sic) */
{
    return head->next == head ? 0 : -1;
}
#ifndef container_of
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))
#endif
#define mk_list_foreach(cur, head) for ((cur) = (head)->next; (cur) != (head); (cur) = (cur)->next)
#define mk_list_foreach_safe(cur, nxt, head)                                                       \
    for ((cur) = (head)->next, (nxt) = (cur)->next; (cur) != (head);                               \
         (cur) = (nxt), (nxt) = (cur)->next)
#define mk_list_entry(ptr, type, member) container_of(ptr, type, member)
#define mk_list_entry_first(head, type, member) container_of((head)->next, type, member)
#define mk_list_entry_last(head, type, member) container_of((head)->prev, type, member)
#define mk_list_entry_next(ptr, type, member, head)                                                \
    ((ptr)->next == (head) ? container_of((head)->next, type, member)                              \
                           : container_of((ptr)->next, type, member))

struct mk_string_line {
    char *val;
    int len;
    struct mk_list _head;
};

struct file_info {
    off_t size;
    time_t last_modification;
    int flags_read_only;
    unsigned char exists, is_file, is_link, is_directory, exec_access, read_access;
};

/* request as seen by the HTTP server; members services/packages really touch */
struct response_headers {
    int status;               /* 0 until http_status() */
    int connection;           /* -1: server adds no Connection header */
    mk_pointer custom_status; /* full status line incl. CRLF, with MK_CUSTOM_STATUS */
    long content_length;
    char *location;
};
struct session_request {
    int protocol, keep_alive, method;
    long port;
    mk_pointer method_p;
    mk_pointer uri;           /* as sent */
    mk_pointer uri_processed; /* percent-decoded path, without query string */
    mk_pointer protocol_p;
    mk_pointer body;
    mk_pointer query_string; /* raw, not decoded; data == NULL when absent */
    int content_length;
    mk_pointer content_type, connection, host, host_port, if_modified_since, range;
    mk_pointer data; /* request body */
    mk_pointer real_path;
    struct response_headers headers;
};
struct client_session {
    int socket;
    int status;
};

struct server_config { /* monkey->config */
    short int workers; /* number of worker threads */
    int serverport, standard_port, timeout, keep_alive_timeout, max_request_size;
    char *serverconf, *listen_addr, *transport;
};
struct sched_list_node {
    short int idx;
    pthread_t tid;
    pid_t pid;
    int epoll_fd;
};

/* event values: the numbers are free, the names are not */
#define MK_EPOLL_READ 0
#define MK_EPOLL_WRITE 1
#define MK_EPOLL_RW 2
#define MK_EPOLL_SLEEP 3
#define MK_EPOLL_WAKEUP 4
#define MK_EPOLL_LEVEL_TRIGGERED 2
#define MK_EPOLL_EDGE_TRIGGERED EPOLLET
#define MK_PLUGIN_RET_EVENT_OWNED -400
#define MK_PLUGIN_RET_EVENT_CLOSE -500
#define MK_PLUGIN_RET_EVENT_CONTINUE -600

/* level 2: standalone event loops */
#define MK_EVENT_READ 1
#define MK_EVENT_WRITE 4
#define MK_EVENT_SLEEP 8
#define MK_EVENT_LEVEL 256
#define MK_EVENT_EDGE 512
typedef struct {
    int fd;
    uint32_t mask;
    void *data;
} mk_event_t;
typedef struct {
    int size;
    int n_events;
    mk_event_t *events;
    void *data;
} mk_event_loop_t;

/* the `monkey` object: the subset of the server API found in real services and packages */
struct plugin_api {
    /* sockets (non-blocking helpers; go through TLS when the connection is TLS) */
    int (*socket_cork_flag)(int fd, int on);
    int (*socket_reset)(int fd);
    int (*socket_set_tcp_nodelay)(int fd);
    int (*socket_set_nonblocking)(int fd);
    int (*socket_connect)(char *host, int port);
    int (*socket_create)(void);
    int (*socket_close)(int fd);
    int (*socket_send)(int fd, const void *buf, size_t len);
    int (*socket_read)(int fd, void *buf, int len);
    int (*socket_send_file)(int fd, int file_fd, off_t *offset, size_t count);
    int (*socket_ip_str)(int fd, char **buf, int size, unsigned long *len);
    struct server_config *config;
    /* memory (same allocator as `mem`) */
    void *(*mem_alloc)(const size_t size);
    void *(*mem_alloc_z)(const size_t size);
    void *(*mem_realloc)(void *ptr, const size_t size);
    void (*mem_free)(void *ptr);
    void (*pointer_set)(mk_pointer *p, char *str);
    void (*pointer_print)(mk_pointer p);
    char *(*pointer_to_buf)(mk_pointer p); /* NUL-terminated copy, owned by caller */
    /* strings */
    int (*str_itop)(uint64_t value, mk_pointer *p); /* decimal + CRLF into p->data */
    int (*str_search)(const char *hay, const char *needle, int sensitive); /* offset or -1 */
    int (*str_search_n)(const char *hay, const char *needle, int sensitive, int len);
    int (*str_char_search)(const char *str, int c, int len); /* level 2 */
    char *(*str_build)(char **buf, unsigned long *len, const char *fmt,
                       ...); /* *buf must be NULL; owned by caller */
    char *(*str_dup)(const char *str);
    char *(*str_copy_substr)(const char *str, int from, int to); /* [from,to), owned by caller */
    struct mk_list *(*str_split_line)(
        const char *line); /* list of struct mk_string_line, split on blanks */
    void (*str_split_free)(struct mk_list *list);
    /* files */
    char *(*file_to_buffer)(const char *path);
    int (*file_get_info)(const char *path, struct file_info *info);
    /* response headers */
    int (*header_add)(struct session_request *sr, char *row, int len);
    void (*header_set_http_status)(struct session_request *sr, int status);
    /* threads, events, time */
    struct sched_list_node *(*sched_worker_info)(void); /* NULL off the server workers */
    pthread_t (*worker_spawn)(void (*func)(void *), void *arg);
    int (*worker_rename)(const char *name);
    int (*event_add)(int fd, int mode, void *owner, unsigned int behavior);
    int (*event_del)(int fd);
    int (*event_socket_change_mode)(int fd, int mode, unsigned int behavior);
    int (*time_unix)(void);
    int (*time_to_gmt)(char **buf,
                       time_t t);    /* "Tue, 01 Jan 2030 00:00:00 GMT\r\n", returns length */
    mk_pointer *(*time_human)(void); /* "[20/Nov/2026 20:50:23 +0000]" */
    void (*stacktrace)(void);
};
#endif
