/* SPDX-License-Identifier: Apache-2.0 */
#include "gather.h"
#include "held.h"
#include "line.h"
#include "settings.h"

#include "kit/clock/clock.h"
#include "kit/quiet/quiet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* Lines wait in their worker for at most a part of FlushTimeout, and in its pipe for the rest. */
enum {
    GATHER_PART = 4,
    GATHER_MAX_MS = 500,
    RETRY_MS = 100, /* when the pipe is full */
};

/** What a worker has for itself: ctx->local. */
struct logger_local {
    const struct logger_config *config;
    struct logger_gather *gather;
    struct mk_alarm *alarm;
    struct logger_texts texts[2]; /* by enum logger_style */
    uint64_t random;              /* of Sample */
    bool alarm_is_set;
};

static unsigned gather_ms(const struct logger_config *c)
{
    unsigned part = c->flush_ms / GATHER_PART;

    return part < GATHER_MAX_MS ? part : GATHER_MAX_MS;
}

/* ---- files ---- */

/* Without O_NONBLOCK a fifo that nobody reads would be waited for. */
static int open_file(struct mk_server *server, const char *path)
{
    return mk_server_open_file(server, path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0640);
}

static const char *why_not(int err)
{
    if (err != MK_E_SYS)
        return mk_error_text(err);
    return errno == ENXIO ? "no process reads this fifo" : strerror(errno);
}

/* Has the surrounding program a function that takes the lines of this place? */
static bool is_programs(struct mk_server *server, const struct logger_place *p)
{
    return !p->is_syslog && mk_server_log_lines(server, p->name, NULL, 0) == 0;
}

static void give_lines(void *server, const char *name, const char *lines, size_t len)
{
    (void)!mk_server_log_lines(server, name, lines, len);
}

static int open_place(const struct mk_context *ctx, struct logger_config *c,
                      const struct logger_place *p, struct logger_target **target)
{
    bool programs = is_programs(ctx->server, p);
    int fd = -1;

    *target = logger_target_find(c->sink, p->name);
    if (*target)
        return 0;
    if (!p->is_syslog && !programs) {
        fd = open_file(ctx->server, p->name);
        if (fd < 0) {
            mk_plugin_why(ctx, "cannot open the log %s: %s", p->name, why_not(fd));
            return fd;
        }
    }
    *target = logger_target_new(c->sink, p->name, fd, p->priority);
    if (*target && programs)
        logger_target_give(*target, give_lines, ctx->server);
    return *target ? 0 : MK_E_NOMEM;
}

/* For files that are rotated; on the sink's thread. */
static int open_again(void *server, const char *path)
{
    return open_file(server, path);
}

static void close_places(struct logger_config *c)
{
    for (int i = 0; c->targets && i < c->nplaces; i++) {
        if (c->targets[i])
            logger_target_put(c->sink, c->targets[i]);
    }
    free(c->targets);
    c->targets = NULL;
}

static void rotate_places(const struct mk_context *ctx, struct logger_config *c)
{
    c->rotation.open = open_again;
    c->rotation.arg = ctx->server;
    for (int i = 0; i < c->nplaces; i++)
        logger_target_rotate(c->sink, c->targets[i], &c->rotation);
}

static int open_places(const struct mk_context *ctx, struct logger_config *c)
{
    int i = 0, err = 0;

    c->targets = calloc((size_t)c->nplaces + 1, sizeof(struct logger_target *));
    if (!c->targets)
        return MK_E_NOMEM;
    for (const struct logger_place *p = c->places; err == 0 && p; p = p->next)
        err = open_place(ctx, c, p, &c->targets[i++]);
    if (err == 0)
        rotate_places(ctx, c);
    return err;
}

/* ---- life ---- */

static void say(void *arg, enum mk_log_level level, const char *text)
{
    mk_server_log(arg, level, "%s", text);
}

static void logger_stop(const struct mk_context *ctx)
{
    struct logger_config *c = ctx->config;

    close_places(c);
    if (c->sink)
        logger_sink_put(c->sink);
    c->sink = NULL;
}

/* The thread and its pipes stay the same from one configuration to the next; so do files of the same name. */
static int logger_start(const struct mk_context *ctx, const struct mk_context *old)
{
    struct logger_config *c = ctx->config;
    const struct logger_config *before = old ? old->config : NULL;
    int err;

    if (c->nplaces == 0 && !(before && before->sink))
        return 0;
    c->sink =
        before && before->sink ? logger_sink_get(before->sink) : logger_sink_new(say, ctx->server);
    if (!c->sink) {
        mk_plugin_why(ctx, "no memory, descriptors or thread for the log");
        return MK_E_NOMEM;
    }
    err = open_places(ctx, c);
    if (err < 0) {
        logger_stop(ctx);
        return err;
    }
    logger_sink_set_wait(c->sink, c->flush_ms - gather_ms(c));
    return 0;
}

static void logger_reopen(const struct mk_context *ctx)
{
    struct logger_config *c = ctx->config;
    int i = 0;

    for (const struct logger_place *p = c->places; p; p = p->next, i++) {
        int fd;

        if (p->is_syslog || is_programs(ctx->server, p))
            continue;
        fd = open_file(ctx->server, p->name);
        if (fd >= 0)
            logger_target_reopen(c->sink, c->targets[i], fd);
        else
            mk_server_log(ctx->server, MK_LOG_ERROR, "log cannot be reopened path=%s: %s", p->name,
                          why_not(fd));
    }
}

