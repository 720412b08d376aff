/* SPDX-License-Identifier: Apache-2.0 */
#include "compat/1.8/mk_lib_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Keys, virtual hosts and handlers of a program as settings. */

enum { LARGEST_HEAD = 1 << 20 };

/* @return the server's name of a key; NULL: there is none. */
static const char *find_key(const char *const *keys, const char *key)
{
    for (; *keys; keys++) {
        if (strcasecmp(*keys, key) == 0)
            return *keys;
    }
    return NULL;
}

/* Bytes here; the server's bound of a body is another one, and that of a head has a bound itself. */
static bool set_request_size(struct mk_compat *c, const char *value)
{
    char text[40];

    (void)snprintf(text, sizeof(text), "%.30sB", value);
    if (!mk_compat_set(c, NULL, "SERVER", "MaxBodySize", text, false))
        return false;
    if (strtoll(value, NULL, 10) > LARGEST_HEAD)
        (void)snprintf(text, sizeof(text), "%dB", LARGEST_HEAD);
    return mk_compat_set(c, NULL, "SERVER", "MaxRequestSize", text, false);
}

static bool set_server(struct mk_compat *c, const char *key, const char *value)
{
    if (strcmp(key, "MaxRequestSize") == 0)
        return set_request_size(c, value);
    if (strcmp(key, "Workers") == 0 && strtol(value, NULL, 10) < 0)
        value = "0";
    return mk_compat_set(c, NULL, "SERVER", key, value, strcmp(key, "Listen") == 0);
}

static bool set_host(struct mk_compat *c, const char *site, const char *key, const char *value)
{
    const bool is_name = strcmp(key, "Name") == 0;

    return mk_compat_set(c, *site ? site : NULL, "HOST", is_name ? "ServerName" : key, value,
                         is_name);
}

/* @param vhost  NULL: keys of the server. @return whether all were kept; they are checked later. */
static bool set_all(struct mk_compat *c, const struct mk_lib_vhost *vhost, va_list *list,
                    const char *call)
{
    static const char *const server_keys[] = {
        "Listen",           "Workers", "Timeout",         "KeepAlive",   "MaxKeepAliveRequest",
        "KeepAliveTimeout", "UserDir", "IndexFile",       "HideVersion", "Resume",
        "MaxRequestSize",   "SymLink", "DefaultMimeType", "FDT",         NULL};
    static const char *const host_keys[] = {"Name", "DocumentRoot", NULL};

    for (const char *word = va_arg(*list, const char *); word; word = va_arg(*list, const char *)) {
        const char *key = find_key(vhost ? host_keys : server_keys, word);
        const char *value = va_arg(*list, const char *);

        if (!key || !value) {
            mk_compat_warn(call, key ? "%s has no value" : "there is no key \"%s\"", word);
            return false;
        }
        if (!(vhost ? set_host(c, vhost->site, key, value) : set_server(c, key, value))) {
            mk_compat_warn(call, "out of memory");
            return false;
        }
    }
    return true;
}

static struct mk_lib_vhost *find_vhost(struct mk_lib *lib, int vid, const char *call)
{
    struct mk_lib_vhost *v = vid < 0 ? NULL : lib->vhosts;

    for (int i = 0; v && i < vid; i++)
        v = v->next;
    if (!v)
        mk_compat_warn(call, "there is no virtual host %d", vid);
    return v;
}

int mk_lib_config_set(mk_ctx_t *ctx, ...)
{
    static const char call[] = "mk_config_set";
    struct mk_compat *c = mk_compat_get_idle((uintptr_t)ctx, call);
    struct mk_compat_setting *before;
    va_list list;
    bool done;

    if (!c)
        return -1;
    before = c->settings;
    va_start(list, ctx);
    done = set_all(c, NULL, &list, call);
    va_end(list);
    return mk_compat_finish(c, before, done, call) ? 0 : -1;
}

int mk_vhost_set(mk_ctx_t *ctx, int vid, ...)
{
    struct mk_compat *c = mk_compat_get_idle((uintptr_t)ctx, __func__);
    const struct mk_lib_vhost *vhost;
    struct mk_compat_setting *before;
    va_list list;
    bool done;

    if (!c)
        return -1;
    before = c->settings;
    vhost = find_vhost(mk_lib_of(c), vid, __func__);
    va_start(list, vid);
    done = vhost && set_all(c, vhost, &list, __func__);
    va_end(list);
    return mk_compat_finish(c, before, done, __func__) ? 0 : -1;
}

int mk_vhost_create(mk_ctx_t *ctx, const char *name)
{
    struct mk_compat *c = mk_compat_get_idle((uintptr_t)ctx, __func__);
    struct mk_compat_setting *before;
    struct mk_lib_vhost *v, **at;
    int vid = 0;

    if (!c)
        return -1;
    before = c->settings;
    for (at = &mk_lib_of(c)->vhosts; *at; at = &(*at)->next)
        vid++;
    v = calloc(1, sizeof(*v));
    if (v && vid > 0)
        (void)snprintf(v->site, sizeof(v->site), "vhost %d", vid);
    *at = v;
    if (!v || !set_host(c, v->site, "Name", name ? name : "127.0.0.1")) {
        mk_compat_warn(__func__, "out of memory");
        v = NULL;
    }
    if (mk_compat_finish(c, before, v, __func__))
        return vid;
    free(*at);
    *at = NULL;
    return -1;
}

static struct mk_lib_handler *
make_handler(const char *regex, void (*cb)(mk_request_t *request, void *data), void *data)
{
    struct mk_lib_handler *h = calloc(1, sizeof(*h));

    if (!h)
        return NULL;
    *h = (struct mk_lib_handler){.pattern = mk_lib_pattern(regex), .cb = cb, .data = data};
    if (h->pattern)
        return h;
    free(h);
    return NULL;
}

int mk_vhost_handler(mk_ctx_t *ctx, int vid, const char *regex,
                     void (*cb)(mk_request_t *request, void *data), void *data)
{
    struct mk_compat *c = mk_compat_get_idle((uintptr_t)ctx, __func__);
    struct mk_lib_vhost *vhost;
    struct mk_lib_handler **at;
    bool done = false;

    if (!c)
        return -1;
    vhost = find_vhost(mk_lib_of(c), vid, __func__);
    if (vhost && (!regex || !cb))
        mk_compat_warn(__func__, "an argument is NULL");
    if (vhost && regex && cb) {
        for (at = &vhost->handlers; *at; at = &(*at)->next)
            ;
        *at = make_handler(regex, cb, data);
        if (!*at)
            mk_compat_warn(__func__, "out of memory");
        done = *at && mk_compat_check(c, c->settings, __func__);
        if (*at && !done) {
            free((*at)->pattern);
            free(*at);
            *at = NULL;
        }
    }
    mk_compat_put(c);
    return done ? 0 : -1;
}
