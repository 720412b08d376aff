/* SPDX-License-Identifier: Apache-2.0 */
#include "conf/names_int.h"

#include "base/code.h"

#include <stdlib.h>

struct mk_name {
    struct mk_name *before;
    const char *text;
};

int mk_names_add(struct mk_names *n, struct mk_str text)
{
    struct mk_name *name = mk_arena_alloc(n->arena, sizeof(*name));

    if (!name)
        return MK_E_NOMEM;
    *name = (struct mk_name){n->last, mk_arena_strdup(n->arena, text)};
    if (!name->text)
        return MK_E_NOMEM;
    n->last = name;
    n->count++;
    return 0;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

MK_AT_START int mk_names_sorted(const struct mk_names *n, const char *const **sorted)
{
    const char **all = mk_arena_zalloc(n->arena, (n->count + 1) * sizeof(*all));
    size_t i = 0;

    if (!all)
        return MK_E_NOMEM;
    for (const struct mk_name *name = n->last; name; name = name->before)
        all[i++] = name->text;
    qsort(all, n->count, sizeof(*all), by_bytes);
    *sorted = all;
    return (int)n->count;
}
