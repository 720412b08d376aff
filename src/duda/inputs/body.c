/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs/inputs.h"
#include "inputs/scalar.h"

#include <stdio.h>
#include <string.h>

/* Members of a JSON body. A table bounds how deep lists and objects of it go; what it does not name is a fault, not entered. */

/* Where a value is: a member, or an item of a list. */
struct spot {
    const struct spot *outer; /* NULL: in the body itself */
    const char *name;         /* NULL: an item */
    unsigned index;
};

/* The object of one table that is being read. */
struct object {
    const struct mk_duda_rows *rows;
    struct mk_duda_values *v;
    char *data;
    uint64_t given;
    const struct spot *spot; /* NULL: the body itself */
};

static size_t print_spot(const struct spot *spot, char text[MK_DUDA_FAULT_NAME])
{
    size_t len = spot->outer ? print_spot(spot->outer, text) : 0;
    int more = spot->name ? snprintf(text + len, MK_DUDA_FAULT_NAME - len, "%s%s",
                                     len > 0 ? "." : "", spot->name)
                          : snprintf(text + len, MK_DUDA_FAULT_NAME - len, "[%u]", spot->index);

    len += (size_t)more;
    return len < MK_DUDA_FAULT_NAME ? len : MK_DUDA_FAULT_NAME - 1;
}

/* @return as mk_duda_note() */
static int note(struct mk_duda_values *v, const struct spot *spot, const char *sentence)
{
    char name[MK_DUDA_FAULT_NAME];

    if (!sentence)
        return 0;
    (void)print_spot(spot, name);
    return mk_duda_note(v, DUDA_IN_BODY, name, sentence);
}

static int read_object(struct object *o, const json_t *object);

/* ---- lists ---- */

static int read_item(const struct mk_duda_row *list, struct mk_duda_values *v, const json_t *item,
                     const struct spot *spot, char *to)
{
    struct object o = {.rows = list->items, .v = v, .data = to, .spot = spot};

    if (list->said->item_size == 0)
        return note(v, spot, mk_duda_scalar_take(list->items->row, v, item, to));
    return item->type == cJSON_Object ? read_object(&o, item) : note(v, spot, "must be an object");
}

static int read_list(const struct mk_duda_row *row, struct mk_duda_values *v, const json_t *array,
                     const struct spot *spot, struct duda_list *to)
{
    const size_t count = (size_t)json_size((json_t *)(uintptr_t)array);
    const char *fault = mk_duda_count_check(row, v, count, "items");
    struct spot at = {.outer = spot};
    char *items;
    int err = 0;

    if (fault || count == 0)
        return note(v, spot, fault);
    items = mk_duda_values_alloc(v, count * row->item_size);
    if (!items)
        return MK_E_NOMEM;
    *to = (struct duda_list){items, count};
    for (const json_t *item = array->child; item && err == 0; item = item->next, at.index++)
        err = read_item(row, v, item, &at, items + at.index * row->item_size);
    return err;
}

/* ---- members ---- */

static int read_member(struct object *o, unsigned at, const json_t *item, const struct spot *spot)
{
    const struct mk_duda_row *row = &o->rows->row[at];
    char *to = o->data + row->said->to;

    o->given |= UINT64_C(1) << at;
    if (row->said->type != DUDA_LIST)
        return note(o->v, spot, mk_duda_scalar_take(row, o->v, item, to));
    if (item->type != cJSON_Array)
        return note(o->v, spot, "must be a list");
    return read_list(row, o->v, item, spot, (struct duda_list *)(void *)to);
}

enum { NONE = MK_DUDA_INPUT_ROWS, WITHIN };

/* @return the row of that name; WITHIN: the name is of an object that has rows; NONE */
static unsigned find_row(const struct mk_duda_rows *rows, const char *name, size_t len)
{
    for (unsigned i = 0; i < rows->count; i++) {
        const struct mk_duda_row *row = &rows->row[i];

        if (row->in == DUDA_IN_BODY && mk_duda_name_is_within(row->said->name, name, len))
            return row->said->name[len] == '\0' ? i : (unsigned)WITHIN;
    }
    return NONE;
}

/* @param prefix  the names of the objects around, each with a dot, of len bytes, with room for more */
static int read_members(struct object *o, const json_t *object, char *prefix, size_t len);

static int read_named(struct object *o, const json_t *item, char *name, size_t len)
{
    const struct spot spot = {.outer = o->spot, .name = name};
    const unsigned at = find_row(o->rows, name, len);

    if (at < NONE)
        return read_member(o, at, item, &spot);
    if (at == NONE)
        return note(o->v, &spot, "is not known");
    if (item->type != cJSON_Object)
        return note(o->v, &spot, "must be an object");
    memcpy(name + len, ".", 2);
    return read_members(o, item, name, len + 1);
}

static int read_members(struct object *o, const json_t *object, char *prefix, size_t len)
{
    int err = 0;

    for (const json_t *item = object->child; item && err == 0 && o->v->nfaults < MK_DUDA_FAULTS_MAX;
         item = item->next) {
        const size_t more = strlen(item->string);

        if (len + more <= MK_DUDA_INPUT_NAME && !strchr(item->string, '.')) {
            memcpy(prefix + len, item->string, more + 1);
            err = read_named(o, item, prefix, len + more);
        } else {
            err =
                note(o->v, &(struct spot){.outer = o->spot, .name = item->string}, "is not known");
        }
    }
    return err;
}

static int read_object(struct object *o, const json_t *object)
{
    char prefix[MK_DUDA_INPUT_NAME + 2], name[MK_DUDA_FAULT_NAME];
    int err = read_members(o, object, prefix, 0);

    for (unsigned i = 0; i < o->rows->count && err == 0; i++) {
        const struct mk_duda_row *row = &o->rows->row[i];

        if (row->in != DUDA_IN_BODY || (o->given & UINT64_C(1) << i))
            continue;
        (void)print_spot(&(struct spot){.outer = o->spot, .name = row->said->name}, name);
        err = mk_duda_absent(row, o->v, name, o->data);
    }
    return err;
}

int mk_duda_body_read(const struct mk_duda_rows *rows, const json_t *object,
                      struct mk_duda_values *v, char *data, uint64_t *given)
{
    struct object o = {.rows = rows, .v = v, .data = data, .given = *given};
    int err = read_object(&o, object);

    *given = o.given;
    return err;
}
