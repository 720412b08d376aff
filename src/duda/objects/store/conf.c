/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"
#include "service/service.h"

#include <string.h>

static void force_redirect(struct web_service *ws)
{
    if (ws && mk_duda_is_set_up(mk_duda_service_of(ws), "conf->force_redirect"))
        ws->url_force_redirect = MK_TRUE;
}

static void bind_messages(struct web_service *ws)
{
    if (ws && mk_duda_is_set_up(mk_duda_service_of(ws), "conf->bind_messages"))
        ws->bind_messages = MK_TRUE;
}

static void set_name(struct web_service *ws, const char *name)
{
    struct mk_duda_service *s = ws ? mk_duda_service_of(ws) : NULL;
    char *copy;

    if (!s || !mk_duda_is_set_up(s, "conf->service_name"))
        return;
    if (!name || !*name || strchr(name, '/')) {
        (void)mk_duda_refuse(s, "conf->service_name(): the name is one segment of a path");
        return;
    }
    copy = mk_duda_copy(s, name, strlen(name));
    if (copy)
        ws->name = (mk_pointer){copy, strlen(copy)};
}

static void set_root(struct web_service *ws)
{
    if (ws && mk_duda_is_set_up(mk_duda_service_of(ws), "conf->service_root"))
        ws->is_root = MK_TRUE;
}

const struct duda_api_conf mk_duda_conf = {
    ._force_redirect = force_redirect,
    ._bind_messages = bind_messages,
    ._service_name = set_name,
    ._service_root = set_root,
};
