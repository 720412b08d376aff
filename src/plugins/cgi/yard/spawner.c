/* SPDX-License-Identifier: Apache-2.0 */
#include "yard/spawner.h"

#include "kit/clock/clock.h"
#include "kit/counted/counted.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* A program that dies at once must not keep the server busy with starting it. */
enum { RETRY_MS = 1000 };

struct spawner {
    struct counted refs;
    struct mk_server *server;
    pthread_mutex_t lock; /* of what follows */
    int sock;             /* -1: it does not run */
    bool starting;
    int64_t started_ms; /* when that was last tried; 0: never */
    char name[];
};

struct spawner *cgi_spawner_new(struct mk_server *server, const char *name)
{
    size_t len = strlen(name) + 1;
    struct spawner *s = calloc(1, sizeof(*s) + len);

    if (!s)
        return NULL;
    counted_init(&s->refs, 1);
    s->server = server;
    (void)pthread_mutex_init(&s->lock, NULL);
    s->sock = -1;
    memcpy(s->name, name, len);
    return s;
}

const char *cgi_spawner_name(const struct spawner *s)
{
    return s->name;
}

struct spawner *cgi_spawner_get(struct spawner *s)
{
    counted_get(&s->refs);
    return s;
}

void cgi_spawner_put(struct spawner *s)
{
    if (!s || !counted_put(&s->refs))
        return;
    if (s->sock >= 0)
        (void)close(s->sock);
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
}

/* ---- starting ---- */

/* Nobody else starts it meanwhile. @return 0 or an error. */
static int start(struct spawner *s)
{
    int fd = mk_server_start_helper(s->server, s->name);

    pthread_mutex_lock(&s->lock);
    s->sock = fd < 0 ? -1 : fd;
    s->starting = false;
    pthread_mutex_unlock(&s->lock);
    return fd < 0 ? fd : 0;
}

int cgi_spawner_open(struct spawner *s)
{
    bool runs;

    pthread_mutex_lock(&s->lock);
    runs = s->sock >= 0 || s->starting;
    if (!runs) {
        s->starting = true;
        s->started_ms = clock_now_ms();
    }
    pthread_mutex_unlock(&s->lock);
    return runs ? 0 : start(s);
}

static void work(void *arg)
{
    struct spawner *s = arg;
    int err = start(s);

    if (err < 0)
        mk_server_log(s->server, MK_LOG_ERROR, "monkey-palm cannot be started why=\"%s\"",
                      mk_error_text(err));
    else
        mk_server_log(s->server, MK_LOG_WARN, "monkey-palm started again");
}

static void done(void *arg)
{
    cgi_spawner_put(arg);
}

/* Is this the time, and are we the one? Under the mutex. */
static bool claim(struct spawner *s)
{
    if (s->sock >= 0 || s->starting || clock_now_ms() - s->started_ms < RETRY_MS)
        return false;
    s->starting = true;
    s->started_ms = clock_now_ms();
    return true;
}

static void unclaim(struct spawner *s)
{
    pthread_mutex_lock(&s->lock);
    s->starting = false;
    pthread_mutex_unlock(&s->lock);
}

static void start_again(struct spawner *s, struct mk_worker *w)
{
    bool is_ours;

    pthread_mutex_lock(&s->lock);
    is_ours = claim(s);
    pthread_mutex_unlock(&s->lock);
    if (!is_ours)
        return;
    if (mk_offload_kind(w, MK_WORK_FILE, work, done, cgi_spawner_get(s)) < 0) {
        unclaim(s);
        cgi_spawner_put(s);
    }
}

/* ---- using ---- */

static int send_line(int sock, int line)
{
    char byte = 1;
    struct iovec piece = {&byte, 1};
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr msg = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
    struct cmsghdr *part = CMSG_FIRSTHDR(&msg);

    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(part), &line, sizeof(int));
    return sendmsg(sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void lose(struct spawner *s)
{
    (void)close(s->sock);
    s->sock = -1;
}

int cgi_spawner_send(struct spawner *s, struct mk_worker *w, int line)
{
    int err = -EPIPE;

    pthread_mutex_lock(&s->lock);
    if (s->sock >= 0)
        err = send_line(s->sock, line);
    if (s->sock >= 0 && (err == -EPIPE || err == -ECONNRESET || err == -ENOTCONN))
        lose(s);
    pthread_mutex_unlock(&s->lock);
    if (err == 0)
        return 0;
    start_again(s, w);
    return MK_E_AGAIN;
}

void cgi_spawner_look(struct spawner *s, struct mk_worker *w)
{
    pthread_mutex_lock(&s->lock);
    if (s->sock >= 0) {
        struct pollfd state = {.fd = s->sock};

        if (poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)))
            lose(s);
    }
    pthread_mutex_unlock(&s->lock);
    start_again(s, w);
}
