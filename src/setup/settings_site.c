/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/settings_int.h"

#include "base/code.h"
#include "base/invariant.h"
#include "base/limits.h"
#include "base/str.h"
#include "http/field.h"
#include "http/uri.h"
#include "setup/path_pattern.h"

#include <monkey/field.h>
#include <monkey/variables.h>

#include <stdio.h>

static const char *const known_statuses = " 301 302 303 307 308 ";

/*
 * A text without variables of requests, which may be somewhere else, and without those of Apache.
 * @param instead  a clause; NULL: it may have variables of requests @param t  out @return 0, MK_E_INVALID or MK_E_NOMEM.
 */
MK_AT_START static int take_text(struct mk_setup *ctx, const struct mk_setting *s,
                                 struct mk_str text, const char *instead, struct mk_template *t)
{
    const char *apache = memmem(text.p, text.len, "%{", 2);
    struct mk_str wrong = {apache, 2};
    int err = mk_setup_template(ctx, s, text, MK_TEMPLATE_PRICES, t);

    if (err < 0)
        return err;
    for (size_t i = 0; i < t->count && instead && !wrong.p; i++) {
        if (!mk_template_is_text(&t->pieces[i]))
            wrong = t->pieces[i].text;
    }
    if (!wrong.p)
        return 0;
    mk_fault_add(ctx->faults, &s->value_at, "%s: \"%.*s\" would be sent unchanged: %s", s->key.p,
                 (int)wrong.len, wrong.p,
                 instead ? instead : "monkey.conf(5) lists the variables there are");
    return MK_E_INVALID;
}

static bool has_end_of_host(struct mk_str text)
{
    return memchr(text.p, '/', text.len) || memchr(text.p, '?', text.len);
}

/* @return whether what a client chooses can be no other host than the one it asked for. @param i  the piece that follows the scheme's */
static bool is_host_safe(const struct mk_template *t, size_t i)
{
    for (; i < t->count; i++) {
        switch (t->pieces[i].which) {
        case MK_VARIABLE_TARGET:
        case MK_VARIABLE_PATH: /* they begin with a slash */
            return true;
        case MK_VARIABLE_HOST:
        case MK_VARIABLE_HTTP_HOST:
        case MK_VARIABLE_SERVER_PORT:
            break;
        default:
            if (!mk_template_is_text(&t->pieces[i]))
                return false;
            if (has_end_of_host(t->pieces[i].text))
                return true;
        }
    }
    return true;
}

/* Is it a path, or a URL with its scheme, which $scheme may stand for? */
static bool leads_somewhere(const struct mk_template *t)
{
    size_t i = t->count > 1 && t->pieces[0].which == MK_VARIABLE_SCHEME;
    struct mk_str text = t->count > 0 ? t->pieces[i].text : (struct mk_str){"", 0};
    const char *end = memmem(text.p, text.len, "://", 3);

    if (t->count == 0 || !mk_template_is_text(&t->pieces[i]))
        return false;
    if (i == 0 && text.len > 0 && text.p[0] == '/')
        return true;
    if (!end || (i > 0 && end != text.p))
        return false;
    return has_end_of_host(mk_str_skip(text, (size_t)(end - text.p) + 3)) || is_host_safe(t, i + 1);
}

MK_AT_START static int parse_redirect(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct mk_site_settings *site = ctx->settings;
    struct mk_str rest = mk_setup_copy(ctx, s->value), url, status, extra;
    struct mk_template template;
    uint64_t code = 301;
    bool varies;
    int err;

    if (!rest.p)
        return MK_E_NOMEM;
    if (mk_str_ieq(rest, MK_STR("off"))) { /* in a place of a site that has one */
        site->redirect.p = NULL;
        return 0;
    }
    if (!mk_str_next_word(&rest, &url))
        url = MK_STR("");
    err = take_text(ctx, s, url, NULL, &template);
    if (err < 0)
        return err;
    varies = !mk_template_is_fixed(&template);
    if (!varies)
        url = mk_template_text(ctx, &template);
    if (!url.p)
        return MK_E_NOMEM;
    if (!mk_uri_is_target(url) || !(varies ? leads_somewhere(&template)
                                           : url.p[0] == '/' || memmem(url.p, url.len, "://", 3)))
        return mk_setup_refuse(ctx, s,
                               varies ? "a path, or a URL whose host has no variables but $host, "
                                        "$http_host and $server_port"
                                      : "a URL and perhaps a status, such as "
                                        "https://example.org/ 308");
    if (mk_str_next_word(&rest, &status)) {
        char wanted[8] = "";

        if (mk_str_to_u64(status, 999, &code) == 0)
            (void)snprintf(wanted, sizeof(wanted), " %u ", (unsigned)code);
        if (!wanted[0] || mk_str_next_word(&rest, &extra) || !strstr(known_statuses, wanted))
            return mk_setup_refuse(ctx, s, "a URL and perhaps one of 301 302 303 307 308");
    }
    site->redirect = url;
    site->redirect_to = varies ? template : (struct mk_template){NULL, 0};
    site->redirect_status = (unsigned)code;
    return 0;
}

