/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU time of a text of JSON parsed and printed: FILE, and how long to measure in ms. cJSON with -DWITH_CJSON. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef WITH_CJSON
#include <cjson/cJSON.h>

static void *parse(const char *text, size_t len)
{
    return cJSON_ParseWithLength(text, len);
}

static char *print(void *tree)
{
    return cJSON_PrintUnformatted(tree);
}

static void drop(void *tree)
{
    cJSON_Delete(tree);
}
#else
#include "json/tree.h"

static void *zeroed(const size_t size)
{
    return calloc(1, size);
}

static void *plain(const size_t size)
{
    return malloc(size);
}

static const struct duda_api_mem memory = {plain, zeroed, realloc, free};

static void *parse(const char *text, size_t len)
{
    json_memory = &memory;
    return json_parse_text(text, len, 0, NULL);
}

static char *print(void *tree)
{
    return json_print(tree, false);
}

static void drop(void *tree)
{
    json_delete(tree);
}
#endif

static double cpu_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void parse_once(const char *text, size_t len)
{
    drop(parse(text, len));
}

static void print_once(void *tree)
{
    free(print(tree));
}

/* @return microseconds of one */
static double measure(const char *text, size_t len, void *tree, double ms)
{
    const double began = cpu_ms();
    double used = 0;
    long count = 0;

    while (used < ms) {
        for (size_t done = 0; done < 100000; done += len, count++) {
            if (tree)
                print_once(tree);
            else
                parse_once(text, len);
        }
        used = cpu_ms() - began;
    }
    return used * 1e3 / (double)count;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    const double ms = argc == 3 ? atof(argv[2]) : 0;
    char *text = malloc(1 << 25);
    size_t len;
    void *tree;

    if (!file || !text)
        return 2;
    len = fread(text, 1, (1 << 25) - 1, file);
    (void)fclose(file);
    text[len] = '\0';
    tree = parse(text, len);
    if (!tree)
        return 1;
    (void)measure(text, len, NULL, ms / 10);
    printf("%.3f", measure(text, len, NULL, ms));
    (void)measure(text, len, tree, ms / 10);
    printf(" %.3f\n", measure(text, len, tree, ms));
    drop(tree);
    free(text);
    return 0;
}
