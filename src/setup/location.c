/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/location.h"

#include "base/code.h"
#include "base/limits.h"
#include "base/str.h"
#include "setup/plain_pattern.h"
#include "setup/plugin.h"
#include "setup/settings_int.h"

/* ---- reading the sections ---- */

static struct mk_section *next_location(struct mk_section *from)
{
    return mk_section_find(from, MK_STR("LOCATION"));
}

static const struct mk_setting *match_of(const struct mk_section *s)
{
    return mk_field_source(&mk_spec_location.fields[mk_spec_location.nfields - 1], s);
}

/* What has both or neither is a fault, and counts somewhere. */
static void count(const struct mk_tree *site, struct mk_places *places)
{
    for (struct mk_section *s = site->first; (s = next_location(s)); s = s->next)
        ++*(match_of(s) ? &places->nmatches : &places->npaths);
}

static size_t count_variants(const struct mk_places *places)
{
    return (places->npaths + 1) * (places->nmatches + 1) - 1;
}

MK_AT_START size_t mk_places_count(const struct mk_tree *site)
{
    struct mk_places places = {.npaths = 0};

    count(site, &places);
    return count_variants(&places);
}

/* The longest first: then the first that has a path is the nearest. @param nth  of the paths, from 0 */
static void add_path(struct mk_places *places, struct mk_section *s, struct mk_str path, size_t nth)
{
    struct mk_location *l = &places->items[nth];

    for (; l > places->items && l[-1].path.len < path.len; l--)
        *l = l[-1];
    *l = (struct mk_location){.path = path, .section = s};
}

/* Each is read for itself first, so that what is wrong in it is noted once. */
static int read_locations(struct mk_places *places, const struct mk_tree *tree,
                          struct mk_setup *ctx)
{
    struct mk_location *matches = &places->items[places->npaths];
    size_t nth = 0, noted;
    int err = 0;

    for (struct mk_section *s = tree->first; err == 0 && (s = next_location(s)); s = s->next) {
        struct mk_site_settings set = {.match = NULL};

        noted = ctx->faults->count;
        err = mk_fields_apply(&mk_spec_location, s, &set, ctx);
        if (set.match)
            mk_plugin_warn_of_pattern(ctx, mk_str_from(set.match), &match_of(s)->value_at, "Match");
        if (ctx->faults->count > noted)
            continue;
        if (!set.match == !set.path.p) {
            mk_fault_add(ctx->faults, &s->at, "[LOCATION] needs either Path or Match");
        } else if (set.path.p) {
            add_path(places, s, set.path, nth++);
        } else if (mk_plugin_compile(ctx, &matches->match, mk_str_from(set.match),
                                     &match_of(s)->value_at, "Match") == MK_E_NOMEM) {
            err = MK_E_NOMEM;
        } else {
            matches++->section = s;
        }
    }
    return err;
}

/* ---- a variant ---- */

static bool is_named_in(struct mk_str name, const struct mk_header_line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (mk_str_ieq(lines[i].name, name))
            return true;
    }
    return false;
}

/* Fields that the place has a line for are those lines alone. */
static int inherit_headers(struct mk_site_settings *set, const struct mk_site_settings *from,
                           struct mk_setup *ctx)
{
    const size_t own = set->nheaders;

    for (size_t i = 0; i < from->nheaders; i++) {
        struct mk_header_line *line;

        if (is_named_in(from->headers[i].name, set->headers, own))
            continue;
        line = MK_SETTINGS_APPEND(ctx, set, headers, nheaders);
        if (!line)
            return MK_E_NOMEM;
        *line = from->headers[i];
    }
    return 0;
}

/* Lists begin anew: appending to the parent's would change them for its other children. */
static int make_variant(struct mk_site *v, struct mk_site *parent, const struct mk_location *l,
                        struct mk_setup *ctx)
{
    const unsigned index = v->index;
    int err;

    *v = *parent;
    v->index = index;
    v->parent = parent;
    v->section = l->section;
    v->set.nheaders = v->set.ncache_lines = v->set.nhandlers = 0;
    v->set.ntries = 0;
    err = mk_fields_apply(&mk_spec_location, l->section, &v->set, ctx);
    if (v->set.ntries == 0) {
        v->set.tries = parent->set.tries;
        v->set.ntries = parent->set.ntries;
    }
    if (err == 0)
        err = inherit_headers(&v->set, &parent->set, ctx);
    return err < 0 ? err : mk_site_make_lines(v, ctx);
}