/* ---- workers ---- */

static void set_alarm(struct logger_local *local)
{
    if (local->alarm_is_set)
        return;
    local->alarm_is_set = true;
    if (local->config->flush_ms == 0)
        mk_alarm_soon(local->alarm);
    else
        mk_alarm_set(local->alarm, gather_ms(local->config));
}

static void on_alarm(struct mk_alarm *alarm, void *arg)
{
    struct logger_local *local = arg;

    local->alarm_is_set = false;
    if (logger_gather_flush(local->gather) == 0)
        return;
    local->alarm_is_set = true;
    mk_alarm_set(alarm, RETRY_MS);
}

static void free_local(struct logger_local *local)
{
    mk_alarm_free(local->alarm);
    logger_gather_free(local->gather);
    free(local);
}

static int logger_worker_start(const struct mk_context *ctx, void **out)
{
    const struct logger_config *c = ctx->config;
    struct logger_local *local;
    struct logger_pipe *pipe;

    if (c->nplaces == 0)
        return 0;
    local = calloc(1, sizeof(*local));
    if (!local)
        return MK_E_NOMEM;
    local->config = c;
    local->random = ((uint64_t)clock_now_us() << 16) | (mk_worker_index(ctx->worker) + 1);
    pipe = logger_sink_pipe(c->sink, mk_worker_index(ctx->worker));
    if (pipe)
        local->gather = logger_gather_new(pipe, (size_t)c->nplaces);
    local->alarm = mk_alarm_new(ctx->worker, on_alarm, local);
    if (!local->gather || !local->alarm) {
        free_local(local);
        mk_plugin_why(ctx, "no memory or descriptors for the log's pipe");
        return MK_E_NOMEM;
    }
    *out = local;
    return 0;
}

static void logger_worker_stop(const struct mk_context *ctx)
{
    if (ctx->local)
        free_local(ctx->local);
}

/* ---- requests ---- */

/* Where the client comes from. @return NULL: from a unix socket, or from nowhere. */
static const uint8_t *remote_of(const struct mk_request *r, struct mk_conn_facts *conn)
{
    struct mk_request_facts facts = {.size = MK_REQUEST_ASKED};

    mk_request_facts(r, &facts);
    if (!facts.conn)
        return NULL;
    conn->size = sizeof(*conn);
    mk_conn_facts(facts.conn, conn);
    return conn->peer_is_unix ? NULL : conn->peer_ip;
}

static struct mk_str id_of(const struct mk_request *r)
{
    const struct mk_note *note = mk_request_note(r, "request_id");

    return note ? note->text : (struct mk_str){NULL, 0};
}

static bool wants_access(const struct logger_site *site, struct logger_local *local,
                         const struct mk_request *r)
{
    struct mk_request_result result;
    struct logger_asked asked;
    struct mk_conn_facts conn;

    if (site->access == LOGGER_NO_TARGET || !site->rules)
        return site->access != LOGGER_NO_TARGET;
    result = mk_request_result(r);
    asked = (struct logger_asked){.status = result.status,
                                  .took_ms = result.took_ms,
                                  .method = mk_request_method(r),
                                  .path = mk_request_path(r)};
    if (site->rules->asks_remote)
        asked.ip = remote_of(r, &conn);
    if (site->rules->of > 0)
        asked.id = id_of(r);
    return logger_rules_want(site->rules, &asked, &local->random);
}

/* Of a request behind which a tunnel begins the line is written when that ends, and else now. */
static void write_access(struct logger_line *line, const struct logger_config *c, size_t index,
                         struct logger_local *local)
{
    struct logger_target *target = c->targets[index];

    if (logger_held_is_for(&line->facts) &&
        logger_held_begin(line, c->sink, local->gather->pipe, target) == 0)
        return;
    logger_gather_line(local->gather, index, target, logger_line_access, line);
}

static void logger_on_finish(struct mk_request *r, const struct mk_context *ctx)
{
    const struct logger_config *c = ctx->config;
    const struct logger_site *site = ctx->site;
    struct logger_local *local = ctx->local;
    struct logger_line line;
    bool has_access;

    if (quiet_is(r))
        return;
    has_access = wants_access(site, local, r);
    if (!has_access && site->error == LOGGER_NO_TARGET)
        return;
    logger_line_begin(&line, site->format, r, &local->texts[site->format->style]);
    if (has_access)
        write_access(&line, c, (size_t)site->access, local);
    if (site->error != LOGGER_NO_TARGET && line.facts.status >= 400)
        logger_gather_line(local->gather, (size_t)site->error, c->targets[site->error],
                           logger_line_error, &line);
    if (logger_gather_waits(local->gather))
        set_alarm(local);
}

static const struct mk_plugin logger = {
    MK_PLUGIN("logger", "access logs and error logs of sites"),
    .sections = logger_sections,
    .check = logger_check,
    .check_site = logger_check_site,
    .start = logger_start,
    .stop = logger_stop,
    .worker_start = logger_worker_start,
    .worker_stop = logger_worker_stop,
    .on_finish = logger_on_finish,
    .reopen = logger_reopen,
};
MK_PLUGIN_EXPORT(logger);
