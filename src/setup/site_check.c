/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/site_check.h"

#include "base/invariant.h"
#include "base/str.h"
#include "setup/plain_pattern.h"
#include "setup/settings_int.h"
#include "setup/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* What of a site can be judged only when its handlers are known. */

/* ---- handlers ---- */

static bool has_handler_of_all(const struct mk_site *site)
{
    for (size_t i = 0; i < site->nroutes; i++) {
        if (mk_plain_covers(site->routes[i].pattern, MK_STR("^/")))
            return true;
    }
    return false;
}

static bool is_route_of(const struct mk_route *route, const struct mk_handler_line *line)
{
    return mk_str_ieq(line->plugin, mk_str_from(route->who.plugin->name)) &&
           mk_str_eq(line->pattern, route->pattern);
}

/*
 * Routes of [HANDLERS] come first, in the order of the lines, without those of plugins that only limit.
 * @return the first line before this one that answers all that it would be asked; NULL: none, or this is no route.
 */
static const struct mk_handler_line *shadow_of(const struct mk_site *site,
                                               const struct mk_handler_line *line)
{
    const struct mk_handler_line *shadow = NULL, *at = site->set.handlers;

    for (size_t route = 0; route < site->nroutes; at++) {
        const bool is_route = is_route_of(&site->routes[route], at);

        if (at == line)
            return is_route ? shadow : NULL;
        if (is_route && !shadow && (site->routes[route].who.plugin->traits & MK_TRAIT_ANSWERS) &&
            mk_plain_covers(at->pattern, line->pattern))
            shadow = at;
        route += is_route;
    }
    return NULL;
}

static void check_shadows(const struct mk_site *site, struct mk_setup *ctx)
{
    for (size_t i = 0; i < site->set.nhandlers; i++) {
        const struct mk_handler_line *line = &site->set.handlers[i],
                                     *shadow = shadow_of(site, line);

        if (shadow && line->pattern.p[0] != '@')
            mk_fault_warn(ctx->faults, &line->setting->value_at,
                          "Match: no request comes here, since line %u has its paths",
                          shadow->setting->key_at.line);
    }
}

/* ---- roots ---- */

static struct mk_origin place_of_site(const struct mk_tree *tree)
{
    const struct mk_section *host = mk_section_find(tree->first, MK_STR("HOST"));

    return host ? host->at : (struct mk_origin){.file = tree->file};
}

static void check_root(const struct mk_site *site, const struct mk_tree *tree, bool needed,
                       struct mk_setup *ctx)
{
    const struct mk_origin at = place_of_site(tree);
    const char *root = site->set.document_root;
    struct stat st;
    int err;

    if (!root) {
        if (needed && !site->set.redirect.p && !has_handler_of_all(site))
            mk_fault_add(ctx->faults, &at, "[HOST] needs a DocumentRoot");
        return;
    }
    err = stat(root, &st) < 0 ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    if (err != 0)
        mk_fault_add(ctx->faults, mk_tree_place(tree, "HOST", "DocumentRoot"),
                     "DocumentRoot: %s: %s%s", root, strerror(err),
                     mk_value_hint(mk_str_from(root)));
}

/* Whom nobody can name answers nobody; the first site answers all others. */
static void check_names(const struct mk_site *site, const struct mk_tree *tree,
                        struct mk_setup *ctx)
{
    const struct mk_origin at = place_of_site(tree);

    if (site->index != site->snapshot->usual && !site->set.is_apart && site->set.names.count == 0)
        mk_fault_warn(ctx->faults, &at, "no request reaches this site: [HOST] has no ServerName");
}

/* A page may still come, or be an application's that has every path. */
static void check_error_pages(const struct mk_site *site, struct mk_setup *ctx)
{
    bool is_asked = site->set.document_root && !has_handler_of_all(site);

    for (size_t i = 0; is_asked && i < site->set.nerror_pages; i++) {
        const struct mk_error_page *page = &site->set.error_pages[i];
        char *path =
            mk_arena_printf(ctx->faults->arena, "%s%s", site->set.document_root, page->path.p);

        if (path && access(path, F_OK) < 0 && errno == ENOENT)
            mk_fault_warn(ctx->faults, &page->setting->value_at,
                          "%u: there is no file %s; the built-in page is sent instead",
                          page->status, path);
    }
}

/* "CacheControl /static ..." is a file of that name, not what is in a folder. */
static void check_cache_lines(const struct mk_site *site, struct mk_setup *ctx)
{
    for (size_t i = 0; site->set.document_root && i < site->set.ncache_lines; i++) {
        const struct mk_setting *s = site->set.cache_lines[i].setting;
        struct mk_str rest = s->value, word;
        const char *path;
        struct stat st;

        if (!mk_str_next_word(&rest, &word))
            continue;
        path = mk_arena_printf(ctx->faults->arena, "%s/%.*s", site->set.document_root,
                               (int)word.len, word.p);
        if (path && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            mk_fault_add(ctx->faults, &s->value_at,
                         "CacheControl: \"%.*s\" is a folder; for its files write %s%.*s/*",
                         (int)word.len, word.p, word.p[0] == '/' ? "" : "/", (int)word.len, word.p);
    }
}

/* ---- SlashRedirect ---- */

/* "^/dav/" is all below "/dav", likewise "^/dav/.*". */
static int list_slashless(struct mk_site *site, struct mk_setup *ctx)
{
    for (size_t i = 0; site->set.slash_redirect && i < site->nroutes; i++) {
        struct mk_plain p;

        if (!mk_plain_read(&p, site->routes[i].pattern) || p.ends || p.len < 4 || p.text[0] ||
            p.text[1] != '/' || p.text[p.len - 1] != '/')
            continue;
        if (mk_words_append(&site->slashless, ctx->arena, (struct mk_str){p.text + 1, p.len - 2}) <
            0)
            return MK_E_NOMEM;
    }
    return 0;
}

static void check_try_files(struct mk_site *site, struct mk_setup *ctx)
{
    const struct mk_str *name = mk_site_named_try(&site->set);

    site->named = NULL;
    for (size_t i = 0; name && !site->named && i < site->nroutes; i++) {
        if (mk_str_eq(site->routes[i].pattern, *name))
            site->named = &site->routes[i];
    }
    if (name && !site->named)
        mk_fault_add(ctx->faults, &site->set.try_setting->value_at,
                     "TryFiles: no Match line of this site has the name %.*s", (int)name->len,
                     name->p);
}

int mk_site_check(struct mk_site *site, const struct mk_tree *tree, bool need_root,
                  struct mk_setup *ctx)
{
    if (tree) {
        check_root(site, tree, need_root, ctx);
        check_names(site, tree, ctx);
        check_error_pages(site, ctx);
        check_shadows(site, ctx);
    }
    check_cache_lines(site, ctx);
    check_try_files(site, ctx);
    return list_slashless(site, ctx);
}
