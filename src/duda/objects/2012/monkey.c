/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/plain/backtrace.h"
#include "objects/events/event.h"
#include "objects/plain/monkey_files.h"
#include "objects/plain/monkey_socket.h"
#include "objects/plain/monkey_text.h"
#include "objects/plain/monkey_time.h"
#include "objects/events/worker.h"
#include "service/request.h"

#include <monkey/server.h>

/* The object `monkey` of a service: it has facts of the server, so each service has its own table. */
struct monkey {
    struct plugin_api api;
    struct server_config config;
};

/* ---- the head of an answer, by the request's other half ---- */

static duda_request_t *request_of(struct session_request *sr)
{
    return sr ? &container_of(sr, struct mk_duda_request, sr)->dr : NULL;
}

static int header_add(struct session_request *sr, char *row, int len)
{
    return mk_duda_response.http_header_n(request_of(sr), row, len);
}

static void header_set_http_status(struct session_request *sr, int status)
{
    (void)mk_duda_response.http_status(request_of(sr), status);
}

/* ---- threads ---- */

static struct sched_list_node *sched_worker_info(void)
{
    const struct mk_duda_here *here = mk_duda_here();

    return here->service && here->worker
               ? mk_duda_local(here->service, here->worker, MK_DUDA_PART_MONKEY)
               : NULL;
}

struct call {
    void (*func)(void *);
    void *arg;
};

static void *run(void *arg)
{
    struct call call = *(struct call *)arg;

    free(arg);
    call.func(call.arg);
    return NULL;
}

static pthread_t worker_spawn(void (*func)(void *), void *arg)
{
    struct call *call = func ? malloc(sizeof(*call)) : NULL;
    pthread_t thread;

    if (!call)
        return 0;
    *call = (struct call){func, arg};
    if (mk_duda_thread_start(run, call, &thread) == 0)
        return thread;
    free(call);
    return 0;
}

static int worker_rename(const char *name)
{
    enum { NAME_MAX_OF_LINUX = 15 };
    char cut[NAME_MAX_OF_LINUX + 1];

    if (!name)
        return -1;
    (void)snprintf(cut, sizeof(cut), "%s", name);
    return pthread_setname_np(pthread_self(), cut) == 0 ? 0 : -1;
}

/* ---- events: descriptors that the service watches already ---- */

static int event_add(int fd, int mode, void *owner, unsigned int behavior)
{
    (void)owner;
    return mk_duda_watch_mode(fd, mode, (int)behavior);
}

static int event_change(int fd, int mode, unsigned int behavior)
{
    return mk_duda_watch_mode(fd, mode, (int)behavior);
}

static const struct plugin_api table = {
    .socket_cork_flag = mk_duda_socket_cork_flag,
    .socket_reset = mk_duda_socket_reset,
    .socket_set_tcp_nodelay = mk_duda_socket_set_tcp_nodelay,
    .socket_set_nonblocking = mk_duda_socket_set_nonblocking,
    .socket_connect = mk_duda_socket_connect,
    .socket_create = mk_duda_socket_create,
    .socket_close = mk_duda_socket_close,
    .socket_send = mk_duda_socket_send,
    .socket_read = mk_duda_socket_read,
    .socket_send_file = mk_duda_socket_send_file,
    .socket_ip_str = mk_duda_socket_ip_str,
    .pointer_set = mk_duda_pointer_set,
    .pointer_print = mk_duda_pointer_print,
    .pointer_to_buf = mk_duda_pointer_to_buf,
    .str_itop = mk_duda_str_itop,
    .str_search = mk_duda_str_search,
    .str_search_n = mk_duda_str_search_n,
    .str_char_search = mk_duda_str_char_search,
    .str_build = mk_duda_str_build,
    .str_dup = mk_duda_str_dup,
    .str_copy_substr = mk_duda_str_copy_substr,
    .str_split_line = mk_duda_str_split_line,
    .str_split_free = mk_duda_str_split_free,
    .file_to_buffer = mk_duda_file_to_buffer,
    .file_get_info = mk_duda_file_get_info,
    .header_add = header_add,
    .header_set_http_status = header_set_http_status,
    .sched_worker_info = sched_worker_info,
    .worker_spawn = worker_spawn,
    .worker_rename = worker_rename,
    .event_add = event_add,
    .event_del = mk_duda_watch_delete,
    .event_socket_change_mode = event_change,
    .time_unix = mk_duda_time_unix,
    .time_to_gmt = mk_duda_time_to_gmt,
    .time_human = mk_duda_time_human,
    .stacktrace = mk_duda_backtrace,
};

static int load(struct mk_duda_service *s)
{
    static char transport[] = "liana"; /* the interface's member is not const */
    struct monkey *m = mk_duda_state(s, MK_DUDA_PART_MONKEY);

    m->config = (struct server_config){.workers = (short)mk_server_workers(s->server),
                                       .serverport = (int)mk_server_port(s->server, 0),
                                       .standard_port = 80,
                                       .transport = transport};
    m->api = table;
    m->api.config = &m->config;
    m->api.mem_alloc = mk_duda_mem.alloc;
    m->api.mem_alloc_z = mk_duda_mem.alloc_z;
    m->api.mem_realloc = mk_duda_mem.realloc;
    m->api.mem_free = mk_duda_mem.free;
    s->objects.monkey = &m->api;
    return 0;
}

static int worker_start(struct mk_duda_service *s, struct mk_duda_worker *w)
{
    struct sched_list_node *node = mk_duda_local(s, w, MK_DUDA_PART_MONKEY);

    *node = (struct sched_list_node){.idx = (short)w->index,
                                     .tid = pthread_self(),
                                     .pid = (pid_t)syscall(SYS_gettid),
                                     .epoll_fd = -1};
    return 0;
}

const struct mk_duda_part mk_duda_monkey_part = {
    .service_size = sizeof(struct monkey),
    .local_size = sizeof(struct sched_list_node),
    .load = load,
    .worker_start = worker_start,
};
