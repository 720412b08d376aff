/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/plan.h"

#include <stdlib.h>

struct tls_live *tls_live_ref(struct tls_live *live)
{
    counted_get(&live->refs);
    return live;
}

void tls_live_put(struct tls_live *live)
{
    if (!live || !counted_put(&live->refs))
        return;
    for (size_t i = 0; i < live->nsites; i++)
        live->engine->server_free(live->sites[i].object);
    for (size_t i = 0; i < live->nbackends; i++)
        live->engine->client_free(live->backends[i]);
    tls_names_fini(&live->names);
    tls_names_fini(&live->backend_names);
    tls_tickets_put(live->tickets);
    tls_census_put(live->census);
    free(live->sites);
    free(live->backends);
    free(live);
}

const struct tls_site *tls_live_site(const struct tls_live *live, struct mk_str name)
{
    unsigned index = live->fallback;

    if (live->nsites == 0)
        return NULL;
    (void)tls_names_find(&live->names, name, &index);
    return &live->sites[index];
}

void *tls_live_backend(const struct tls_live *live, const char *name)
{
    unsigned index = (unsigned)live->nbackends - 1;

    (void)tls_names_find(&live->backend_names, mk_str_from(name), &index);
    return live->backends[index];
}
