/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/lookup.h"

#include <monkey/upstream.h>

#include <stdlib.h>
#include <string.h>

struct lookup {
    struct lookup **own; /* NULL: nobody waits for it */
    struct address *place;
};

static bool is_at(const struct mk_address *found, const struct address *place)
{
    return found->len == place->len && memcmp(&found->addr, &place->place, place->len) == 0;
}

static const struct mk_address *next_of(const struct mk_address *found, int count,
                                        const struct address *place)
{
    for (int i = 0; i < count; i++) {
        if (is_at(&found[i], place))
            return &found[(i + 1) % count];
    }
    return found;
}

static void on_resolved(void *arg, const struct mk_address *addresses, int count)
{
    struct lookup *l = arg;
    const struct mk_address *next;

    if (l->own && count > 0) {
        next = next_of(addresses, count, l->place);
        address_set(l->place, (const struct sockaddr *)&next->addr, next->len);
    }
    if (l->own)
        *l->own = NULL;
    free(l);
}

void lookup_begin(struct lookup **own, struct mk_worker *w, const char *host, unsigned port,
                  struct address *place)
{
    struct lookup *l = *own ? NULL : malloc(sizeof(*l));

    if (!l)
        return;
    *l = (struct lookup){.own = own, .place = place};
    *own = l; /* the answer may be there at once */
    if (mk_resolve(w, host, port, on_resolved, l) == 0)
        return;
    *own = NULL;
    free(l);
}

void lookup_abandon(struct lookup **own)
{
    if (*own)
        (*own)->own = NULL;
    *own = NULL;
}
