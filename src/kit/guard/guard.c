/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/guard/guard.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_title(const char *title)
{
    for (; *title; title++) {
        if ((unsigned char)*title < ' ' || *title == '"' || *title == '\\' || *title == 0x7f)
            return false;
    }
    return true;
}

static int trim_path(struct mk_setup *setup, struct guard *g)
{
    struct mk_str path = mk_str_from(g->path);

    while (path.len > 0 && path.p[path.len - 1] == '/')
        path.len--;
    path = mk_setup_copy(setup, path);
    g->path = path.p;
    return path.p ? 0 : MK_E_NOMEM;
}

static int check(struct mk_setup *setup, struct guard *g)
{
    const struct mk_origin *at = mk_setup_place(setup, g, "Location");
    const int err = mk_setup_pattern(setup, at, "Location", mk_str_from(g->path), &g->pattern);

    if (err == MK_E_NOMEM)
        return err;
    if (err == 0 && !g->pattern && g->path[0] != '/')
        mk_setup_fault(setup, at, "Location: expected a path such as /private, got \"%s\"",
                       g->path);
    if (!is_title(g->title))
        mk_setup_fault(setup, mk_setup_place(setup, g, "Title"),
                       "Title: quotes, backslashes and control bytes are not allowed");
    return g->pattern ? 0 : trim_path(setup, g);
}

static int compare(const void *a, const void *b)
{
    const struct guard *const *x = a, *const *y = b;
    size_t nx = strlen((*x)->path), ny = strlen((*y)->path);

    return nx != ny ? (nx < ny) - (nx > ny) : strcasecmp((*x)->path, (*y)->path);
}

/* Only one of two could be meant, and its credentials would be the only ones. */
static void refuse_doubles(struct mk_setup *setup, const struct mk_section_spec *section,
                           const struct guards *guards)
{
    for (size_t i = 1; i < guards->count; i++) {
        const struct guard *g = guards->items[i];

        if (strcasecmp(g->path, guards->items[i - 1]->path) == 0)
            mk_setup_fault(setup, mk_setup_place(setup, g, "Location"),
                           "Location: another [%s] of this site has %s", section->name,
                           *g->path ? g->path : "/");
    }
}

static size_t count_sections(struct mk_setup *setup, const struct mk_section_spec *section)
{
    size_t count = 0;

    for (void *s = NULL; (s = mk_setup_section(setup, section, s));)
        count++;
    return count;
}

int guards_gather(struct mk_setup *setup, const struct mk_section_spec *section,
                  struct guards *guards)
{
    size_t count = count_sections(setup, section);

    guards->items = mk_setup_alloc(setup, (count + 1) * sizeof(struct guard *));
    if (!guards->items)
        return MK_E_NOMEM;
    for (struct guard *g = NULL; (g = mk_setup_section(setup, section, g));) {
        if (check(setup, g) < 0)
            return MK_E_NOMEM;
        guards->items[guards->count++] = g;
    }
    qsort(guards->items, guards->count, sizeof(struct guard *), compare);
    refuse_doubles(setup, section, guards);
    return 0;
}

int guards_add(struct mk_setup *setup, struct guards *all, const struct guards *site)
{
    struct guard **items =
        mk_setup_alloc(setup, (all->count + site->count + 1) * sizeof(struct guard *));

    if (!items)
        return MK_E_NOMEM;
    if (all->count > 0)
        memcpy(items, all->items, all->count * sizeof(struct guard *));
    if (site->count > 0)
        memcpy(items + all->count, site->items, site->count * sizeof(struct guard *));
    all->items = items;
    all->count += site->count;
    return 0;
}

static bool is_guarded(const struct guard *g, struct mk_str path)
{
    const size_t len = strlen(g->path);

    if (g->pattern)
        return mk_pattern_is_of(g->pattern, path);
    return path.len >= len && strncasecmp(path.p, g->path, len) == 0 &&
           (path.len == len || path.p[len] == '/');
}

static const struct guard *find(const struct guards *guards, struct mk_str path)
{
    for (size_t i = 0; i < guards->count; i++) {
        if (is_guarded(guards->items[i], path))
            return guards->items[i];
    }
    return NULL;
}

int guards_find(struct mk_request *r, const struct guards *guards, const struct guard **found)
{
    struct mk_str path;
    int more;

    *found = NULL;
    for (unsigned i = 0; (more = mk_request_reading(r, i, &path)) > 0; i++) {
        const struct guard *g = find(guards, path);

        if (*found && g && g != *found)
            return MK_E_ACCESS;
        if (g)
            *found = g;
    }
    return more;
}
