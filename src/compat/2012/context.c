/* SPDX-License-Identifier: Apache-2.0 */
#include "compat/2012/mklib_int.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef MK_CONFDIR
#define MK_CONFDIR "/etc/monkey"
#endif

enum { ADDRESS_ROOM = 300, MOST_PORT = 65535 };

static void free_context(struct mk_compat *c)
{
    struct mk_mklib *m = mk_mklib_of(c);

    while (m->vhosts) {
        struct mk_mklib_vhost *v = m->vhosts;

        m->vhosts = v->next;
        free((void *)(uintptr_t)v->is.name);
        free((void *)(uintptr_t)v->is.document_root);
        free((void *)(uintptr_t)v->is.server_names);
        free(v);
    }
    while (m->mimes) {
        struct mk_mklib_mime *mime = m->mimes;

        m->mimes = mime->next;
        free((void *)(uintptr_t)mime->is.name);
        free((void *)(uintptr_t)mime->is.type);
        free(mime);
    }
    mk_mklib_free_lists(m);
    free(m->pids);
    free(m);
}

/* What this interface has as default, where it is not the server's. */
static bool set_defaults(struct mk_compat *c)
{
    static const char *const rows[][2] = {
        {"Workers", "1"},
        {"HideVersion", "on"},
        {"KeepAliveTimeout", "15"},
        {"MaxKeepAliveRequest", "50"},
        {"DefaultMimeType", "text/plain"},
        {"LogLevel", "warn"},
        {"Indexfile", MK_MKLIB_NO_INDEX},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!mk_compat_set(c, NULL, "SERVER", rows[i][0], rows[i][1], false))
            return false;
    }
    return mk_mklib_set_mimes(c);
}

static bool set_address(struct mk_compat *c, const char *address, unsigned port, bool is_tls)
{
    const char *transport = is_tls ? " tls" : "";
    char text[ADDRESS_ROOM];
    int len;

    if (!port)
        port = 2001;
    if (!address)
        len = snprintf(text, sizeof(text), "%u%s", port, transport);
    else if (strncmp(address, "unix:", 5) == 0)
        len = snprintf(text, sizeof(text), "%s%s", address, transport);
    else if (strchr(address, ':') && address[0] != '[')
        len = snprintf(text, sizeof(text), "[%s]:%u%s", address, port, transport);
    else
        len = snprintf(text, sizeof(text), "%s:%u%s", address, port, transport);
    return port <= MOST_PORT && len > 0 && (size_t)len < sizeof(text) &&
           mk_compat_set(c, NULL, "SERVER", "Listen", text, false);
}

/* The certificate is where an administrator puts it for this library. */
static bool set_tls(struct mk_compat *c)
{
    return mk_compat_set(c, NULL, "PLUGINS", "Load", "tls", true) &&
           mk_compat_set(c, NULL, "TLS", "CertificateFile", MK_CONFDIR "/plugins/tls/cert.pem",
                         false) &&
           mk_compat_set(c, NULL, "TLS", "KeyFile", MK_CONFDIR "/plugins/tls/key.pem", false);
}

static bool add_default_vhost(struct mk_mklib *m, const char *address, const char *root)
{
    struct mk_mklib_vhost *v = calloc(1, sizeof(*v));

    if (!v)
        return false;
    m->vhosts = v;
    v->is.name = strdup("default");
    v->is.server_names = strdup(address ? address : "");
    v->is.document_root = root ? strdup(root) : NULL;
    return v->is.name && v->is.server_names && (!root || v->is.document_root) &&
           (!root || mk_compat_set(&m->c, NULL, "HOST", "DocumentRoot", root, false));
}

mklib_ctx mklib_init(const char *address, unsigned int port, unsigned int plugins,
                     const char *documentroot)
{
    const bool is_tls = (plugins & MKLIB_LIANA_SSL) != 0;
    struct mk_mklib *m = calloc(1, sizeof(*m));
    uintptr_t handle;

    if (!m) {
        mk_compat_warn(__func__, "out of memory");
        return NULL;
    }
    m->c.plugin = &mk_mklib_plugin;
    m->c.free = free_context;
    handle = mk_compat_open(&m->c);
    (void)mk_compat_get(handle, __func__);
    if (plugins & ~(unsigned)(MKLIB_LIANA | MKLIB_LIANA_SSL))
        mk_compat_warn(__func__, "unknown plugins: 0x%x", plugins);
    else if (!set_defaults(&m->c) || !add_default_vhost(m, address, documentroot) ||
             (is_tls && !set_tls(&m->c)) || !set_address(&m->c, address, port, is_tls))
        mk_compat_warn(__func__, "an address or port is too large, or out of memory");
    else if (mk_compat_check(&m->c, m->c.settings, __func__)) {
        mk_compat_put(&m->c);
        return (mklib_ctx)handle;
    }
    mk_compat_close(&m->c);
    mk_compat_put(&m->c);
    return NULL;
}

int mklib_callback_set(mklib_ctx ctx, const enum mklib_cb cb, void *func)
{
    struct mk_compat *c = mk_compat_get_idle((uintptr_t)ctx, __func__);
    struct mk_mklib *m = c ? mk_mklib_of(c) : NULL;
    int done = MKLIB_TRUE;

    if (!m)
        return MKLIB_FALSE;
    switch (cb) {
    case MKCB_IPCHECK:
        m->ipcheck = (cb_ipcheck)(uintptr_t)func;
        break;
    case MKCB_URLCHECK:
        m->urlcheck = (cb_urlcheck)(uintptr_t)func;
        break;
    case MKCB_DATA:
        m->data = (cb_data)(uintptr_t)func;
        break;
    case MKCB_CLOSE:
        m->close = (cb_close)(uintptr_t)func;
        break;
    default:
        mk_compat_warn(__func__, "there is no callback %d", (int)cb);
        done = MKLIB_FALSE;
    }
    mk_compat_put(c);
    return done;
}

int mklib_start(mklib_ctx ctx)
{
    struct mk_compat *c = mk_compat_get((uintptr_t)ctx, __func__);
    int done = MKLIB_FALSE;

    if (!c)
        return MKLIB_FALSE;
    if (c->state == MK_COMPAT_IDLE)
        done = mk_compat_start(c, __func__);
    else
        mk_compat_warn(__func__, "the server was started before");
    mk_compat_put(c);
    return done;
}

int mklib_stop(mklib_ctx ctx)
{
    struct mk_compat *c = mk_compat_get((uintptr_t)ctx, __func__);
    int done = MKLIB_FALSE;

    if (!c)
        return MKLIB_FALSE;
    if (c->state == MK_COMPAT_RUNNING)
        done = mk_compat_stop(c, __func__);
    else
        mk_compat_warn(__func__, "the server does not run");
    if (done)
        mk_compat_close(c);
    mk_compat_put(c);
    return done;
}
