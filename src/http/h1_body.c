/* SPDX-License-Identifier: Apache-2.0 */
#include "http/h1_body.h"

#include "base/limits.h"
#include "http/chars_int.h"

/* Where the decoder stands, and which byte it waits for. */
enum state {
    LENGTH,     /* not chunked: data */
    SIZE_FIRST, /* first digit of a chunk size */
    SIZE,       /* more digits */
    SIZE_BLANK, /* blanks behind the size or an extension's value: an extension must follow, unless the decoder is lenient */
    NAME_FIRST, /* blanks before an extension's name, or its first byte */
    NAME,       /* more of it */
    NAME_BLANK, /* blanks behind it: a value or an extension must follow */
    VALUE_FIRST,
    VALUE,
    QUOTED, /* in a quoted value */
    ESCAPED,
    QUOTED_END, /* behind it */
    SIZE_LF,    /* LF of the size line */
    DATA,       /* data of the chunk */
    DATA_CR,    /* line end behind the data */
    DATA_LF,
    TRAILER_FIRST, /* first byte of a trailer line, or CR of the final empty one */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    FINAL_LF,
    DONE,
    FAILED,
};

int mk_h1_body_init_length(struct mk_h1_body *b, uint64_t length, uint64_t max)
{
    *b = (struct mk_h1_body){.state = LENGTH, .left = length, .max = max};
    return length > max ? MK_E_LIMIT : 0;
}

void mk_h1_body_init_chunked(struct mk_h1_body *b, uint64_t max)
{
    *b = (struct mk_h1_body){
        .chunked = true,
        .state = SIZE_FIRST,
        .max = max,
        .max_trailers = MK_LIMIT_TRAILERS,
    };
}

