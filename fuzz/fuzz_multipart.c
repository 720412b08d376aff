/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "kit/pure/hash.h"

#include <monkey/web/multipart.h>

/*
 * Any bytes as a form in parts: fed whole and fed in two pieces they give the same result, parts and bytes; calls come in
 * order, names are never empty, and nobody reads behind a piece.
 * Input: one byte, where the pieces are cut; the body, with the boundary "b".
 */

struct seen {
    uint64_t hash;
    bool is_open;
};

static void mix(struct seen *s, const char *bytes, size_t len)
{
    s->hash = hash_64(s->hash, bytes, len);
}

static int on_part(void *arg, const struct mk_part *part)
{
    struct seen *s = arg;

    require(!s->is_open && part->name.len > 0);
    s->is_open = true;
    mix(s, part->name.p, part->name.len);
    mix(s, part->filename.p, part->filename.len);
    mix(s, part->type.p, part->type.len);
    return 0;
}

static int on_data(void *arg, struct mk_str bytes)
{
    struct seen *s = arg;

    require(s->is_open && bytes.len > 0);
    mix(s, bytes.p, bytes.len);
    return 0;
}

static int on_end(void *arg)
{
    struct seen *s = arg;

    require(s->is_open);
    s->is_open = false;
    mix(s, "$", 1);
    return 0;
}

static const struct mk_multipart_calls calls = {sizeof(calls), on_part, on_data, on_end};

static int feed(struct mk_multipart *m, const uint8_t *data, size_t len)
{
    char *piece = exact_copy(data, len);
    int err = mk_multipart_feed(m, piece, len);

    free(piece);
    return err;
}

static int parse(const uint8_t *data, size_t size, size_t cut, struct seen *s)
{
    struct mk_multipart *m;
    int err = mk_multipart_new(&m, MK_STR("multipart/form-data; boundary=b"), &calls, s);

    require(err == 0);
    err = feed(m, data, cut);
    if (err == 0)
        err = feed(m, data + cut, size - cut);
    if (err == 0)
        err = mk_multipart_end(m);
    mk_multipart_free(m);
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t cut = take_byte(&data, &size);
    struct seen whole = {HASH_START_64, false}, pieces = whole;
    int err = parse(data, size, size, &whole);

    require(parse(data, size, cut < size ? cut : size, &pieces) == err);
    require(err < 0 || (whole.hash == pieces.hash && !whole.is_open));
    return 0;
}
