/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/snapshot.h"

#include "base/buf.h"
#include "base/code.h"
#include "base/limits.h"
#include "base/str.h"
#include "setup/location.h"
#include "setup/plugin.h"
#include "setup/settings_int.h"
#include "setup/site_check.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef MK_VERSION
#define MK_VERSION "0"
#endif

static int apply_all(struct mk_tree *tree, const struct mk_section_spec *spec, void *settings,
                     struct mk_setup *ctx)
{
    ctx->settings = settings;
    ctx->section = spec->name;
    for (struct mk_section *s = mk_section_find(tree->first, mk_str_from(spec->name)); s;
         s = mk_section_find(s->next, mk_str_from(spec->name))) {
        int err = mk_fields_apply(spec, s, settings, ctx);

        if (err < 0)
            return err;
    }
    return 0;
}

static int read_section(struct mk_tree *tree, const struct mk_section_spec *spec, void *settings,
                        struct mk_setup *ctx)
{
    int err;

    ctx->settings = settings;
    ctx->section = spec->name;
    err = mk_fields_defaults(spec, settings, ctx);
    return err < 0 ? err : apply_all(tree, spec, settings, ctx);
}

/* @param common  out: a site has no Listen line */
static int read_addresses(struct mk_snapshot *s, const struct mk_snapshot_source *source,
                          bool *common, struct mk_setup *ctx)
{
    int err = 0;

    for (size_t i = 0; err == 0 && i < source->nsites; i++) {
        const size_t before = s->set.nlistens;

        err = mk_server_settings_listen(&s->set, &source->sites[i], (unsigned)i, ctx);
        *common |= s->set.nlistens == before;
    }
    return err;
}

static int build_server(struct mk_snapshot *s, struct mk_snapshot_source *source,
                        struct mk_setup *ctx)
{
    static const struct mk_section_spec *const specs[] = {&mk_spec_server};
    bool common = source->nsites == 0;
    int err;

    mk_sections_check(&source->server, specs, 1, ctx->faults);
    err = read_section(&source->server, &mk_spec_server, &s->set, ctx);
    if (err == 0)
        err = read_addresses(s, source, &common, ctx);
    if (err == 0)
        err = mk_server_settings_finish(&s->set, &source->server, common, ctx);
    if (err < 0)
        return err;
    s->server_name = s->set.hide_version ? MK_STR("Monkey") : MK_STR("Monkey/" MK_VERSION);
    return 0;
}

/* ---- media types ---- */

/* Enough to serve a site when there is no monkey.mime: suffix and type by turns. */
static const char builtin_types[] =
    "html text/html htm text/html css text/css js text/javascript "
    "mjs text/javascript json application/json txt text/plain xml application/xml "
    "svg image/svg+xml png image/png jpg image/jpeg jpeg image/jpeg gif image/gif "
    "webp image/webp ico image/x-icon woff2 font/woff2 wasm application/wasm "
    "pdf application/pdf mp4 video/mp4 gz application/gzip zip application/zip";

static int with_charset(const struct mk_snapshot *s, struct mk_str type, struct mk_setup *ctx,
                        struct mk_str *out)
{
    *out = type;
    if (mk_str_ieq(mk_str_from(s->set.default_charset), MK_STR("off")) || !mk_mime_is_text(type) ||
        memchr(type.p, ';', type.len))
        return 0;
    *out = mk_str_from(mk_arena_printf(ctx->arena, "%.*s; charset=%s", (int)type.len, type.p,
                                       s->set.default_charset));
    return out->p ? 0 : MK_E_NOMEM;
}

/* @return 0 or MK_E_NOMEM. */
static int add_builtin_types(struct mk_mime_settings *set, struct mk_setup *ctx)
{
    struct mk_str rest = mk_str_from(builtin_types), ext, type;

    while (mk_str_next_word(&rest, &ext) && mk_str_next_word(&rest, &type)) {
        struct mk_mime_line *line = MK_SETTINGS_APPEND(ctx, set, lines, nlines);

        if (!line)
            return MK_E_NOMEM;
        *line = (struct mk_mime_line){ext, type};
    }
    return 0;
}

static int build_mimes(struct mk_snapshot *s, struct mk_snapshot_source *source,
                       struct mk_setup *ctx)
{
    static const struct mk_section_spec *const specs[] = {&mk_spec_mime};
    struct mk_mime_settings read = {.nlines = 0};
    int err;

