/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/reader.h"

#include <string.h>

enum {
    SIZE_ANY = UINT16_MAX,
    PRIORITY_LEN = 5, /* RFC 9113 section 6.3 */
    SETTINGS_MAX = 64 * H2_SETTING,
};

/* What stream a frame may name. */
enum place { PLACE_ANY, PLACE_STREAM, PLACE_CONNECTION };

/* Of each type: its place, the size of its payload, and how many bytes of that are gathered. */
static const struct kind {
    uint8_t place;
    uint16_t size;
    uint8_t need;
} kinds[] = {
    [H2_DATA] = {PLACE_STREAM, SIZE_ANY, 0},
    [H2_HEADERS] = {PLACE_STREAM, SIZE_ANY, 0},
    [H2_PRIORITY] = {PLACE_STREAM, PRIORITY_LEN, PRIORITY_LEN},
    [H2_RST_STREAM] = {PLACE_STREAM, 4, 4},
    [H2_SETTINGS] = {PLACE_CONNECTION, SIZE_ANY, 0},
    [H2_PUSH_PROMISE] = {PLACE_STREAM, SIZE_ANY, 0},
    [H2_PING] = {PLACE_CONNECTION, 8, 8},
    [H2_GOAWAY] = {PLACE_CONNECTION, SIZE_ANY, 8},
    [H2_WINDOW_UPDATE] = {PLACE_ANY, 4, 4},
    [H2_CONTINUATION] = {PLACE_STREAM, SIZE_ANY, 0},
    [H2_PRIORITY_UPDATE] = {PLACE_CONNECTION, SIZE_ANY, H2_FIELDS_MAX},
};

void h2_reader_init(struct h2_reader *r, bool is_server)
{
    memset(r, 0, sizeof(*r));
    r->state = is_server ? H2_READING_PREFACE : H2_READING_HEAD;
    r->is_first = true;
}

static enum h2_event fail(struct h2_reader *r, enum h2_error error)
{
    r->error = error;
    return H2_INVALID;
}

/* Bytes that belong together, where they came if they did so together. @return NULL: more of them are to come. */
static const uint8_t *gather(struct h2_reader *r, size_t need, const uint8_t **bytes, size_t *len)
{
    const uint8_t *whole = *bytes;
    size_t n = need - r->got;

    if (n > *len)
        n = *len;
    if (n < need) {
        memcpy(r->gathered + r->got, *bytes, n);
        whole = r->gathered;
    }
    r->got = (uint8_t)(r->got + n);
    *bytes += n;
    *len -= n;
    if (r->got < need)
        return NULL;
    r->got = 0;
    return whole;
}

static bool carries_block(uint8_t type)
{
    return type == H2_HEADERS || type == H2_CONTINUATION;
}

static enum h2_error judge_order(struct h2_reader *r, const struct h2_frame *f)
{
    bool goes_on = f->type == H2_CONTINUATION;

    if (r->is_first && (f->type != H2_SETTINGS || f->flags & H2_FLAG_ACK))
        return H2_E_PROTOCOL_ERROR;
    r->is_first = false;
    /* RFC 9113 section 6.10: no other frame comes before the end of a block */
    if (goes_on != (r->block_of != 0) || (goes_on && f->id != r->block_of))
        return H2_E_PROTOCOL_ERROR;
    if (carries_block(f->type))
        r->block_of = f->flags & H2_FLAG_END_HEADERS ? 0 : f->id;
    return H2_E_NO_ERROR;
}

static enum h2_error judge_size(const struct h2_frame *f, const struct kind *kind)
{
    if (kind->size != SIZE_ANY && f->length != kind->size)
        return H2_E_FRAME_SIZE_ERROR;
    if (f->type == H2_SETTINGS && (f->length % H2_SETTING != 0 || f->length > SETTINGS_MAX ||
                                   (f->flags & H2_FLAG_ACK && f->length > 0)))
        return f->length > SETTINGS_MAX && f->length % H2_SETTING == 0 ? H2_E_ENHANCE_YOUR_CALM
                                                                       : H2_E_FRAME_SIZE_ERROR;
    if ((f->type == H2_GOAWAY && f->length < kind->need) ||
        (f->type == H2_PRIORITY_UPDATE && f->length < 4))
        return H2_E_FRAME_SIZE_ERROR;
    return H2_E_NO_ERROR;
}

static enum h2_error judge_head(struct h2_reader *r, const struct h2_frame *f,
                                const struct kind *kind)
{
    enum h2_error error;

    if (f->length > H2_FRAME_MAX)
        return H2_E_FRAME_SIZE_ERROR;
    error = judge_order(r, f);
    if (error != H2_E_NO_ERROR || !kind)
        return error;
    if (kind->place != PLACE_ANY && (kind->place == PLACE_STREAM) != (f->id != 0))
        return H2_E_PROTOCOL_ERROR;
    return judge_size(f, kind);
}

