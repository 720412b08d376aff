/* SPDX-License-Identifier: Apache-2.0 */
#include "statistics/statistics_int.h"

#include "entry/viewers.h"

#include "kit/pure/number.h"
#include "kit/text/choice.h"
#include "kit/text/words.h"

#include <monkey/inspect.h>
#include <monkey/server.h>

#include <stdlib.h>
#include <unistd.h>

/* The page of StatisticsURL: who may see it, in which form, and what of. */

enum { REFRESH_MAX = 3600 };

/* ---- what is shown ---- */

/* Other sites may belong to others. */
static bool is_of_site(const struct proxy_entry *e, const struct proxy_site *site)
{
    return e->site == 0 || e->site == site->number;
}

bool proxy_is_statistics(const struct mk_context *ctx, struct mk_str path)
{
    const struct proxy_config *config = ctx->config;

    for (const struct proxy_entry *e = config->entries; e; e = e->next) {
        if (e->set->statistics_url && is_of_site(e, ctx->site) &&
            text_is(path, mk_str_from(e->set->statistics_url)))
            return true;
    }
    return false;
}

const struct proxy_entry *proxy_view_next(const struct proxy_view *view,
                                          const struct proxy_entry *before)
{
    const struct proxy_entry *e = before ? before->next : view->config->entries;

    while (e && !(e->set->statistics_url && is_of_site(e, view->site) &&
                  strcmp(e->set->statistics_url, view->url) == 0 &&
                  proxy_viewers_has(e->set, view->peer)))
        e = e->next;
    return e;
}

/* ---- in which form ---- */

/* Only where it is named: who sends a list of many types is a browser. */
static bool accepts_json(struct mk_str accept)
{
    return text_weight(accept, MK_STR("application/json")) >
           text_weight(accept, MK_STR("text/html"));
}

static bool wants_json(struct mk_request *r, struct mk_str query)
{
    struct mk_str format = text_parameter(query, MK_STR("format")),
                  accept = mk_request_header(r, MK_STR("Accept"));

    if (format.p)
        return text_is(format, MK_STR("json"));
    return accept.p && accepts_json(accept);
}

static unsigned refresh_of(struct mk_str query)
{
    return number_of(text_parameter(query, MK_STR("refresh")), REFRESH_MAX);
}

/* ---- the answer ---- */

static enum mk_verdict answer_page(struct mk_request *r, struct page *page, bool json)
{
    struct mk_reply p;

    if (page->failed || mk_request_on_end(r, free, page->p) < 0) {
        page_free(page);
        return mk_reply_error(r, 503, NULL);
    }
    if (mk_reply_begin(&p, r, 200) < 0)
        return MK_VERDICT_DONE;
    mk_reply_line(&p, MK_STR("Content-Type"),
                  json ? MK_STR("application/json") : MK_STR("text/html; charset=utf-8"));
    mk_reply_line(&p, MK_STR("Cache-Control"), MK_STR("no-store"));
    mk_reply_line(&p, MK_STR("Vary"), MK_STR("Accept"));
    mk_reply_line(&p, MK_STR("X-Content-Type-Options"), MK_STR("nosniff"));
    mk_reply_line(&p, MK_STR("Content-Security-Policy"),
                  MK_STR("default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"));
    if (mk_reply_end(&p, (int64_t)page->len) == 0)
        (void)!mk_reply_memory(r, (struct mk_str){page->p, page->len});
    return MK_VERDICT_DONE;
}

enum mk_verdict proxy_statistics(struct mk_request *r, const struct mk_context *ctx)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_conn_facts conn = {.size = sizeof(conn)};
    struct mk_server_facts server = {.size = sizeof(server)};
    struct page page = {0};
    struct proxy_view view = {.config = ctx->config, .site = ctx->site};
    bool json;

    mk_request_facts(r, &facts);
    mk_conn_facts(facts.conn, &conn);
    view.url = facts.path.p;
    view.peer = conn.peer_is_unix ? NULL : conn.peer_ip;
    view.refresh = refresh_of(facts.query);
    mk_server_facts(ctx->server, &server);
    view.uptime_ms = server.uptime_ms;
    if (gethostname(view.host, sizeof(view.host) - 1) < 0)
        view.host[0] = '\0';
    if (!proxy_view_next(&view, NULL))
        return mk_reply_error(r, 403, NULL);
    if (!text_is(facts.method, MK_STR("GET")) && !text_is(facts.method, MK_STR("HEAD")))
        return mk_reply_error(r, 405, "Allow: GET, HEAD\r\n");
    json = wants_json(r, facts.query);
    (json ? proxy_write_json : proxy_write_html)(&view, &page);
    return answer_page(r, &page, json);
}
