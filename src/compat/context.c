/* SPDX-License-Identifier: Apache-2.0 */
#include "compat/context.h"

#include "compat/settings_int.h"

#include <stdarg.h>
#include <stdio.h>

enum { GRACE_MS = 1000 };

static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct mk_compat *list;
static uintptr_t handles; /* given so far */
static _Thread_local const struct mk_compat *inside;

void mk_compat_warn(const char *call, const char *fmt, ...)
{
    char text[500];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    (void)fprintf(stderr, "libmonkey: %s: %s\n", call, text);
}

uintptr_t mk_compat_open(struct mk_compat *c)
{
    (void)pthread_mutex_init(&c->mutex, NULL);
    c->users = 1;
    pthread_mutex_lock(&list_mutex);
    c->handle = ++handles;
    c->next = list;
    list = c;
    pthread_mutex_unlock(&list_mutex);
    return c->handle;
}

struct mk_compat *mk_compat_get(uintptr_t handle, const char *call)
{
    struct mk_compat *c;

    pthread_mutex_lock(&list_mutex);
    for (c = list; c && c->handle != handle; c = c->next)
        ;
    if (c)
        c->users++;
    pthread_mutex_unlock(&list_mutex);
    if (c) {
        pthread_mutex_lock(&c->mutex);
        if (!c->is_closed)
            return c;
        mk_compat_put(c);
    }
    mk_compat_warn(call, handle ? "this context was freed" : "the context is NULL");
    return NULL;
}

struct mk_compat *mk_compat_get_idle(uintptr_t handle, const char *call)
{
    struct mk_compat *c = mk_compat_get(handle, call);

    if (!c || c->state == MK_COMPAT_IDLE)
        return c;
    mk_compat_warn(call, "the server is running: configure it before its start");
    mk_compat_put(c);
    return NULL;
}

void mk_compat_put(struct mk_compat *c)
{
    bool is_last;

    pthread_mutex_unlock(&c->mutex);
    pthread_mutex_lock(&list_mutex);
    is_last = --c->users == 0;
    pthread_mutex_unlock(&list_mutex);
    if (!is_last)
        return;
    mk_compat_forget(c, NULL);
    (void)pthread_mutex_destroy(&c->mutex);
    c->free(c);
}

void mk_compat_close(struct mk_compat *c)
{
    c->is_closed = true;
    pthread_mutex_lock(&list_mutex);
    for (struct mk_compat **at = &list; *at; at = &(*at)->next) {
        if (*at == c) {
            *at = c->next;
            c->users--;
            break;
        }
    }
    pthread_mutex_unlock(&list_mutex);
}

const struct mk_compat *mk_compat_enter(const struct mk_compat *c)
{
    const struct mk_compat *before = inside;

    inside = c;
    return before;
}

void mk_compat_leave(const struct mk_compat *before)
{
    inside = before;
}

/* @return a server that runs, or NULL after a warning. */
static struct mk_server *run(struct mk_config *config, const char *call)
{
    struct mk_server *server;
    int err = mk_server_new(&server, config, NULL);

    if (err > 0) {
        mk_compat_warn_of_faults(config, call);
        mk_config_free(config);
    } else if (err < 0) {
        mk_compat_warn(call, "%s", mk_error_text(err));
    }
    if (err != 0)
        return NULL;
    err = mk_server_listen(server);
    if (err == 0)
        err = mk_server_start(server);
    if (err == 0)
        return server;
    mk_compat_warn(call, "%s", mk_server_why(server));
    mk_server_free(server);
    return NULL;
}

bool mk_compat_start(struct mk_compat *c, const char *call)
{
    struct mk_config *config;
    struct mk_server *server = NULL;

    c->state = MK_COMPAT_BUSY;
    pthread_mutex_unlock(&c->mutex);
    config = mk_compat_config(c, call);
    if (config)
        server = run(config, call);
    pthread_mutex_lock(&c->mutex);
    c->server = server;
    c->state = server ? MK_COMPAT_RUNNING : MK_COMPAT_IDLE;
    return server;
}

bool mk_compat_stop(struct mk_compat *c, const char *call)
{
    struct mk_server *server = c->server;

    if (inside == c) {
        mk_compat_warn(call, "a callback cannot stop the server that called it");
        return false;
    }
    c->server = NULL;
    c->state = MK_COMPAT_BUSY;
    pthread_mutex_unlock(&c->mutex);
    mk_server_stop(server, GRACE_MS);
    (void)!mk_server_wait(server, -1);
    mk_server_free(server);
    pthread_mutex_lock(&c->mutex);
    c->state = MK_COMPAT_IDLE;
    return true;
}
