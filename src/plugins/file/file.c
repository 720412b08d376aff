/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/words.h"

#include <monkey/explain.h>

#include <string.h>
#include <sys/stat.h>

/*
 * Files where a handler would answer otherwise: `Match ^/static/ file` exempts paths from the handlers that follow, and
 * `Alias /docs /usr/share/doc` shows a folder that lies elsewhere.
 */

struct alias {
    struct alias *next;
    struct mk_str path; /* without a slash at the end; "" for "/" */
    struct mk_str root; /* absolute, terminated */
    struct mk_origin at;
};

/** One [FILE] section. */
struct section {
    struct alias *first, *last;
};

/* ---- settings ---- */

/* Such a path is the same in a pattern, but for its dots, and in a Location. */
static bool is_plain(struct mk_str path)
{
    static const char others[] = "/-._~";

    for (size_t i = 0; i < path.len; i++) {
        const char c = text_lower(path.p[i]);

        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && !memchr(others, c, sizeof(others) - 1))
            return false;
    }
    return true;
}

/* Behind the one folder with a dot that is for everybody (RFC 8615), where certificate authorities look for their answers. */
static struct mk_str without_well_known(struct mk_str path)
{
    static const struct mk_str known = MK_STR_INIT("/.well-known");

    if (path.len >= known.len && memcmp(path.p, known.p, known.len) == 0 &&
        (path.len == known.len || path.p[known.len] == '/')) {
        path.p += known.len;
        path.len -= known.len;
    }
    return path;
}

/* Requests have neither "//" nor "/./" nor "/../" in their paths, and no other names that begin with a dot. */
static bool is_normal(struct mk_str path)
{
    path = without_well_known(path);
    return !memmem(path.p, path.len, "//", 2) && !memmem(path.p, path.len, "/.", 2);
}

static bool is_path(struct mk_str path)
{
    return path.len > 0 && path.p[0] == '/' && is_plain(path) && is_normal(path);
}

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static struct mk_str without_slash(struct mk_str path)
{
    if (path.len > 0 && path.p[path.len - 1] == '/')
        path.len--;
    return path;
}

static const struct alias *find(const struct section *section, struct mk_str path)
{
    const struct alias *a = section->first;

    while (a && !text_is_word(a->path, path))
        a = a->next;
    return a;
}

static int append(struct mk_setup *setup, const struct mk_setting *s, struct alias alias)
{
    struct section *section = mk_setup_settings(setup);
    struct alias *kept = mk_setup_alloc(setup, sizeof(*kept));
    struct mk_str file = mk_setup_copy(setup, mk_str_from(s->value_at.file));

    if (!kept || !file.p)
        return MK_E_NOMEM;
    alias.at.file = file.p;
    *kept = alias;
    if (section->last)
        section->last->next = kept;
    else
        section->first = kept;
    section->last = kept;
    return 0;
}

static int refuse_folder(struct mk_setup *setup, const struct mk_setting *s, const struct alias *a)
{
    mk_setup_fault(setup, &s->value_at,
                   "Alias: expected the path of a folder after %.*s/, got \"%s\"", (int)a->path.len,
                   a->path.p, a->root.p);
    return MK_E_INVALID;
}

static int refuse_twin(struct mk_setup *setup, const struct mk_setting *s,
                       const struct alias *other)
{
    mk_setup_fault(setup, &s->value_at, "Alias: %.*s/ leads to %s already, by %s:%u",
                   (int)other->path.len, other->path.p, other->root.p, other->at.file,
                   other->at.line);
    return MK_E_INVALID;
}

static int parse_alias(struct mk_setup *setup, const struct mk_setting *s)
{
    struct mk_str rest = s->value, path = text_next_word(&rest);
    const struct alias *other;
    struct alias alias = {.at = s->value_at};

    rest = text_trim(rest);
    if (!is_path(path) || rest.len == 0)
        return mk_setup_refuse(setup, s,
                               "a path such as /docs and a folder such as /usr/share/doc");
    alias.path = mk_setup_copy(setup, without_slash(path));
    alias.root = mk_setup_copy(setup, rest);
    if (!alias.root.p || !alias.path.p)
        return MK_E_NOMEM;
    if (alias.root.p[0] != '/' || !is_folder(alias.root.p))
        return refuse_folder(setup, s, &alias);
    other = find(mk_setup_settings(setup), alias.path);
    return other ? refuse_twin(setup, s, other) : append(setup, s, alias);
}