/** A size that no number holds is malformed, as such a Content-Length is. */
static int add_digit(struct mk_h1_body *b, char c)
{
    if (b->left >> 60)
        return MK_E_BAD;
    b->left = b->left << 4 | mk_hex_value(c);
    b->state = SIZE;
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/** The state behind a size, an extension's name or its value, or a blank there, when c may follow. */
static int after_part(struct mk_h1_body *b, char c, enum state blank)
{
    if (c == ';')
        b->state = NAME_FIRST;
    else if (is_blank(c))
        b->state = (uint8_t)blank;
    else if (c == '\r' && b->state != NAME_BLANK && (b->state != SIZE_BLANK || b->lenient))
        b->state = SIZE_LF;
    else
        return MK_E_BAD;
    return 0;
}

static int after_size(struct mk_h1_body *b, char c)
{
    return b->left > b->max - b->total ? MK_E_LIMIT : after_part(b, c, SIZE_BLANK);
}

/** "=", or what may follow an extension. */
static int after_name(struct mk_h1_body *b, char c)
{
    if (c != '=')
        return after_part(b, c, NAME_BLANK);
    b->state = VALUE_FIRST;
    return 0;
}

static int first_of_value(struct mk_h1_body *b, char c)
{
    b->state = c == '"' ? QUOTED : VALUE;
    return c == '"' || mk_char_is(c, MK_CHAR_TOKEN) ? 0 : MK_E_BAD;
}

/** Within quotes; a backslash takes the next byte as it is. */
static int quoted(struct mk_h1_body *b, char c)
{
    if (b->state == ESCAPED)
        b->state = QUOTED;
    else if (c == '"')
        b->state = QUOTED_END;
    else if (c == '\\')
        b->state = ESCAPED;
    return mk_char_is(c, MK_CHAR_TEXT) ? 0 : MK_E_BAD;
}

/** *( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] ), behind its first semicolon. */
static int extension(struct mk_h1_body *b, char c)
{
    const bool is_token = mk_char_is(c, MK_CHAR_TOKEN);

    switch ((enum state)b->state) {
    case NAME_FIRST:
        if (!is_blank(c))
            b->state = NAME;
        return is_token || is_blank(c) ? 0 : MK_E_BAD;
    case NAME:
        return is_token ? 0 : after_name(b, c);
    case NAME_BLANK:
        return after_name(b, c);
    case VALUE_FIRST:
        return is_blank(c) ? 0 : first_of_value(b, c);
    case VALUE:
        return is_token ? 0 : after_part(b, c, SIZE_BLANK);
    case QUOTED:
    case ESCAPED:
        return quoted(b, c);
    default: /* QUOTED_END */
        return after_part(b, c, SIZE_BLANK);
    }
}

/** CR leads to the next state, text stays; a control byte or a bare LF is neither. */
static int text_until_cr(struct mk_h1_body *b, char c, enum state next)
{
    if (c == '\r')
        b->state = next;
    else if (!mk_char_is(c, MK_CHAR_TEXT))
        return MK_E_BAD;
    return 0;
}

static int expect(struct mk_h1_body *b, bool matches, enum state next)
{
    b->state = next;
    return matches ? 0 : MK_E_BAD;
}

static int trailer_name(struct mk_h1_body *b, char c)
{
    if (c == ':' && b->state == TRAILER_NAME)
        b->state = TRAILER_VALUE;
    else
        return expect(b, mk_char_is(c, MK_CHAR_TOKEN), TRAILER_NAME);
    return 0;
}

/** Take one byte of framing. */
static int step(struct mk_h1_body *b, char c)
{
    switch ((enum state)b->state) {
    case SIZE:
        if (!mk_char_is(c, MK_CHAR_HEX))
            return after_size(b, c);
        return add_digit(b, c);
    case SIZE_FIRST:
        return mk_char_is(c, MK_CHAR_HEX) ? add_digit(b, c) : MK_E_BAD;
    case SIZE_BLANK:
        return after_size(b, c);
    case NAME_FIRST:
    case NAME:
    case NAME_BLANK:
    case VALUE_FIRST:
    case VALUE:
    case QUOTED:
    case ESCAPED:
    case QUOTED_END:
        return extension(b, c);
    case SIZE_LF:
        return expect(b, c == '\n', b->left > 0 ? DATA : TRAILER_FIRST);
    case DATA_CR:
        return expect(b, c == '\r', DATA_LF);
    case DATA_LF:
        return expect(b, c == '\n', SIZE_FIRST);
    case TRAILER_FIRST:
        if (c == '\r')
            return expect(b, true, FINAL_LF);
        return trailer_name(b, c);
    case TRAILER_NAME:
        return trailer_name(b, c);
    case TRAILER_VALUE:
        return text_until_cr(b, c, TRAILER_LF);
    case TRAILER_LF:
        return expect(b, c == '\n', TRAILER_FIRST);
    case FINAL_LF:
        return expect(b, c == '\n', DONE);
    default:
        return MK_E_BAD;
    }
}

/** Could the sender of this chunk have done without the byte: a leading zero, an extension, a trailer? */
static bool is_waste(const struct mk_h1_body *b, char c)
{
    switch ((enum state)b->state) {
    case SIZE:
        return c != '\r' && (b->left == 0 || !mk_char_is(c, MK_CHAR_HEX));
    case NAME:
    case VALUE:
    case QUOTED_END:
    case TRAILER_FIRST:
        return c != '\r';
    case SIZE_BLANK:
    case NAME_FIRST:
    case NAME_BLANK:
    case VALUE_FIRST:
    case QUOTED:
    case ESCAPED:
    case TRAILER_NAME:
    case TRAILER_VALUE:
    case TRAILER_LF:
        return true;
    default:
        return false;
    }
}

/** Take one byte of framing and hold it against the limits. */
static int take_framing(struct mk_h1_body *b, char c)
{
    if (b->state >= TRAILER_FIRST && ++b->trailers > b->max_trailers)
        return MK_E_LIMIT;
    if (is_waste(b, c)) {
        if (b->waste >= MK_LIMIT_CHUNK_OVERHEAD + b->total / 4 || b->waste == UINT32_MAX)
            return MK_E_LIMIT;
        b->waste++;
    }
    return step(b, c);
}

/** @return how many of the bytes received are data that belongs here. */
static size_t take_data(struct mk_h1_body *b, size_t received)
{
    size_t n = received < b->left ? received : (size_t)b->left;

    b->left -= n;
    b->total += n;
    return n;
}

static int decode_length(struct mk_h1_body *b, size_t *len, size_t *used)
{
    *len = *used = take_data(b, *len);
    return b->left == 0 ? 1 : MK_E_AGAIN;
}

int mk_h1_body_decode(struct mk_h1_body *b, char *buf, size_t *len, size_t *used)
{
    size_t in = 0, out = 0, end = *len;
    int err = 0;

    if (!b->chunked)
        return decode_length(b, len, used);
    while (in < end && b->state != DONE && err == 0) {
        if (b->state == DATA) {
            size_t n = take_data(b, end - in);

            if (in != out)
                memmove(buf + out, buf + in, n);
            in += n;
            out += n;
            if (b->left == 0)
                b->state = DATA_CR;
        } else {
            err = take_framing(b, buf[in++]);
        }
    }
    *len = out;
    *used = in;
    if (err < 0)
        b->state = FAILED;
    if (b->state == FAILED)
        return err < 0 ? err : MK_E_BAD;
    return b->state == DONE ? 1 : MK_E_AGAIN;
}

size_t mk_h1_chunk_head(char dst[MK_H1_CHUNK_HEAD], uint64_t n)
{
    static const char digits[16] = {'0', '1', '2', '3', '4', '5', '6', '7',
                                    '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
    size_t len = 1, end;

    while (len < 16 && n >> (4 * len))
        len++;
    for (end = len; end > 0; n >>= 4)
        dst[--end] = digits[n & 15];
    dst[len] = '\r';
    dst[len + 1] = '\n';
    return len + 2;
}