    mk_sections_check(&source->mimes, specs, 1, ctx->faults);
    err = source->mimes.file ? 0 : add_builtin_types(&read, ctx);
    if (err == 0)
        err = read_section(&source->mimes, &mk_spec_mime, &read, ctx);
    if (err < 0)
        return err;
    s->mime.entries = mk_arena_alloc(ctx->arena, read.nlines * sizeof(*s->mime.entries));
    if (!s->mime.entries)
        return MK_E_NOMEM;
    for (size_t i = 0; i < read.nlines; i++) {
        s->mime.entries[i].ext = read.lines[i].ext;
        if (with_charset(s, read.lines[i].type, ctx, &s->mime.entries[i].type) < 0)
            return MK_E_NOMEM;
    }
    s->mime.count = read.nlines;
    mk_mime_sort(&s->mime);
    return with_charset(s, mk_str_from(s->set.default_type), ctx, &s->mime.fallback);
}

/* ---- sites ---- */

static bool has_secure_address(const struct mk_snapshot *s)
{
    for (size_t i = 0; i < s->set.nlistens; i++) {
        const struct mk_transport *transport = s->set.listens[i].via.transport;

        if (transport && transport->is_secure)
            return true;
    }
    return false;
}

static void print_lines(struct mk_buf *lines, struct mk_site *site, bool are_secure)
{
    for (size_t i = 0; i < site->set.nheaders; i++) {
        const struct mk_header_line *h = &site->set.headers[i];

        if (h->varies)
            site->has_late_lines = true;
        else if (h->value.len > 0 &&
                 mk_str_ieq(h->name, MK_STR("Strict-Transport-Security")) == are_secure)
            (void)mk_buf_printf(lines, "%.*s: %.*s\r\n", (int)h->name.len, h->name.p,
                                (int)h->value.len, h->value.p);
    }
}

/*
 * Without TLS nobody may be told to come by TLS from now on (RFC 6797 section 7.2). A server without an address of TLS
 * stands behind one that has it.
 */
int mk_site_make_lines(struct mk_site *site, struct mk_setup *ctx)
{
    struct mk_buf lines;
    size_t always_len;
    char *copy;

    site->has_late_lines = false;
    mk_buf_init(&lines, MK_LIMIT_SITE_LINES + 1); /* with the NUL of printing */
    print_lines(&lines, site, false);
    always_len = lines.len;
    print_lines(&lines, site, true);
    if (lines.error == MK_E_LIMIT)
        mk_fault_add(ctx->faults, NULL, "Header: the lines of one site may have %d bytes in all",
                     MK_LIMIT_SITE_LINES);
    copy = lines.error == MK_E_NOMEM ? NULL : mk_arena_strdup(ctx->arena, mk_buf_str(&lines));
    if (!has_secure_address(site->snapshot))
        always_len = lines.len;
    site->extra_lines = (struct mk_str){copy, always_len};
    site->secure_lines = (struct mk_str){copy ? copy + always_len : NULL, lines.len - always_len};
    site->has_late_lines |= site->secure_lines.len > 0;
    mk_buf_fini(&lines);
    return copy ? 0 : MK_E_NOMEM;
}

/* What [HOST] leaves unsaid is as [SERVER] has it. */
static int read_host(const struct mk_snapshot *s, struct mk_site *site, struct mk_tree *tree,
                     struct mk_setup *ctx)
{
    struct mk_site_settings *set = &site->set;
    int err;

    ctx->settings = set;
    err = mk_fields_defaults(&mk_spec_host, set, ctx);
    set->index_files = s->set.index_files;
    set->symlink = s->set.symlink;
    set->max_body_size = s->set.max_body_size;
    set->handler_timeout_ms = s->set.handler_timeout_ms;
    set->body_timeout_ms = s->set.body_timeout_ms;
    set->min_rate = s->set.min_rate;
    return err < 0 ? err : apply_all(tree, &mk_spec_host, set, ctx);
}

static int build_site(struct mk_snapshot *s, struct mk_site *site,
                      const struct mk_snapshot_source *source, struct mk_setup *ctx)
{
    struct mk_tree *tree = &source->sites[site - s->sites];
    int err;

    site->snapshot = s;
    site->index = (unsigned)(site - s->sites);
    if (mk_plugins_check_sections(s, source, tree, ctx) < 0)
        return MK_E_NOMEM;
    err = read_host(s, site, tree, ctx);
    if (err == 0)
        err = apply_all(tree, &mk_spec_error_pages, &site->set, ctx);
    if (err == 0)
        err = apply_all(tree, &mk_spec_handlers, &site->set, ctx);
    return err < 0 ? err : mk_site_make_lines(site, ctx);
}

