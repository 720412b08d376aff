/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include "overview.h"
#include "report.h"

#include "kit/quiet/quiet.h"
#include "kit/text/choice.h"
#include "kit/text/words.h"

#include <monkey/inspect.h>

#include <stdlib.h>
#include <unistd.h>

enum { PATIENCE_MS = 1000 }; /* for workers that are asked */

#define PLAIN "text/plain; charset=utf-8"

/* ---- an answer ---- */

static void put_lines(struct mk_reply *p, const char *type)
{
    mk_reply_line(p, MK_STR("Content-Type"), mk_str_from(type));
    mk_reply_line(p, MK_STR("Cache-Control"), MK_STR("no-store"));
    mk_reply_line(p, MK_STR("Vary"), MK_STR("Accept"));
    mk_reply_line(p, MK_STR("X-Content-Type-Options"), MK_STR("nosniff"));
    mk_reply_line(p, MK_STR("Content-Security-Policy"),
                  MK_STR("default-src 'none'; script-src 'self'; connect-src 'self'; style-src "
                         "'unsafe-inline'; img-src data:; frame-ancestors 'none'"));
}

/* @param text  lives as long as the request */
static enum mk_verdict reply_text(struct mk_request *r, unsigned status, const char *type,
                                  struct mk_str text)
{
    struct mk_reply p;

    if (mk_reply_begin(&p, r, status) < 0)
        return MK_VERDICT_DONE;
    put_lines(&p, type);
    if (mk_reply_end(&p, (int64_t)text.len) == 0)
        (void)!mk_reply_memory(r, text);
    return MK_VERDICT_DONE;
}

/* The page's memory is the request's from here on. */
static enum mk_verdict reply_page(struct mk_request *r, unsigned status, const char *type,
                                  struct page *page)
{
    if (page->failed || mk_request_on_end(r, free, page->p) < 0) {
        page_free(page);
        return mk_reply_error(r, 503, NULL);
    }
    return reply_text(r, status, type, (struct mk_str){page->p, page->len});
}

/* ---- health ---- */

static enum mk_verdict answer_ready(struct mk_request *r, const struct mk_context *ctx)
{
    const struct status_site *site = ctx->site;
    struct mk_server_facts facts = {.size = sizeof(facts)};
    struct page page = {0};
    bool is_ready;

    mk_server_facts(ctx->server, &facts);
    is_ready = status_conditions_hold(site->set->conditions, ctx->worker, &page);
    if (facts.is_stopping) {
        page_put(&page, "the server is stopping\n");
        is_ready = false;
    }
    if (is_ready)
        page_put(&page, "ready\n");
    return reply_page(r, is_ready ? 200 : 503, PLAIN, &page);
}

static enum mk_verdict answer_health(struct mk_request *r, const struct mk_context *ctx,
                                     enum status_path path)
{
    const struct status_site *site = ctx->site;

    if (!site->set->health_log)
        quiet_set(r);
    if (path == STATUS_LIVE)
        return reply_text(r, 200, PLAIN, MK_STR("alive\n"));
    return answer_ready(r, ctx);
}

/* ---- metrics ---- */

/* A request whose workers were asked. */
struct scrape {
    struct gather *gather;
    struct mk_alarm *alarm;
    struct mk_worker *worker;
    uint64_t ticket;
    bool is_late;
};

static const char scrape_key;

static void on_late(struct mk_alarm *alarm, void *arg)
{
    struct scrape *s = arg;
    struct mk_request *r = mk_worker_request(s->worker, s->ticket);

    (void)alarm;
    s->is_late = true;
    if (r)
        mk_request_resume(r);
}

static void end_scrape(void *arg)
{
    struct scrape *s = arg;

    mk_alarm_free(s->alarm);
    status_gather_put(s->gather);
}

/* @return NULL without memory. */
static struct scrape *begin_scrape(struct mk_request *r, const struct mk_context *ctx)
{
    struct scrape *s = mk_request_alloc(r, sizeof(*s));

    if (!s || mk_request_keep(r, &scrape_key, s) < 0)
        return NULL;
    *s = (struct scrape){.worker = ctx->worker, .ticket = mk_request_ticket(r)};
    s->alarm = mk_alarm_new(ctx->worker, on_late, s);
    if (!s->alarm)
        return NULL;
    s->gather = status_gather_begin(r, ctx->server);
    if (s->gather && mk_request_on_end(r, end_scrape, s) == 0) {
        mk_alarm_set(s->alarm, PATIENCE_MS);
        return s;
    }
    if (s->gather)
        status_gather_put(s->gather);
    mk_alarm_free(s->alarm);
    return NULL;
}

