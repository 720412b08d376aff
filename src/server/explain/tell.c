/* SPDX-License-Identifier: Apache-2.0 */
#include "server/explain/tell.h"

#include "base/code.h"
#include "base/str.h"
#include "http/field.h"
#include "http/uri.h"
#include "server/request/request.h"
#include "setup/place.h"

#include <stdio.h>

static const struct mk_str any = {NULL, 0};

static const struct mk_origin *place_of(const struct mk_explain *e, const char *key)
{
    return mk_place_of_site(e->source, e->site, key, any);
}

/* ---- the site ---- */

static struct mk_str host_of(const struct mk_request *r)
{
    struct mk_str host, authority = mk_request_authority(r);
    unsigned port;

    if (!authority.p || mk_uri_authority(authority, &host, &port) < 0)
        return any;
    return host;
}

static bool is_covered(struct mk_str wildcard, struct mk_str host)
{
    struct mk_str end = mk_str_skip(wildcard, 1);

    return wildcard.p[0] == '*' && host.len > end.len &&
           mk_str_ieq(mk_str_skip(host, host.len - end.len), end);
}

/* @return the word of ServerName by which a site was found; p NULL: it was not. */
static struct mk_str name_with(const struct mk_words *names, struct mk_str host)
{
    struct mk_str wildcard = any;

    for (size_t i = 0; i < names->count; i++) {
        if (mk_str_ieq(names->items[i], host))
            return names->items[i];
        if (is_covered(names->items[i], host))
            wildcard = names->items[i];
    }
    return wildcard;
}

static void tell_site(struct mk_explain *e, const struct mk_request *r, const struct mk_site *site)
{
    const struct mk_str host = host_of(r), name = name_with(&site->set.names, host);
    const struct mk_origin *at = mk_place_of_host(e->source, site);

    if (name.p)
        mk_explain_step(e, "site", NULL, mk_place_of_site(e->source, site, "ServerName", any),
                        "%s, by the name %.*s", site->set.names.items[0].p, (int)name.len, name.p);
    else if (e->snapshot->nsites == 1)
        mk_explain_step(e, "site", NULL, at, "the only one");
    else
        mk_explain_step(e, "site", NULL, at, "the default one: no ServerName has %.*s",
                        (int)host.len, host.p ? host.p : "");
}

/* The outermost first: each inherits from the one before it. */
static void tell_locations(struct mk_explain *e, const struct mk_site *site)
{
    const struct mk_setting *s;

    if (!site->parent)
        return;
    tell_locations(e, site->parent);
    s = site->section->first;
    while (s && !mk_str_ieq(s->key, MK_STR("Path")) && !mk_str_ieq(s->key, MK_STR("Match")))
        s = s->next;
    mk_explain_step(e, "location", NULL, s ? &s->value_at : &site->section->at, "%s %s",
                    s ? s->key.p : "", s ? s->value.p : "");
}

static void tell_new_site(struct mk_explain *e, const struct mk_request *r)
{
    const struct mk_site *site = r->site, *before = e->site;

    if (site == before)
        return;
    e->site = site;
    if (!before) {
        while (site->parent)
            site = site->parent;
        tell_site(e, r, site);
    }
    tell_locations(e, r->site);
    if (before && !r->site->parent)
        mk_explain_step(e, "location", NULL, NULL, "none any more");
}

/* ---- the path ---- */

static bool is_index(const struct mk_request *r)
{
    const struct mk_words *names = &r->site->set.index_files;

    for (size_t i = 0; i < names->count; i++) {
        if (r->path.len > names->items[i].len && mk_str_has_suffix(r->path, names->items[i]) &&
            r->path.p[r->path.len - names->items[i].len - 1] == '/')
            return true;
    }
    return false;
}

/* What has led to a path that is not the one of the request. @param at  out: the setting; NULL: none */
static const char *reason_of(const struct mk_explain *e, const struct mk_request *r,
                             const struct mk_origin **at)
{
    *at = NULL;
    if (r->page_of != 0)
        return "the page of an error";
    if (!r->found)
        return "in place of the one before";
    if (is_index(r)) {
        *at = place_of(e, "Indexfile");
        return "an index file";
    }
    *at = place_of(e, "TryFiles");
    return "by TryFiles";
}

static void tell_path(struct mk_explain *e, const struct mk_request *r)
{
    const struct mk_origin *at = NULL;
    const char *why = "decoded";

    if (!r->path.p || (e->path.p && mk_str_eq(e->path, r->path)))
        return;
    if (e->path.p)
        why = reason_of(e, r, &at);
    if (e->path.p || !mk_str_eq(r->path, mk_h1_head_path(&r->head, r->text)))
        mk_explain_step(e, "path", NULL, at, "%.*s, %s", (int)r->path.len, r->path.p, why);
    e->path = (struct mk_str){mk_arena_strdup(&e->arena, r->path), r->path.len};
    e->no_memory = e->no_memory || !e->path.p;
}

MK_AT_START void mk_explain_tell_place(struct mk_explain *e, struct mk_request *r)
{
    tell_new_site(e, r);
    tell_path(e, r);
}

/* ---- who answered ---- */

enum { VERDICT_MAX = 64 };

static const char *verdict_of(const struct mk_request *r, const char *verb, char text[VERDICT_MAX])
{
    (void)snprintf(text, VERDICT_MAX, "%s %u", verb, (unsigned)r->status);
    return text;
}

static struct mk_str find_field(struct mk_str lines, struct mk_str wanted)
{
    struct mk_str line, name, value;

    while (mk_field_next_line(&lines, &line, &name, &value)) {
        if (mk_str_ieq(name, wanted))
            return value;
    }
    return any;
}

