/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/one_file.h"

#include "base/code.h"
#include "base/str.h"

static struct mk_section *take_first(struct mk_tree *from)
{
    struct mk_section *s = from->first;

    from->first = s->next;
    if (!from->first)
        from->last = NULL;
    s->next = NULL;
    return s;
}

static void append(struct mk_tree *to, struct mk_section *s)
{
    if (to->last)
        to->last->next = s;
    else
        to->first = s;
    to->last = s;
}

static bool is_named(const struct mk_section *s, const char *name)
{
    return mk_str_ieq(s->name, mk_str_from(name));
}

MK_AT_START size_t mk_file_divide(struct mk_tree *file, const struct mk_divided *to)
{
    struct mk_tree all = *file, *around = to->common;
    size_t nsites = 0;

    file->first = file->last = NULL;
    while (all.first) {
        struct mk_section *s = take_first(&all);
        struct mk_tree *tree = is_named(s, "SERVER")      ? to->server
                               : is_named(s, "PLUGINS")   ? to->plugins
                               : is_named(s, "MIMETYPES") ? to->mimes
                                                          : NULL;

        if (is_named(s, "HOST")) {
            around = to->hosts;
            nsites++;
        } else if (tree == to->server) {
            around = to->common;
        }
        append(tree ? tree : around, s);
    }
    return nsites;
}

MK_AT_START bool mk_file_next_site(struct mk_tree *hosts, struct mk_tree *site)
{
    if (!hosts->first)
        return false;
    do
        append(site, take_first(hosts));
    while (hosts->first && !is_named(hosts->first, "HOST"));
    site->file = site->first->at.file;
    return true;
}
