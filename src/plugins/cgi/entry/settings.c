/* SPDX-License-Identifier: Apache-2.0 */
#include "entry/settings.h"

#include "entry/palm_path.h"

#include "kit/gateway/answer.h"
#include "kit/intake/intake.h"
#include "kit/text/words.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One line `Environment NAME VALUE`. */
struct variable {
    struct variable *next;
    struct gateway_variable item;
};

struct settings {
    struct cgi_route *routes, **last_route;
    struct variable *variables, **last_variable;
    const char *user, *spool_dir, *spawner;
    int64_t max_processes, queue_length, queue_ms, timeout_ms;
    int64_t max_memory, max_cpu_ms, max_files, max_user_processes, max_answer_head;
    bool no_new_privileges;
    int buffering;
};

/* ---- words of a line ---- */

/* "-" stands for none. */
static bool is_none(struct mk_str word)
{
    return !word.p || (word.len == 1 && *word.p == '-');
}

/* ---- routes ---- */

static const struct mk_origin *keep_origin(struct mk_setup *setup, const struct mk_origin *at)
{
    struct mk_origin *copy = mk_setup_alloc(setup, sizeof(*copy));

    if (copy)
        *copy = *at;
    return copy;
}

/* What is missing may still come, or be there for another user only. */
static void warn_of_program(struct mk_setup *setup, const struct mk_origin *at, const char *program)
{
    if (access(program, X_OK) < 0)
        mk_setup_warn(setup, at, "%s is not an executable program", program);
}

static int set_program(struct mk_setup *setup, struct cgi_route *route, const struct mk_setting *s,
                       struct mk_str program)
{
    if (*program.p != '/')
        return mk_setup_refuse(setup, s, "the absolute path of a program");
    route->interpreter = mk_setup_copy(setup, program).p;
    if (!route->interpreter)
        return MK_E_NOMEM;
    warn_of_program(setup, &s->value_at, route->interpreter);
    return 0;
}

/* INTERPRETER and MIMETYPE, both may be missing. */
static int set_words(struct mk_setup *setup, struct cgi_route *route, const struct mk_setting *s,
                     struct mk_str interpreter, struct mk_str type)
{
    int err = is_none(interpreter) ? 0 : set_program(setup, route, s, interpreter);

    if (err < 0 || is_none(type))
        return err;
    if (!memchr(type.p, '/', type.len))
        return mk_setup_refuse(setup, s, "a media type such as text/html after the interpreter");
    route->type = mk_setup_copy(setup, type);
    return route->type.p ? 0 : MK_E_NOMEM;
}

static struct cgi_route *add_route(struct mk_setup *setup, const struct mk_setting *s,
                                   struct mk_str pattern)
{
    struct settings *set = mk_setup_settings(setup);
    struct cgi_route *route = mk_setup_alloc(setup, sizeof(*route));

    if (!route)
        return NULL;
    route->pattern = mk_setup_copy(setup, pattern);
    route->at = keep_origin(setup, &s->value_at);
    if (!route->pattern.p || !route->at)
        return NULL;
    if (!set->last_route)
        set->last_route = &set->routes;
    *set->last_route = route;
    set->last_route = &route->next;
    return route;
}

static int parse_match(struct mk_setup *setup, const struct mk_setting *s)
{
    struct mk_str rest = s->value, pattern = text_next_word(&rest),
                  interpreter = text_next_word(&rest), type = text_next_word(&rest);
    struct cgi_route *route;

    if (!pattern.p || rest.len > 0)
        return mk_setup_refuse(setup, s, "REGEX [INTERPRETER [MIMETYPE]]");
    route = add_route(setup, s, pattern);
    return route ? set_words(setup, route, s, interpreter, type) : MK_E_NOMEM;
}

/* "^PREFIX(/|$)", with what means something in a pattern escaped. @return p NULL without memory. */
static struct mk_str pattern_of(struct mk_setup *setup, struct mk_str prefix)
{
    static const char end[] = "(/|$)";
    char *text = mk_setup_alloc(setup, prefix.len * 2 + sizeof(end) + 1), *at = text;