MK_AT_START static int parse_header(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct mk_site_settings *site = ctx->settings;
    struct mk_str rest = mk_setup_copy(ctx, s->value), name = {NULL, 0};
    struct mk_header_line *line, read = {.varies = false};
    int err;

    if (!rest.p)
        return MK_E_NOMEM;
    if (mk_str_next_word(&rest, &name) && name.p[name.len - 1] == ':')
        name.len--;
    if (!mk_field_is_name(name))
        return mk_setup_refuse(ctx, s, "a field name and a value");
    if (mk_field_rules(name) & MK_RULE_NOT_FIXED) {
        mk_fault_add(ctx->faults, &s->value_at, "Header: %.*s is set by the server itself",
                     (int)name.len, name.p);
        return MK_E_INVALID;
    }
    rest = mk_str_trim(rest);
    err = take_text(ctx, s, rest,
                    mk_str_ieq(name, MK_STR("Strict-Transport-Security"))
                        ? "this field is the same in all answers"
                        : NULL,
                    &read.template);
    if (err < 0)
        return err;
    read.name = name;
    read.varies = !mk_template_is_fixed(&read.template);
    read.value = read.varies ? rest : mk_template_text(ctx, &read.template);
    line = MK_SETTINGS_APPEND(ctx, site, headers, nheaders);
    if (!line || !read.value.p)
        return MK_E_NOMEM;
    *line = read;
    return 0;
}

MK_AT_START static int parse_cache_control(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct mk_site_settings *site = ctx->settings;
    struct mk_str rest = mk_setup_copy(ctx, s->value), word, value;
    const struct mk_pattern *files;
    struct mk_cache_line *line;
    int err;

    if (!rest.p)
        return MK_E_NOMEM;
    if (!mk_str_next_word(&rest, &word) || mk_str_trim(rest).len == 0)
        return mk_setup_refuse(ctx, s, "a glob such as *.css and a value such as max-age=3600");
    value = mk_str_trim(rest);
    if (value.p[0] == '"' || (word.p[0] == '.' && word.len > 1) || word.p[word.len - 1] == '/')
        return mk_setup_refuse(ctx, s,
                               "a glob of files such as *.css or /static/*, and a value without "
                               "quotes around it");
    err = mk_path_pattern(ctx, &s->value_at, "CacheControl", word, true, &files);
    if (err < 0)
        return err;
    line = MK_SETTINGS_APPEND(ctx, site, cache_lines, ncache_lines);
    if (!line)
        return MK_E_NOMEM;
    *line = (struct mk_cache_line){files, value, s};
    return 0;
}

MK_AT_START const struct mk_str *mk_site_named_try(const struct mk_site_settings *set)
{
    const struct mk_try *last = set->ntries ? &set->tries[set->ntries - 1] : NULL;

    return last && last->name.p ? &last->name : NULL;
}

static int refuse_try(struct mk_setup *ctx, const struct mk_setting *s)
{
    return mk_setup_refuse(ctx, s,
                           "up to 10 of $uri, $uri/, $uri.suffix, /path, /path?query and "
                           "=status, and @name at the end alone");
}

/* "/path?query", both with variables. */
static int take_path_of_try(struct mk_setup *ctx, const struct mk_setting *s, struct mk_try *try,
                            struct mk_str word)
{
    const char *mark = memchr(word.p, '?', word.len);
    const struct mk_str path = {word.p, mark ? (size_t)(mark - word.p) : word.len};
    int err = mk_setup_template(ctx, s, path, 0, &try->path);

