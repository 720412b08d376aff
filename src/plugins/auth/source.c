/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOK_EVERY_MS = 1000 };

void auth_source_put(struct source *s)
{
    if (!s || !counted_put(&s->refs))
        return;
    auth_users_put(s->users);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* @return the file's text on the heap, terminated; NULL with *why, or without memory. */
static char *read_all(int fd, off_t size, size_t *len, const char **why)
{
    char *text = NULL;

    if (size > USERS_FILE_MAX) {
        *why = "it is larger than 4 MB";
        return NULL;
    }
    text = malloc((size_t)size + 1);
    if (!text)
        return NULL;
    *len = 0;
    while (*len < (size_t)size) {
        ssize_t n = read(fd, text + *len, (size_t)size - *len);

        if (n <= 0)
            break;
        *len += (size_t)n;
    }
    text[*len] = '\0';
    return text;
}

struct users *auth_source_read(int fd, struct stat *seen, struct users_fault *fault)
{
    struct users *users = NULL;
    struct stat st;
    size_t len = 0;
    char *text;

    *fault = (struct users_fault){0};
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        fault->why = "it is not a file";
        return NULL;
    }
    if (seen)
        *seen = st;
    text = read_all(fd, st.st_size, &len, &fault->why);
    if (!text)
        return NULL;
    users = auth_users_parse((struct mk_str){text, len}, fault);
    explicit_bzero(text, len);
    free(text);
    return users;
}

static int open_file(const struct source *s)
{
    return mk_server_open_file(s->server, s->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
}

struct source *auth_source_open(struct mk_server *server, const char *path,
                                struct users_fault *fault)
{
    struct source *s = calloc(1, sizeof(*s) + strlen(path) + 1);
    int fd;

    *fault = (struct users_fault){0};
    if (!s)
        return NULL;
    counted_init(&s->refs, 1);
    pthread_mutex_init(&s->lock, NULL);
    s->server = server;
    memcpy(s->path, path, strlen(path));
    fd = open_file(s);
    if (fd < 0) {
        fault->why = mk_error_text(fd);
    } else {
        s->users = auth_source_read(fd, &s->seen, fault);
        close(fd);
    }
    if (s->users)
        return s;
    auth_source_put(s);
    return NULL;
}

/* Whoever is busy looks, so nobody else writes. */
static void take_users(struct source *s, struct users *users)
{
    struct users *old = s->users;

    users->serial = old->serial + 1;
    pthread_mutex_lock(&s->lock);
    s->users = users;
    pthread_mutex_unlock(&s->lock);
    mk_server_log(s->server, MK_LOG_INFO, "users read again file=%s users=%zu", s->path,
                  users->count);
    auth_users_put(old);
}

static void read_again(struct source *s, int fd)
{
    struct users_fault fault;
    struct users *users = auth_source_read(fd, &s->seen, &fault);

    if (users)
        take_users(s, users);
    else
        mk_server_log(s->server, MK_LOG_ERROR,
                      "users kept, because the file has an error file=%s line=%u why=\"%s\"",
                      s->path, fault.line, fault.why ? fault.why : "out of memory");
}

/* On a thread of the offload pool. */
static void look(void *arg)
{
    struct source *s = arg;
    struct stat now;
    int fd;

    if (stat(s->path, &now) == 0 && is_same_file(&now, &s->seen))
        return;
    fd = open_file(s);
    if (fd < 0)
        return; /* it is being replaced, or gone: a later look will tell */
    read_again(s, fd);
    close(fd);
}

static void looked(void *arg)
{
    struct source *s = arg;

    atomic_store(&s->busy, false);
    auth_source_put(s);
}

struct users *auth_source_users(struct source *s, struct mk_worker *w)
{
    int64_t now_ms = mk_worker_now_ms(w);
    struct users *users;

    if (now_ms - atomic_load(&s->looked_ms) >= LOOK_EVERY_MS && !atomic_exchange(&s->busy, true)) {
        atomic_store(&s->looked_ms, now_ms);
        if (mk_offload_kind(w, MK_WORK_FILE, look, looked, s) == 0)
            counted_get(&s->refs); /* looked() comes later, on this worker */
        else
            atomic_store(&s->busy, false);
    }
    pthread_mutex_lock(&s->lock);
    users = auth_users_get(s->users);
    pthread_mutex_unlock(&s->lock);
    return users;
}
