/* SPDX-License-Identifier: Apache-2.0 */
#include "web/json_int.h"

#include "base/heap.h"
#include "base/str.h"
#include "kit/json/write.h"

#include <stdlib.h>

/* JSON as a tree, whose memory is freed at once: values in pieces, all texts in the first of them. */

enum { FIRST_VALUES = 16, PIECE_VALUES = 512, FEW_NAMES = 12 };

struct piece {
    struct piece *next;
    struct mk_json_value values[];
};

/* A tree while its text is read. */
struct tree {
    struct json_read read;
    struct piece *first, *last;
    size_t used, room; /* values of the last piece */
    size_t held;       /* bytes of all pieces */
    struct mk_json_value *open, *tail;
    struct mk_str name; /* of the value that follows */
};

static bool add_piece(struct tree *t, size_t values, size_t bytes)
{
    const size_t size = sizeof(struct piece) + values * sizeof(struct mk_json_value) + bytes;
    struct piece *piece = mk_heap_alloc(size);

    if (!piece)
        return false;
    t->held += size;
    piece->next = NULL;
    if (t->last)
        t->last->next = piece;
    else
        t->first = piece;
    t->last = piece;
    t->used = 0;
    t->room = values;
    return true;
}

static void free_pieces(struct piece *piece)
{
    while (piece) {
        struct piece *next = piece->next;

        mk_heap_free(piece);
        piece = next;
    }
}

/* The root is the first value of the first piece. */
void mk_json_free(const struct mk_json_value *root)
{
    if (root)
        free_pieces((struct piece *)((uintptr_t)root - offsetof(struct piece, values)));
}

/* ---- names that an object has twice ---- */

static int compare(const void *a, const void *b)
{
    const struct mk_str *x = a, *y = b;

    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    return memcmp(x->p, y->p, x->len);
}

static bool has_twice(const struct mk_json_value *object)
{
    for (const struct mk_json_value *a = object->first; a; a = a->next) {
        for (const struct mk_json_value *b = a->next; b; b = b->next) {
            if (mk_str_eq(a->name, b->name))
                return true;
        }
    }
    return false;
}

/* Of many names only neighbours of an order are compared. */
static int check_many(struct tree *t, const struct mk_json_value *object)
{
    struct mk_str *names = mk_heap_alloc(object->count * sizeof(*names));
    size_t i = 0;

    if (!names)
        return MK_E_NOMEM;
    for (const struct mk_json_value *at = object->first; at; at = at->next)
        names[i++] = at->name;
    qsort(names, object->count, sizeof(*names), compare);
    for (i = 1; i < object->count && compare(&names[i - 1], &names[i]) != 0;)
        i++;
    mk_heap_free(names);
    return i < object->count ? json_read_fail(&t->read, MK_E_BAD, "the object has a name twice")
                             : 0;
}

static int check_names(struct tree *t, const struct mk_json_value *object)
{
    if (object->kind != MK_JSON_OBJECT || object->count < 2)
        return 0;
    if (object->count > FEW_NAMES)
        return check_many(t, object);
    return has_twice(object) ? json_read_fail(&t->read, MK_E_BAD, "the object has a name twice")
                             : 0;
}

/* ---- reading ---- */

static int add_value(struct tree *t, int kind)
{
    struct mk_json_value *v;

    if (t->used == t->room && !add_piece(t, PIECE_VALUES, 0))
        return MK_E_NOMEM;
    v = &t->last->values[t->used++];
    *v =
        (struct mk_json_value){.kind = (enum mk_json_kind)kind, .name = t->name, .parent = t->open};
    t->name = (struct mk_str){NULL, 0};
    if (kind == MK_JSON_STRING)
        v->text = t->read.text;
    if (t->open) {
        t->open->count++;
        if (t->tail)
            t->tail->next = v;
        else
            t->open->first = v;
    }
    t->tail = v;
    return 0;
}

/* The text of a tree is not kept, so that of a number is copied. */
static int add_number(struct tree *t)
{
    const struct mk_str text = t->read.text;
    const int err = add_value(t, MK_JSON_NUMBER);

    if (err < 0)
        return err;
    memcpy(t->read.to, text.p, text.len);
    t->tail->text = (struct mk_str){t->read.to, text.len};
    t->read.to += text.len;
    return 0;
}

static int open_list(struct tree *t, int kind)
{
    const int err = add_value(t, kind);

    if (err < 0)
        return err;
    t->open = t->tail;
    t->tail = NULL;
    return 0;
}

static int close_list(struct tree *t)
{
    const int err = check_names(t, t->open);

    t->tail = t->open;
    t->open = (struct mk_json_value *)(uintptr_t)t->open->parent; /* all of them are ours */
    return err;
}

static int take(struct tree *t, int kind)
{
    switch (kind) {
    case MK_JSON_KEY:
        t->name = t->read.text;
        return 0;
    case MK_JSON_NUMBER:
        return add_number(t);
    case MK_JSON_ARRAY:
    case MK_JSON_OBJECT:
        return open_list(t, kind);
    case MK_JSON_CLOSE:
        return close_list(t);
    default:
        return add_value(t, kind);
    }
}

