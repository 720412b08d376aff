/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/census.h"

#include <stdlib.h>

struct tls_census *tls_census_new(void)
{
    struct tls_census *c = calloc(1, sizeof(*c));

    if (c)
        counted_init(&c->refs, 1);
    return c;
}

struct tls_census *tls_census_ref(struct tls_census *c)
{
    counted_get(&c->refs);
    return c;
}

void tls_census_put(struct tls_census *c)
{
    if (c && counted_put(&c->refs))
        free(c);
}

void tls_census_tell(const struct tls_census *c, const char *const names[2], mk_metric_fn tell,
                     void *arg)
{
    static const char *const helps[] = {"TLS handshakes that were completed.",
                                        "TLS handshakes that failed."};
    static const char *const peers[TLS_SIDES] = {"client", "backend"};

    for (unsigned i = 0; i < 2; i++) {
        for (unsigned side = 0; side < TLS_SIDES; side++) {
            const _Atomic uint64_t *counter = i == 0 ? &c->done[side] : &c->failed[side];
            const struct mk_metric m = {
                .size = sizeof(m),
                .name = names[i],
                .help = helps[i],
                .is_counter = true,
                .is_brief = true,
                .value = (double)atomic_load_explicit(counter, memory_order_relaxed),
                .nlabels = 1,
                .labels = {{"peer", mk_str_from(peers[side])}},
            };

            tell(arg, &m);
        }
    }
}
