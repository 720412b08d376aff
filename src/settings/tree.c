/* SPDX-License-Identifier: Apache-2.0 */
#include "settings/tree.h"

#include "base/str.h"

static int copy_str(struct mk_arena *arena, struct mk_str *to, struct mk_str from)
{
    char *copy = mk_arena_strdup(arena, from);

    if (!copy)
        return MK_E_NOMEM;
    *to = (struct mk_str){copy, from.len};
    return 0;
}

void mk_tree_init(struct mk_tree *t, struct mk_arena *arena)
{
    *t = (struct mk_tree){.arena = arena};
}

struct mk_section *mk_tree_add_section(struct mk_tree *t, struct mk_str name,
                                       const struct mk_origin *at)
{
    struct mk_section *s = mk_arena_zalloc(t->arena, sizeof(*s));

    if (!s || copy_str(t->arena, &s->name, name) < 0)
        return NULL;
    s->at = *at;
    if (t->last)
        t->last->next = s;
    else
        t->first = s;
    t->last = s;
    return s;
}

struct mk_setting *mk_tree_add(struct mk_tree *t, struct mk_section *section, struct mk_str key,
                               struct mk_str value, const struct mk_origin *key_at,
                               const struct mk_origin *value_at)
{
    struct mk_setting *s = mk_arena_zalloc(t->arena, sizeof(*s));

    if (!s || copy_str(t->arena, &s->key, key) < 0 ||
        copy_str(t->arena, &s->value, mk_str_trim(value)) < 0)
        return NULL;
    s->key_at = *key_at;
    s->value_at = *value_at;
    if (section->last)
        section->last->next = s;
    else
        section->first = s;
    section->last = s;
    return s;
}

struct mk_section *mk_section_find(struct mk_section *from, struct mk_str name)
{
    while (from && !mk_str_ieq(from->name, name))
        from = from->next;
    return from;
}

const struct mk_setting *mk_tree_find(const struct mk_tree *t, const char *section, const char *key)
{
    for (const struct mk_section *s = t->first; s; s = s->next) {
        if (!mk_str_ieq(s->name, mk_str_from(section)))
            continue;
        for (const struct mk_setting *at = s->first; at; at = at->next) {
            if (mk_str_ieq(at->key, mk_str_from(key)))
                return at;
        }
    }
    return NULL;
}

const struct mk_origin *mk_tree_place(const struct mk_tree *t, const char *section, const char *key)
{
    return &mk_tree_find(t, section, key)->value_at;
}