    if (!text)
        return (struct mk_str){NULL, 0};
    *at++ = '^';
    for (size_t i = 0; i < prefix.len; i++) {
        if (strchr(".[]{}()\\*+?|^$", prefix.p[i]))
            *at++ = '\\';
        *at++ = prefix.p[i];
    }
    memcpy(at, end, sizeof(end));
    return mk_str_from(text);
}

/* What ends in a slash is meant to be one, there or not. */
static bool is_folder(struct mk_setup *setup, struct mk_str path)
{
    struct mk_str copy = mk_setup_copy(setup, path);
    struct stat st;

    return copy.p && copy.p[0] == '/' &&
           (copy.p[copy.len - 1] == '/' || (stat(copy.p, &st) == 0 && S_ISDIR(st.st_mode)));
}

static int set_folder(struct mk_setup *setup, struct cgi_route *route, struct mk_str path)
{
    struct stat st;

    while (path.len > 1 && path.p[path.len - 1] == '/')
        path.len--;
    route->folder = mk_setup_copy(setup, path).p;
    if (!route->folder)
        return MK_E_NOMEM;
    if (stat(route->folder, &st) < 0 || !S_ISDIR(st.st_mode))
        mk_setup_warn(setup, route->at, "ScriptAlias: there is no folder %s", route->folder);
    return 0;
}

static int parse_alias(struct mk_setup *setup, const struct mk_setting *s)
{
    struct mk_str rest = s->value, prefix = text_next_word(&rest), program = text_next_word(&rest),
                  pattern;
    struct cgi_route *route;

    while (prefix.len > 0 && prefix.p[prefix.len - 1] == '/')
        prefix.len--;
    if (prefix.len == 0 || *prefix.p != '/' || !program.p || rest.len > 0)
        return mk_setup_refuse(setup, s,
                               "PATH and a program or a folder of programs, such as /git "
                               "/usr/lib/git-core/git-http-backend or /cgi-bin /usr/lib/cgi-bin");
    pattern = pattern_of(setup, prefix);
    route = pattern.p ? add_route(setup, s, pattern) : NULL;
    if (!route)
        return MK_E_NOMEM;
    route->prefix_len = prefix.len;
    return is_folder(setup, program) ? set_folder(setup, route, program)
                                     : set_program(setup, route, s, program);
}

/* ---- the environment ---- */

static bool is_variable(struct mk_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.p[i];

        if (!(c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
              (i > 0 && c >= '0' && c <= '9')))
            return false;
    }
    return name.len > 0;
}

static int add_variable(struct mk_setup *setup, struct settings *set, struct mk_str name,
                        struct mk_str value)
{
    struct variable *v = mk_setup_alloc(setup, sizeof(*v));

    if (!v)
        return MK_E_NOMEM;
    v->item.name = mk_setup_copy(setup, name);
    v->item.value = mk_setup_copy(setup, value);
    if (!v->item.name.p || !v->item.value.p)
        return MK_E_NOMEM;
    if (!set->last_variable)
        set->last_variable = &set->variables;
    *set->last_variable = v;
    set->last_variable = &v->next;
    return 0;
}

static int parse_environment(struct mk_setup *setup, const struct mk_setting *s)
{
    struct mk_str rest = s->value, name = text_next_word(&rest);

    if (!is_variable(name))
        return mk_setup_refuse(setup, s, "NAME VALUE");
    return add_variable(setup, mk_setup_settings(setup), name, rest.len > 0 ? rest : MK_STR(""));
}

/* ---- the table ---- */

enum { DAY_MS = 24 * 3600 * 1000 };

