/* SPDX-License-Identifier: Apache-2.0 */
#include "settings/field.h"

#include "base/code.h"
#include "base/limits.h"
#include "base/str.h"
#include "settings/describe_int.h"
#include "settings/nearest_int.h"

enum { QUOTED = 60 }; /* bytes of somebody's text that a message repeats */

/* For "%.*s%s": a message with 8 KB of value in it helps nobody. */
#define QUOTE(s) (int)((s).len < QUOTED ? (s).len : QUOTED), (s).p, ((s).len < QUOTED ? "" : "...")

static bool is_named(const struct mk_field *f, struct mk_str key)
{
    return (f->name && mk_str_ieq(key, mk_str_from(f->name))) ||
           (f->alias && mk_str_ieq(key, mk_str_from(f->alias)));
}

static const struct mk_field *find_field(const struct mk_section_spec *spec, struct mk_str key)
{
    const struct mk_field *any = NULL;

    for (size_t i = 0; i < spec->nfields; i++) {
        if (is_named(&spec->fields[i], key))
            return &spec->fields[i];
        if (spec->fields[i].flags & MK_FIELD_ANY_KEY)
            any = &spec->fields[i];
    }
    return any;
}

static void fault_unknown_key(const struct mk_section_spec *spec, const struct mk_setting *s,
                              struct mk_faults *faults)
{
    struct mk_nearest near = {0};
    const char *more =
        faults->explain ? faults->explain(faults, mk_str_from(spec->name), s->key) : NULL;

    if (more && !*more)
        return;
    for (size_t i = 0; i < spec->nfields; i++) {
        mk_nearest_offer(&near, s->key, spec->fields[i].name);
        mk_nearest_offer(&near, s->key, spec->fields[i].alias);
    }
    if (more && !(near.name && near.distance <= 1))
        mk_fault_add(faults, &s->key_at, "unknown key \"%.*s%s\" in [%s]: %s", QUOTE(s->key),
                     spec->name, more);
    else if (near.name)
        mk_fault_add(faults, &s->key_at, "unknown key \"%.*s%s\" in [%s]; did you mean \"%s\"?",
                     QUOTE(s->key), spec->name, near.name);
    else
        mk_fault_add(faults, &s->key_at, "unknown key \"%.*s%s\" in [%s]", QUOTE(s->key),
                     spec->name);
}

static void fault_twice(const struct mk_field *f, const struct mk_setting *first,
                        const struct mk_setting *second, struct mk_faults *faults)
{
    const struct mk_origin *at = &first->key_at;

    if (at->line > 0)
        mk_fault_add(faults, &second->key_at, "%s is set twice; first in %s:%u", f->name, at->file,
                     at->line);
    else
        mk_fault_add(faults, &second->key_at, "%s is set twice; first in the %s", f->name,
                     at->file ? at->file : "same place");
}

/* @return 0 with the fault noted, or MK_E_NOMEM. */
static int fault_value(const struct mk_field *f, const struct mk_setting *s, bool in_range,
                       struct mk_setup *ctx)
{
    const char *expected = mk_field_expected(f, in_range, ctx->faults->arena);
    const char *near = f->type == MK_FIELD_ENUM ? mk_nearest_name(s->value, f->names) : NULL;

    if (!expected)
        return MK_E_NOMEM;
    if (s->value.len == 0)
        mk_fault_add(ctx->faults, &s->value_at, "%s: expected %s, got nothing", f->name, expected);
    else if (near)
        mk_fault_add(ctx->faults, &s->value_at,
                     "%s: expected %s, got \"%.*s%s\"; did you mean \"%s\"?", f->name, expected,
                     QUOTE(s->value), near);
    else
        mk_fault_add(ctx->faults, &s->value_at, "%s: expected %s, got \"%.*s%s\"%s", f->name,
                     expected, QUOTE(s->value), mk_value_hint(s->value));
    return 0;
}

/* The readers below return 0, MK_E_BAD (wrong form), MK_E_LIMIT (out of range) or MK_E_NOMEM. */

static int read_number(const struct mk_field *f, struct mk_str s, int64_t *value)
{
    bool is_bounded = f->min != 0 || f->max != 0;
    int64_t n = 0;
    int err;

    if (f->type == MK_FIELD_TIME)
        err = mk_read_time(s, &n);
    else if (f->type == MK_FIELD_SIZE)
        err = mk_read_size(s, f->flags & MK_FIELD_KB ? 1024 : 1, &n);
    else
        err = mk_str_to_u64(s, INT64_MAX, (uint64_t *)&n);
    if (err < 0)
        return err;
    if (is_bounded && (n < f->min || (f->max > 0 && n > f->max)))
        return MK_E_LIMIT;
    *value = n;
    return 0;
}