static int read_all(struct tree *t, struct mk_str text, const struct mk_json_bounds *bounds)
{
    int kind, err = 0;

    json_read_begin(&t->read, NULL, 0);
    mk_json_set_bounds(&t->read, bounds);
    json_read_feed(&t->read, text, true);
    if (t->read.error < 0)
        return t->read.error;
    /* Characters are never longer than they are written. */
    if (!add_piece(t, FIRST_VALUES, text.len))
        return MK_E_NOMEM;
    t->read.to = (char *)&t->first->values[FIRST_VALUES];
    t->read.room_end = t->read.to + text.len;
    while (err == 0 && (kind = json_read_next(&t->read)) != MK_JSON_END)
        err = kind < 0 ? kind : take(t, kind);
    return err;
}

static void set_fault(struct mk_json_fault *to, const struct json_read *r, struct mk_str text)
{
    struct mk_json_fault fault = {.offset = (size_t)json_read_offset(r), .reason = r->reason};

    if (!to)
        return;
    fault.size = to->size < sizeof(fault) ? to->size : sizeof(fault);
    json_read_place(text, fault.offset, &fault.line, &fault.column);
    memcpy(to, &fault, fault.size);
}

int mk_json_read_held(struct mk_str text, const struct mk_json_bounds *bounds,
                      const struct mk_json_value **root, struct mk_json_fault *fault, size_t *held)
{
    struct tree t;
    int err;

    t.first = t.last = NULL;
    t.held = 0;
    t.open = t.tail = NULL;
    t.name = (struct mk_str){NULL, 0};
    err = read_all(&t, text.p ? text : MK_STR(""), bounds);
    if (err < 0) {
        set_fault(fault, &t.read, text);
        free_pieces(t.first);
        return err;
    }
    *root = t.first->values;
    *held = t.held;
    return 0;
}

int mk_json_read(struct mk_str text, const struct mk_json_bounds *bounds,
                 const struct mk_json_value **root, struct mk_json_fault *fault)
{
    size_t held;

    return root ? mk_json_read_held(text, bounds, root, fault, &held) : MK_E_INVALID;
}

/* ---- what is in it ---- */

const struct mk_json_value *mk_json_member(const struct mk_json_value *object, struct mk_str name)
{
    const struct mk_json_value *at =
        object && object->kind == MK_JSON_OBJECT ? object->first : NULL;

    while (at && !mk_str_eq(at->name, name))
        at = at->next;
    return at;
}

int mk_json_double(const struct mk_json_value *value, double *number)
{
    double n;

    if (!value || value->kind != MK_JSON_NUMBER || !number)
        return MK_E_BAD;
    if (!json_read_number(value->text.p, value->text.p + value->text.len, &n))
        return MK_E_LIMIT;
    *number = n;
    return 0;
}

int mk_json_int64(const struct mk_json_value *value, int64_t *number)
{
    const struct mk_str text = value ? value->text : (struct mk_str){NULL, 0};
    struct json_number n;

    if (!value || value->kind != MK_JSON_NUMBER || !number)
        return MK_E_BAD;
    if (!json_scan_number(&n, text.p, text.p + text.len))
        return MK_E_BAD;
    return json_number_int64(&n, number);
}

/* ---- written again ---- */

static void write_one(struct mk_json *j, const struct mk_json_value *v)
{
    if (v->name.p)
        mk_json_key(j, v->name);
    switch (v->kind) {
    case MK_JSON_OBJECT:
        mk_json_object(j);
        break;
    case MK_JSON_ARRAY:
        mk_json_array(j);
        break;
    case MK_JSON_STRING:
        mk_json_text(j, v->text);
        break;
    case MK_JSON_NUMBER:
        mk_json_raw(j, v->text);
        break;
    case MK_JSON_NULL:
        mk_json_null(j);
        break;
    default:
        mk_json_bool(j, v->kind == MK_JSON_TRUE);
    }
}

static bool is_list(const struct mk_json_value *v)
{
    return v->kind == MK_JSON_ARRAY || v->kind == MK_JSON_OBJECT;
}

/* @return the value after one whose members, if any, are written; NULL: the tree is whole */
static const struct mk_json_value *after(struct mk_json *j, const struct mk_json_value *v,
                                         const struct mk_json_value *root)
{
    if (is_list(v))
        mk_json_close(j);
    while (v != root && !v->next) {
        v = v->parent;
        mk_json_close(j);
    }
    return v == root ? NULL : v->next;
}

void mk_json_tree(struct mk_json *j, const struct mk_json_value *value)
{
    if (!value)
        mk_json_null(j);
    for (const struct mk_json_value *v = value; v && j && j->error == 0;) {
        /* the name of the root is that of a tree around it */
        struct mk_json_value one = *v;

        if (v == value)
            one.name.p = NULL;
        write_one(j, &one);
        v = v->first ? v->first : after(j, v, value);
    }
}
