/* SPDX-License-Identifier: Apache-2.0 */
#include "web/json_int.h"

/* JSON token by token: the face of kit/json/read.c. */

struct own {
    struct json_read read;
    char *room;
};

_Static_assert(sizeof(struct own) <= sizeof(((struct mk_json_reader *)0)->own), "it has no room");

static struct own *own(struct mk_json_reader *r)
{
    return (struct own *)(void *)r->own;
}

void mk_json_set_bounds(struct json_read *r, const struct mk_json_bounds *from)
{
    struct mk_json_bounds b = {.size = sizeof(b)};

    if (from)
        memcpy(&b, from, from->size < sizeof(b) ? from->size : sizeof(b));
    r->depth_max = b.depth ? b.depth : MK_JSON_DEPTH;
    if (r->depth_max > JSON_READ_DEPTH)
        r->depth_max = JSON_READ_DEPTH;
    r->values_left = b.values ? b.values : JSON_VALUES;
    r->bytes_left = b.bytes ? b.bytes : JSON_BYTES;
}

/* What callers see. */
static void show(struct mk_json_reader *r)
{
    const struct json_read *read = &own(r)->read;

    r->text = read->text;
    r->error = read->error;
    r->reason = read->reason;
    r->offset = json_read_offset(read);
}

void mk_json_reader_begin(struct mk_json_reader *r, const struct mk_json_bounds *bounds, char *room,
                          size_t size)
{
    if (!r)
        return;
    json_read_begin(&own(r)->read, room, size);
    own(r)->room = own(r)->read.to;
    mk_json_set_bounds(&own(r)->read, bounds);
    show(r);
}

void mk_json_reader_feed(struct mk_json_reader *r, struct mk_str piece, bool is_last)
{
    if (!r)
        return;
    json_read_feed(&own(r)->read, piece, is_last);
    show(r);
}

int mk_json_reader_next(struct mk_json_reader *r)
{
    int kind;

    if (!r)
        return MK_E_INVALID;
    json_read_reuse(&own(r)->read, own(r)->room);
    kind = json_read_next(&own(r)->read);
    show(r);
    return kind;
}