static int read_name(const struct mk_field *f, struct mk_str s, int *value)
{
    for (int i = 0; f->names[i]; i++) {
        if (mk_str_ieq(s, mk_str_from(f->names[i]))) {
            *value = i;
            return 0;
        }
    }
    return MK_E_BAD;
}

static int read_string(struct mk_arena *arena, struct mk_str s, const char **value)
{
    const char *copy;

    if (s.len == 0)
        return MK_E_BAD;
    copy = mk_arena_strdup(arena, s);
    if (!copy)
        return MK_E_NOMEM;
    *value = copy;
    return 0;
}

static bool stands_for_itself(const struct mk_field *f, struct mk_str s)
{
    int unused;

    return f->names && read_name(f, s, &unused) == 0;
}

MK_AT_START static int read_path(const struct mk_field *f, const struct mk_setting *s,
                                 struct mk_setup *ctx, const char **value)
{
    const char *path;

    if (s->value.len > 0 && (s->value.p[0] == '"' || s->value.p[0] == '\''))
        return MK_E_BAD; /* no path begins so but by mistake */
    if (!ctx->dir || s->value_at.line == 0 || s->value.len == 0 || s->value.p[0] == '/' ||
        mk_str_has_prefix(s->value, MK_STR("program:")) || stands_for_itself(f, s->value))
        return read_string(ctx->arena, s->value, value);
    path = mk_arena_printf(ctx->arena, "%s/%s", ctx->dir, s->value.p);
    if (!path)
        return MK_E_NOMEM;
    *value = path;
    return 0;
}

/* Full when the count is zero or a power of two: doubling without storing a capacity. */
int mk_words_append(struct mk_words *words, struct mk_arena *arena, struct mk_str word)
{
    const char *copy = mk_arena_strdup(arena, word);

    if (!copy)
        return MK_E_NOMEM;
    if ((words->count & (words->count - 1)) == 0) {
        size_t cap = words->count ? words->count * 2 : 1;
        struct mk_str *items = mk_arena_alloc(arena, cap * sizeof(*items));

        if (!items)
            return MK_E_NOMEM;
        if (words->count > 0)
            memcpy(items, words->items, words->count * sizeof(*items));
        words->items = items;
    }
    words->items[words->count++] = (struct mk_str){copy, word.len};
    return 0;
}

static int read_paths(const struct mk_field *f, const struct mk_setting *s, struct mk_setup *ctx,
                      struct mk_words *paths)
{
    const char *path;
    int err = read_path(f, s, ctx, &path);

    return err < 0 ? err : mk_words_append(paths, ctx->arena, mk_str_from(path));
}

static int read_words(struct mk_arena *arena, struct mk_str rest, struct mk_words *words)
{
    struct mk_str word;

    if (rest.len == 0)
        return MK_E_BAD;
    while (mk_str_next_word(&rest, &word)) {
        if (word.p[0] == '#' || word.p[0] == '"')
            return MK_E_BAD;
        if (mk_words_append(words, arena, word) < 0)
            return MK_E_NOMEM;
    }
    return 0;
}

static int read_custom(const struct mk_field *f, const struct mk_setting *s, struct mk_setup *ctx)
{
    size_t noted = ctx->faults->count;
    int err = f->parse(ctx, s);

    if (err == MK_E_NOMEM)
        return err;
    return err < 0 && ctx->faults->count == noted ? MK_E_BAD : 0;
}

static int read_value(const struct mk_field *f, const struct mk_setting *s, struct mk_setup *ctx)
{
    void *member = (char *)ctx->settings + f->offset;

    switch ((enum mk_field_type)f->type) {
    case MK_FIELD_BOOL:
        return mk_read_bool(s->value, member);
    case MK_FIELD_INT:
    case MK_FIELD_SIZE:
    case MK_FIELD_TIME:
        return read_number(f, s->value, member);
    case MK_FIELD_ENUM:
        return read_name(f, s->value, member);
    case MK_FIELD_STRING:
        return read_string(ctx->arena, s->value, member);
    case MK_FIELD_PATH:
        return f->flags & MK_FIELD_REPEAT ? read_paths(f, s, ctx, member)
                                          : read_path(f, s, ctx, member);
    case MK_FIELD_WORDS:
        return read_words(ctx->arena, s->value, member);
    case MK_FIELD_CUSTOM:
        return read_custom(f, s, ctx);
    }
    return MK_E_UNSUPPORTED;
}

