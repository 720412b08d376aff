/* SPDX-License-Identifier: Apache-2.0 */
#include "entry/settings.h"

#include "kit/backends/own.h"
#include "kit/gateway/answer.h"
#include "kit/intake/intake.h"
#include "kit/pure/number.h"
#include "kit/text/words.h"

#include <stdio.h>
#include <strings.h>
#include <sys/un.h>

enum {
    HOUR_MS = 3600 * 1000,
    MANY = 1000000,
};

struct server_section {
    const char *name, *path, *address; /* the last as written */
    struct mk_str host;                /* p NULL: not said */
    unsigned port;
    int64_t max_connections, max_requests, queue_length;
    int64_t queue_ms, connect_ms, read_ms, idle_ms, offline_ms;
};

struct param_list {
    struct param_list *next;
    struct gateway_variable param;
};

struct location_section {
    const char *name, *script_root, *spool_dir;
    struct mk_words servers;
    struct fcgi_match *matches, **last_match;
    struct mk_str mount;
    bool keep_alive, check_script;
    int buffering;
    int64_t max_answer_head;
    struct param_list *params, **last_param;
};

/* ---- values ---- */

static bool parse_port(struct mk_str text, unsigned *port)
{
    *port = text.len <= 5 ? number_of(text, 65535) : 0;
    return *port > 0;
}

/* "host:port" or "[address]:port". */
static bool split_address(struct mk_str text, struct mk_str *host, unsigned *port)
{
    const char *colon = memrchr(text.p, ':', text.len);
    bool bracketed;

    if (!colon)
        return false;
    *host = (struct mk_str){text.p, (size_t)(colon - text.p)};
    bracketed = host->len > 2 && host->p[0] == '[' && host->p[host->len - 1] == ']';
    if (bracketed)
        *host = (struct mk_str){host->p + 1, host->len - 2};
    if (host->len == 0 || (!bracketed && memchr(host->p, ':', host->len)) ||
        memchr(host->p, ' ', host->len) || memchr(host->p, '/', host->len))
        return false;
    return parse_port((struct mk_str){colon + 1, text.len - (size_t)(colon + 1 - text.p)}, port);
}

static int parse_address(struct mk_setup *setup, const struct mk_setting *s)
{
    struct server_section *section = mk_setup_settings(setup);
    struct mk_str host;

    if (!split_address(s->value, &host, &section->port))
        return mk_setup_refuse(setup, s,
                               "host:port, such as 127.0.0.1:9000 or [::1]:9000, with a port from "
                               "1 to 65535; the path "
                               "of a unix socket is written in ServerPath");
    section->host = mk_setup_copy(setup, host);
    section->address = mk_setup_copy(setup, s->value).p;
    return section->host.p && section->address ? 0 : MK_E_NOMEM;
}

/* A mount "/app/" is "/app", and "/" is the empty one. */
static int parse_mount(struct mk_setup *setup, const struct mk_setting *s)
{
    struct location_section *section = mk_setup_settings(setup);
    struct mk_str path = s->value;

    if (path.len == 0 || path.p[0] != '/' || memchr(path.p, '*', path.len))
        return mk_setup_refuse(setup, s, "a path such as /app, or /");
    while (path.len > 0 && path.p[path.len - 1] == '/')
        path.len--;
    section->mount = mk_setup_copy(setup, path);
    return section->mount.p ? 0 : MK_E_NOMEM;
}

static int parse_param(struct mk_setup *setup, const struct mk_setting *s)
{
    struct location_section *section = mk_setup_settings(setup);
    struct param_list *p = mk_setup_alloc(setup, sizeof(*p));
    struct mk_str all = s->value;
    size_t n = 0;

    if (!p)
        return MK_E_NOMEM;
    while (n < all.len && all.p[n] != ' ' && all.p[n] != '\t')
        n++;
    if (n == 0)
        return mk_setup_refuse(setup, s, "NAME VALUE");
    p->param.name = mk_setup_copy(setup, (struct mk_str){all.p, n});
    while (n < all.len && (all.p[n] == ' ' || all.p[n] == '\t'))
        n++;
    p->param.value = mk_setup_copy(setup, (struct mk_str){all.p + n, all.len - n});
    if (!section->last_param)
        section->last_param = &section->params;
    *section->last_param = p;
    section->last_param = &p->next;
    return p->param.name.p && p->param.value.p ? 0 : MK_E_NOMEM;
}

