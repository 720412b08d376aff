/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PROXY_FAKE_UPSTREAM_H
#define TESTS_PROXY_FAKE_UPSTREAM_H

/* Upstreams that are only counted. For one test program, which includes it once, behind cmocka.h. */

#include "kit/intake/uploads.h"

#include <monkey/upstream.h>

#include <stdlib.h>

struct mk_upstream {
    struct mk_upstream_options options;
};

static unsigned nupstreams;

struct mk_upstream *mk_upstream_new(struct mk_server *server,
                                    const struct mk_upstream_options *options)
{
    struct mk_upstream *u = calloc(1, sizeof(*u));

    (void)server;
    assert_non_null(u);
    u->options = *options;
    nupstreams++;
    return u;
}

void mk_upstream_free(struct mk_upstream *u)
{
    nupstreams -= u != NULL;
    free(u);
}

bool mk_upstream_is_trusted(const struct mk_upstream *u)
{
    (void)u;
    return true;
}

void mk_upstream_load(struct mk_upstream *u, unsigned *open, unsigned *idle, unsigned *waiting)
{
    (void)u;
    *open = 3;
    *idle = 2;
    *waiting = 1;
}

struct uploads *uploads_new(uploads_waiting_fn waiting, void *of)
{
    (void)waiting;
    (void)of;
    return calloc(1, 1);
}

void uploads_free(struct uploads *all)
{
    free(all);
}

#endif
