/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/settings_int.h"

#include "base/code.h"
#include "base/invariant.h"
#include "base/limits.h"
#include "base/str.h"
#include "http/mime.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>

enum { KB = 1024, MB = 1024 * KB, SECOND = 1000, DAY = 24 * 3600 * SECOND };

/* Any other word is the name of a transport, which is looked up when the plugins are known. */
static int parse_listen_flag(struct mk_setup *ctx, const struct mk_setting *s, struct mk_str flag,
                             struct mk_listen *l)
{
    if (mk_str_ieq(flag, MK_STR("proxy"))) {
        l->proxy = true;
        return 0;
    }
    if (mk_str_ieq(flag, MK_STR("h2"))) {
        l->protocol = "h2";
        return 0;
    }
    if (mk_str_ieq(flag, MK_STR("!http"))) {
        l->has_no_http = true;
        return 0;
    }
    if (mk_str_ieq(flag, MK_STR("!h2"))) {
        l->has_no_h2 = true;
        return 0;
    }
    if (l->transport) {
        mk_fault_add(ctx->faults, &s->value_at,
                     "Listen: an address has one transport, not \"%s\" and \"%.*s\"", l->transport,
                     (int)flag.len, flag.p);
        return MK_E_INVALID;
    }
    l->transport = mk_arena_strdup(ctx->arena, flag);
    return l->transport ? 0 : MK_E_NOMEM;
}

static int parse_listen_address(struct mk_setup *ctx, const struct mk_setting *s,
                                struct mk_listen *l)
{
    struct mk_str text = mk_str_from(l->text);
    char with_port[MK_ADDR_TEXT];
    uint8_t ip[16];
    int len;

    if (mk_addr_parse(text, &l->addr) == 0)
        return 0;
    len = snprintf(with_port, sizeof(with_port),
                   memchr(text.p, ':', text.len) && text.p[0] != '[' ? "[%s]:0" : "%s:0", l->text);
    l->needs_port =
        (mk_ip_parse(text, ip) == 0 || (text.p[0] == '[' && text.p[text.len - 1] == ']')) &&
        len < (int)sizeof(with_port) &&
        mk_addr_parse((struct mk_str){with_port, (size_t)len}, &l->addr) == 0;
    return l->needs_port ? 0
                         : mk_setup_refuse(
                               ctx, s, "a port from 1 to 65535, ip:port, [v6]:port or unix:/path");
}

MK_AT_START static int parse_listen(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct mk_server_settings *set = ctx->settings;
    struct mk_str rest = s->value, word;
    struct mk_listen *l;

    if (set->nlistens >= MK_LIMIT_LISTENERS)
        return mk_setup_refuse(ctx, s, "at most 64 Listen lines");
    if (!mk_str_next_word(&rest, &word))
        return mk_setup_refuse(ctx, s, "a port from 1 to 65535, ip:port, [v6]:port or unix:/path");
    l = MK_SETTINGS_APPEND(ctx, set, listens, nlistens);
    if (!l)
        return MK_E_NOMEM;
    l->setting = s;
    l->text = mk_arena_strdup(ctx->arena, word);
    if (!l->text)
        return MK_E_NOMEM;
    while (mk_str_next_word(&rest, &word)) {
        int err = parse_listen_flag(ctx, s, word, l);

        if (err < 0)
            return err;
    }
    if (l->has_no_h2 && (l->protocol || l->has_no_http)) {
        mk_fault_add(ctx->faults, &s->value_at, "Listen: \"!h2\" contradicts \"%s\"",
                     l->protocol ? l->protocol : "!http");
        return MK_E_INVALID;
    }
    return parse_listen_address(ctx, s, l);
}

/* @return a set of bits, or -1: one is no component. */
static int read_components(struct mk_str rest)
{
    int set = 0;

    while (rest.len > 0) {
        const char *comma = memchr(rest.p, ',', rest.len);
        size_t len = comma ? (size_t)(comma - rest.p) : rest.len;
        int component =
            mk_settings_index(mk_log_component_names, mk_str_trim((struct mk_str){rest.p, len}));

        if (component < 0)
            return -1;
        set |= 1 << component;
        rest = mk_str_skip(rest, len + 1);
    }
    return set;
}

