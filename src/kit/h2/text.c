/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/text.h"

#include <stdlib.h>

enum { FIRST = 256, SPARE_MAX = 4096 };

static void close_gap(struct h2_text *t)
{
    if (t->at == 0)
        return;
    memmove(t->p, t->p + t->at, t->len - t->at);
    t->len -= t->at;
    t->at = 0;
}

static int grow(struct h2_text *t, size_t need)
{
    size_t cap = t->cap ? t->cap : FIRST;
    char *p;

    while (cap < need)
        cap *= 2;
    p = realloc(t->p, cap);
    if (!p)
        return MK_E_NOMEM;
    if (t->sum)
        *t->sum += cap - t->cap;
    t->p = p;
    t->cap = (uint32_t)cap;
    return 0;
}

char *h2_text_room(struct h2_text *t, size_t len)
{
    if (len > UINT32_MAX / 4 - t->len)
        return NULL;
    if (len > t->cap - t->len)
        close_gap(t);
    if (len > t->cap - t->len && grow(t, t->len + len) < 0)
        return NULL;
    return t->p + t->len;
}

int h2_text_append(struct h2_text *t, const void *bytes, size_t len, size_t max)
{
    if (len > max || h2_text_left(t) > max - len || max > UINT32_MAX / 4)
        return MK_E_LIMIT;
    if (len == 0)
        return 0;
    if (!h2_text_room(t, len))
        return MK_E_NOMEM;
    memcpy(t->p + t->len, bytes, len);
    t->len += (uint32_t)len;
    return 0;
}

char *h2_put_line(char *dst, struct mk_str name, struct mk_str value)
{
    dst = h2_put(dst, name);
    memcpy(dst, ": ", 2);
    dst = h2_put(dst + 2, value);
    memcpy(dst, "\r\n", 2);
    return dst + 2;
}

int h2_text_append_line(struct h2_text *t, struct mk_str name, struct mk_str value, size_t max)
{
    const size_t len = name.len + value.len + 4;
    char *room;

    if (len > max || h2_text_left(t) > max - len)
        return MK_E_LIMIT;
    room = h2_text_room(t, len);
    if (!room)
        return MK_E_NOMEM;
    (void)h2_put_line(room, name, value);
    t->len += (uint32_t)len;
    return 0;
}

size_t h2_text_take(struct h2_text *t, void *dst, size_t len)
{
    const size_t n = h2_text_left(t) < len ? h2_text_left(t) : len;

    if (n == 0)
        return 0;
    memcpy(dst, t->p + t->at, n);
    h2_text_use(t, n);
    return n;
}

void h2_text_use(struct h2_text *t, size_t len)
{
    t->at += (uint32_t)len;
    if (t->at == t->len)
        h2_text_free(t);
}

void h2_text_free(struct h2_text *t)
{
    if (t->sum)
        *t->sum -= t->cap;
    free(t->p);
    *t = (struct h2_text){.p = NULL, .sum = t->sum};
}

void h2_text_lend(struct h2_text *t, struct h2_text *spare)
{
    t->p = spare->p;
    t->cap = spare->cap;
    if (t->sum)
        *t->sum += t->cap;
    *spare = (struct h2_text){.p = NULL};
}

void h2_text_give_back(struct h2_text *t, struct h2_text *spare)
{
    if (spare->p || t->cap > SPARE_MAX) {
        h2_text_free(t);
        return;
    }
    if (t->sum)
        *t->sum -= t->cap;
    *spare = (struct h2_text){.p = t->p, .cap = t->cap};
    *t = (struct h2_text){.p = NULL, .sum = t->sum};
}