/* How many bytes a payload begins with that are gathered. */
static uint8_t fields_of(const struct h2_frame *f, const struct kind *kind)
{
    if (f->type == H2_DATA)
        return f->flags & H2_FLAG_PADDED ? 1 : 0;
    if (f->type == H2_HEADERS)
        return (uint8_t)((f->flags & H2_FLAG_PADDED ? 1 : 0) +
                         (f->flags & H2_FLAG_PRIORITY ? PRIORITY_LEN : 0));
    return f->length < kind->need ? (uint8_t)f->length : kind->need;
}

static enum h2_event take_head(struct h2_reader *r, const uint8_t *head)
{
    const struct kind *kind;
    enum h2_error error;

    r->frame = h2_frame_read(head);
    kind = r->frame.type <= H2_CONTINUATION || r->frame.type == H2_PRIORITY_UPDATE
               ? &kinds[r->frame.type]
               : NULL;
    error = judge_head(r, &r->frame, kind);
    if (error != H2_E_NO_ERROR)
        return fail(r, error);
    r->need = kind ? fields_of(&r->frame, kind) : 0;
    if (r->frame.length < r->need)
        return fail(r, H2_E_FRAME_SIZE_ERROR);
    r->state = H2_READING_FIELDS;
    return H2_MORE;
}

static bool has_body(uint8_t type)
{
    return type == H2_DATA || carries_block(type) || type == H2_SETTINGS;
}

/* RFC 9113 section 6.1 and 6.2: padding is a part of the payload, the byte that says how long it is too. */
static enum h2_event take_fields(struct h2_reader *r, const uint8_t *fields)
{
    uint32_t left = r->frame.length - r->need;
    bool may_pad = r->frame.type == H2_DATA || r->frame.type == H2_HEADERS;

    r->fields = fields;
    if (!may_pad)
        r->frame.flags &= (uint8_t)~H2_FLAG_PADDED;
    r->rest = !has_body(r->frame.type) ? left : r->frame.flags & H2_FLAG_PADDED ? fields[0] : 0;
    if (r->rest > left)
        return fail(r, H2_E_PROTOCOL_ERROR);
    r->body = left - r->rest;
    r->state = H2_READING_BODY;
    return H2_BEGIN;
}

static enum h2_event read_entry(struct h2_reader *r, const uint8_t **bytes, size_t *len)
{
    r->fields = gather(r, H2_SETTING, bytes, len);
    if (!r->fields)
        return H2_MORE;
    r->body -= H2_SETTING;
    return H2_ENTRY;
}

static enum h2_event read_body(struct h2_reader *r, const uint8_t **bytes, size_t *len)
{
    if (r->body == 0) {
        r->state = H2_READING_REST;
        return h2_reader_next(r, bytes, len);
    }
    if (*len == 0)
        return H2_MORE;
    if (r->frame.type == H2_SETTINGS)
        return read_entry(r, bytes, len);
    r->piece = *bytes;
    r->piece_len = r->body < *len ? r->body : *len;
    r->body -= (uint32_t)r->piece_len;
    *bytes += r->piece_len;
    *len -= r->piece_len;
    return H2_PIECE;
}

static enum h2_event read_rest(struct h2_reader *r, const uint8_t **bytes, size_t *len)
{
    size_t n = r->rest < *len ? r->rest : *len;

    r->rest -= (uint32_t)n;
    *bytes += n;
    *len -= n;
    if (r->rest > 0)
        return H2_MORE;
    r->state = H2_READING_HEAD;
    return H2_END;
}

static enum h2_event read_preface(struct h2_reader *r, const uint8_t **bytes, size_t *len)
{
    for (; r->got<H2_PREFACE_LEN && * len> 0; r->got++, (*bytes)++, (*len)--) {
        if (**bytes != (uint8_t)H2_PREFACE[r->got])
            return fail(r, H2_E_PROTOCOL_ERROR);
    }
    if (r->got < H2_PREFACE_LEN)
        return H2_MORE;
    r->got = 0;
    r->state = H2_READING_HEAD;
    return h2_reader_next(r, bytes, len);
}

static enum h2_event read_head(struct h2_reader *r, const uint8_t **bytes, size_t *len)
{
    const uint8_t *head = gather(r, H2_FRAME_HEAD, bytes, len);
    enum h2_event event = head ? take_head(r, head) : H2_MORE;

    return head && event == H2_MORE ? h2_reader_next(r, bytes, len) : event;
}

enum h2_event h2_reader_next(struct h2_reader *r, const uint8_t **bytes, size_t *len)
{
    const uint8_t *fields;

    switch (r->state) {
    case H2_READING_PREFACE:
        return read_preface(r, bytes, len);
    case H2_READING_HEAD:
        return read_head(r, bytes, len);
    case H2_READING_FIELDS:
        fields = gather(r, r->need, bytes, len);
        return fields ? take_fields(r, fields) : H2_MORE;
    case H2_READING_BODY:
        return read_body(r, bytes, len);
    default:
        return read_rest(r, bytes, len);
    }
}