MK_AT_START int mk_log_choice_read(struct mk_str text, struct mk_log_choice *choice)
{
    const char *colon = memchr(text.p, ':', text.len);
    size_t level_len = colon ? (size_t)(colon - text.p) : text.len;
    int level = mk_settings_index(mk_log_level_names, (struct mk_str){text.p, level_len}), set;

    if (level < 0)
        return MK_E_BAD;
    if (!colon) {
        *choice = (struct mk_log_choice){.level = level};
        return 0;
    }
    set = read_components(mk_str_skip(text, level_len + 1));
    if (set < 0)
        return MK_E_INVALID;
    choice->traced_level = level;
    choice->traced |= (unsigned)set;
    return 0;
}

MK_AT_START static int parse_log_level(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct mk_server_settings *set = ctx->settings;

    switch (mk_log_choice_read(s->value, &set->log)) {
    case 0:
        return 0;
    case MK_E_BAD:
        return mk_setup_refuse(ctx, s,
                               "error, warn, info, debug or trace, then perhaps :component,...");
    default:
        return mk_setup_refuse(ctx, s,
                               "components of server conf listen worker conn http file plugin");
    }
}

MK_AT_START static int parse_trusted(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct mk_server_settings *set = ctx->settings;
    struct mk_str rest = s->value, word;

    while (mk_str_next_word(&rest, &word)) {
        struct mk_net *net = MK_SETTINGS_APPEND(ctx, set, trusted, ntrusted);

        if (!net)
            return MK_E_NOMEM;
        if (mk_net_parse(word, net) < 0)
            return mk_setup_refuse(ctx, s, "networks such as 10.0.0.0/8 or 2001:db8::/32");
    }
    return 0;
}

MK_AT_START static int parse_transport(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct mk_server_settings *set = ctx->settings;

    set->transport_at = s->value_at;
    set->transport = mk_setup_copy(ctx, s->value).p;
    return set->transport ? 0 : MK_E_NOMEM;
}

MK_AT_START static int parse_mime_value(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct mk_server_settings *set = ctx->settings;

    if (!mk_mime_is_valid(s->value))
        return mk_setup_refuse(ctx, s, "a media type such as text/plain");
    set->default_type = mk_setup_copy(ctx, s->value).p;
    return set->default_type ? 0 : MK_E_NOMEM;
}

static const char *const scheduler_names[] = {"Fair", "ReusePort", NULL};
static const char *const restart_names[] = {"auto", "on",   "off",   "yes",
                                            "no",   "true", "false", NULL};
static const char *const over_capacity_names[] = {"Resist", "Drop", "TooBusy", NULL};

static const char *const log_names[] = {"stderr", "syslog", NULL}; /* that are no files */

#define S(member) offsetof(struct mk_server_settings, member)

