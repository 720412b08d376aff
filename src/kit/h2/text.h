/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_TEXT_H
#define KIT_H2_TEXT_H

#include <monkey/types.h>

#include <stddef.h>
#include <string.h>

/** Bytes that grow, up to a bound that each append names. Zeroed at first, but for sum. */
struct h2_text {
    char *p;
    uint32_t at, len, cap; /* at: bytes before it were used */
    size_t *sum;           /* what several of them have in memory; NULL: nobody counts it */
};

/** @return 0; MK_E_LIMIT: it would hold more than max; MK_E_NOMEM. Nothing was appended then. */
int h2_text_append(struct h2_text *t, const void *bytes, size_t len, size_t max);
/** @return room for len bytes at its end, which are appended by adding to its len; NULL: no memory. */
char *h2_text_room(struct h2_text *t, size_t len) MK_MUST_USE;
/** Append `NAME: VALUE` and a line end. @return as h2_text_append */
int h2_text_append_line(struct h2_text *t, struct mk_str name, struct mk_str value, size_t max);
/**
 * Write a text. @return its end
 * Names and values are too short for a call of memcpy. The last bytes are copied twice where len is no power of two.
 */
static inline char *h2_put(char *dst, struct mk_str text)
{
    const char *p = text.p;
    const size_t len = text.len;

    if (len >= 16) {
        for (size_t i = 0; i < len - 16; i += 16)
            memcpy(dst + i, p + i, 16);
        memcpy(dst + len - 16, p + len - 16, 16);
    } else if (len >= 8) {
        memcpy(dst, p, 8);
        memcpy(dst + len - 8, p + len - 8, 8);
    } else if (len >= 4) {
        memcpy(dst, p, 4);
        memcpy(dst + len - 4, p + len - 4, 4);
    } else {
        for (size_t i = 0; i < len; i++)
            dst[i] = p[i];
    }
    return dst + len;
}

/** Write `NAME: VALUE` and a line end. @return the end of these name.len + value.len + 4 bytes */
char *h2_put_line(char *dst, struct mk_str name, struct mk_str value);
/** Move the first bytes out. @return how many: len, or all that there are */
size_t h2_text_take(struct h2_text *t, void *dst, size_t len);
/** The first bytes are not needed any more. */
void h2_text_use(struct h2_text *t, size_t len);
void h2_text_free(struct h2_text *t);
/** Give an empty text the memory of a spare one. */
void h2_text_lend(struct h2_text *t, struct h2_text *spare);
/** Free a text, but keep its memory as the spare one where that has none, unless it is large. */
void h2_text_give_back(struct h2_text *t, struct h2_text *spare);

static inline size_t h2_text_left(const struct h2_text *t)
{
    return t->len - t->at;
}

#endif
