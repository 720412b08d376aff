/* SPDX-License-Identifier: Apache-2.0 */
#include "items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20, FACTOR_MAX = 1000000 };

/* Cut off what stands before the next such character, and the character. */
static struct mk_str cut(struct mk_str *rest, char at)
{
    const char *end = rest->len > 0 ? memchr(rest->p, at, rest->len) : NULL;
    const struct mk_str part = {rest->p, end ? (size_t)(end - rest->p) : rest->len};
    const size_t used = part.len + (end != NULL);

    *rest = (struct mk_str){rest->p + used, rest->len - used};
    return part;
}

static int read_number(struct mk_str *line, int64_t *n)
{
    return mk_text_int(cut(line, '\t'), n) < 0 || *n < 0 || *n > FACTOR_MAX ? -1 : 0;
}

static int read_tags(struct item *item, struct mk_str tags)
{
    while (tags.len > 0) {
        if (item->ntags == ITEM_TAGS)
            return -1;
        item->tags[item->ntags++] = cut(&tags, ',');
    }
    return 0;
}

static int read_item(struct item *item, struct mk_str line)
{
    if (read_number(&line, &item->id) < 0)
        return -1;
    item->name = cut(&line, '\t');
    item->category = cut(&line, '\t');
    if (read_number(&line, &item->price) < 0 || read_number(&line, &item->quantity) < 0)
        return -1;
    item->active = cut(&line, '\t').len == strlen("true");
    if (read_tags(item, cut(&line, '\t')) < 0)
        return -1;
    return read_number(&line, &item->score) < 0 || read_number(&line, &item->count) < 0 ? -1 : 0;
}

static int read_lines(struct items *items, struct mk_str text)
{
    while (text.len > 0) {
        const struct mk_str line = cut(&text, '\n');

        if (items->count == ITEMS_MAX || read_item(&items->all[items->count], line) < 0)
            return -1;
        items->count++;
    }
    return 0;
}

int items_read(struct items *items, const char *path)
{
    FILE *file = fopen(path, "re");
    size_t len;

    memset(items, 0, sizeof(*items));
    if (!file)
        return -1;
    items->text = malloc(FILE_MAX);
    len = items->text ? fread(items->text, 1, FILE_MAX, file) : FILE_MAX;
    (void)fclose(file);
    if (len < FILE_MAX && read_lines(items, (struct mk_str){items->text, len}) == 0)
        return 0;
    items_free(items);
    return -1;
}

void items_free(struct items *items)
{
    free(items->text);
}

static void write_number(struct mk_json *j, struct mk_str name, int64_t n)
{
    mk_json_key(j, name);
    mk_json_int(j, n);
}

static void write_text(struct mk_json *j, struct mk_str name, struct mk_str text)
{
    mk_json_key(j, name);
    mk_json_text(j, text);
}

void item_write(struct mk_json *j, const struct item *item, int64_t factor)
{
    mk_json_object(j);
    write_number(j, MK_STR("id"), item->id);
    write_text(j, MK_STR("name"), item->name);
    write_text(j, MK_STR("category"), item->category);
    write_number(j, MK_STR("price"), item->price);
    write_number(j, MK_STR("quantity"), item->quantity);
    mk_json_key(j, MK_STR("active"));
    mk_json_bool(j, item->active);
    mk_json_key(j, MK_STR("tags"));
    mk_json_array(j);
    for (size_t i = 0; i < item->ntags; i++)
        mk_json_text(j, item->tags[i]);
    mk_json_close(j);
    mk_json_key(j, MK_STR("rating"));
    mk_json_object(j);
    write_number(j, MK_STR("score"), item->score);
    write_number(j, MK_STR("count"), item->count);
    mk_json_close(j);
    write_number(j, MK_STR("total"), item->price * item->quantity * factor);
    mk_json_close(j);
}
