/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "metrics.h"

#include "kit/text/utc.h"

#include <monkey/inspect.h>
#include <monkey/plugin.h>

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* The commands of the shell. */

#define COUNT(array) (unsigned)(sizeof(array) / sizeof((array)[0]))

/** What a command is called with. */
struct call {
    struct mk_worker *worker;
    struct mk_server *server;
    const struct line *line;
    struct reply *reply;
    bool failed; /* out: the reply is cheetah_reply_error's, complete */
};

struct command {
    const char *name, *brief; /* brief: NULL: there is none */
    const char *parameter;    /* NULL: it takes none */
    unsigned max;             /* how many words that may be */
    const char *about;
    enum command_end end;
    void (*run)(struct call *call);
};

static const struct command *command_at(unsigned index);

static struct mk_server_facts facts_of(const struct call *call)
{
    struct mk_server_facts facts = {.size = sizeof(facts)};

    mk_server_facts(call->server, &facts);
    return facts;
}

/* ---- what there is ---- */

static const struct reply_column help_columns[] = {{"command", 18}, {"short", 6}, {"about", 0}};

static void run_help(struct call *call)
{
    const struct command *c;

    cheetah_reply_list(call->reply, "commands", help_columns, COUNT(help_columns));
    for (unsigned i = 0; (c = command_at(i)); i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "%s%s%s", c->name, c->parameter ? " " : "",
                       c->parameter ? c->parameter : "");
        cheetah_reply_row(call->reply, help_columns);
        cheetah_reply_text(call->reply, "command", mk_str_from(name));
        cheetah_reply_own(call->reply, "short", c->brief ? c->brief : "");
        cheetah_reply_own(call->reply, "about", c->about);
        cheetah_reply_row_end(call->reply);
    }
    cheetah_reply_list_end(call->reply);
}

static const struct reply_column setting_columns[] = {{"key", 20}, {"value", 0}};

static void tell_setting(void *arg, const char *text, size_t len)
{
    struct reply *r = arg;
    const char *blank = memchr(text, ' ', len);
    size_t key = blank ? (size_t)(blank - text) : len;
    size_t value = blank ? key + 1 : len;

    cheetah_reply_row(r, setting_columns);
    cheetah_reply_text(r, "key", (struct mk_str){text, key});
    cheetah_reply_text(r, "value", (struct mk_str){text + value, len - value});
    cheetah_reply_row_end(r);
}

static void run_config(struct call *call)
{
    cheetah_reply_list(call->reply, "config", setting_columns, COUNT(setting_columns));
    if (mk_worker_settings(call->worker, tell_setting, call->reply) < 0)
        call->reply->failed = true;
    cheetah_reply_list_end(call->reply);
}

static const struct reply_column plugin_columns[] = {
    {"name", 14}, {"major", 5}, {"transport", 9}, {"about", 44}, {"file", 0}};

static void run_plugins(struct call *call)
{
    struct mk_plugin_facts p = {.size = sizeof(p)};

    cheetah_reply_list(call->reply, "plugins", plugin_columns, COUNT(plugin_columns));
    for (unsigned i = 0; mk_server_plugin(call->server, i, &p); i++) {
        cheetah_reply_row(call->reply, plugin_columns);
        cheetah_reply_text(call->reply, "name", mk_str_from(p.name));
        cheetah_reply_number(call->reply, "major", p.major);
        cheetah_reply_text(call->reply, "transport", mk_str_from(p.has_transport ? "yes" : "no"));
        cheetah_reply_text(call->reply, "about", mk_str_from(p.about ? p.about : ""));
        cheetah_reply_text(call->reply, "file", mk_str_from(p.file ? p.file : "built in"));
        cheetah_reply_row_end(call->reply);
        p = (struct mk_plugin_facts){.size = sizeof(p)};
    }
    cheetah_reply_list_end(call->reply);
}

static const struct reply_column site_columns[] = {{"site", 4}, {"root", 32}, {"names", 0}};

/* The names of a site, with blanks between them, as far as they have room. */
static struct mk_str join_names(const struct mk_site_facts *site, char *dst, size_t size)
{
    size_t len = 0;

