/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "json/tree.h"
#include "views/render.h"

/* Any bytes as a template and, behind a NUL, as a tree of JSON. What is taken is a page within the bounds. */

static void *zeroed(const size_t size)
{
    return calloc(1, size);
}

static void *plain(const size_t size)
{
    return malloc(size);
}

static const struct duda_api_mem memory = {plain, zeroed, realloc, free};

struct run {
    struct mk_str text;
    void *blocks[4096];
    unsigned count;
};

static void *room_alloc(void *arg, size_t size)
{
    struct run *run = arg;

    if (run->count == sizeof(run->blocks) / sizeof(run->blocks[0]))
        return NULL;
    return run->blocks[run->count++] = calloc(1, size);
}

static struct mk_str read_file(void *arg, const char *name)
{
    const struct run *run = arg;

    if (strcmp(name, "page") == 0)
        return run->text;
    return strcmp(name, "p") == 0 ? MK_STR("<i>{{a}}</i>") : (struct mk_str){NULL, 0};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size > 0 ? memchr(data, 0, size) : NULL;
    const size_t len = nul ? (size_t)(nul - data) : size;
    char *text = exact_copy(data, len),
         *source = exact_copy(nul ? nul + 1 : data, nul ? size - len - 1 : 0);
    struct run run = {.text = {text, len}};
    struct mk_duda_template_room room = {.alloc = room_alloc, .read = read_file, .arg = &run};
    const struct mk_duda_template *t = mk_duda_template_new(&room, "page");
    struct mk_duda_shown shown = {0};
    struct page page = {0};
    json_t *tree;

    json_memory = &memory;
    tree = json_parse_text(source, nul ? size - len - 1 : 0, 0, NULL);
    shown.item = tree;
    require(t || room.why[0]);
    if (t)
        require(mk_duda_render(t, &shown, &page) == 0 || page.len <= PAGE_MAX);
    page_free(&page);
    json_delete(tree);
    while (run.count > 0)
        free(run.blocks[--run.count]);
    free(text);
    free(source);
    return 0;
}
