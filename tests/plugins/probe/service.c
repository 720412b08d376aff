/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <stdio.h>

/*
 * Services as an application server has them: [SERVICE] in a site's file, where `Name x` owns all paths below /x,
 * and without a name the whole site.
 */

enum { SERVICE_NAME_MAX = 32 };

struct service {
    struct probe_route route; /* what on_handle gets */
    const char *name, *host;
};

static const struct mk_field service_fields[] = {
    {.name = "Name", .type = MK_FIELD_STRING, .offset = offsetof(struct service, name)},
};
const struct mk_section_spec service_section =
    MK_SECTION("SERVICE", MK_SECTION_SITE | MK_SECTION_REPEAT, struct service, service_fields);

static enum mk_verdict service_handle(struct mk_request *r, const struct mk_context *ctx,
                                      const struct probe_route *route)
{
    const struct service *s = (const struct service *)route;
    const struct probe_worker *local = ctx->local;
    struct mk_request_facts f = {.size = sizeof(f)};
    char *text;

    mk_request_facts(r, &f);
    text = mk_request_printf(r, "service=%s site=%s path=%s worker=%u", s->name ? s->name : "/",
                             s->host, f.path.p, local->index);
    return text ? mk_reply_bytes(r, 200, "text/plain", mk_str_from(text))
                : mk_reply_error(r, 503, NULL);
}

int service_check_site(struct mk_setup *setup)
{
    const struct mk_words *names = mk_setup_site_names(setup);

    for (struct service *s = NULL; (s = mk_setup_section(setup, &service_section, s)) != NULL;) {
        const struct mk_origin *at = mk_setup_origin(setup, s);
        char pattern[SERVICE_NAME_MAX + sizeof("^/(/|$)")] = "^/";
        int err;

        if (s->name && strlen(s->name) > SERVICE_NAME_MAX) {
            mk_setup_fault(setup, at, "a service's name has at most %d bytes", SERVICE_NAME_MAX);
            continue;
        }
        if (s->name)
            (void)snprintf(pattern, sizeof(pattern), "^/%s(/|$)", s->name);
        s->route = (struct probe_route){"service", service_handle};
        s->host = names->count > 0 ? names->items[0].p : "";
        err = mk_setup_route(setup, mk_str_from(pattern), s, at, false);
        if (err == MK_E_NOMEM)
            return err;
    }
    return 0;
}