    for (size_t i = 0; i < site->nnames; i++) {
        struct mk_str name = site->names[i];

        if (len + name.len + 1 > size)
            break;
        if (i > 0)
            dst[len++] = ' ';
        memcpy(dst + len, name.p, name.len);
        len += name.len;
    }
    return (struct mk_str){dst, len};
}

static void run_vhosts(struct call *call)
{
    struct mk_site_facts site = {.size = sizeof(site)};
    char names[4096];

    cheetah_reply_list(call->reply, "vhosts", site_columns, COUNT(site_columns));
    for (unsigned i = 0; mk_worker_site(call->worker, i, &site); i++) {
        cheetah_reply_row(call->reply, site_columns);
        cheetah_reply_number(call->reply, "site", i);
        cheetah_reply_text(call->reply, "root",
                           mk_str_from(site.document_root ? site.document_root : ""));
        cheetah_reply_text(call->reply, "names", join_names(&site, names, sizeof(names)));
        cheetah_reply_row_end(call->reply);
        site = (struct mk_site_facts){.size = sizeof(site)};
    }
    cheetah_reply_list_end(call->reply);
}

/* ---- how it is ---- */

static void tell_uptime(struct reply *r, const struct mk_server_facts *facts)
{
    uint64_t s = (uint64_t)facts->uptime_ms / 1000;
    char text[64];

    (void)snprintf(text, sizeof(text), "%" PRIu64 " days %02u:%02u:%02u", s / 86400,
                   (unsigned)(s / 3600 % 24), (unsigned)(s / 60 % 60), (unsigned)(s % 60));
    cheetah_reply_text(r, "uptime", mk_str_from(text));
    cheetah_reply_number(r, "uptime_seconds", s);
    if (text_utc(text, facts->started_s, 'T') > 0)
        cheetah_reply_text(r, "started", mk_str_from(text));
}

static void run_uptime(struct call *call)
{
    struct mk_server_facts facts = facts_of(call);

    tell_uptime(call->reply, &facts);
}

static void run_status(struct call *call)
{
    struct mk_server_facts facts = facts_of(call);
    struct mk_worker_stats all = {0}, one = {.size = sizeof(one)};
    struct reply *r = call->reply;

    for (unsigned i = 0; mk_server_stats(call->server, i, &one) == 0; i++) {
        all.connections += one.connections;
        all.accepted += one.accepted;
        all.requests += one.requests;
        all.refused += one.refused;
        all.bytes_in += one.bytes_in;
        all.bytes_out += one.bytes_out;
    }
    cheetah_reply_text(r, "version", mk_str_from(mk_version()));
    cheetah_reply_number(r, "pid", (uint64_t)getpid());
    tell_uptime(r, &facts);
    cheetah_reply_number(r, "workers", facts.workers);
    cheetah_reply_text(r, "scheduler", mk_str_from(facts.scheduler));
    cheetah_reply_number(r, "configurations", facts.snapshots);
    cheetah_reply_number(r, "reloads", facts.reloads);
    cheetah_reply_number(r, "reloads_failed", facts.reloads_failed);
    cheetah_reply_number(r, "restarts", facts.restarts);
    if (facts.restart_reason)
        cheetah_reply_text(r, "restart_reason", mk_str_from(facts.restart_reason));
    cheetah_reply_number(r, "connections", all.connections);
    cheetah_reply_number(r, "accepted", all.accepted);
    cheetah_reply_number(r, "requests", all.requests);
    cheetah_reply_number(r, "refused", all.refused);
    cheetah_reply_number(r, "bytes_in", all.bytes_in);
    cheetah_reply_number(r, "bytes_out", all.bytes_out);
    cheetah_metrics_tell_brief(call->worker, r);
}

static const struct reply_column worker_columns[] = {
    {"worker", 6},  {"connections", 11}, {"accepted", 10},  {"requests", 10},
    {"refused", 8}, {"bytes_in", 12},    {"bytes_out", 14}, {"turns", 0},
};

