/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/place.h"

#include "base/code.h"
#include "base/str.h"
#include "setup/plugin.h"

static struct mk_str without_slash(struct mk_str s)
{
    if (s.len > 0 && s.p[s.len - 1] == '/')
        s.len--;
    return s;
}

static bool has_word(const struct mk_setting *s, struct mk_str word)
{
    struct mk_str rest = s->value, first;

    if (!word.p)
        return true;
    word = without_slash(word);
    if (mk_str_ieq(without_slash(s->value), word))
        return true;
    return mk_str_next_word(&rest, &first) && mk_str_ieq(without_slash(first), word);
}

static const struct mk_origin *find(const struct mk_section *section, const char *key,
                                    struct mk_str word)
{
    for (const struct mk_setting *s = section->first; s; s = s->next) {
        if (mk_str_ieq(s->key, mk_str_from(key)) && has_word(s, word))
            return &s->value_at;
    }
    return NULL;
}

static const struct mk_origin *find_in(const struct mk_tree *tree, struct mk_str name,
                                       const char *key, struct mk_str word)
{
    const struct mk_origin *found = NULL;

    for (struct mk_section *s = mk_section_find(tree->first, name); s && !found;
         s = mk_section_find(s->next, name))
        found = find(s, key, word);
    return found;
}

/* ---- sites ---- */

MK_AT_START const struct mk_origin *mk_place_of_site(const struct mk_snapshot_source *source,
                                                     const struct mk_site *site, const char *key,
                                                     struct mk_str word)
{
    const struct mk_origin *found = NULL;

    for (; site->parent && !found; site = site->parent)
        found = find(site->section, key, word);
    if (!found)
        found = find_in(&source->sites[site->index], MK_STR("HOST"), key, word);
    return found ? found : find_in(&source->server, MK_STR("SERVER"), key, word);
}

MK_AT_START const struct mk_origin *mk_place_of_host(const struct mk_snapshot_source *source,
                                                     const struct mk_site *site)
{
    const struct mk_section *s;

    while (site->parent)
        site = site->parent;
    s = mk_section_find(source->sites[site->index].first, MK_STR("HOST"));
    return s ? &s->at : NULL;
}

/* ---- plugins ---- */

/* @param begin  out: of the first section, unless one was found before */
static const struct mk_origin *find_of(const struct mk_occurrence *o, const char *key,
                                       struct mk_str word, const struct mk_origin **begin)
{
    const struct mk_origin *found = NULL;

    for (; o && !found; o = o->next) {
        if (!o->section)
            continue;
        *begin = *begin ? *begin : &o->section->at;
        found = key ? find(o->section, key, word) : *begin;
    }
    return found;
}

MK_AT_START const struct mk_origin *mk_place_of_plugin(const struct mk_loaded *plugin,
                                                       const struct mk_site *site, const char *key,
                                                       struct mk_str word)
{
    const struct mk_draft *draft = plugin->draft;
    const struct mk_origin *found = NULL, *begin = NULL;

    for (; site && !found; site = site->parent)
        found = find_of(draft->of_sites ? draft->of_sites[site->index] : NULL, key, word, &begin);
    if (!found)
        found = find_of(draft->of_file, key, word, &begin);
    return found ? found : begin;
}