/* ---- all of them ---- */

/* A request is in the first whose expression its path matches. @return the line that has all paths of number i; NULL: none */
static const struct mk_setting *shadow_of(const struct mk_location *matches, size_t i)
{
    const struct mk_str value = match_of(matches[i].section)->value;

    for (size_t j = 0; j < i; j++) {
        const struct mk_setting *first = match_of(matches[j].section);

        if (mk_plain_covers(first->value, value))
            return first;
    }
    return NULL;
}

static void check_shadows(const struct mk_places *places, struct mk_setup *ctx)
{
    const struct mk_location *matches = &places->items[places->npaths];

    for (size_t i = 1; i < places->nmatches; i++) {
        const struct mk_setting *first = shadow_of(matches, i);

        if (first)
            mk_fault_warn(ctx->faults, &match_of(matches[i].section)->value_at,
                          "Match: no request comes here, since line %u has its paths",
                          first->key_at.line);
    }
}

static bool is_below(struct mk_str path, struct mk_str root)
{
    return path.len >= root.len && mk_str_ieq((struct mk_str){path.p, root.len}, root) &&
           (path.len == root.len || path.p[root.len] == '/');
}

/* @return the first at or after row that has the path; npaths: none. */
static size_t nearest(const struct mk_places *places, size_t row, struct mk_str path)
{
    while (row < places->npaths && !is_below(path, places->items[row].path))
        row++;
    return row;
}

/* A shorter path stands further down, so parents are made before their children. */
static int make_row(struct mk_places *places, size_t row, struct mk_setup *ctx)
{
    struct mk_site **variants = &places->variants[row * (places->nmatches + 1)];
    const struct mk_location *l = &places->items[row];
    int err = 0;

    if (row < places->npaths) {
        size_t parent = nearest(places, row + 1, l->path);

        if (parent < places->npaths && places->items[parent].path.len == l->path.len)
            mk_fault_add(ctx->faults, &places->items[parent].section->at,
                         "another [LOCATION] has its Path");
        err = make_variant(variants[places->nmatches],
                           places->variants[(parent + 1) * (places->nmatches + 1) - 1], l, ctx);
    }
    for (size_t i = 0; err == 0 && i < places->nmatches; i++)
        err = make_variant(variants[i], variants[places->nmatches],
                           &places->items[places->npaths + i], ctx);
    return err;
}

/* The first variant made is the next of the snapshot's, so that parents stand before their children. */
static void number(struct mk_places *places, struct mk_snapshot *s, struct mk_site *site)
{
    size_t i = count_variants(places);

    places->variants[i] = site;
    while (i-- > 0) {
        unsigned index = (unsigned)(s->nsites + s->nvariants++);

        places->variants[i] = &s->sites[index];
        places->variants[i]->index = index;
    }
}

MK_AT_START int mk_places_build(struct mk_snapshot *s, struct mk_site *site,
                                const struct mk_tree *tree, struct mk_setup *ctx)
{
    const size_t noted = ctx->faults->count;
    struct mk_places *places = mk_arena_zalloc(ctx->arena, sizeof(*places));
    int err;

    if (!places)
        return MK_E_NOMEM;
    count(tree, places);
    places->items =
        mk_arena_zalloc(ctx->arena, (places->npaths + places->nmatches) * sizeof(*places->items));
    places->variants =
        mk_arena_zalloc(ctx->arena, (count_variants(places) + 1) * sizeof(struct mk_site *));
    if (!places->items || !places->variants)
        return MK_E_NOMEM;
    err = read_locations(places, tree, ctx);
    if (err < 0 || ctx->faults->count > noted || count_variants(places) == 0)
        return err;
    check_shadows(places, ctx);
    number(places, s, site);
    site->places = places;
    for (size_t row = places->npaths + 1; err == 0 && row-- > 0;)
        err = make_row(places, row, ctx);
    return err;
}

const struct mk_site *mk_site_at(const struct mk_site *site, struct mk_str path)
{
    const struct mk_places *places = site->places;
    size_t row, column = 0;

    if (!places)
        return site;
    row = nearest(places, 0, path);
    while (column < places->nmatches &&
           !mk_pattern_matches(&places->items[places->npaths + column].match, path))
        column++;
    return places->variants[row * (places->nmatches + 1) + column];
}