static void tell_refusal(struct mk_explain *e, const struct mk_request *r)
{
    const bool is_of_file = (r->status == 403 || r->status == 404) && r->path.p;
    const char *root = r->site->set.document_root;
    char verdict[VERDICT_MAX];

    (void)verdict_of(r, "refuses with", verdict);
    if (is_of_file && root)
        mk_explain_step(e, "file", verdict, place_of(e, "DocumentRoot"), "%s: %s%.*s", r->reason,
                        root, (int)r->path.len, r->path.p);
    else
        mk_explain_step(e, "server", verdict, NULL, "%s", r->reason);
}

/* A slash behind the path that was asked for, as a folder needs it. */
static bool leads_to_folder(const struct mk_request *r, struct mk_str location)
{
    return mk_str_has_prefix(location, r->request_path) && location.len > r->request_path.len &&
           location.p[r->request_path.len] == '/';
}

static void tell_redirect(struct mk_explain *e, const struct mk_request *r, struct mk_str lines)
{
    const struct mk_str location = find_field(lines, MK_STR("Location"));
    char verdict[VERDICT_MAX];

    (void)verdict_of(r, "redirects with", verdict);
    if (r->site->set.redirect.p && location.p && !leads_to_folder(r, location))
        mk_explain_step(e, "redirect", verdict, place_of(e, "Redirect"), "to %.*s",
                        (int)location.len, location.p);
    else
        mk_explain_step(e, "folder", verdict, NULL, "a slash is to follow: %.*s", (int)location.len,
                        location.p ? location.p : "");
}

static void tell_file(struct mk_explain *e, const struct mk_request *r)
{
    const bool is_of_user = e->snapshot->set.user_dir && mk_str_has_prefix(r->path, MK_STR("/~"));
    const char *root = is_of_user ? "" : r->site->set.document_root;
    char verdict[VERDICT_MAX];

    mk_explain_step(e, "file", verdict_of(r, "answers with", verdict),
                    place_of(e, is_of_user ? "UserDir" : "DocumentRoot"), "%s%.*s",
                    root ? root : "", (int)r->path.len, r->path.p ? r->path.p : "");
}

/* No plugin did. */
static void tell_own(struct mk_explain *e, const struct mk_request *r, struct mk_str lines)
{
    char verdict[VERDICT_MAX];

    if (r->head_len == 0)
        mk_explain_step(e, "request", verdict_of(r, "is refused with", verdict), NULL, "%s",
                        r->reason ? r->reason : "malformed");
    else if (r->status >= 400 && r->reason)
        tell_refusal(e, r);
    else if (r->status >= 400)
        mk_explain_step(e, "file", verdict_of(r, "refuses with", verdict), place_of(e, "TryFiles"),
                        "by TryFiles");
    else if (r->status >= 300 && r->status != 304)
        tell_redirect(e, r, lines);
    else if (r->head.method == MK_METHOD_OPTIONS)
        mk_explain_step(e, "server", verdict_of(r, "answers with", verdict), NULL, "the methods");
    else
        tell_file(e, r);
}

/* ---- the answer ---- */

static void tell_page(struct mk_explain *e, const struct mk_request *r)
{
    const struct mk_error_page *page =
        r->status >= 400 ? mk_site_error_page(r->site, r->status) : NULL;

    if (page)
        mk_explain_step(e, "page", NULL, page->setting ? &page->setting->value_at : NULL, "%.*s",
                        (int)page->path.len, page->path.p);
}

static const struct mk_origin *place_of_cache_line(const struct mk_site *site, struct mk_str value)
{
    for (size_t i = 0; i < site->set.ncache_lines; i++) {
        const struct mk_cache_line *line = &site->set.cache_lines[i];

        if (line->setting && mk_str_eq(line->value, value))
            return &line->setting->value_at;
    }
    return NULL;
}

/* @return the setting that adds a field; NULL: none does. */
static const struct mk_origin *place_of_field(const struct mk_explain *e, struct mk_str name,
                                              struct mk_str value)
{
    if (mk_site_overrides(e->site, name))
        return mk_place_of_site(e->source, e->site, "Header", name);
    return mk_str_ieq(name, MK_STR("Cache-Control")) ? place_of_cache_line(e->site, value) : NULL;
}

/* Date and Server say nothing of a request, and of an answer that is not made here the length is not known. */
static bool is_told(const struct mk_explain *e, struct mk_str name)
{
    return !mk_str_ieq(name, MK_STR("Date")) && !mk_str_ieq(name, MK_STR("Server")) &&
           !(e->is_open && mk_str_ieq(name, MK_STR("Content-Length")));
}

static void tell_fields(struct mk_explain *e, struct mk_str lines)
{
    struct mk_explain_field **last = &e->fields;
    struct mk_str line, name, value;

    while (mk_field_next_line(&lines, &line, &name, &value)) {
        const struct mk_origin *at = e->site ? place_of_field(e, name, value) : NULL;
        struct mk_explain_field *field;

        if (!at && !is_told(e, name))
            continue;
        field = mk_arena_zalloc(&e->arena, sizeof(*field));
        if (!field) {
            e->no_memory = true;
            return;
        }
        field->name = mk_explain_clean(e, name);
        field->value = mk_explain_clean(e, value);
        field->file = at ? mk_explain_clean(e, mk_str_from(at->file)) : NULL;
        field->line = at ? at->line : 0;
        *last = field;
        last = &field->next;
    }
}

MK_AT_START void mk_explain_tell_end(struct mk_explain *e, struct mk_request *r,
                                     struct mk_str lines)
{
    if (r->head_len > 0)
        mk_explain_tell_place(e, r);
    e->status = r->status;
    if (r->status == 0)
        return;
    if (!e->is_answered)
        tell_own(e, r, lines);
    if (r->head_len > 0)
        tell_page(e, r);
    tell_fields(e, lines);
}