static const struct mk_field server_fields[] = {
    {.name = "Listen", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = parse_listen},
    {.name = "Port", .type = MK_FIELD_INT, .offset = S(port), .min = 1, .max = 65535},
    {.name = "Workers",
     .type = MK_FIELD_INT,
     .offset = S(workers),
     .flags = MK_FIELD_RESTART,
     .max = MK_LIMIT_WORKERS,
     .fallback = "0"},
    {.name = "CPUAffinity",
     .type = MK_FIELD_WORDS,
     .offset = S(cpu_affinity),
     .flags = MK_FIELD_RESTART},
    {.name = "Scheduler",
     .type = MK_FIELD_ENUM,
     .offset = S(scheduler),
     .flags = MK_FIELD_RESTART,
     .names = scheduler_names,
     .fallback = "ReusePort"},
    {.name = "SharedSockets",
     .type = MK_FIELD_BOOL,
     .offset = S(shared_sockets),
     .flags = MK_FIELD_RESTART,
     .fallback = "off"},
    {.name = "ErrorLog",
     .type = MK_FIELD_PATH,
     .offset = S(error_log),
     .names = log_names,
     .fallback = "stderr"},
    {.name = "LogLevel",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = parse_log_level,
     .fallback = "info"},
    {.name = "Timeout",
     .type = MK_FIELD_TIME,
     .offset = S(timeout_ms),
     .min = 100,
     .max = DAY,
     .fallback = "15"},
    {.name = "BodyTimeout",
     .type = MK_FIELD_TIME,
     .offset = S(body_timeout_ms),
     .min = 100,
     .max = DAY,
     .fallback = "30"},
    {.name = "WriteTimeout",
     .type = MK_FIELD_TIME,
     .offset = S(write_timeout_ms),
     .min = 100,
     .max = DAY,
     .fallback = "30"},
    {.name = "MinRate",
     .type = MK_FIELD_SIZE,
     .offset = S(min_rate),
     .max = 1024 * MB,
     .fallback = "500"},
    {.name = "MinReadRate",
     .type = MK_FIELD_SIZE,
     .offset = S(min_read_rate),
     .max = 1024 * MB,
     .fallback = "150"},
    {.name = "HandlerTimeout",
     .type = MK_FIELD_TIME,
     .offset = S(handler_timeout_ms),
     .min = 100,
     .max = DAY,
     .fallback = "60"},
    {.name = "HandlerThreads",
     .type = MK_FIELD_INT,
     .offset = S(handler_threads),
     .flags = MK_FIELD_RESTART,
     .min = 1,
     .max = MK_LIMIT_HANDLER_THREADS,
     .fallback = "8"},
    {.name = "HandlerQueue",
     .type = MK_FIELD_INT,
     .offset = S(handler_queue),
     .max = 10000000,
     .fallback = "0"},
    {.name = "KeepAlive", .type = MK_FIELD_BOOL, .offset = S(keepalive), .fallback = "on"},
    {.name = "KeepAliveTimeout",
     .type = MK_FIELD_TIME,
     .offset = S(keepalive_timeout_ms),
     .min = 100,
     .max = DAY,
     .fallback = "5"},
    {.name = "MaxKeepAliveRequest",
     .type = MK_FIELD_INT,
     .offset = S(max_keepalive_requests),
     .min = 1,
     .max = INT32_MAX,
     .fallback = "1000",
     .alias = "MaxKeepAliveRequests"},
    {.name = "MaxRequestSize",
     .type = MK_FIELD_SIZE,
     .offset = S(max_request_size),
     .min = KB,
     .max = MB,
     .flags = MK_FIELD_KB,
     .fallback = "32"},
    {.name = "MaxBodySize",
     .type = MK_FIELD_SIZE,
     .offset = S(max_body_size),
     .max = INT64_MAX,
     .fallback = "8M"},
    {.name = "MaxHeaders",
     .type = MK_FIELD_INT,
     .offset = S(max_headers),
     .min = 1,
     .max = 10000,
     .fallback = "100"},
    {.name = "MaxConnections",
     .type = MK_FIELD_INT,
     .offset = S(max_connections),
     .max = 10000000,
     .fallback = "0"},
    {.name = "MaxConnectionsPerIP",
     .type = MK_FIELD_INT,
     .offset = S(max_connections_per_ip),
     .max = 1000000,
     .fallback = "0"},
    {.name = "MaxMemory",
     .type = MK_FIELD_SIZE,
     .offset = S(max_memory),
     .max = INT64_MAX,
     .fallback = "0"},
    {.name = "TrustedProxies",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = parse_trusted},
    {.name = "TrustedUsers",
     .type = MK_FIELD_WORDS,
     .flags = MK_FIELD_REPEAT,
     .offset = S(trusted_users)},
    {.name = "OverCapacity",
     .type = MK_FIELD_ENUM,
     .offset = S(over_capacity),
     .names = over_capacity_names,
     .fallback = "Resist"},
    {.name = "FDLimit",
     .type = MK_FIELD_INT,
     .offset = S(fd_limit),
     .max = 10000000,
     .flags = MK_FIELD_RESTART,
     .fallback = "0"},
    {.name = "PidFile", .type = MK_FIELD_PATH, .offset = S(pid_file), .flags = MK_FIELD_RESTART},
    {.name = "User", .type = MK_FIELD_STRING, .offset = S(user), .flags = MK_FIELD_RESTART},
    {.name = "CoreDumps",
     .type = MK_FIELD_BOOL,
     .offset = S(core_dumps),
     .flags = MK_FIELD_RESTART,
     .fallback = "off"},
    {.name = "Restart",
     .type = MK_FIELD_ENUM,
     .offset = S(restart),
     .names = restart_names,
     .flags = MK_FIELD_RESTART,
     .fallback = "auto"},
    {.name = "UserDir", .type = MK_FIELD_STRING, .offset = S(user_dir)},
    {.name = "Indexfile",
     .type = MK_FIELD_WORDS,
     .offset = S(index_files),
     .flags = MK_FIELD_REPEAT,
     .fallback = "index.html"},
    {.name = "HideVersion", .type = MK_FIELD_BOOL, .offset = S(hide_version), .fallback = "off"},
    {.name = "Resume", .type = MK_FIELD_BOOL, .offset = S(resume), .fallback = "on"},
    {.name = "SymLink", .type = MK_FIELD_BOOL, .offset = S(symlink), .fallback = "off"},
    {.name = "DefaultMimeType",
     .type = MK_FIELD_CUSTOM,
     .parse = parse_mime_value,
     .fallback = "application/octet-stream"},
    {.name = "DefaultCharset",
     .type = MK_FIELD_STRING,
     .offset = S(default_charset),
     .fallback = "utf-8"},
    {.name = "FDT", .type = MK_FIELD_BOOL, .offset = S(fdt), .fallback = "on"},
    {.name = "FileCache",
     .type = MK_FIELD_SIZE,
     .offset = S(file_cache),
     .max = 1024 * MB,
     .fallback = "256K"},
    {.name = "TransportLayer",
     .type = MK_FIELD_CUSTOM,
     .parse = parse_transport,
     .fallback = "liana"},
    {.name = "TCPFastOpen", .type = MK_FIELD_BOOL, .offset = S(fast_open), .fallback = "on"},
    {.name = "GracefulTimeout",
     .type = MK_FIELD_TIME,
     .offset = S(graceful_ms),
     .max = DAY,
     .fallback = "30"},
};