/* @return 0 with any fault noted, or MK_E_NOMEM. */
static int set_field(const struct mk_field *f, const struct mk_setting *s, struct mk_setup *ctx)
{
    int err = read_value(f, s, ctx);

    if (err == 0 || err == MK_E_NOMEM)
        return err;
    return fault_value(f, s, err == MK_E_LIMIT, ctx);
}

int mk_fields_defaults(const struct mk_section_spec *spec, void *settings, struct mk_setup *ctx)
{
    ctx->section = spec->name;
    ctx->settings = settings;
    for (size_t i = 0; i < spec->nfields; i++) {
        const struct mk_field *f = &spec->fields[i];
        struct mk_setting s = {.key = mk_str_from(f->name), .value = mk_str_from(f->fallback)};
        int err;

        if (!f->fallback)
            continue;
        s.key_at.file = s.value_at.file = "default";
        err = set_field(f, &s, ctx);
        if (err < 0)
            return err;
    }
    return 0;
}

static bool is_list(const struct mk_field *f)
{
    return f->type == MK_FIELD_WORDS || (f->type == MK_FIELD_PATH && (f->flags & MK_FIELD_REPEAT));
}

static int apply_setting(const struct mk_section_spec *spec, const struct mk_setting *s,
                         const struct mk_setting **firsts, struct mk_setup *ctx)
{
    const struct mk_field *f = find_field(spec, s->key);
    const struct mk_setting **first;

    if (!f) {
        fault_unknown_key(spec, s, ctx->faults);
        return 0;
    }
    first = &firsts[f - spec->fields];
    if (*first && !(f->flags & (MK_FIELD_REPEAT | MK_FIELD_ANY_KEY))) {
        fault_twice(f, *first, s, ctx->faults);
        return 0;
    }
    if (!*first && is_list(f)) /* what is written replaces the default */
        *(struct mk_words *)(void *)((char *)ctx->settings + f->offset) = (struct mk_words){0};
    if (!*first)
        *first = s;
    return set_field(f, s, ctx);
}

int mk_fields_apply(const struct mk_section_spec *spec, const struct mk_section *section,
                    void *settings, struct mk_setup *ctx)
{
    const struct mk_setting **firsts =
        mk_arena_zalloc(ctx->faults->arena, spec->nfields * sizeof(struct mk_setting *));

    if (!firsts)
        return MK_E_NOMEM;
    ctx->section = spec->name;
    ctx->settings = settings;
    for (const struct mk_setting *s = section->first; s; s = s->next) {
        int err = apply_setting(spec, s, firsts, ctx);

        if (err < 0)
            return err;
    }
    return 0;
}

static int add_copy(struct mk_section *to, const struct mk_setting *s, struct mk_arena *arena)
{
    struct mk_setting *copy = mk_arena_alloc(arena, sizeof(*copy));

    if (!copy)
        return MK_E_NOMEM;
    *copy = *s;
    copy->next = NULL;
    if (to->last)
        to->last->next = copy;
    else
        to->first = copy;
    to->last = copy;
    return 0;
}

/* Does a section say something for the field that this setting is for? */
static bool says(const struct mk_section_spec *spec, const struct mk_section *section,
                 const struct mk_setting *wanted)
{
    const struct mk_field *f = find_field(spec, wanted->key);

    for (const struct mk_setting *s = section ? section->first : NULL; f && s; s = s->next) {
        if (find_field(spec, s->key) == f &&
            (is_named(f, s->key) || mk_str_ieq(s->key, wanted->key)))
            return true;
    }
    return false;
}

int mk_fields_inherit(const struct mk_section_spec *spec, const struct mk_section *section,
                      const struct mk_section *file, struct mk_arena *arena,
                      struct mk_section *merged)
{
    const struct mk_setting *s;

    for (s = file ? file->first : NULL; s; s = s->next) {
        if (!says(spec, section, s) && add_copy(merged, s, arena) < 0)
            return MK_E_NOMEM;
    }
    for (s = section ? section->first : NULL; s; s = s->next) {
        if (!(spec->flags & MK_SECTION_LOCATION && !find_field(spec, s->key)) &&
            add_copy(merged, s, arena) < 0)
            return MK_E_NOMEM;
    }
    return 0;
}

bool mk_fields_have(const struct mk_section_spec *spec, struct mk_str key)
{
    return find_field(spec, key);
}

const struct mk_setting *mk_field_source(const struct mk_field *f, const struct mk_section *section)
{
    const struct mk_setting *s = section ? section->first : NULL;

    while (s && !is_named(f, s->key))
        s = s->next;
    return s;
}
