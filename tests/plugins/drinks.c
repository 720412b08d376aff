/* SPDX-License-Identifier: Apache-2.0 */
#include "reply.h"

#include <monkey/plugin.h>

#include <string.h>

/* Reads the body whenever it is asked until there is none left, and answers with its length and the most that it got at once.
 * First it asks for no bytes, which is an error. */

static const char key; /* its address names our object */

struct drunk {
    uint64_t total, most;
};

static struct drunk *begun(struct mk_request *r)
{
    struct drunk *d = mk_request_kept(r, &key);

    if (d)
        return d;
    d = mk_request_alloc(r, sizeof(*d));
    if (!d || mk_request_keep(r, &key, d) < 0)
        return NULL;
    *d = (struct drunk){0};
    return d;
}

static enum mk_verdict drink(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    struct drunk *d = begun(r);
    uint64_t now = 0;
    char piece[4096], *text;
    ssize_t n;

    (void)ctx;
    (void)data;
    if (!d || mk_request_read(r, piece, 0) != MK_E_INVALID)
        return MK_VERDICT_CLOSE;
    while ((n = mk_request_read(r, piece, sizeof(piece))) > 0)
        now += (uint64_t)n;
    d->total += now;
    if (now > d->most)
        d->most = now;
    if (n == MK_E_AGAIN)
        return MK_VERDICT_LATER;
    text = mk_request_printf(r, "%llu %llu", (unsigned long long)d->total,
                             (unsigned long long)d->most);
    return n < 0 || !text ? MK_VERDICT_CLOSE : reply_text(r, (struct mk_str){text, strlen(text)});
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("drinks", "reads bodies as fast as they come"),
    .on_handle = drink,
};
MK_PLUGIN_EXPORT(plugin);
