/* SPDX-License-Identifier: Apache-2.0 */
#include "compat/2012/mklib_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Keys and values of a program as settings. */

enum value { VALUE_INT, VALUE_BOOL, VALUE_TEXT };

/* What the server calls each key; the numbers are those of the header. */
static const struct {
    const char *name;
    enum value value;
    const char *instead; /* of NULL; NULL: the server's default */
} keys[] = {
    [MKC_WORKERS] = {"Workers", VALUE_INT, NULL},
    [MKC_TIMEOUT] = {"Timeout", VALUE_INT, NULL},
    [MKC_USERDIR] = {"UserDir", VALUE_TEXT, NULL},
    [MKC_INDEXFILE] = {"Indexfile", VALUE_TEXT, MK_MKLIB_NO_INDEX},
    [MKC_HIDEVERSION] = {"HideVersion", VALUE_BOOL, NULL},
    [MKC_RESUME] = {"Resume", VALUE_BOOL, NULL},
    [MKC_KEEPALIVE] = {"KeepAlive", VALUE_BOOL, NULL},
    [MKC_KEEPALIVETIMEOUT] = {"KeepAliveTimeout", VALUE_INT, NULL},
    [MKC_MAXKEEPALIVEREQUEST] = {"MaxKeepAliveRequest", VALUE_INT, NULL},
    [MKC_MAXREQUESTSIZE] = {"MaxRequestSize", VALUE_INT, NULL},
    [MKC_SYMLINK] = {"SymLink", VALUE_BOOL, NULL},
    [MKC_DEFAULTMIMETYPE] = {"DefaultMimeType", VALUE_TEXT, "text/plain"},
};

enum { KEYS = sizeof(keys) / sizeof(keys[0]), LARGEST_HEAD = 1024 };

static bool set(struct mk_compat *c, const char *key, const char *value)
{
    return mk_compat_set(c, NULL, "SERVER", key, value, false);
}

static bool set_number(struct mk_compat *c, int key, int number)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%dK", number);
    if (key == MKC_MAXREQUESTSIZE && !set(c, "MaxBodySize", text))
        return false;
    if (key == MKC_MAXREQUESTSIZE && number > LARGEST_HEAD)
        number = LARGEST_HEAD;
    (void)snprintf(text, sizeof(text), "%d", number);
    return set(c, keys[key].name, text);
}

/* @return whether the value was kept; it is checked later. */
static bool set_key(struct mk_compat *c, int key, va_list *values)
{
    const char *text;

    switch (keys[key].value) {
    case VALUE_INT:
        return set_number(c, key, va_arg(*values, int));
    case VALUE_BOOL:
        return set(c, keys[key].name, va_arg(*values, int) ? "on" : "off");
    default:
        text = va_arg(*values, const char *);
        return set(c, keys[key].name, text ? text : keys[key].instead);
    }
}

/* The list ends with a pointer, whose first bytes are those of an int wherever this interface was used. */
static bool set_keys(struct mk_compat *c, va_list *values)
{
    for (int key = va_arg(*values, int); key != 0; key = va_arg(*values, int)) {
        if (key < MKC_WORKERS || key >= KEYS) {
            mk_compat_warn("mklib_config", "there is no key %d", key);
            return false;
        }
        if (!set_key(c, key, values)) {
            mk_compat_warn("mklib_config", "out of memory");
            return false;
        }
    }
    return true;
}

int mklib_config(mklib_ctx ctx, ...)
{
    struct mk_compat *c = mk_compat_get_idle((uintptr_t)ctx, __func__);
    struct mk_compat_setting *before;
    va_list values;
    bool done;

    if (!c)
        return MKLIB_FALSE;
    before = c->settings;
    va_start(values, ctx);
    done = set_keys(c, &values);
    va_end(values);
    return mk_compat_finish(c, before, done, __func__);
}

/* ---- virtual hosts ---- */

struct vhost_values {
    const char *names, *root;
};

static bool read_vhost(struct vhost_values *v, va_list *values)
{
    for (int key = va_arg(*values, int); key != 0; key = va_arg(*values, int)) {
        const char *text = va_arg(*values, const char *);

        if (key == MKV_SERVERNAME) {
            v->names = text;
        } else if (key == MKV_DOCUMENTROOT) {
            v->root = text;
        } else {
            mk_compat_warn("mklib_vhost_config", "there is no key %d", key);
            return false;
        }
    }
    return true;
}

static bool set_vhost(struct mk_compat *c, const char *name, const struct vhost_values *v)
{
    return mk_compat_set(c, name, "HOST", "ServerName", v->names ? v->names : name, false) &&
           (!v->root || mk_compat_set(c, name, "HOST", "DocumentRoot", v->root, false));
}

static void free_vhost(struct mk_mklib_vhost *v)
{
    if (!v)
        return;
    free((void *)(uintptr_t)v->is.name);
    free((void *)(uintptr_t)v->is.server_names);
    free((void *)(uintptr_t)v->is.document_root);
    free(v);
}

static struct mk_mklib_vhost *make_vhost(const char *name, const struct vhost_values *values)
{
    struct mk_mklib_vhost *v = calloc(1, sizeof(*v));

    if (!v)
        return NULL;
    v->is.name = strdup(name);
    v->is.server_names = strdup(values->names ? values->names : name);
    v->is.document_root = values->root ? strdup(values->root) : NULL;
    if (v->is.name && v->is.server_names && (!values->root || v->is.document_root))
        return v;
    free_vhost(v);
    return NULL;
}

static bool add_vhost(struct mk_mklib *m, const char *name, const struct vhost_values *values)
{
    struct mk_compat_setting *before = m->c.settings;
    struct mk_mklib_vhost *v, **at;

    for (at = &m->vhosts; *at; at = &(*at)->next) {
        if (strcmp((*at)->is.name, name) == 0) {
            mk_compat_warn("mklib_vhost_config", "there is a virtual host \"%s\" already", name);
            return false;
        }
    }
    v = make_vhost(name, values);
    if (!v || !set_vhost(&m->c, name, values)) {
        mk_compat_warn("mklib_vhost_config", "out of memory");
        mk_compat_forget(&m->c, before);
        free_vhost(v);
        return false;
    }
    *at = v;
    if (mk_compat_check(&m->c, before, "mklib_vhost_config"))
        return true;
    *at = NULL;
    free_vhost(v);
    return false;
}

int mklib_vhost_config(mklib_ctx ctx, const char *name, ...)
{
    struct mk_compat *c = mk_compat_get_idle((uintptr_t)ctx, __func__);
    struct vhost_values values = {0};
    va_list list;
    bool done;

    if (!c)
        return MKLIB_FALSE;
    if (!name || !*name) {
        mk_compat_warn(__func__, "the virtual host has no name");
        mk_compat_put(c);
        return MKLIB_FALSE;
    }
    va_start(list, name);
    done = read_vhost(&values, &list);
    va_end(list);
    done = done && add_vhost(mk_mklib_of(c), name, &values);
    mk_compat_put(c);
    return done;
}
