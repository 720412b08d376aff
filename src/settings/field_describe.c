/* SPDX-License-Identifier: Apache-2.0 */
#include "settings/describe_int.h"

#include "base/code.h"
#include "base/buf.h"
#include "base/limits.h"
#include "settings/units_int.h"

#include <inttypes.h>

/* Values and fields as people write them. */

static void put_text(struct mk_buf *b, const char *text)
{
    if (text && *text)
        (void)mk_buf_append(b, text, strlen(text));
}

/* In the largest unit that divides it. A bare number stands for the smallest one, or for zero. */
static void put_quantity(struct mk_buf *b, int64_t n, const struct mk_unit *units, size_t nunits,
                         bool bare)
{
    size_t i = n != 0 ? nunits - 1 : 0;

    while (n % units[i].factor != 0)
        i--;
    (void)mk_buf_printf(b, "%" PRId64 "%s", n / units[i].factor,
                        n == 0 || (i == 0 && bare) ? "" : units[i].name);
}

static void put_number(struct mk_buf *b, const struct mk_field *f, int64_t n)
{
    if (f->type == MK_FIELD_TIME)
        put_quantity(b, n, mk_time_units, MK_TIME_UNITS, false);
    else if (f->type == MK_FIELD_SIZE)
        put_quantity(b, n, mk_size_units, MK_SIZE_UNITS, !(f->flags & MK_FIELD_KB));
    else
        (void)mk_buf_printf(b, "%" PRId64, n);
}

static void put_words(struct mk_buf *b, const struct mk_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        if (i > 0)
            put_text(b, " ");
        (void)mk_buf_append_str(b, words->items[i]);
    }
}

static void put_value(struct mk_buf *b, const struct mk_field *f, const void *member)
{
    switch ((enum mk_field_type)f->type) {
    case MK_FIELD_BOOL:
        put_text(b, *(const bool *)member ? "on" : "off");
        break;
    case MK_FIELD_INT:
    case MK_FIELD_SIZE:
    case MK_FIELD_TIME:
        put_number(b, f, *(const int64_t *)member);
        break;
    case MK_FIELD_ENUM:
        put_text(b, f->names[*(const int *)member]);
        break;
    case MK_FIELD_PATH:
    case MK_FIELD_STRING:
        if (f->flags & MK_FIELD_REPEAT)
            put_words(b, member);
        else
            put_text(b, *(const char *const *)member);
        break;
    case MK_FIELD_WORDS:
        put_words(b, member);
        break;
    case MK_FIELD_CUSTOM:
        break;
    }
}

static char *buf_to_arena(struct mk_buf *b, struct mk_arena *arena)
{
    char *text = b->error ? NULL : mk_arena_strdup(arena, mk_buf_str(b));

    mk_buf_fini(b);
    return text;
}

MK_AT_START char *mk_field_format(const struct mk_field *f, const void *settings,
                                  struct mk_arena *arena)
{
    struct mk_buf b;

    mk_buf_init(&b, SIZE_MAX / 2);
    put_value(&b, f, (const char *)settings + f->offset);
    return buf_to_arena(&b, arena);
}

static bool is_bounded(const struct mk_field *f)
{
    return f->min != 0 || f->max != 0;
}

static void put_range(struct mk_buf *b, const struct mk_field *f)
{
    put_text(b, f->max > 0 ? " from " : " of at least ");
    put_number(b, f, f->min);
    if (f->max > 0) {
        put_text(b, " to ");
        put_number(b, f, f->max);
    }
}

static void put_kind(struct mk_buf *b, const struct mk_field *f, bool in_range)
{
    static const struct {
        const char *kind, *example;
    } kinds[] = {
        [MK_FIELD_BOOL] = {"on or off", ""},
        [MK_FIELD_INT] = {"a whole number", ""},
        [MK_FIELD_SIZE] = {"a size", " such as 500, 64K or 8M"},
        [MK_FIELD_TIME] = {"a time", " such as 15, 500ms or 2m"},
        [MK_FIELD_STRING] = {"a value", ""},
        [MK_FIELD_WORDS] = {"one word or more", ""},
        [MK_FIELD_CUSTOM] = {"another value", ""},
        [MK_FIELD_PATH] = {"a path", ""},
    };

    put_text(b, kinds[f->type].kind);
    if (!in_range)
        put_text(b, kinds[f->type].example);
    if (is_bounded(f) && (in_range || f->type == MK_FIELD_INT))
        put_range(b, f);
    else if (in_range)
        put_text(b, " that is smaller");
}

static void put_names(struct mk_buf *b, const char *const *names)
{
    for (size_t i = 0; names[i]; i++) {
        if (i > 0)
            put_text(b, names[i + 1] ? ", " : " or ");
        put_text(b, names[i]);
    }
}

char *mk_field_expected(const struct mk_field *f, bool in_range, struct mk_arena *arena)
{
    struct mk_buf b;

    mk_buf_init(&b, MK_LIMIT_FIELD_TEXT);
    if (f->type == MK_FIELD_ENUM)
        put_names(&b, f->names);
    else
        put_kind(&b, f, in_range);
    return buf_to_arena(&b, arena);
}
