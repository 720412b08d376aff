/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "json/tree.h"

/*
 * Any bytes as a text of JSON. What is accepted is printed as a text that is read as the same, in the same bytes by both
 * printers; what is refused has a place within the text. The first bytes are a pointer into it as well.
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

struct sink {
    const char *expected;
    size_t left;
};

static int compare(void *user, const char *bytes, size_t len)
{
    struct sink *sink = user;

    require(len <= sink->left && memcmp(sink->expected, bytes, len) == 0);
    sink->expected += len;
    sink->left -= len;
    return 0;
}

static void write_same(const json_t *item, const char *text)
{
    struct sink sink = {text, strlen(text)};
    json_writer_t *w = json_writer_new(compare, &sink);

    json_write_item(w, item);
    require(json_writer_end(w) == 0 && sink.left == 0);
}

static void print_same(const json_t *item, bool is_indented)
{
    char *text = json_print(item, false), *other = json_print(item, is_indented), *again;
    json_t *same;

    require(text && other);
    same = json_parse_text(other, strlen(other), 0, NULL);
    again = json_print(same, false);
    require(again && strcmp(text, again) == 0);
    write_same(same, text);
    json_delete(same);
    free(text);
    free(other);
    free(again);
}

static void merge_same(json_t *item)
{
    json_t *first = json_merge_patch(item, item), *again = json_merge_patch(first, item);
    char *once = json_print(first, false), *twice = json_print(again, false);

    require(once && twice && strlen(once) == strlen(twice));
    json_delete(first);
    json_delete(again);
    free(once);
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const unsigned choice = take_byte(&data, &size);
    char *text = exact_copy(data, size), path[24] = "";
    struct json_fault fault = {0};
    json_t *item;

    json_memory = &memory;
    item = json_parse_text(text, size, (int)(choice & 1), &fault);
    if (size > 0)
        memcpy(path, text, size < sizeof(path) ? size : sizeof(path) - 1);
    (void)json_pointer(item, path);
    if (item) {
        print_same(item, choice & 2);
        merge_same(item);
    } else {
        require(fault.offset <= size && fault.line > 0 && fault.column > 0 && fault.reason);
    }
    json_delete(item);
    free(text);
    return 0;
}
