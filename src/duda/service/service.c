/* SPDX-License-Identifier: Apache-2.0 */
#include "service/service.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

struct mk_duda_block {
    struct mk_duda_block *next;
    max_align_t bytes[];
};

void *mk_duda_alloc(struct mk_duda_service *s, size_t size)
{
    struct mk_duda_block *block = calloc(1, sizeof(*block) + size);

    if (!block)
        return NULL;
    block->next = s->blocks;
    s->blocks = block;
    return block->bytes;
}

void mk_duda_free_blocks(struct mk_duda_block *blocks)
{
    while (blocks) {
        struct mk_duda_block *next = blocks->next;

        free(blocks);
        blocks = next;
    }
}

char *mk_duda_copy(struct mk_duda_service *s, const char *text, size_t len)
{
    char *copy = mk_duda_alloc(s, len + 1);

    return copy ? memcpy(copy, text, len) : NULL;
}

/* ---- what is said of it ---- */

void mk_duda_log(const struct mk_duda_service *s, enum mk_log_level level, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    mk_server_log(s->server, level, "duda: service '%s': %s", s->spec.name, text);
}

int mk_duda_refuse(struct mk_duda_service *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(s->why, sizeof(s->why), fmt, ap);
    va_end(ap);
    return -1;
}

bool mk_duda_is_set_up(const struct mk_duda_service *s, const char *call)
{
    if (s->state == MK_DUDA_NEW)
        return true;
    mk_duda_log(s, MK_LOG_WARN, "%s() works in duda_main() only", call);
    return false;
}

/* ---- references ---- */

bool mk_duda_try_get(struct mk_duda_service *s)
{
    unsigned n = atomic_load(&s->refs.refs);

    while (n > 0 && !atomic_compare_exchange_weak(&s->refs.refs, &n, n + 1))
        continue;
    return n > 0;
}

void mk_duda_put(struct mk_duda_service *s)
{
    if (s && counted_put(&s->refs))
        s->end(s);
}