const struct mk_section_spec mk_spec_server =
    MK_SECTION("SERVER", 0, struct mk_server_settings, server_fields);

int mk_server_settings_listen(struct mk_server_settings *s, const struct mk_tree *tree,
                              unsigned site, struct mk_setup *ctx)
{
    const struct mk_str host = MK_STR("HOST"), listen = MK_STR("Listen");
    int err = 0;

    ctx->settings = s;
    for (const struct mk_section *each = mk_section_find(tree->first, host); each && err == 0;
         each = mk_section_find(each->next, host)) {
        for (const struct mk_setting *at = each->first; at && err != MK_E_NOMEM; at = at->next) {
            const size_t before = s->nlistens;

            if (mk_str_ieq(at->key, listen))
                err = parse_listen(ctx, at);
            if (s->nlistens > before)
                s->listens[before].site = site + 1;
        }
    }
    return err == MK_E_NOMEM ? err : 0;
}

static int add_default_listen(struct mk_server_settings *s, struct mk_setup *ctx)
{
    struct mk_listen *l = MK_SETTINGS_APPEND(ctx, s, listens, nlistens);

    if (!l)
        return MK_E_NOMEM;
    l->text = mk_arena_printf(ctx->arena, "%u", s->port ? (unsigned)s->port : 2001U);
    return l->text ? mk_addr_parse(mk_str_from(l->text), &l->addr) : MK_E_NOMEM;
}

static int add_port(struct mk_server_settings *s, struct mk_listen *l, struct mk_setup *ctx)
{
    char text[MK_ADDR_TEXT];

    if (s->port == 0) {
        mk_fault_add(ctx->faults, &l->setting->value_at,
                     "Listen: \"%s\" has no port, and no Port line gives it one", l->text);
        return 0;
    }
    mk_addr_set_port(&l->addr, (unsigned)s->port);
    l->text = mk_arena_strdup(ctx->arena, (struct mk_str){text, mk_addr_format(&l->addr, text)});
    return l->text ? 0 : MK_E_NOMEM;
}

static void check_repeated_listen(const struct mk_server_settings *s, struct mk_setup *ctx)
{
    for (size_t i = 0; i < s->nlistens; i++) {
        for (size_t j = 0; j < i; j++) {
            if (mk_addr_port(&s->listens[i].addr) != 0 &&
                mk_addr_eq(&s->listens[i].addr, &s->listens[j].addr))
                mk_fault_add(
                    ctx->faults, s->listens[i].setting ? &s->listens[i].setting->value_at : NULL,
                    "Listen: %s appears twice%s", s->listens[i].text,
                    s->listens[i].site ? ", and a site with an address of its own has it alone"
                                       : "");
        }
    }
}

static void check_affinity(const struct mk_server_settings *s, const struct mk_tree *tree,
                           struct mk_setup *ctx)
{
    for (size_t i = 0; i < s->cpu_affinity.count; i++) {
        struct mk_str word = s->cpu_affinity.items[i];
        uint64_t cpu;

        if (mk_str_to_u64(word, 1023, &cpu) < 0)
            mk_fault_add(ctx->faults, mk_tree_place(tree, "SERVER", "CPUAffinity"),
                         "CPUAffinity: expected CPU numbers, one a worker, got \"%.*s\"",
                         (int)word.len, word.p);
    }
}

/* Never out of the home: no empty segments, "." or "..". A slash may end it. */
static bool is_folder_within(struct mk_str path)
{
    bool is_within = path.len > 0 && !memchr(path.p, '\0', path.len);

    while (is_within && path.len > 0) {
        const char *slash = memchr(path.p, '/', path.len);
        struct mk_str name = {path.p, slash ? (size_t)(slash - path.p) : path.len};

        is_within = name.len > 0 && !mk_str_eq(name, MK_STR(".")) && !mk_str_eq(name, MK_STR(".."));
        path = mk_str_skip(path, slash ? name.len + 1 : name.len);
    }
    return is_within;
}

