/* SPDX-License-Identifier: Apache-2.0 */
#include "web/body_int.h"

#include "base/buf.h"
#include "base/heap.h"

/* A body gathered in memory. */

enum {
    SMALL = 1024,     /* of which the room is the request's own from the beginning */
    PIECE = 4096,     /* read at once at least */
    LARGE = 64 << 10, /* of which so much has come gets room for all that its head states */
};

struct gathered {
    struct mk_buf bytes;
    int64_t stated; /* the length in the head, which a body never exceeds; 0 or less: none */
    size_t beside;  /* bytes of what was made of it */
    bool is_whole;
};

static const char gathered_key;

static void drop(void *arg)
{
    struct gathered *g = arg;

    mk_buf_fini(&g->bytes);
    mk_heap_free(g);
}

static struct gathered *begin_small(struct mk_request *r, int64_t stated)
{
    const size_t room = (size_t)stated + 1;
    struct gathered *g = mk_request_alloc(r, sizeof(*g) + room);

    if (g)
        *g = (struct gathered){.bytes = {.p = (char *)(g + 1), .cap = room, .max = room}};
    return g;
}

static struct gathered *begin_large(struct mk_request *r, int64_t stated, size_t max)
{
    struct gathered *g = mk_heap_zalloc(1, sizeof(*g));

    if (!g)
        return NULL;
    if (stated > 0)
        mk_buf_init(&g->bytes, (size_t)stated + 1);
    else
        mk_buf_init(&g->bytes, max < SIZE_MAX - PIECE ? max + PIECE : SIZE_MAX);
    if (mk_request_on_end(r, drop, g) < 0) {
        drop(g);
        return NULL;
    }
    return g;
}

static struct gathered *begin(struct mk_request *r, int64_t stated, size_t max)
{
    struct gathered *g =
        stated > 0 && stated <= SMALL ? begin_small(r, stated) : begin_large(r, stated, max);

    if (!g)
        return NULL;
    g->stated = stated;
    return mk_request_keep(r, &gathered_key, g) == 0 ? g : NULL;
}

/* A head may state bytes that never come, so room for all of them is taken when some are there. */
static size_t wanted_room(const struct gathered *g)
{
    const size_t len = g->bytes.len, rest = g->stated > 0 ? (size_t)g->stated + 1 - len : SIZE_MAX;

    return rest < PIECE || (g->stated > 0 && len >= LARGE) ? rest : PIECE;
}

/* @return > 0: there may be more; 0: the end; or an error. */
static ssize_t gather(struct mk_request *r, struct gathered *g, size_t max)
{
    struct mk_buf *bytes = &g->bytes;
    char *room = mk_buf_reserve(bytes, wanted_room(g));
    ssize_t got = room ? mk_request_read(r, room, bytes->cap - bytes->len) : bytes->error;

    if (got > 0)
        bytes->len += (size_t)got;
    return bytes->len > max ? MK_E_LIMIT : got;
}

int mk_request_body(struct mk_request *r, size_t max, struct mk_str *body)
{
    struct gathered *g;
    int64_t stated;
    ssize_t got = 1;

    if (!r || !body)
        return MK_E_INVALID;
    stated = mk_request_content_length(r);
    if (stated == 0) {
        *body = MK_STR("");
        return 0;
    }
    if (stated > 0 && (uint64_t)stated > max)
        return MK_E_LIMIT;
    g = mk_request_kept(r, &gathered_key);
    if (!g)
        g = begin(r, stated, max);
    if (!g)
        return MK_E_NOMEM;
    while (!g->is_whole && got > 0)
        got = gather(r, g, max);
    mk_request_hold(r, g->bytes.cap + g->beside);
    if (got < 0)
        return (int)got;
    if (!g->is_whole)
        g->bytes.p[g->bytes.len] = '\0'; /* in room that nothing was read into */
    g->is_whole = true;
    *body = mk_buf_str(&g->bytes);
    return 0;
}

void mk_body_hold_beside(struct mk_request *r, size_t bytes)
{
    struct gathered *g = mk_request_kept(r, &gathered_key);

    g->beside = bytes;
    mk_request_hold(r, g->bytes.cap + bytes);
}

enum mk_verdict mk_reply_refusal(struct mk_request *r, int error)
{
    if (!r)
        return MK_VERDICT_DONE;
    switch (error) {
    case MK_E_AGAIN:
        return MK_VERDICT_LATER;
    case MK_E_PEER:
        return MK_VERDICT_CLOSE;
    case MK_E_LIMIT:
        return mk_reply_error(r, 413, NULL);
    case MK_E_BAD:
    case MK_E_INVALID:
        return mk_reply_error(r, 400, NULL);
    case MK_E_UNSUPPORTED:
        return mk_reply_error(r, 415, NULL);
    case MK_E_BUSY:
        return mk_reply_error(r, 503, "Retry-After: 1\r\n");
    default:
        return mk_reply_error(r, 500, NULL);
    }
}
