/* SPDX-License-Identifier: Apache-2.0 */
#include "base/invariant.h"
#include "base/str.h"
#include "settings/field.h"
#include "settings/nearest_int.h"

static size_t find_spec(const struct mk_section_spec *const *specs, size_t nspecs,
                        struct mk_str name)
{
    size_t i = 0;

    while (i < nspecs && !mk_str_ieq(name, mk_str_from(specs[i]->name)))
        i++;
    return i;
}

static void fault_unknown_section(const struct mk_section *s,
                                  const struct mk_section_spec *const *specs, size_t nspecs,
                                  struct mk_faults *faults)
{
    struct mk_nearest near = {0};
    int shown = s->name.len < 60 ? (int)s->name.len : 60;
    const char *more =
        faults->explain ? faults->explain(faults, s->name, (struct mk_str){NULL, 0}) : NULL;

    for (size_t i = 0; i < nspecs; i++)
        mk_nearest_offer(&near, s->name, specs[i]->name);
    for (const char *at = faults->sections; at && *at; at += strlen(at) + 1) {
        mk_nearest_offer(&near, s->name, at);
        at += strlen(at) + 1;
    }
    if (more)
        mk_fault_add(faults, &s->at, "unknown section [%.*s]: %s", shown, s->name.p, more);
    else if (near.name)
        mk_fault_add(faults, &s->at, "unknown section [%.*s]; did you mean [%s]?", shown, s->name.p,
                     near.name);
    else
        mk_fault_add(faults, &s->at, "unknown section [%.*s]", shown, s->name.p);
}

/* Hand the settings of one section to the end of another. */
static void join(struct mk_section *to, struct mk_section *from)
{
    if (!from->first)
        return;
    if (to->last)
        to->last->next = from->first;
    else
        to->first = from->first;
    to->last = from->last;
    from->first = from->last = NULL;
}

void mk_sections_check(struct mk_tree *t, const struct mk_section_spec *const *specs, size_t nspecs,
                       struct mk_faults *faults)
{
    struct mk_section *before = NULL;
    struct mk_section **firsts =
        mk_arena_zalloc(faults->arena, nspecs * sizeof(struct mk_section *));

    if (!firsts) {
        faults->no_memory = true;
        return;
    }
    for (struct mk_section *s = t->first; s; s = s->next) {
        size_t i = find_spec(specs, nspecs, s->name);

        if (i == nspecs) {
            fault_unknown_section(s, specs, nspecs, faults);
        } else if (!(specs[i]->flags & MK_SECTION_REPEAT) && firsts[i]) {
            join(firsts[i], s);
            MK_ASSERT(before); /* the first one, at the least */
            before->next = s->next;
            continue;
        } else if (!firsts[i]) {
            firsts[i] = s;
        }
        before = s;
    }
    t->last = before;
}