static int build_sites(struct mk_snapshot *s, struct mk_snapshot_source *source,
                       struct mk_setup *ctx)
{
    size_t nvariants = 0;
    int err = 0;

    s->nsites = source->nsites;
    for (size_t i = 0; i < s->nsites; i++)
        nvariants += mk_places_count(&source->sites[i]);
    if (nvariants > MK_LIMIT_VARIANTS) {
        mk_fault_add(ctx->faults, NULL, "too many [LOCATION] sections");
        nvariants = 0;
    }
    s->is_divided = s->nsites + nvariants > 1;
    s->sites = mk_arena_zalloc(ctx->arena, (s->nsites + nvariants) * sizeof(*s->sites));
    if (!s->sites)
        return MK_E_NOMEM;
    for (size_t i = 0; err == 0 && i < s->nsites; i++) {
        err = build_site(s, &s->sites[i], source, ctx);
        if (err == 0 && nvariants > 0)
            err = mk_places_build(s, &s->sites[i], &source->sites[i], ctx);
    }
    while (s->usual + 1 < s->nsites && s->sites[s->usual].set.is_apart)
        s->usual++;
    return err;
}

/* ---- host names ---- */

static int compare_names(const void *a, const void *b)
{
    const struct mk_str *x = &((const struct mk_host_name *)a)->name,
                        *y = &((const struct mk_host_name *)b)->name;
    size_t min = x->len < y->len ? x->len : y->len;
    int diff = memcmp(x->p, y->p, min);

    return diff ? diff : (x->len > y->len) - (x->len < y->len);
}

static const struct mk_host_name *find_name(const struct mk_host_name *names, size_t count,
                                            struct mk_str name)
{
    struct mk_host_name key = {.name = name};

    return count ? bsearch(&key, names, count, sizeof(*names), compare_names) : NULL;
}

/* @return NULL, or what is wrong with a name whose asterisk, if it has one, was taken away. */
static const char *fault_of_name(struct mk_str name, struct mk_str written)
{
    const bool is_v6 = written.p[0] == '[';

    if (mk_str_eq(written, MK_STR("_")) || mk_str_eq(written, MK_STR("*")))
        return "; the default site answers all other names";
    if (written.p[0] == '~' || written.p[0] == '^')
        return "; an expression is none";
    if (written.p[0] == '.')
        return "; .a.test is written a.test *.a.test";
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.p[i];

        if ((unsigned char)c >= 0x80)
            return "; write it as clients send it, such as xn--bcher-kva.example";
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && !memchr("-._", c, 3) &&
            !(is_v6 && memchr(":[]", c, 3)))
            return "; it has no scheme, port or path";
    }
    if (written.p[written.len - 1] == '.')
        return "; it has no dot at its end";
    return written.len > MK_LIMIT_HOST ? "" : NULL;
}

static int add_name(struct mk_snapshot *s, const struct mk_site *site, struct mk_str word,
                    const struct mk_tree *tree, struct mk_setup *ctx)
{
    char *lower = mk_arena_strdup(ctx->arena, word);
    bool wildcard = word.len > 2 && word.p[0] == '*' && word.p[1] == '.';
    struct mk_host_name *entry = wildcard ? &s->wildcards[s->nwildcards++] : &s->names[s->nnames++];
    const char *fault;

    if (!lower)
        return MK_E_NOMEM;
    for (size_t i = 0; i < word.len; i++)
        lower[i] = mk_char_lower(word.p[i]);
    *entry = (struct mk_host_name){.name = {lower + wildcard, word.len - wildcard}, .site = site};
    fault = fault_of_name(entry->name, word);
    if (fault)
        mk_fault_add(ctx->faults, mk_tree_place(tree, "HOST", "ServerName"),
                     "ServerName: \"%.*s\" is neither a name nor *.name%s", (int)word.len, word.p,
                     fault);
    return 0;
}

/* Those of a site with addresses of its own are looked at, and lead nobody there. */
static int add_names(struct mk_snapshot *s, const struct mk_site *site, const struct mk_tree *tree,
                     struct mk_setup *ctx)
{
    const size_t nnames = s->nnames, nwildcards = s->nwildcards;

