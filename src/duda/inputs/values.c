/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs/values.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST = 256, /* bytes of most requests */
    BLOCK = 2048,
    ALIGNED = sizeof(max_align_t),
};

struct mk_duda_values_block {
    struct mk_duda_values_block *next;
    max_align_t bytes[];
};

/* The values, and their first bytes behind them. */
struct mk_duda_values_room {
    struct mk_duda_values values;
    max_align_t bytes[FIRST / ALIGNED];
};

struct mk_duda_values *mk_duda_values_new(void)
{
    struct mk_duda_values_room *room = malloc(sizeof(*room));
    struct mk_duda_values *v = &room->values;

    if (!room)
        return NULL;
    *v = (struct mk_duda_values){.left = MK_DUDA_VALUES_MAX, .at = (char *)room->bytes};
    v->end = v->at + sizeof(room->bytes);
    return v;
}

void mk_duda_values_free(struct mk_duda_values *v)
{
    while (v && v->blocks) {
        struct mk_duda_values_block *next = v->blocks->next;

        free(v->blocks);
        v->blocks = next;
    }
    free(v);
}

static bool add_block(struct mk_duda_values *v, size_t size)
{
    struct mk_duda_values_block *block;

    size = size > BLOCK ? size : BLOCK;
    block = malloc(sizeof(*block) + size);
    if (!block)
        return false;
    block->next = v->blocks;
    v->blocks = block;
    v->at = (char *)block->bytes;
    v->end = v->at + size;
    return true;
}

void *mk_duda_values_take(struct mk_duda_values *v, size_t size)
{
    char *p;

    v->is_full = v->is_full || size > v->left;
    if (size > v->left)
        return NULL;
    size = (size + ALIGNED - 1) / ALIGNED * ALIGNED;
    if (size > (size_t)(v->end - v->at) && !add_block(v, size))
        return NULL;
    v->left -= size < v->left ? size : v->left;
    p = v->at;
    v->at += size;
    return p;
}

void *mk_duda_values_alloc(struct mk_duda_values *v, size_t size)
{
    void *p = mk_duda_values_take(v, size);

    return p ? memset(p, 0, size) : NULL;
}

char *mk_duda_values_copy(struct mk_duda_values *v, struct mk_str text)
{
    char *copy = mk_duda_values_take(v, text.len + 1);

    if (!copy)
        return NULL;
    if (text.len > 0)
        memcpy(copy, text.p, text.len);
    copy[text.len] = '\0';
    return copy;
}

int mk_duda_fault_add(struct mk_duda_values *v, enum duda_in in, const char *name,
                      const char *detail)
{
    struct mk_duda_fault *fault;

    if (v->nfaults == MK_DUDA_FAULTS_MAX)
        return 0;
    if (!v->faults)
        v->faults = mk_duda_values_alloc(v, MK_DUDA_FAULTS_MAX * sizeof(*v->faults));
    if (!v->faults)
        return MK_E_NOMEM;
    fault = &v->faults[v->nfaults];
    *fault = (struct mk_duda_fault){.in = in,
                                    .name = mk_duda_values_copy(v, mk_str_from(name)),
                                    .detail = mk_duda_values_copy(v, mk_str_from(detail))};
    if (!fault->name || !fault->detail)
        return MK_E_NOMEM;
    v->nfaults++;
    return 0;
}