static int add_pattern(struct mk_setup *setup, const struct mk_setting *s, struct mk_str word)
{
    struct location_section *section = mk_setup_settings(setup);
    struct fcgi_match *m = mk_setup_alloc(setup, sizeof(*m));

    if (!m)
        return MK_E_NOMEM;
    m->pattern = mk_setup_copy(setup, word);
    m->at = s->value_at;
    if (m->at.column > 0)
        m->at.column += (unsigned)(word.p - s->value.p);
    if (!section->last_match)
        section->last_match = &section->matches;
    *section->last_match = m;
    section->last_match = &m->next;
    return m->pattern.p ? 0 : MK_E_NOMEM;
}

static int parse_match(struct mk_setup *setup, const struct mk_setting *s)
{
    const char *end = s->value.p + s->value.len;

    if (s->value.len == 0)
        return mk_setup_refuse(setup, s, "a regular expression");
    for (const char *p = s->value.p; p < end;) {
        size_t len = strcspn(p, " \t");

        if (len > 0 && add_pattern(setup, s, (struct mk_str){p, len}) < 0)
            return MK_E_NOMEM;
        p += len > 0 ? len : 1;
    }
    return 0;
}

/* ---- tables ---- */

#define SERVER(member) .offset = offsetof(struct server_section, member)
#define LOCATION(member) .offset = offsetof(struct location_section, member)

static const struct mk_field server_fields[] = {
    {.name = "ServerName", .type = MK_FIELD_STRING, SERVER(name)},
    {.name = "ServerAddr", .type = MK_FIELD_CUSTOM, .parse = parse_address},
    {.name = "ServerPath", .type = MK_FIELD_PATH, SERVER(path)},
    {.name = "MaxConnections",
     .type = MK_FIELD_INT,
     SERVER(max_connections),
     .min = 1,
     .max = MANY,
     .fallback = "16"},
    {.name = "MaxRequests",
     .type = MK_FIELD_INT,
     SERVER(max_requests),
     .max = MANY,
     .fallback = "0"},
    {.name = "QueueLength",
     .type = MK_FIELD_INT,
     SERVER(queue_length),
     .max = MANY,
     .fallback = "1024"},
    {.name = "QueueTimeout",
     .type = MK_FIELD_TIME,
     SERVER(queue_ms),
     .min = 1,
     .max = HOUR_MS,
     .fallback = "30"},
    {.name = "ConnectTimeout",
     .type = MK_FIELD_TIME,
     SERVER(connect_ms),
     .min = 1,
     .max = HOUR_MS,
     .fallback = "5"},
    {.name = "ReadTimeout",
     .type = MK_FIELD_TIME,
     SERVER(read_ms),
     .min = 1,
     .max = 24 * HOUR_MS,
     .fallback = "60"},
    {.name = "KeepAliveTimeout",
     .type = MK_FIELD_TIME,
     SERVER(idle_ms),
     .min = 1,
     .max = 24 * HOUR_MS,
     .fallback = "60"},
    {.name = "OfflineTimeOut",
     .type = MK_FIELD_TIME,
     SERVER(offline_ms),
     .max = HOUR_MS,
     .fallback = "10"},
};
static const struct mk_section_spec server_section = MK_SECTION(
    "FASTCGI_SERVER", MK_SECTION_FILE | MK_SECTION_REPEAT, struct server_section, server_fields);