static const struct mk_field fields[] = {
    {.name = "Alias", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = parse_alias},
};

static const struct mk_section_spec file_section =
    MK_SECTION("FILE", MK_SECTION_FILE | MK_SECTION_SITE, struct section, fields);
static const struct mk_section_spec *const sections[] = {&file_section, NULL};

/* ---- a configuration ---- */

/* "^/a\.b(/|$)" for "/a.b". */
static struct mk_str pattern_of(struct mk_setup *setup, struct mk_str path)
{
    static const struct mk_str end = MK_STR_INIT("(/|$)");
    char *text = mk_setup_alloc(setup, 1 + 2 * path.len + end.len);
    size_t len = 0;

    if (!text)
        return (struct mk_str){NULL, 0};
    text[len++] = '^';
    for (size_t i = 0; i < path.len; i++) {
        if (path.p[i] == '.')
            text[len++] = '\\';
        text[len++] = path.p[i];
    }
    memcpy(text + len, end.p, end.len);
    return (struct mk_str){text, len + end.len};
}

static int add_routes(struct mk_setup *setup, const struct section *section, bool is_global)
{
    for (struct alias *a = section ? section->first : NULL; a; a = a->next) {
        const struct mk_str pattern = pattern_of(setup, a->path);
        int err = pattern.p ? mk_setup_route(setup, pattern, a, &a->at, is_global) : MK_E_NOMEM;

        if (err == MK_E_NOMEM)
            return err;
    }
    return 0;
}

static int file_check(struct mk_setup *setup)
{
    mk_setup_keep(setup, mk_setup_section(setup, &file_section, NULL));
    return 0;
}

static int file_check_site(struct mk_setup *setup)
{
    int err = add_routes(setup, mk_setup_section(setup, &file_section, NULL), false);

    return err < 0 ? err : add_routes(setup, mk_setup_config(setup), true);
}

/* ---- requests ---- */

/* Of "/docs" for `Alias /docs`: links in what follows need the slash. */
static enum mk_verdict add_slash(struct mk_request *r, const struct alias *a, struct mk_str query)
{
    const char *location =
        mk_request_printf(r, "%.*s/%s%.*s", (int)a->path.len, a->path.p, query.p ? "?" : "",
                          (int)query.len, query.p ? query.p : "");

    return location ? mk_reply_redirect(r, 301, mk_str_from(location))
                    : mk_reply_error(r, 503, NULL);
}

static enum mk_verdict show_alias(struct mk_request *r, const struct alias *a,
                                  const struct mk_request_facts *facts)
{
    struct mk_str path = facts->path;

    if (memcmp(path.p, a->path.p, a->path.len) != 0)
        return MK_VERDICT_PASS; /* patterns match any case, and folders do not */
    if (path.len == a->path.len)
        return add_slash(r, a, facts->query);
    path.p += a->path.len;
    path.len -= a->path.len;
    return mk_reply_beneath(r, a->root, path);
}

static enum mk_verdict file_on_handle(struct mk_request *r, const struct mk_context *ctx,
                                      void *data)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};

    (void)ctx;
    mk_request_facts(r, &facts);
    if (data)
        return show_alias(r, data, &facts);
    return facts.document_root ? mk_reply_beneath(r, mk_str_from(facts.document_root), facts.path)
                               : mk_reply_error(r, 404, NULL);
}

static enum mk_verdict file_explain(struct mk_request *r, const struct mk_context *ctx,
                                    struct mk_explain *e)
{
    const struct alias *a = mk_explain_data(e);
    struct mk_request_facts facts = {.size = sizeof(facts)};

    (void)ctx;
    mk_request_facts(r, &facts);
    if (a)
        mk_explain_say(e, &a->at, "%s shows %s", a->path.p, a->root.p);
    else
        mk_explain_say(e, NULL, "%s%.*s", facts.document_root ? facts.document_root : "",
                       (int)facts.path.len, facts.path.p);
    return MK_VERDICT_DONE;
}

static const struct mk_plugin file = {
    MK_PLUGIN("file", "files instead of other handlers, and folders that lie elsewhere"),
    .sections = sections,
    .check = file_check,
    .check_site = file_check_site,
    .on_handle = file_on_handle,
    .explain = file_explain,
    .traits = MK_TRAIT_PURE,
};
MK_PLUGIN_EXPORT(file);