    try->has_query = mark;
    if (err == 0 && mark)
        err = mk_setup_template(ctx, s, mk_str_skip(word, path.len + 1), 0, &try->query);
    if (err < 0)
        return err;
    for (size_t i = 0; i < try->path.count; i++) {
        if (try->path.pieces[i].which != MK_VARIABLE_TARGET)
            continue;
        mk_fault_add(ctx->faults, &s->value_at,
                     "TryFiles: $request_uri is no file's name: write $uri, and $query behind ?");
        return MK_E_INVALID;
    }
    try->is_of_path = try->path.count > 0 && try->path.pieces[0].which == MK_VARIABLE_PATH;
    return try->is_of_path || word.p[0] == '/' ? 0 : refuse_try(ctx, s);
}

static int take_try(struct mk_setup *ctx, const struct mk_setting *s, struct mk_try *try,
                    struct mk_str word)
{
    uint64_t status = 0;

    if (word.p[0] == '@') {
        try->name = word;
        return word.len > 1 ? 0 : refuse_try(ctx, s);
    }
    if (word.p[0] != '=')
        return take_path_of_try(ctx, s, try, word);
    if (word.len != 4 || mk_str_to_u64(mk_str_skip(word, 1), 599, &status) < 0 || status < 400)
        return refuse_try(ctx, s);
    try->status = (unsigned)status;
    return 0;
}

static int parse_try_files(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct mk_site_settings *site = ctx->settings;
    struct mk_str rest = mk_setup_copy(ctx, s->value), word;
    int err = 0;

    if (!rest.p)
        return MK_E_NOMEM;
    site->try_setting = s;
    while (err == 0 && mk_str_next_word(&rest, &word)) {
        struct mk_try *try;

        if (site->ntries == MK_LIMIT_REROUTES || mk_site_named_try(site))
            return refuse_try(ctx, s);
        try = MK_SETTINGS_APPEND(ctx, site, tries, ntries);
        err = try ? take_try(ctx, s, try, word) : MK_E_NOMEM;
    }
    return err;
}

/* `Match REGEX PLUGIN ...`, or for all of a place `Handler PLUGIN ...` and `Answer ...`, which is the handler "answer". */
MK_AT_START static int parse_match(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct mk_site_settings *site = ctx->settings;
    struct mk_str rest = s->value, word;
    struct mk_handler_line line = {.setting = s, .plugin = MK_STR("answer")};
    struct mk_handler_line *kept;
    const char key = mk_char_lower(s->key.p[0]);

    if ((key == 'm' && !mk_str_next_word(&rest, &line.pattern)) ||
        (key != 'a' && !mk_str_next_word(&rest, &line.plugin)))
        return mk_setup_refuse(ctx, s, "a regular expression and a plugin");
    if (key == 'a' && !mk_str_ieq(rest, MK_STR("off")))
        site->redirect.p = NULL; /* of the site around it */
    while (mk_str_next_word(&rest, &word)) {
        if (mk_words_append(&line.params, ctx->arena, word) < 0)
            return MK_E_NOMEM;
    }
    kept = MK_SETTINGS_APPEND(ctx, site, handlers, nhandlers);
    if (!kept)
        return MK_E_NOMEM;
    *kept = line;
    return 0;
}

MK_AT_START static int parse_path(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct mk_site_settings *site = ctx->settings;
    char *path = mk_arena_alloc(ctx->arena, s->value.len);
    const struct mk_pattern *none;

    if (!path)
        return MK_E_NOMEM;
    if (mk_uri_normalise(s->value, path, &site->path.len) < 0 || memchr(path, '*', site->path.len))
        return mk_setup_refuse(ctx, s,
                               "a path such as /api, which has all below it; for a pattern write "
                               "Match, such as Match ^/api/v[0-9]/");
    site->path.p = path;
    site->path.len -= path[site->path.len - 1] == '/';
    return mk_path_pattern(ctx, &s->value_at, "Path", site->path, false, &none);
}

/* The addresses are read with those of the server: mk_server_settings_listen. */
MK_AT_START static int note_listen(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct mk_site_settings *site = ctx->settings;

    (void)s;
    site->is_apart = true;
    return 0;
}

#define H(member) offsetof(struct mk_site_settings, member)

enum { SITE_ONLY = 5, PLACE_ONLY = 2, DAY_MS = 24 * 3600 * 1000 };

