/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "base/heap.h"

#include <stdarg.h>
#include <stdio.h>

enum { FIRST_SIZE = 256 };

void mk_buf_init(struct mk_buf *b, size_t max)
{
    *b = (struct mk_buf){.max = max};
}

void mk_buf_fini(struct mk_buf *b)
{
    mk_heap_free(b->p);
    *b = (struct mk_buf){.max = b->max};
}

static size_t grown_size(const struct mk_buf *b, size_t need)
{
    size_t cap = b->cap ? b->cap : FIRST_SIZE;

    while (cap < need && cap <= b->max / 2)
        cap *= 2;
    if (cap < need)
        cap = need;
    return cap < b->max ? cap : b->max;
}

char *mk_buf_reserve(struct mk_buf *b, size_t len)
{
    if (b->error)
        return NULL;
    if (len > b->max - b->len) {
        b->error = MK_E_LIMIT;
        return NULL;
    }
    if (!b->p || len > b->cap - b->len) {
        size_t cap = grown_size(b, b->len + len);
        char *p = mk_heap_resize(b->p, cap ? cap : 1);

        if (!p) {
            b->error = MK_E_NOMEM;
            return NULL;
        }
        b->p = p;
        b->cap = cap;
    }
    return b->p + b->len;
}

int mk_buf_append(struct mk_buf *b, const void *data, size_t len)
{
    char *to;

    if (len == 0)
        return b->error;
    to = mk_buf_reserve(b, len);
    if (!to)
        return b->error;
    memcpy(to, data, len);
    b->len += len;
    return 0;
}

int mk_buf_append_str(struct mk_buf *b, struct mk_str s)
{
    return mk_buf_append(b, s.p, s.len);
}

int mk_buf_printf(struct mk_buf *b, const char *fmt, ...)
{
    va_list args;
    char *to;
    int len;

    va_start(args, fmt);
    len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len < 0)
        return MK_E_INVALID;
    to = mk_buf_reserve(b, (size_t)len + 1);
    if (!to)
        return b->error;
    va_start(args, fmt);
    (void)vsnprintf(to, (size_t)len + 1, fmt, args);
    va_end(args);
    b->len += (size_t)len;
    return 0;
}