static void run_workers(struct call *call)
{
    struct mk_worker_stats s = {.size = sizeof(s)};

    cheetah_reply_list(call->reply, "workers", worker_columns, COUNT(worker_columns));
    for (unsigned i = 0; mk_server_stats(call->server, i, &s) == 0; i++) {
        cheetah_reply_row(call->reply, worker_columns);
        cheetah_reply_number(call->reply, "worker", i);
        cheetah_reply_number(call->reply, "connections", s.connections);
        cheetah_reply_number(call->reply, "accepted", s.accepted);
        cheetah_reply_number(call->reply, "requests", s.requests);
        cheetah_reply_number(call->reply, "refused", s.refused);
        cheetah_reply_number(call->reply, "bytes_in", s.bytes_in);
        cheetah_reply_number(call->reply, "bytes_out", s.bytes_out);
        cheetah_reply_number(call->reply, "turns", s.turns);
        cheetah_reply_row_end(call->reply);
    }
    cheetah_reply_list_end(call->reply);
}

static void run_metrics(struct call *call)
{
    cheetah_metrics_tell(call->worker, call->reply);
}

/* ---- what can be done ---- */

static void run_reload(struct call *call)
{
    int err = mk_server_ask_reload(call->server);

    call->failed = err < 0;
    if (err < 0)
        cheetah_reply_error(call->reply, call->line->json, "no reload: %s", mk_error_text(err));
}

/* LogLevel stands once for everything, and once more for the components that say more. */
static void tell_level(void *arg, const char *text, size_t len)
{
    static const char key[] = "LogLevel ";
    struct reply *r = arg;
    const char *value = text + sizeof(key) - 1;
    size_t skip = sizeof(key) - 1;

    if (len > skip && memcmp(text, key, skip) == 0)
        cheetah_reply_text(r, memchr(value, ':', len - skip) ? "components" : "level",
                           (struct mk_str){value, len - skip});
}

static void run_loglevel(struct call *call)
{
    const struct line *line = call->line;

    if (line->count == 2 && mk_server_log_level(call->server, line->words[1]) < 0) {
        call->failed = true;
        cheetah_reply_error(
            call->reply, line->json,
            "expected error, warn, info, debug or trace, perhaps with :component,...");
        return;
    }
    if (mk_worker_settings(call->worker, tell_level, call->reply) < 0)
        call->reply->failed = true;
}

/* ---- what plugins do ---- */

struct order {
    struct reply *reply;
    char last[256]; /* value: where the order is refused, the reason */
};

static void tell_order(void *arg, const char *key, struct mk_str value)
{
    struct order *o = arg;

    (void)snprintf(o->last, sizeof(o->last), "%.*s", (int)(value.len < 255 ? value.len : 255),
                   value.p);
    cheetah_reply_text(o->reply, key, value);
}

static void run_proxy(struct call *call)
{
    static const char none[] = "the plugin proxy_reverse is not loaded";
    const struct line *line = call->line;
    struct order o = {.reply = call->reply};
    int err = mk_worker_order(call->worker, MK_STR("proxy_reverse"), line->words + 1,
                              line->count - 1, tell_order, &o);

    if (err == MK_E_UNSUPPORTED && line->count == 1) {
        cheetah_reply_own(call->reply, "proxy", none);
        return;
    }
    call->failed = err < 0;
    if (err < 0)
        cheetah_reply_error(call->reply, line->json, "%s", err == MK_E_UNSUPPORTED ? none : o.last);
}

static void run_clear(struct call *call)
{
    if (call->reply->json)
        cheetah_reply_text(call->reply, "clear", MK_STR("this session has no screen"));
    else
        cheetah_reply_raw(call->reply, "\033[H\033[2J");
}

static void run_quit(struct call *call)
{
    cheetah_reply_text(call->reply, "quit", MK_STR("end the session; the server continues"));
}

/* What comes is written by cheetah_gather_tell, or by cheetah_reload_tell. */
static void run_connections(struct call *call)
{
    (void)call;
}