    for (size_t i = 0; i < site->set.names.count; i++) {
        if (add_name(s, site, site->set.names.items[i], tree, ctx) < 0)
            return MK_E_NOMEM;
    }
    if (site->set.is_apart) {
        s->nnames = nnames;
        s->nwildcards = nwildcards;
    }
    return 0;
}

static void check_doubles(const struct mk_host_name *names, size_t count,
                          const struct mk_tree *trees, struct mk_setup *ctx)
{
    for (size_t i = 1; i < count; i++) {
        const struct mk_origin *other;

        if (!mk_str_eq(names[i - 1].name, names[i].name) || names[i - 1].site == names[i].site)
            continue;
        other = mk_tree_place(&trees[names[i - 1].site->index], "HOST", "ServerName");
        mk_fault_add(ctx->faults, mk_tree_place(&trees[names[i].site->index], "HOST", "ServerName"),
                     "ServerName: \"%.*s\" also belongs to %s:%u", (int)names[i].name.len,
                     names[i].name.p, other->file, other->line);
    }
}

static int build_names(struct mk_snapshot *s, const struct mk_tree *trees, struct mk_setup *ctx)
{
    size_t count = 0;

    for (size_t i = 0; i < s->nsites; i++)
        count += s->sites[i].set.names.count;
    s->names = mk_arena_alloc(ctx->arena, count * sizeof(*s->names));
    s->wildcards = mk_arena_alloc(ctx->arena, count * sizeof(*s->wildcards));
    if (!s->names || !s->wildcards)
        return MK_E_NOMEM;
    for (size_t i = 0; i < s->nsites; i++) {
        if (add_names(s, &s->sites[i], &trees[i], ctx) < 0)
            return MK_E_NOMEM;
    }
    qsort(s->names, s->nnames, sizeof(*s->names), compare_names);
    qsort(s->wildcards, s->nwildcards, sizeof(*s->wildcards), compare_names);
    check_doubles(s->names, s->nnames, trees, ctx);
    check_doubles(s->wildcards, s->nwildcards, trees, ctx);
    return 0;
}

int mk_snapshot_build(struct mk_snapshot *s, struct mk_snapshot_source *source,
                      struct mk_setup *ctx)
{
    int err = 0;

    atomic_init(&s->refs, 1);
    if (!s->plugins)
        err = mk_plugins_load(s, source, ctx);
    if (err == 0)
        err = build_server(s, source, ctx);
    if (err == 0)
        err = build_mimes(s, source, ctx);
    if (err < 0)
        return err;
    mk_via_choose(s, source, ctx);
    err = build_sites(s, source, ctx);
    if (err == 0)
        err = mk_plugins_check(s, source, ctx);
    for (size_t i = 0; err == 0 && i < mk_snapshot_places(s); i++) {
        if (i < s->nsites || ctx->faults->count == 0)
            err = mk_site_check(&s->sites[i], i < s->nsites ? &source->sites[i] : NULL,
                                source->need_roots, ctx);
    }
    return err < 0 ? err : build_names(s, source->sites, ctx);
}

const struct mk_site *mk_snapshot_site(const struct mk_snapshot *s, struct mk_str host)
{
    const struct mk_host_name *found;
    char lower[MK_LIMIT_HOST];
    struct mk_str name = {lower, host.len};

    if (s->nnames + s->nwildcards == 0 || host.len > MK_LIMIT_HOST || host.len == 0)
        return &s->sites[s->usual];
    for (size_t i = 0; i < host.len; i++)
        lower[i] = mk_char_lower(host.p[i]);
    found = find_name(s->names, s->nnames, name);
    for (size_t i = 1; !found && s->nwildcards > 0 && i < name.len; i++) {
        if (name.p[i] == '.')
            found = find_name(s->wildcards, s->nwildcards, mk_str_skip(name, i));
    }
    return found ? found->site : &s->sites[s->usual];
}

MK_AT_START void mk_plugins_stop(struct mk_snapshot *s)
{
    for (size_t i = s->nplugins; i-- > 0;) {
        struct mk_loaded *p = &s->plugins[i];

        if (p->started && p->plugin->stop)
            p->plugin->stop(&p->context);
        p->started = false;
    }
}

void mk_snapshot_put(struct mk_snapshot *s)
{
    if (atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    mk_plugins_stop(s);
    if (s->alive)
        atomic_fetch_sub(s->alive, 1);
    if (s->on_unused)
        s->on_unused(s, s->arg);
}
