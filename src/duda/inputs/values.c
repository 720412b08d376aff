/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs/values.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2048 };

struct mk_duda_values_block {
    struct mk_duda_values_block *next;
    size_t used, size;
    max_align_t bytes[];
};

struct mk_duda_values *mk_duda_values_new(void)
{
    struct mk_duda_values *v = calloc(1, sizeof(*v));

    if (v)
        v->left = MK_DUDA_VALUES_MAX;
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

static struct mk_duda_values_block *new_block(struct mk_duda_values *v, size_t size)
{
    struct mk_duda_values_block *block;

    size = size > BLOCK ? size : BLOCK;
    block = calloc(1, sizeof(*block) + size);
    if (!block)
        return NULL;
    block->size = size;
    block->next = v->blocks;
    v->blocks = block;
    return block;
}

void *mk_duda_values_alloc(struct mk_duda_values *v, size_t size)
{
    struct mk_duda_values_block *block = v->blocks;
    void *p;

    v->is_full = v->is_full || size > v->left;
    if (size > v->left)
        return NULL;
    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (!block || size > block->size - block->used)
        block = new_block(v, size);
    if (!block)
        return NULL;
    v->left -= size < v->left ? size : v->left;
    p = (char *)block->bytes + block->used;
    block->used += size;
    return p;
}

char *mk_duda_values_copy(struct mk_duda_values *v, struct mk_str text)
{
    char *copy = mk_duda_values_alloc(v, text.len + 1);

    if (copy && text.len > 0)
        memcpy(copy, text.p, text.len);
    return copy;
}

int mk_duda_fault_add(struct mk_duda_values *v, enum duda_in in, const char *name,
                      const char *detail)
{
    struct mk_duda_fault *fault = &v->faults[v->nfaults];

    if (v->nfaults == MK_DUDA_FAULTS_MAX)
        return 0;
    *fault = (struct mk_duda_fault){.in = in,
                                    .name = mk_duda_values_copy(v, mk_str_from(name)),
                                    .detail = mk_duda_values_copy(v, mk_str_from(detail))};
    if (!fault->name || !fault->detail)
        return MK_E_NOMEM;
    v->nfaults++;
    return 0;
}