/* [HOST] and [LOCATION] overlap: what is in the middle both have. */
static const struct mk_field site_fields[] = {
    {.name = "ServerName", .type = MK_FIELD_WORDS, .offset = H(names), .flags = MK_FIELD_REPEAT},
    {.name = "DocumentRoot", .type = MK_FIELD_PATH, .offset = H(document_root)},
    {.name = "Listen", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = note_listen},
    {.name = "SlashRedirect",
     .type = MK_FIELD_BOOL,
     .offset = H(slash_redirect),
     .fallback = "off"},
    {.name = "LenientPaths", .type = MK_FIELD_BOOL, .offset = H(lenient_paths), .fallback = "on"},
    {.name = "Redirect", .type = MK_FIELD_CUSTOM, .parse = parse_redirect},
    {.name = "Header", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = parse_header},
    {.name = "CacheControl",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = parse_cache_control},
    {.name = "TryFiles", .type = MK_FIELD_CUSTOM, .parse = parse_try_files},
    {.name = "Precompressed", .type = MK_FIELD_BOOL, .offset = H(precompressed), .fallback = "off"},
    {.name = "Indexfile",
     .type = MK_FIELD_WORDS,
     .offset = H(index_files),
     .flags = MK_FIELD_REPEAT},
    {.name = "SymLink", .type = MK_FIELD_BOOL, .offset = H(symlink)},
    {.name = "MaxBodySize", .type = MK_FIELD_SIZE, .offset = H(max_body_size), .max = INT64_MAX},
    {.name = "HandlerTimeout",
     .type = MK_FIELD_TIME,
     .offset = H(handler_timeout_ms),
     .min = 100,
     .max = DAY_MS},
    {.name = "BodyTimeout",
     .type = MK_FIELD_TIME,
     .offset = H(body_timeout_ms),
     .min = 100,
     .max = DAY_MS},
    {.name = "MinRate", .type = MK_FIELD_SIZE, .offset = H(min_rate), .max = 1 << 30},
    {.name = "Answer", .type = MK_FIELD_CUSTOM, .parse = parse_match},
    {.name = "Handler", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = parse_match},
    {.name = "Path", .type = MK_FIELD_CUSTOM, .parse = parse_path},
    {.name = "Match", .type = MK_FIELD_STRING, .offset = H(match)},
};

#define SITE_SPEC(section, section_flags, first, count)                                            \
    {                                                                                              \
        .size = sizeof(struct mk_section_spec), .field_size = sizeof(struct mk_field),             \
        .name = (section), .fields = site_fields + (first), .nfields = (count),                    \
        .settings_size = sizeof(struct mk_site_settings), .flags = (section_flags)                 \
    }

const struct mk_section_spec mk_spec_host =
    SITE_SPEC("HOST", 0, 0, MK_ARRAY_LEN(site_fields) - PLACE_ONLY);
const struct mk_section_spec mk_spec_location =
    SITE_SPEC("LOCATION", MK_SECTION_REPEAT, SITE_ONLY, MK_ARRAY_LEN(site_fields) - SITE_ONLY);

MK_AT_START static int parse_error_page(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct mk_site_settings *site = ctx->settings;
    struct mk_error_page *page;
    uint64_t status;
    char *path;
    size_t len;

    if (mk_str_to_u64(s->key, 599, &status) < 0 || status < 400) {
        mk_fault_add(ctx->faults, &s->key_at,
                     "[ERROR_PAGES]: expected a status from 400 to 599, got \"%s\"", s->key.p);
        return MK_E_INVALID;
    }
    path = mk_arena_printf(ctx->arena, "/%s", s->value.p + (s->value.p[0] == '/'));
    if (!path)
        return MK_E_NOMEM;
    if (memmem(s->value.p, s->value.len, "://", 3) ||
        mk_uri_normalise(mk_str_from(path), path, &len) < 0)
        return mk_setup_refuse(ctx, s, "a file below the document root, such as /404.html");
    path[len] = '\0';
    page = MK_SETTINGS_APPEND(ctx, site, error_pages, nerror_pages);
    if (!page)
        return MK_E_NOMEM;
    *page = (struct mk_error_page){.status = (unsigned)status, .path = {path, len}, .setting = s};
    return 0;
}

static const struct mk_field error_page_fields[] = {
    {.name = "404",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT | MK_FIELD_ANY_KEY,
     .parse = parse_error_page},
};

const struct mk_section_spec mk_spec_error_pages =
    MK_SECTION("ERROR_PAGES", 0, struct mk_site_settings, error_page_fields);

static const struct mk_field handler_fields[] = {
    {.name = "Match", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = parse_match},
};

const struct mk_section_spec mk_spec_handlers =
    MK_SECTION("HANDLERS", 0, struct mk_site_settings, handler_fields);
