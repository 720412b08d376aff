/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/explain.h"

#include "base/code.h"
#include "base/invariant.h"
#include "base/str.h"
#include "setup/plugin.h"
#include "setup/wants.h"

/* Where a known name belongs, and what takes the place of names that other servers and Monkey 1 have. */

/* ---- names of others ---- */

struct hint {
    const char *names; /* with blanks between */
    const char *more;
};

static const struct hint hints_for_keys[] = {
    {"Gzip GzipTypes Compress Deflate Brotli", "a section [COMPRESS] does this"},
    {"Alias", "it is in [FILE]"},
    {"ProxyPass proxy_pass", "ServerList in [PROXY_ENTRY] does this"},
    {"fastcgi_pass", "FastCGI is a plugin: Match \\.php(/|$) fastcgi in [HANDLERS]"},
    {"Root", "it is called DocumentRoot, in [HOST]"},
    {"Index DirectoryIndex", "it is called Indexfile"},
    {"AutoIndex", "Listing on in [DIRLISTING] does this"},
    {"Return", "Answer or Redirect do this"},
    {"Rewrite RewriteRule", "TryFiles or [REWRITE] do this"},
    {"ErrorDocument error_page", "write \"404 /file.html\" in [ERROR_PAGES]"},
    {"SSLCertificateFile ssl_certificate", "it is in [TLS]"},
};

static const struct hint hints_for_sections[] = {
    {"VIRTUALHOST VHOST", "a site is a [HOST]"},
    {"SSL", "it is [TLS] now"},
};

static const char *find_hint(const struct hint *hints, size_t count, struct mk_str name)
{
    for (size_t i = 0; i < count; i++) {
        struct mk_str rest = mk_str_from(hints[i].names), word;

        while (mk_str_next_word(&rest, &word)) {
            if (mk_str_ieq(name, word))
                return hints[i].more;
        }
    }
    return NULL;
}

/* ---- names of our own, elsewhere ---- */

static const struct {
    const struct mk_section_spec *spec;
    const char *place;
} ours[] = {
    {&mk_spec_server, "monkey.conf"},
    {&mk_spec_host, "monkey.conf or a file of sites/"},
    {&mk_spec_location, "a site, below its [HOST]"},
    {&mk_spec_error_pages, "a site, below its [HOST]"},
    {&mk_spec_handlers, "a site, below its [HOST]"},
    {&mk_spec_mime, "monkey.conf or monkey.mime"},
    {&mk_spec_plugins, "monkey.conf or plugins.load"},
};

static bool has_key(const struct mk_section_spec *spec, struct mk_str key)
{
    for (size_t i = 0; i < spec->nfields; i++) {
        const struct mk_field *f = &spec->fields[i];

        if (!(f->flags & MK_FIELD_ANY_KEY) &&
            (mk_str_ieq(key, mk_str_from(f->name)) ||
             (f->alias && mk_str_ieq(key, mk_str_from(f->alias)))))
            return true;
    }
    return false;
}

/* The section that has this key; the server's and the sites' before those of plugins. */
static const char *section_with(const struct mk_snapshot *s, struct mk_str key)
{
    for (size_t i = 0; i < MK_ARRAY_LEN(ours); i++) {
        if (has_key(ours[i].spec, key))
            return ours[i].spec->name;
    }
    for (size_t i = 0; i < s->nplugins; i++) {
        const struct mk_section_spec *const *each = s->plugins[i].draft->specs;

        for (; *each; each++) {
            if (has_key(*each, key))
                return (*each)->name;
        }
    }
    return NULL;
}

static const char *place_of(const struct mk_snapshot *s, struct mk_str section,
                            struct mk_arena *arena)
{
    for (size_t i = 0; i < MK_ARRAY_LEN(ours); i++) {
        if (mk_str_ieq(section, mk_str_from(ours[i].spec->name)))
            return mk_arena_printf(arena, "it belongs in %s", ours[i].place);
    }
    for (size_t i = 0; i < s->nplugins; i++) {
        const struct mk_section_spec *const *each = s->plugins[i].draft->specs;

        for (; *each; each++) {
            if (mk_str_ieq(section, mk_str_from((*each)->name)))
                return mk_arena_printf(arena,
                                       (*each)->flags & MK_SECTION_FILE
                                           ? "it belongs in monkey.conf or plugins/%s/"
                                           : "it belongs in a site",
                                       s->plugins[i].plugin->name);
        }
    }
    return NULL;
}

MK_AT_START const char *mk_explain_name(const struct mk_faults *faults, struct mk_str section,
                                        struct mk_str key)
{
    const struct mk_snapshot *s = faults->explain_arg;
    const char *more;

    if (!key.p) {
        more = find_hint(hints_for_sections, MK_ARRAY_LEN(hints_for_sections), section);
        return more ? more : place_of(s, section, faults->arena);
    }
    if ((section.p == mk_spec_host.name || section.p == mk_spec_location.name) &&
        mk_plugins_have_key(s, key))
        return "";
    more = find_hint(hints_for_keys, MK_ARRAY_LEN(hints_for_keys), key);
    if (more)
        return more;
    more = mk_wants_plugin_of_key(key);
    if (more && (mk_str_ieq(section, MK_STR("HOST")) || mk_str_ieq(section, MK_STR("LOCATION"))))
        return mk_arena_printf(faults->arena, "it needs the plugin \"%s\", which is not loaded",
                               more);
    more = section_with(s, key);
    return more ? mk_arena_printf(faults->arena, "it belongs to [%s]", more) : NULL;
}

/* ---- plugins ---- */

/* Of Monkey 1. */
static const struct {
    const char *name, *now;
} old_plugins[] = {
    {"liana_ssl", "tls"}, {"polarssl", "mbedtls"},    {"security", "mandril"},
    {"palm", "cgi"},      {"patas", "proxy_reverse"},
};

MK_AT_START const char *mk_explain_plugin(struct mk_str name, struct mk_arena *arena)
{
    for (size_t i = 0; i < MK_ARRAY_LEN(old_plugins); i++) {
        if (!mk_str_ieq(name, mk_str_from(old_plugins[i].name)))
            continue;
        return mk_arena_printf(arena, "the plugin \"%s\" is called \"%s\" now: Load %s",
                               old_plugins[i].name, old_plugins[i].now, old_plugins[i].now);
    }
    return NULL;
}
