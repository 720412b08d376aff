/* SPDX-License-Identifier: Apache-2.0 */
#include "json/tree.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * The parser of the json package without a server: texts on standard input, each after its length in four bytes of this
 * machine's order; on standard output the same of what is printed, or the length 0 for what is refused.
 */

static void *zeroed(const size_t size)
{
    return calloc(1, size);
}

static void *plain(const size_t size)
{
    return malloc(size);
}

static const struct duda_api_mem memory = {plain, zeroed, realloc, free};

static void answer(const char *text, uint32_t len)
{
    json_t *item = json_parse_text(text, len, 0, NULL);
    char *printed = item ? json_print(item, false) : NULL;
    uint32_t size = printed ? (uint32_t)strlen(printed) : 0;

    fwrite(&size, sizeof(size), 1, stdout);
    if (printed)
        fwrite(printed, 1, size, stdout);
    free(printed);
    json_delete(item);
}

int main(void)
{
    uint32_t len;

    json_memory = &memory;
    while (fread(&len, sizeof(len), 1, stdin) == 1) {
        char *text = malloc(len + !len);

        if (!text || fread(text, 1, len, stdin) != len)
            return 1;
        answer(text, len);
        free(text);
    }
    return 0;
}