static void check_user_dir(const struct mk_server_settings *s, const struct mk_tree *tree,
                           struct mk_setup *ctx)
{
    if (s->user_dir && !is_folder_within(mk_str_from(s->user_dir)))
        mk_fault_add(ctx->faults, mk_tree_place(tree, "SERVER", "UserDir"),
                     "UserDir: \"%s\" is not a folder within a home, such as public_html",
                     s->user_dir);
}

/* It could not be opened at the start. What may not be searched may still be opened by the surrounding program. */
static void check_log_folder(const struct mk_server_settings *s, const struct mk_tree *tree,
                             struct mk_setup *ctx)
{
    const char *slash = strrchr(s->error_log, '/');
    size_t len = slash ? (size_t)(slash - s->error_log) : 0;
    const char *folder;
    struct stat st;

    if (len == 0 || !mk_tree_find(tree, "SERVER", "ErrorLog"))
        return;
    folder = mk_arena_strdup(ctx->faults->arena, (struct mk_str){s->error_log, len});
    if (folder && stat(folder, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
        mk_fault_add(ctx->faults, mk_tree_place(tree, "SERVER", "ErrorLog"),
                     "ErrorLog: there is no folder %s%s", folder,
                     mk_value_hint(mk_str_from(s->error_log)));
}

static int find_user(const char *name, uid_t *uid)
{
    char buffer[4096];
    struct passwd account, *found = NULL;
    uint64_t number;

    if (getpwnam_r(name, &account, buffer, sizeof(buffer), &found) == 0 && found)
        *uid = found->pw_uid;
    else if (mk_str_to_u64(mk_str_from(name), UINT32_MAX - 1, &number) == 0)
        *uid = (uid_t)number;
    else
        return MK_E_NOENT;
    return 0;
}

static int find_trusted_users(struct mk_server_settings *s, const struct mk_tree *tree,
                              struct mk_setup *ctx)
{
    size_t count = s->trusted_users.count;

    s->trusted_uids = mk_arena_zalloc(ctx->arena, (count + 1) * sizeof(*s->trusted_uids));
    if (!s->trusted_uids)
        return MK_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const char *name = s->trusted_users.items[i].p;

        if (find_user(name, &s->trusted_uids[i]) < 0)
            mk_fault_add(ctx->faults, mk_tree_place(tree, "SERVER", "TrustedUsers"),
                         "TrustedUsers: there is no account \"%s\"", name);
    }
    return 0;
}

bool mk_listen_is_for_some(const struct mk_listen *listen)
{
    return listen->proxy && listen->addr.sa.sa_family == AF_UNIX;
}

void mk_listen_socket_name(const char *text, char name[MK_LISTEN_SOCKET])
{
    (void)snprintf(name, MK_LISTEN_SOCKET, ".:%s", text);
}

/* Lines of the server stand before those of sites. */
static int settle_common(struct mk_server_settings *s, bool common, struct mk_setup *ctx)
{
    const struct mk_listen *first = s->nlistens > 0 ? s->listens : NULL;
    const bool is_there = first && first->site == 0;

    if (is_there && !common)
        mk_fault_add(ctx->faults, first->setting ? &first->setting->value_at : NULL,
                     "Listen: no site answers at %s, since each has Listen lines of its own: keep "
                     "it in [SERVER] or in [HOST]",
                     first->text);
    return common && !is_there ? add_default_listen(s, ctx) : 0;
}

int mk_server_settings_finish(struct mk_server_settings *s, const struct mk_tree *tree, bool common,
                              struct mk_setup *ctx)
{
    int err = settle_common(s, common, ctx);

    if (err < 0)
        return err;
    for (size_t i = 0; i < s->nlistens; i++) {
        if (s->listens[i].needs_port && add_port(s, &s->listens[i], ctx) < 0)
            return MK_E_NOMEM;
        if (s->listens[i].proxy && s->ntrusted == 0 && s->listens[i].addr.sa.sa_family != AF_UNIX)
            mk_fault_add(
                ctx->faults, &s->listens[i].setting->value_at,
                "Listen: \"proxy\" needs TrustedProxies, or every connection would be refused");
    }
    check_repeated_listen(s, ctx);
    check_affinity(s, tree, ctx);
    check_user_dir(s, tree, ctx);
    check_log_folder(s, tree, ctx);
    return find_trusted_users(s, tree, ctx);
}