static const struct mk_field fields[] = {
    {.name = "Match", .type = MK_FIELD_CUSTOM, .parse = parse_match, .flags = MK_FIELD_REPEAT},
    {.name = "ScriptAlias",
     .type = MK_FIELD_CUSTOM,
     .parse = parse_alias,
     .flags = MK_FIELD_REPEAT},
    {.name = "Environment",
     .type = MK_FIELD_CUSTOM,
     .parse = parse_environment,
     .flags = MK_FIELD_REPEAT},
    {.name = "User", .type = MK_FIELD_STRING, .offset = offsetof(struct settings, user)},
    {.name = "MaxProcesses",
     .type = MK_FIELD_INT,
     .offset = offsetof(struct settings, max_processes),
     .min = 1,
     .max = 4096,
     .fallback = "32"},
    {.name = "QueueLength",
     .type = MK_FIELD_INT,
     .offset = offsetof(struct settings, queue_length),
     .max = 1 << 20,
     .fallback = "1024"},
    {.name = "QueueTimeout",
     .type = MK_FIELD_TIME,
     .offset = offsetof(struct settings, queue_ms),
     .min = 100,
     .max = DAY_MS,
     .fallback = "30"},
    {.name = "Timeout",
     .type = MK_FIELD_TIME,
     .offset = offsetof(struct settings, timeout_ms),
     .min = 100,
     .max = DAY_MS,
     .fallback = "60"},
    {.name = "MaxMemory",
     .type = MK_FIELD_SIZE,
     .offset = offsetof(struct settings, max_memory),
     .fallback = "0"},
    {.name = "MaxCPUTime",
     .type = MK_FIELD_TIME,
     .offset = offsetof(struct settings, max_cpu_ms),
     .max = DAY_MS,
     .fallback = "0"},
    {.name = "MaxFiles",
     .type = MK_FIELD_INT,
     .offset = offsetof(struct settings, max_files),
     .max = 1 << 20,
     .fallback = "1024"},
    {.name = "MaxUserProcesses",
     .type = MK_FIELD_INT,
     .offset = offsetof(struct settings, max_user_processes),
     .max = 1 << 22,
     .fallback = "0"},
    {.name = "NoNewPrivileges",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct settings, no_new_privileges),
     .fallback = "on"},
    {.name = "RequestBuffering",
     .type = MK_FIELD_ENUM,
     .names = intake_modes,
     .offset = offsetof(struct settings, buffering),
     .fallback = "auto"},
    {.name = "SpoolDirectory",
     .type = MK_FIELD_PATH,
     .offset = offsetof(struct settings, spool_dir),
     .fallback = "/tmp"},
    {.name = "MaxAnswerHead",
     .type = MK_FIELD_SIZE,
     .offset = offsetof(struct settings, max_answer_head),
     .min = ANSWER_HEAD_LEAST,
     .max = ANSWER_HEAD_MOST,
     .fallback = ANSWER_HEAD_USUAL},
    {.name = "Spawner", .type = MK_FIELD_PATH, .offset = offsetof(struct settings, spawner)},
};

static const struct mk_section_spec section = MK_SECTION(
    "CGI", MK_SECTION_FILE | MK_SECTION_SITE | MK_SECTION_INHERIT, struct settings, fields);
const struct mk_section_spec *const cgi_sections[] = {&section, NULL};

/* ---- checks ---- */

struct draft {
    struct cgi_config config; /* the first member: ctx->config */
    const struct settings *file;
    bool has_warned_of_equals;
};

/* A number needs no account. Who is missing may still come, and is of use to root only. */
static void warn_of_user(struct mk_setup *setup, const struct settings *set)
{
    char texts[4096];
    struct passwd entry, *found = NULL;

    if (set->user[strspn(set->user, "0123456789")] != '\0' &&
        getpwnam_r(set->user, &entry, texts, sizeof(texts), &found) == 0 && !found)
        mk_setup_warn(setup, mk_setup_place(setup, set, "User"), "User: there is no account \"%s\"",
                      set->user);
}