static const struct command commands[] = {
    {"help", "\\h", NULL, 0, "this list; \\? too", COMMAND_DONE, run_help},
    {"config", "\\f", NULL, 0, "the settings of [SERVER] in force", COMMAND_DONE, run_config},
    {"plugins", "\\g", NULL, 0, "the loaded plugins", COMMAND_DONE, run_plugins},
    {"status", "\\s", NULL, 0, "the server and its totals", COMMAND_DONE, run_status},
    {"uptime", "\\u", NULL, 0, "the time since the start", COMMAND_DONE, run_uptime},
    {"vhosts", "\\v", NULL, 0, "the sites", COMMAND_DONE, run_vhosts},
    {"workers", "\\w", NULL, 0, "the counters of each worker", COMMAND_DONE, run_workers},
    {"connections", NULL, NULL, 0, "the clients' connections", COMMAND_GATHER, run_connections},
    {"metrics", NULL, NULL, 0, "all counters in Prometheus' format", COMMAND_DONE, run_metrics},
    {"proxy", NULL, "[ACTION ENTRY SERVER]", 3, "list backends; drain or undrain one", COMMAND_DONE,
     run_proxy},
    {"reload", NULL, NULL, 0, "reload the configuration and print the result", COMMAND_RELOAD,
     run_reload},
    {"loglevel", NULL, "[LEVEL]", 1, "print or set the level of the error log", COMMAND_DONE,
     run_loglevel},
    {"clear", "\\c", NULL, 0, "clear the screen", COMMAND_DONE, run_clear},
    {"quit", "\\q", NULL, 0, "end the session", COMMAND_QUIT, run_quit},
};

static const struct command *command_at(unsigned index)
{
    return index < COUNT(commands) ? &commands[index] : NULL;
}

/* ---- the line ---- */

static bool is_name(struct mk_str word, const char *name)
{
    return name && word.len == strlen(name) && memcmp(word.p, name, word.len) == 0;
}

static const struct command *find(struct mk_str word)
{
    if (is_name(word, "\\?"))
        return &commands[0];
    for (unsigned i = 0; i < COUNT(commands); i++) {
        if (is_name(word, commands[i].name) || is_name(word, commands[i].brief))
            return &commands[i];
    }
    return NULL;
}

/* @return the command that was perhaps meant, or NULL. */
static const char *nearest(struct mk_str word)
{
    unsigned best = 3; /* further away is another word */
    const char *name = NULL;

    for (unsigned i = 0; i < COUNT(commands); i++) {
        unsigned distance = cheetah_line_distance(word, mk_str_from(commands[i].name));

        if (distance < best && distance < word.len) {
            best = distance;
            name = commands[i].name;
        }
    }
    return name;
}

static void refuse(const struct line *line, struct reply *r)
{
    struct mk_str word = line->words[0];
    const char *meant = nearest(word);
    int len = word.len < 32 ? (int)word.len : 32;

    if (meant)
        cheetah_reply_error(r, line->json, "unknown command \"%.*s\"; did you mean \"%s\"?", len,
                            word.p, meant);
    else
        cheetah_reply_error(r, line->json, "unknown command \"%.*s\"; help lists them", len,
                            word.p);
}

enum command_end cheetah_command_run(struct mk_worker *w, const struct line *line, struct reply *r)
{
    static const char *const takes[LINE_MAX_WORDS] = {"no parameter", "one parameter at most",
                                                      "two parameters at most",
                                                      "three parameters at most"};
    struct call call = {.worker = w, .server = mk_worker_server(w), .line = line, .reply = r};
    const struct command *c;

    if (line->count == 0)
        return COMMAND_DONE;
    c = find(line->words[0]);
    if (!c) {
        refuse(line, r);
        return COMMAND_DONE;
    }
    if (line->count > 1 + c->max) {
        cheetah_reply_error(r, line->json, "%s takes %s", c->name, takes[c->max]);
        return COMMAND_DONE;
    }
    cheetah_reply_begin(r, line->json);
    c->run(&call);
    if (call.failed)
        return COMMAND_DONE;
    if (c->end != COMMAND_GATHER && c->end != COMMAND_RELOAD)
        cheetah_reply_end(r);
    return c->end;
}
