/* SPDX-License-Identifier: Apache-2.0 */
#include "json/tree.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int json_has_unique_keys(json_t *object)
{
    size_t n = (size_t)json_size(object), i = 0;
    const char **keys = n > 1 ? json_memory->alloc(n * sizeof(*keys)) : NULL;

    if (n <= 1)
        return 1;
    if (!keys)
        return -1;
    for (const json_t *item = object->child; item; item = item->next)
        keys[i++] = item->string ? item->string : "";
    qsort(keys, n, sizeof(*keys), compare);
    for (i = 1; i < n && strcmp(keys[i - 1], keys[i]) != 0;)
        i++;
    json_memory->free(keys);
    return i == n;
}