static const struct mk_field location_fields[] = {
    {.name = "LocationName", .type = MK_FIELD_STRING, LOCATION(name)},
    {.name = "ServerNames", .type = MK_FIELD_WORDS, LOCATION(servers), .flags = MK_FIELD_REPEAT},
    {.name = "KeepAlive", .type = MK_FIELD_BOOL, LOCATION(keep_alive), .fallback = "off"},
    {.name = "Match", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = parse_match},
    {.name = "CheckScript", .type = MK_FIELD_BOOL, LOCATION(check_script), .fallback = "on"},
    {.name = "ScriptRoot", .type = MK_FIELD_STRING, LOCATION(script_root)},
    {.name = "Mount", .type = MK_FIELD_CUSTOM, .parse = parse_mount},
    {.name = "Param", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = parse_param},
    {.name = "RequestBuffering",
     .type = MK_FIELD_ENUM,
     .names = intake_modes,
     LOCATION(buffering),
     .fallback = "auto"},
    {.name = "SpoolDirectory", .type = MK_FIELD_PATH, LOCATION(spool_dir), .fallback = "/tmp"},
    {.name = "MaxAnswerHead",
     .type = MK_FIELD_SIZE,
     LOCATION(max_answer_head),
     .min = ANSWER_HEAD_LEAST,
     .max = ANSWER_HEAD_MOST,
     .fallback = ANSWER_HEAD_USUAL},
};
static const struct mk_section_spec location_section =
    MK_SECTION("FASTCGI_LOCATION", MK_SECTION_FILE | MK_SECTION_REPEAT, struct location_section,
               location_fields);

const struct mk_section_spec *const fastcgi_sections[] = {&server_section, &location_section, NULL};

/* ---- servers ---- */

static unsigned count_sections(struct mk_setup *setup, const struct mk_section_spec *spec)
{
    unsigned count = 0;

    for (void *s = NULL; (s = mk_setup_section(setup, spec, s));)
        count++;
    return count;
}

static struct fcgi_server *find_server(const struct fcgi_config *c, struct mk_str name)
{
    for (unsigned i = 0; i < c->nservers; i++) {
        if (text_is_word(name, mk_str_from(c->servers[i].name)))
            return &c->servers[i];
    }
    return NULL;
}

/* "unix:/path", as the pool wants it. */
static const char *unix_host(struct mk_setup *setup, const char *path)
{
    static const char before[] = "unix:";
    size_t len = strlen(path);
    char *host = mk_setup_alloc(setup, sizeof(before) + len);

    if (host) {
        memcpy(host, before, sizeof(before) - 1);
        memcpy(host + sizeof(before) - 1, path, len + 1);
    }
    return host;
}

