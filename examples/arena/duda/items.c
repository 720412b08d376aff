/* SPDX-License-Identifier: Apache-2.0 */
#include "arena.h"

#include <stdio.h>
#include <stdlib.h>

/* GET /json/COUNT?m=FACTOR: the first items of a file, written anew for each request. */

enum { ITEMS_MAX = 1000, LINE_MAX_BYTES = 4096, FACTOR_MAX = 1000000, NUMBER_MAX = 1000000 };

static struct item items[ITEMS_MAX];
static long nitems;

/* The next column, cut off its line; "" after the last. */
static char *column(char **line)
{
    char *text = *line ? strsep(line, "\t\n") : NULL;

    return text ? text : "";
}

static int read_tags(struct item *item, char *text)
{
    char *tag;

    while ((tag = strsep(&text, ",")) && *tag) {
        if (item->ntags == ITEM_TAGS)
            return -1;
        item->tags[item->ntags++] = tag;
    }
    return 0;
}

/* The texts of the item stay in the line. */
static int read_item(struct item *item, char *line)
{
    item->id = atol(column(&line));
    item->name = column(&line);
    item->category = column(&line);
    item->price = atol(column(&line));
    item->quantity = atol(column(&line));
    item->is_active = strcmp(column(&line), "true") == 0;
    if (read_tags(item, column(&line)) < 0)
        return -1;
    item->score = atol(column(&line));
    item->count = atol(column(&line));
    return item->id > 0 && item->price >= 0 && item->price <= NUMBER_MAX && item->quantity >= 0 &&
                   item->quantity <= NUMBER_MAX
               ? 0
               : -1;
}

int items_load(const char *path)
{
    FILE *file = fopen(path, "re");
    char line[LINE_MAX_BYTES];
    int result = file ? 0 : -1;

    while (result == 0 && fgets(line, sizeof(line), file)) {
        char *kept = nitems < ITEMS_MAX ? strdup(line) : NULL;

        result = kept ? read_item(&items[nitems++], kept) : -1;
    }
    if (file)
        fclose(file);
    return result;
}

static void write_item(json_writer_t *w, const struct item *item, long factor)
{
    json->write_object(w);
    json->write_key(w, "id");
    json->write_int64(w, item->id);
    json->write_key(w, "name");
    json->write_string(w, item->name);
    json->write_key(w, "category");
    json->write_string(w, item->category);
    json->write_key(w, "price");
    json->write_int64(w, item->price);
    json->write_key(w, "quantity");
    json->write_int64(w, item->quantity);
    json->write_key(w, "active");
    json->write_bool(w, item->is_active);
    json->write_key(w, "tags");
    json->write_array(w);
    for (int i = 0; i < item->ntags; i++)
        json->write_string(w, item->tags[i]);
    json->write_close(w);
    json->write_key(w, "rating");
    json->write_object(w);
    json->write_key(w, "score");
    json->write_int64(w, item->score);
    json->write_key(w, "count");
    json->write_int64(w, item->count);
    json->write_close(w);
    json->write_key(w, "total");
    json->write_int64(w, item->price * item->quantity * factor);
    json->write_close(w);
}

static void list(duda_request_t *dr)
{
    long count, factor = 1;
    json_writer_t *w;

    if (param->get_number(dr, "count", &count) < 0 || count < 0) {
        response->problem(dr, 404, "No such list", NULL);
        return;
    }
    if (query->get(dr, "m") &&
        (query->get_number(dr, "m", &factor) < 0 || factor < 0 || factor > FACTOR_MAX)) {
        response->problem(dr, 400, "m is a number from 0 to 1000000", NULL);
        return;
    }
    count = count < nitems ? count : nitems;
    w = json->answer(dr, 200);
    json->write_object(w);
    json->write_key(w, "items");
    json->write_array(w);
    for (long i = 0; i < count; i++)
        write_item(w, &items[i], factor);
    json->write_close(w);
    json->write_key(w, "count");
    json->write_int64(w, count);
    json->write_close(w);
    if (json->writer_end(w) < 0)
        response->problem(dr, 500, "The list is not whole", NULL);
}

void items_routes(void)
{
    router->get("/json/:count<uint>", list);
}