static enum mk_verdict answer_metrics(struct mk_request *r, const struct mk_context *ctx,
                                      const struct gather *g)
{
    static const struct mk_str open = MK_STR_INIT("application/openmetrics-text");
    const struct mk_str accept = mk_request_header(r, MK_STR("Accept"));
    const int weight = text_weight(accept, open);
    struct page page = {0};

    if (weight > 0 && weight >= text_weight(accept, MK_STR("text/plain"))) {
        status_report_write(ctx, g, &page, EXPOSITION_OPENMETRICS);
        return reply_page(r, 200, "application/openmetrics-text; version=1.0.0; charset=utf-8",
                          &page);
    }
    status_report_write(ctx, g, &page, EXPOSITION_PROMETHEUS);
    return reply_page(r, 200, "text/plain; version=0.0.4; charset=utf-8", &page);
}

static enum mk_verdict answer_json(struct mk_request *r, const struct mk_context *ctx,
                                   const struct gather *g)
{
    struct mk_server_facts facts = {.size = sizeof(facts)};
    struct page page = {0};
    char host[65] = "";

    mk_server_facts(ctx->server, &facts);
    if (gethostname(host, sizeof(host) - 1) < 0)
        host[0] = '\0';
    page_put(&page, "{");
    page_member_text(&page, "host", host);
    page_member_text(&page, "version", mk_version());
    page_member_number(&page, "uptime_ms", (uint64_t)facts.uptime_ms);
    page_member(&page, "samples");
    status_report_write(ctx, g, &page, EXPOSITION_JSON);
    page_put(&page, "}\n");
    return reply_page(r, 200, "application/json", &page);
}

static enum mk_verdict scrape(struct mk_request *r, const struct mk_context *ctx, bool is_json)
{
    struct scrape *s = mk_request_kept(r, &scrape_key);

    if (!s)
        s = begin_scrape(r, ctx);
    if (!s)
        return mk_reply_error(r, 503, NULL);
    if (!s->is_late && !status_gather_is_done(s->gather))
        return MK_VERDICT_LATER;
    return (is_json ? answer_json : answer_metrics)(r, ctx, s->gather);
}

/* ---- the page ---- */

static enum mk_verdict answer_page(struct mk_request *r, const struct mk_context *ctx,
                                   struct mk_str query)
{
    const struct mk_str accept = mk_request_header(r, MK_STR("Accept"));

    if (text_is(query, MK_STR("script")))
        return reply_text(r, 200, "text/javascript; charset=utf-8", status_overview_script());
    if (text_is(text_parameter(query, MK_STR("format")), MK_STR("json")) ||
        text_weight(accept, MK_STR("application/json")) > text_weight(accept, MK_STR("text/html")))
        return scrape(r, ctx, true);
    return reply_text(r, 200, "text/html; charset=utf-8", status_overview_page());
}

/* ---- all ---- */

static bool is_health(enum status_path path)
{
    return path == STATUS_HEALTH || path == STATUS_LIVE || path == STATUS_READY;
}

enum mk_verdict status_admit(struct mk_request *r, const struct mk_context *ctx,
                             enum status_path path)
{
    const struct status_site *site = ctx->site;
    struct mk_request_facts facts = {.size = sizeof(facts)};

    mk_request_facts(r, &facts);
    if (!status_guard_admits(is_health(path) ? &site->health_guard : &site->guard, facts.conn))
        return mk_reply_error(r, 403, NULL);
    if (!text_is(facts.method, MK_STR("GET")) && !text_is(facts.method, MK_STR("HEAD")))
        return mk_reply_error(r, 405, "Allow: GET, HEAD\r\n");
    return MK_VERDICT_PASS;
}

enum mk_verdict status_answer(struct mk_request *r, const struct mk_context *ctx,
                              enum status_path path)
{
    const enum mk_verdict verdict = status_admit(r, ctx, path);

    if (verdict != MK_VERDICT_PASS)
        return verdict;
    if (is_health(path))
        return answer_health(r, ctx, path);
    if (path == STATUS_PAGE)
        return answer_page(r, ctx, mk_request_query(r));
    return scrape(r, ctx, false);
}