static void judge_server(struct mk_setup *setup, const struct fcgi_config *c,
                         const struct server_section *s)
{
    const struct mk_origin *at = mk_setup_origin(setup, s);

    if (!s->name)
        mk_setup_fault(setup, at, "[FASTCGI_SERVER] needs ServerName");
    else if (find_server(c, mk_str_from(s->name)))
        mk_setup_fault(setup, mk_setup_place(setup, s, "ServerName"),
                       "ServerName: another server is called %s", s->name);
    if (!s->path == !s->host.p)
        mk_setup_fault(setup, at, "[FASTCGI_SERVER] needs either ServerAddr or ServerPath");
    if (s->path && strstr(s->path, "unix:"))
        mk_setup_fault(setup, mk_setup_place(setup, s, "ServerPath"),
                       "ServerPath: a path without unix:, such as /run/php/php-fpm.sock");
    if (s->path && strlen(s->path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
        mk_setup_fault(setup, mk_setup_place(setup, s, "ServerPath"),
                       "ServerPath: too long for the name of a socket");
}

static void warn_of_own(struct mk_setup *setup, const struct server_section *s,
                        const struct mk_upstream_options *options)
{
    const char *key = s->path ? "ServerPath" : "ServerAddr";
    const struct backend_address address = {s->path ? s->path : options->host, options->host,
                                            options->port};

    if (options->host)
        backend_warn_of_own(setup, mk_setup_place(setup, s, key), key, &address);
}

static int add_server(struct mk_setup *setup, struct fcgi_config *c, const struct server_section *s)
{
    struct fcgi_server *server = &c->servers[c->nservers];

    judge_server(setup, c, s);
    *server = (struct fcgi_server){
        .name = s->name ? s->name : "",
        .options =
            {
                .size = sizeof(struct mk_upstream_options),
                .host = s->path ? unix_host(setup, s->path) : s->host.p,
                .port = s->port,
                .max_connections = (unsigned)s->max_connections,
                .max_idle = (unsigned)s->max_connections,
                .max_waiting = (unsigned)s->queue_length,
                .connect_ms = (unsigned)s->connect_ms,
                .queue_ms = (unsigned)s->queue_ms,
                .idle_ms = (unsigned)s->idle_ms,
                .max_uses = (unsigned)s->max_requests,
            },
        .read_ms = s->read_ms,
        .offline_ms = s->offline_ms,
    };
    server->address = s->path ? server->options.host : s->address;
    c->nservers++;
    warn_of_own(setup, s, &server->options);
    return s->path && !server->options.host ? MK_E_NOMEM : 0;
}

/* ---- locations ---- */

static int choose_servers(struct mk_setup *setup, const struct fcgi_config *c,
                          struct fcgi_location *l, const struct mk_words *names,
                          const struct mk_origin *at)
{
    size_t most = names->count > c->nservers ? names->count : c->nservers;

    l->servers = mk_setup_alloc(setup, (most + 1) * sizeof(struct fcgi_server *));
    if (!l->servers)
        return MK_E_NOMEM;
    for (size_t i = 0; i < names->count; i++) {
        struct fcgi_server *server = find_server(c, names->items[i]);

        if (server)
            l->servers[l->nservers++] = server;
        else
            mk_setup_fault(setup, at, "ServerNames: there is no [FASTCGI_SERVER] %s",
                           names->items[i].p);
    }
    for (unsigned i = 0; names->count == 0 && i < c->nservers; i++)
        l->servers[l->nservers++] = &c->servers[i];
    if (l->nservers > FCGI_SERVERS_MAX)
        mk_setup_fault(setup, at, "ServerNames: more than %d servers", FCGI_SERVERS_MAX);
    return 0;
}

/* Those that were written, and the root that the application has. */
static int copy_params(struct mk_setup *setup, struct fcgi_location *l,
                       const struct param_list *list)
{
    struct gateway_variable *params;
    size_t count = 1;

    for (const struct param_list *p = list; p; p = p->next)
        count++;
    params = mk_setup_alloc(setup, count * sizeof(*params));
    if (!params)
        return MK_E_NOMEM;
    if (l->script_root)
        params[l->nparams++] =
            (struct gateway_variable){MK_STR("DOCUMENT_ROOT"), mk_str_from(l->script_root)};
    for (; list; list = list->next)
        params[l->nparams++] = list->param;
    l->params = params;
    return 0;
}

/* Without the slash at its end. */
static const char *trimmed(struct mk_setup *setup, const char *path)
{
    struct mk_str text = mk_str_from(path);

    while (text.len > 0 && text.p[text.len - 1] == '/')
        text.len--;
    return mk_setup_copy(setup, text).p;
}

static void judge_location(struct mk_setup *setup, const struct fcgi_config *c,
                           const struct fcgi_location *l, const struct location_section *s)
{
    if (c->nservers == 0)
        mk_setup_fault(setup, l->at, "[FASTCGI_LOCATION] needs a [FASTCGI_SERVER]");
    if (l->script_root && l->script_root[0] && l->script_root[0] != '/')
        mk_setup_fault(setup, mk_setup_place(setup, s, "ScriptRoot"),
                       "ScriptRoot: expected an absolute path, got \"%s\"", l->script_root);
    for (unsigned i = 0; l->name && i < c->nlocations; i++) {
        if (c->locations[i].name && strcasecmp(c->locations[i].name, l->name) == 0)
            mk_setup_fault(setup, mk_setup_place(setup, s, "LocationName"),
                           "LocationName: another location is called %s", l->name);
    }
}

static int add_location(struct mk_setup *setup, struct fcgi_config *c,
                        const struct location_section *s)
{
    struct fcgi_location *l = &c->locations[c->nlocations];

    *l = (struct fcgi_location){
        .name = s->name,
        .keep_alive = s->keep_alive,
        .check_script = s->check_script,
        .mount = s->mount.p,
        .buffering = s->buffering,
        .spool_dir = s->spool_dir,
        .max_answer_head = s->max_answer_head,
        .matches = s->matches,
        .at = mk_setup_origin(setup, s),
    };
    if (s->script_root && !(l->script_root = trimmed(setup, s->script_root)))
        return MK_E_NOMEM;
    judge_location(setup, c, l, s);
    c->nlocations++;
    if (choose_servers(setup, c, l, &s->servers, mk_setup_place(setup, s, "ServerNames")) < 0)
        return MK_E_NOMEM;
    return copy_params(setup, l, s->params);
}

/* ---- all of it ---- */

static bool is_used(const struct fcgi_config *c, const struct fcgi_server *server)
{
    for (unsigned i = 0; i < c->nlocations; i++) {
        for (unsigned j = 0; j < c->locations[i].nservers; j++) {
            if (c->locations[i].servers[j] == server)
                return true;
        }
    }
    return c->nlocations == 0;
}

static void warn_of_unused(struct mk_setup *setup, const struct fcgi_config *c)
{
    const struct fcgi_server *server = c->servers;

    for (struct server_section *s = NULL; (s = mk_setup_section(setup, &server_section, s));) {
        if (!is_used(c, server++))
            mk_setup_warn(setup, mk_setup_origin(setup, s),
                          "no [FASTCGI_LOCATION] has this server in its ServerNames");
    }
}

static int read_sections(struct mk_setup *setup, struct fcgi_config *c)
{
    for (struct server_section *s = NULL; (s = mk_setup_section(setup, &server_section, s));) {
        if (add_server(setup, c, s) < 0)
            return MK_E_NOMEM;
    }
    for (struct location_section *s = NULL; (s = mk_setup_section(setup, &location_section, s));) {
        if (add_location(setup, c, s) < 0)
            return MK_E_NOMEM;
    }
    warn_of_unused(setup, c);
    return 0;
}

int fastcgi_check(struct mk_setup *setup)
{
    const struct mk_words every = {.count = 0};
    struct fcgi_config *c = mk_setup_alloc(setup, sizeof(*c));
    size_t nservers = count_sections(setup, &server_section);
    size_t nlocations = count_sections(setup, &location_section);

    if (!c)
        return MK_E_NOMEM;
    c->servers = mk_setup_alloc(setup, (nservers + 1) * sizeof(c->servers[0]));
    c->locations = mk_setup_alloc(setup, (nlocations + 1) * sizeof(c->locations[0]));
    if (!c->servers || !c->locations || read_sections(setup, c) < 0)
        return MK_E_NOMEM;
    mk_setup_keep(setup, c);
    c->all = (struct fcgi_location){
        .check_script = true, .spool_dir = "/tmp", .max_answer_head = ANSWER_HEAD_DEFAULT};
    return nlocations == 0 ? choose_servers(setup, c, &c->all, &every, NULL) : 0;
}

struct fcgi_location *fastcgi_location_of(struct mk_setup *setup, struct mk_str name,
                                          const struct mk_origin *at)
{
    struct fcgi_config *c = mk_setup_config(setup);

    if (c->nservers == 0) {
        mk_setup_fault(setup, at, "fastcgi needs a [FASTCGI_SERVER] in plugins/fastcgi/");
        return NULL;
    }
    if (!name.p)
        return c->nlocations > 0 ? &c->locations[0] : &c->all;
    for (unsigned i = 0; i < c->nlocations; i++) {
        struct fcgi_location *l = &c->locations[i];

        if (l->name && text_is_word(name, mk_str_from(l->name)))
            return l;
    }
    mk_setup_fault(setup, at, "fastcgi: there is no [FASTCGI_LOCATION] %s", name.p);
    return NULL;
}
