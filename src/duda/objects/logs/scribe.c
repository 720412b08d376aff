/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/logs/scribe.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct text {
    char *bytes;
    size_t len, room;
};

struct mk_duda_file_queue {
    struct mk_duda_file_queue *next;
    struct mk_duda_scribe *scribe;
    char *path;
    int fd; /* the thread's own, -1: not open */
    struct text waiting;
    struct text leaving; /* the thread's own */
};

struct mk_duda_scribe {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool has_thread, is_over;
    struct mk_duda_file_queue *queues;
};

struct mk_duda_scribe *mk_duda_scribe_new(void)
{
    struct mk_duda_scribe *scribe = calloc(1, sizeof(*scribe));

    if (!scribe)
        return NULL;
    (void)pthread_mutex_init(&scribe->lock, NULL);
    (void)pthread_cond_init(&scribe->wake, NULL);
    return scribe;
}

int mk_duda_open_log(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    struct stat st;

    if (fd < 0)
        return -1;
    /* In a folder where everybody may write, the file may be somebody else's. */
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
        return fd;
    (void)close(fd);
    return -1;
}

/* ---- the thread ---- */

static void write_all(int fd, const struct text *text)
{
    size_t done = 0;

    while (done < text->len) {
        ssize_t n = write(fd, text->bytes + done, text->len - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* the disk is full: these are lost */
        done += (size_t)n;
    }
}

static void write_out(struct mk_duda_file_queue *queue)
{
    if (queue->fd < 0)
        queue->fd = mk_duda_open_log(queue->path);
    if (queue->fd >= 0)
        write_all(queue->fd, &queue->leaving);
    queue->leaving.len = 0;
}

/* @return a queue whose waiting text is now leaving; NULL: none has any */
static struct mk_duda_file_queue *next_work(struct mk_duda_scribe *scribe)
{
    for (struct mk_duda_file_queue *q = scribe->queues; q; q = q->next) {
        struct text empty = q->leaving;

        if (q->waiting.len == 0)
            continue;
        q->leaving = q->waiting;
        q->waiting = empty;
        return q;
    }
    return NULL;
}

static void *run(void *arg)
{
    struct mk_duda_scribe *scribe = arg;
    struct mk_duda_file_queue *work;

    (void)pthread_mutex_lock(&scribe->lock);
    for (;;) {
        work = next_work(scribe);
        if (!work && scribe->is_over)
            break;
        if (!work) {
            (void)pthread_cond_wait(&scribe->wake, &scribe->lock);
            continue;
        }
        (void)pthread_mutex_unlock(&scribe->lock);
        write_out(work);
        (void)pthread_mutex_lock(&scribe->lock);
    }
    (void)pthread_mutex_unlock(&scribe->lock);
    return NULL;
}

/* With the lock. */
static bool is_running(struct mk_duda_scribe *scribe)
{
    sigset_t all, before;

    if (scribe->has_thread || scribe->is_over)
        return scribe->has_thread && !scribe->is_over;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    scribe->has_thread = pthread_create(&scribe->thread, NULL, run, scribe) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return scribe->has_thread;
}

/* ---- queues ---- */

struct mk_duda_file_queue *mk_duda_scribe_add(struct mk_duda_scribe *scribe, const char *path,
                                              int fd)
{
    struct mk_duda_file_queue *queue = calloc(1, sizeof(*queue));

    if (queue)
        queue->path = strdup(path);
    if (!queue || !queue->path) {
        free(queue);
        if (fd >= 0)
            (void)close(fd);
        return NULL;
    }
    queue->scribe = scribe;
    queue->fd = fd;
    (void)pthread_mutex_lock(&scribe->lock);
    queue->next = scribe->queues;
    scribe->queues = queue;
    (void)pthread_mutex_unlock(&scribe->lock);
    return queue;
}

static bool has_room(struct text *text, size_t len)
{
    size_t room = text->room ? text->room : 1024;
    char *grown;

    if (text->len + len <= text->room)
        return true;
    if (text->len + len > MK_DUDA_QUEUE_MAX)
        return false;
    while (room < text->len + len)
        room *= 2;
    grown = realloc(text->bytes, room);
    if (!grown)
        return false;
    text->bytes = grown;
    text->room = room;
    return true;
}

bool mk_duda_queue_put(struct mk_duda_file_queue *queue, const char *text, size_t len)
{
    struct mk_duda_scribe *scribe = queue->scribe;
    struct text *to = &queue->waiting;
    bool is_taken;

    (void)pthread_mutex_lock(&scribe->lock);
    is_taken = is_running(scribe) && has_room(to, len);
    if (is_taken) {
        memcpy(to->bytes + to->len, text, len);
        to->len += len;
        (void)pthread_cond_signal(&scribe->wake);
    }
    (void)pthread_mutex_unlock(&scribe->lock);
    return is_taken;
}

/* ---- ends ---- */

void mk_duda_scribe_end(struct mk_duda_scribe *scribe)
{
    bool has_thread;

    (void)pthread_mutex_lock(&scribe->lock);
    has_thread = scribe->has_thread && !scribe->is_over;
    scribe->is_over = true;
    (void)pthread_cond_signal(&scribe->wake);
    (void)pthread_mutex_unlock(&scribe->lock);
    if (has_thread)
        (void)pthread_join(scribe->thread, NULL);
    for (struct mk_duda_file_queue *q = scribe->queues; q; q = q->next) {
        if (q->fd >= 0)
            (void)close(q->fd);
        q->fd = -1;
    }
}

void mk_duda_scribe_free(struct mk_duda_scribe *scribe)
{
    if (!scribe)
        return;
    mk_duda_scribe_end(scribe);
    for (struct mk_duda_file_queue *q = scribe->queues, *next; q; q = next) {
        next = q->next;
        free(q->waiting.bytes);
        free(q->leaving.bytes);
        free(q->path);
        free(q);
    }
    (void)pthread_cond_destroy(&scribe->wake);
    (void)pthread_mutex_destroy(&scribe->lock);
    free(scribe);
}