/*
 * Whom a server becomes that root starts, and what its scripts are then: its equals, who may end it. Nobody but root can give
 * scripts another user.
 */
static bool warn_of_equals(struct mk_setup *setup, const struct settings *set)
{
    const char *server = mk_setup_user(setup);

    if (geteuid() != 0) {
        mk_setup_warn(setup, mk_setup_origin(setup, set),
                      "scripts run as the user of the server itself: they can end it and change "
                      "what it may; start it as root, with User in [CGI], for another one");
        return true;
    }
    if (!server)
        server = "nobody";
    if (set->user && strcmp(set->user, server) != 0)
        return false;
    mk_setup_warn(setup, mk_setup_origin(setup, set),
                  "scripts run as %s, the user of the server itself: they can end it and change "
                  "what it may; name "
                  "another one with User in [CGI]",
                  server);
    return true;
}

int cgi_check(struct mk_setup *setup)
{
    struct draft *draft = mk_setup_alloc(setup, sizeof(*draft));

    if (!draft)
        return MK_E_NOMEM;
    draft->file = mk_setup_section(setup, &section, NULL);
    if (draft->file && draft->file->user)
        warn_of_user(setup, draft->file);
    mk_setup_keep(setup, &draft->config);
    return 0;
}

/* What a site's section does not say is the file's, lines and all: those are not added twice. */
static bool is_of_file(const struct settings *file, const struct cgi_route *route)
{
    const struct cgi_route *r = file ? file->routes : NULL;

    while (r && (r->at->line != route->at->line || strcmp(r->at->file, route->at->file) != 0))
        r = r->next;
    return r;
}

static int add_routes(struct mk_setup *setup, struct cgi_route *routes,
                      const struct settings *but_of, bool global)
{
    struct cgi_config *config = mk_setup_config(setup);

    for (struct cgi_route *route = routes; route; route = route->next) {
        int err = 0;

        if (!but_of || !is_of_file(but_of, route))
            err = mk_setup_route(setup, route->pattern, route, route->at, global);
        if (err == MK_E_NOMEM)
            return err;
        config->has_routes = true;
    }
    return 0;
}

static size_t count_variables(const struct settings *set)
{
    size_t count = 0;

    for (const struct variable *v = set->variables; v; v = v->next)
        count++;
    return count;
}

/* Scripts get nothing of our own environment but where programs are. */
static struct mk_str search_path(const struct settings *set)
{
    const char *path = getenv("PATH");

    for (const struct variable *v = set->variables; v; v = v->next) {
        if (v->item.name.len == 4 && memcmp(v->item.name.p, "PATH", 4) == 0)
            return (struct mk_str){NULL, 0};
    }
    return path && *path ? mk_str_from(path) : MK_STR("/usr/local/bin:/usr/bin:/bin");
}

static int set_variables(struct mk_setup *setup, struct cgi_site *site, const struct settings *set)
{
    struct mk_str path = mk_setup_copy(setup, search_path(set));
    struct gateway_variable *items =
        mk_setup_alloc(setup, (count_variables(set) + 1) * sizeof(struct gateway_variable));

    if (!items)
        return MK_E_NOMEM;
    site->variables = items;
    if (path.len > 0)
        items[site->nvariables++] = (struct gateway_variable){MK_STR("PATH"), path};
    for (const struct variable *v = set->variables; v; v = v->next)
        items[site->nvariables++] = v->item;
    return 0;
}

static const char *join(struct mk_setup *setup, const char *a, char between, const char *b)
{
    size_t len = strlen(a) + strlen(b) + 2;
    char *text = mk_setup_alloc(setup, len);

    if (text)
        (void)snprintf(text, len, "%s%c%s", a, between, b);
    return text;
}

static int name_spawner(struct mk_setup *setup, struct cgi_site *site, const struct settings *set)
{
    char found[PALM_PATH_MAX];
    const char *program = set->spawner ? set->spawner : cgi_palm_path(found);

    if (!program)
        mk_setup_fault(setup, NULL,
                       "CGI: the program monkey-palm, which starts scripts, is not in the folder "
                       "of plugins; set Spawner to its path");
    site->spawner_name = join(setup, set->user ? set->user : "", ':', program ? program : "");
    if (!site->spawner_name)
        return MK_E_NOMEM;
    return program ? mk_setup_needs(setup, MK_RESOURCE_HELPER, site->spawner_name) : 0;
}

/* A site with bounds of its own has places of its own. */
static int name_pool(struct mk_setup *setup, struct cgi_site *site, const struct settings *set,
                     const struct settings *file)
{
    const struct mk_words *names = mk_setup_site_names(setup);

    site->pool_name = "";
    if (!file ||
        (set->max_processes == file->max_processes && set->queue_length == file->queue_length))
        return 0;
    site->pool_name = join(setup, "site", ' ', names->count > 0 ? names->items[0].p : "");
    return site->pool_name ? 0 : MK_E_NOMEM;
}

static void copy_numbers(struct cgi_site *site, const struct settings *set)
{
    site->timeout_ms = (unsigned)set->timeout_ms;
    site->queue_ms = (unsigned)set->queue_ms;
    site->max_processes = (unsigned)set->max_processes;
    site->queue_length = (unsigned)set->queue_length;
    site->limits[PALM_MEMORY] = (uint64_t)set->max_memory;
    site->limits[PALM_CPU_S] = ((uint64_t)set->max_cpu_ms + 999) / 1000;
    site->limits[PALM_FILES] = (uint64_t)set->max_files;
    site->limits[PALM_PROCESSES] = (uint64_t)set->max_user_processes;
    site->new_privileges = !set->no_new_privileges;
    site->buffering = set->buffering;
    site->spool_dir = set->spool_dir;
    site->max_answer_head = set->max_answer_head;
}

int cgi_check_site(struct mk_setup *setup)
{
    const struct settings *set = mk_setup_section(setup, &section, NULL);
    struct draft *draft = mk_setup_config(setup);
    struct cgi_site *site = mk_setup_alloc(setup, sizeof(*site));

    if (!site)
        return MK_E_NOMEM;
    mk_setup_keep(setup, site);
    if (!set)
        return 0;
    if (set->user &&
        (!draft->file || !draft->file->user || strcmp(set->user, draft->file->user) != 0))
        warn_of_user(setup, set);
    copy_numbers(site, set);
    site->next = draft->config.sites;
    draft->config.sites = site;
    if (set_variables(setup, site, set) < 0 || name_spawner(setup, site, set) < 0 ||
        name_pool(setup, site, set, draft->file) < 0 ||
        add_routes(setup, set->routes, draft->file, false) < 0)
        return MK_E_NOMEM;
    if (draft->file && add_routes(setup, draft->file->routes, NULL, true) < 0)
        return MK_E_NOMEM;
    if (draft->config.has_routes && !draft->has_warned_of_equals)
        draft->has_warned_of_equals = warn_of_equals(setup, set);
    return 0;
}

/* `Match REGEX cgi [INTERPRETER [MIMETYPE]]` of [HANDLERS]. */
int cgi_check_match(struct mk_setup *setup, const struct mk_setting *line,
                    const struct mk_words *parameters, void **data)
{
    struct mk_str none = {NULL, 0};
    struct cgi_route *route = mk_setup_alloc(setup, sizeof(*route));
    int err;

    if (!route)
        return MK_E_NOMEM;
    *data = route;
    ((struct cgi_config *)mk_setup_config(setup))->has_routes = true;
    if (parameters->count > 2)
        return mk_setup_refuse(setup, line, "REGEX cgi [INTERPRETER [MIMETYPE]]");
    err = set_words(setup, route, line, parameters->count > 0 ? parameters->items[0] : none,
                    parameters->count > 1 ? parameters->items[1] : none);
    return err == MK_E_NOMEM ? err : 0;
}
