/* SPDX-License-Identifier: Apache-2.0 */
#include "service/exchange.h"

#include "inputs/values.h"
#include "json/tree.h"
#include "kit/text/words.h"
#include "inputs/fields.h"
#include "service/answer.h"
#include "service/dthreads.h"
#include "service/receive.h"
#include "service/route.h"
#include "service/session_steps.h"
#include "service/table.h"

#include <monkey/transport.h>
#include <monkey/web/form.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The life of a request: gather its body, call the service, wait for end(), call back. */

static const char request_key;

enum { LEVEL_OF_ROUTES = 3 };

/* ---- its end ---- */

static void free_garbage(struct mk_duda_request *rq)
{
    struct mk_duda_here before;

    if (!rq->garbage)
        return;
    before = mk_duda_enter_request(rq);
    while (rq->garbage) {
        struct mk_duda_garbage *next = rq->garbage->next;

        rq->garbage->end(rq->garbage->arg);
        free(rq->garbage);
        rq->garbage = next;
    }
    mk_duda_leave(before);
}

static void call_back(struct mk_duda_request *rq)
{
    struct mk_duda_here before;

    if (!rq->dr.end_callback && !(rq->route && rq->route->after))
        return;
    before = mk_duda_enter_request(rq);
    if (rq->dr.end_callback)
        rq->dr.end_callback(&rq->dr);
    if (rq->route)
        mk_duda_route_after(rq->route->after, rq);
    mk_duda_leave(before);
}

/* Most requests have none of them. */
static void free_inputs(struct mk_duda_request *rq)
{
    if (rq->body.bytes || rq->body.fd >= 0)
        mk_duda_body_fini(&rq->body);
    if (rq->fields)
        free(rq->fields);
    if (rq->values)
        mk_duda_values_free(rq->values);
    if (rq->json)
        json_delete(rq->json);
}

void mk_duda_request_over(struct mk_duda_request *rq)
{
    struct mk_duda_table *table = rq->worker->requests;

    mk_duda_request_turn(rq, MK_DUDA_REQUEST_OVER);
    if (!rq->is_whole)
        mk_duda_table_remove(table, rq);
    call_back(rq);
    mk_duda_session_leave(rq);
    if (rq->is_whole)
        mk_duda_table_remove(table, rq);
    free_garbage(rq);
    free_inputs(rq);
    mk_duda_table_drop(table, rq);
}

/* Was the answer complete? */
static void note_result(struct mk_duda_request *rq)
{
    const struct mk_request_result result = mk_request_result(rq->r);

    rq->is_whole = mk_request_is_whole(rq->r);
    if (result.status >= 500 &&
        (rq->state == MK_DUDA_REQUEST_CALLED || rq->state == MK_DUDA_REQUEST_OPEN))
        mk_duda_log(rq->service, MK_LOG_ERROR, "call-back %s %s", rq->callback,
                    mk_duda_request_waits(rq) || rq->nasked > 0
                        ? "waited longer than WaitTimeout"
                        : "called neither end() nor wait() within HandlerTimeout");
    rq->sr.headers.status = (int)result.status;
}

static void on_end(void *arg)
{
    struct mk_duda_request *rq = arg;

    note_result(rq);
    rq->r = NULL;
    mk_duda_answer_fini(rq);
    if (rq->state != MK_DUDA_REQUEST_TAKEN)
        mk_duda_request_over(rq);
}

/* ---- what the service sees of it ---- */

static int method_number(struct mk_str method)
{
    static const struct {
        struct mk_str name;
        int number;
    } methods[] = {
        {MK_STR_INIT("POST"), MK_HTTP_METHOD_POST},
        {MK_STR_INIT("HEAD"), MK_HTTP_METHOD_HEAD},
        {MK_STR_INIT("PUT"), MK_HTTP_METHOD_PUT},
        {MK_STR_INIT("DELETE"), MK_HTTP_METHOD_DELETE},
        {MK_STR_INIT("OPTIONS"), MK_HTTP_METHOD_OPTIONS},
    };

    if (method.len == 3 && memcmp(method.p, "GET", 3) == 0) /* most are */
        return MK_HTTP_METHOD_GET;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (text_is(methods[i].name, method))
            return methods[i].number;
    }
    return MK_HTTP_METHOD_UNKNOWN;
}

/* The server knows where these are. Reading the body may have moved them. */
static void fill_fields(struct mk_duda_request *rq)
{
    struct session_request *sr = &rq->sr;
    struct mk_request_headers headers = {.size = sizeof(headers)};

    mk_request_headers(rq->r, &headers);
    sr->content_type = mk_duda_pointer(headers.content_type);
    sr->connection = mk_duda_pointer(headers.connection);
    sr->if_modified_since = mk_duda_pointer(headers.if_modified_since);
    sr->range = mk_duda_pointer(headers.range);
}

/* "name:port", "[::1]:port". The server has looked at it, so digits after a colon are a port. */
static void fill_host(struct session_request *sr, struct mk_str host)
{
    size_t at = host.len;
    unsigned port = 0;

    for (unsigned scale = 1; at > 0 && (unsigned char)(host.p[at - 1] - '0') < 10; scale *= 10)
        port += (unsigned)(host.p[--at] - '0') * scale;
    if (at == 0 || host.p[at - 1] != ':') {
        sr->host = mk_duda_pointer(host);
        return;
    }
    sr->host = mk_duda_pointer((struct mk_str){host.p, at - 1});
    sr->host_port = mk_duda_pointer((struct mk_str){host.p + at, host.len - at});
    sr->port = (int)port;
}

static void fill_request(struct mk_duda_request *rq, const struct mk_request_facts *facts)
{
    struct session_request *sr = &rq->sr;

    sr->method = method_number(facts->method);
    sr->method_p = mk_duda_pointer(facts->method);
    sr->uri = mk_duda_pointer(facts->target);
    sr->uri_processed = mk_duda_pointer(facts->path);
    sr->protocol = 10 + (int)facts->minor;
    sr->protocol_p = mk_duda_pointer(facts->minor ? MK_STR("HTTP/1.1") : MK_STR("HTTP/1.0"));
    sr->query_string = mk_duda_pointer(facts->query);
    sr->content_length = rq->body.bytes ? (int)rq->body.len : -1;
    sr->data = (mk_pointer){rq->body.bytes, rq->body.len};
    fill_host(sr, facts->host);
    fill_fields(rq);
    sr->keep_alive = MK_TRUE;
}

static void fill_parts(struct mk_duda_request *rq, const struct mk_duda_match *match)
{
    duda_request_t *dr = &rq->dr;

    dr->appname = rq->service->ws.name;
    dr->interface = mk_duda_pointer(match->interface);
    dr->method = mk_duda_pointer(match->method);
    dr->n_params = (short int)match->nparams;
    for (unsigned i = 0; i < match->nparams; i++)
        dr->params[i] = mk_duda_pointer(match->params[i]);
}

static struct mk_duda_request *
new_request(struct mk_request *r, const struct mk_request_facts *facts, struct mk_duda_service *s)
{
    struct mk_duda_worker *w = mk_duda_worker_of(s, facts->worker);
    struct mk_duda_request *rq = mk_duda_table_add(w->requests);

    if (!rq)
        return NULL;
    rq->r = r;
    rq->is_traced = mk_request_logs(r, MK_LOG_TRACE);
    rq->body.fd = -1;
    rq->worker = w;
    rq->service = s;
    rq->cs.socket = facts->conn ? mk_conn_link(facts->conn)->fd : -1;
    rq->dr.socket = rq->cs.socket;
    rq->dr.ws_root = &s->ws;
    rq->dr.cs = &rq->cs;
    rq->dr.sr = &rq->sr;
    mk_duda_answer_init(rq);
    if (mk_request_on_end(r, on_end, rq) < 0) {
        mk_duda_table_remove(w->requests, rq);
        mk_duda_table_drop(w->requests, rq);
        return NULL;
    }
    return rq;
}

/* ---- its body ---- */

/* Forms with files, for a route of level 3: not all of it fits into memory. */
static int read_multipart(struct mk_duda_request *rq)
{
    const struct mk_form_limits limits = {.size = sizeof(limits), .dir = rq->service->spool_dir};

    return mk_form_read(rq->r, &limits, &rq->multipart);
}

static bool is_multipart(const struct mk_duda_request *rq)
{
    return rq->route && mk_duda_request_is_multipart(rq);
}

/* Routes of level 3 have forms; a multipart one has been counted as it came. */
static bool is_form_too_large(const struct mk_duda_request *rq)
{
    return rq->service->level >= LEVEL_OF_ROUTES && !rq->multipart &&
           mk_duda_request_is_urlencoded(rq) &&
           mk_duda_has_too_many_fields((struct mk_str){rq->body.bytes, rq->body.len});
}

/* ---- the call ---- */

/* Services of older levels may end a request later without wait(), within HandlerTimeout. */
static bool is_forgotten(const struct mk_duda_request *rq)
{
    return rq->service->level >= LEVEL_OF_ROUTES && rq->r && rq->state == MK_DUDA_REQUEST_CALLED &&
           !mk_duda_request_waits(rq) && rq->nasked == 0 && mk_duda_ndthreads == 0;
}

static void call_service(struct mk_duda_request *rq)
{
    mk_duda_request_turn(rq, MK_DUDA_REQUEST_CALLED);
    if (!rq->route || (mk_duda_route_before(rq->route->before, rq) &&
                       (!rq->route->read_inputs || rq->route->read_inputs(rq)))) {
        rq->is_with_callback = true;
        rq->target->function(&rq->dr);
    }
    if (mk_duda_answer_adopt(rq) || !is_forgotten(rq))
        return;
    mk_duda_log(rq->service, MK_LOG_ERROR, "call-back %s called neither end() nor wait()",
                rq->callback);
    mk_duda_answer_forgotten(rq);
}

/* Who is refused sends no body, or the server does not keep it. */
static void ask_guards(struct mk_duda_request *rq)
{
    mk_duda_request_turn(rq, MK_DUDA_REQUEST_CALLED);
    if (mk_duda_route_at_head(rq->route->before, rq))
        mk_duda_request_turn(rq, MK_DUDA_REQUEST_GATHER);
}

static void go_in(struct mk_duda_request *rq)
{
    if (rq->is_at_head)
        ask_guards(rq);
    else
        call_service(rq);
}

void mk_duda_fetched(struct mk_duda_request *rq, bool is_there)
{
    struct mk_duda_here before = mk_duda_enter_request(rq);

    if (is_there)
        go_in(rq);
    else
        mk_duda_answer_release(rq, false);
    mk_duda_leave(before);
    if (rq->r && (rq->receiver || rq->state == MK_DUDA_REQUEST_GATHER))
        mk_request_resume(rq->r); /* its body is read in the hook */
}

static void fetch_and_go_in(struct mk_duda_request *rq)
{
    switch (mk_duda_session_fetch(rq)) {
    case MK_DUDA_SESSION_DONE:
        go_in(rq);
        break;
    case MK_DUDA_SESSION_LATER:
        mk_duda_request_turn(rq, MK_DUDA_REQUEST_FETCH);
        break;
    case MK_DUDA_SESSION_FAILED:
        mk_duda_answer_release(rq, false);
        break;
    }
}

static void enter(struct mk_duda_request *rq, const struct mk_request_facts *facts,
                  const struct mk_duda_match *match)
{
    struct mk_duda_here before;

    rq->target = match->target;
    rq->callback = match->target->name;
    before = mk_duda_enter_request(rq);
    fill_request(rq, facts);
    fill_parts(rq, match);
    rq->rule = match->rule;
    rq->is_inside = true;
    fetch_and_go_in(rq);
    rq->is_inside = false;
    mk_duda_leave(before);
}

static enum mk_verdict call(struct mk_duda_request *rq, const struct mk_request_facts *facts,
                            const struct mk_duda_match *match)
{
    rq->is_at_head = false;
    enter(rq, facts, match);
    return rq->receiver ? mk_duda_receive(rq) : mk_duda_verdict(rq);
}

/* What a route that describes its inputs answers is what its document says; others have a page. */
static enum mk_verdict refuse(const struct mk_duda_request *rq, unsigned status)
{
    static const struct {
        unsigned status;
        struct mk_str problem;
    } problems[] = {
        {400, MK_STR_INIT("{\"title\":\"The form is malformed\",\"status\":400}")},
        {413, MK_STR_INIT("{\"title\":\"The inputs are too large\",\"status\":413}")},
        {503, MK_STR_INIT("{\"title\":\"Try again later\",\"status\":503}")},
        {507, MK_STR_INIT("{\"title\":\"The disk is full\",\"status\":507}")},
    };

    for (size_t i = 0; rq->route && rq->route->inputs && i < sizeof(problems) / sizeof(*problems);
         i++) {
        if (problems[i].status == status)
            return mk_reply_bytes(rq->r, status, "application/problem+json", problems[i].problem);
    }
    return mk_reply_error(rq->r, status, NULL);
}

/* A file for the body cannot be made or written. */
static enum mk_verdict refuse_file(struct mk_duda_request *rq)
{
    const bool is_full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;

    mk_duda_log(rq->service, MK_LOG_ERROR, "a body cannot be kept in %s: %s",
                rq->service->spool_dir, strerror(errno));
    return refuse(rq, is_full ? 507 : 503);
}

static enum mk_verdict refuse_body(struct mk_duda_request *rq, ssize_t err)
{
    switch (err) {
    case MK_E_PEER:
        return MK_VERDICT_CLOSE;
    case MK_E_LIMIT:
        return refuse(rq, 413);
    case MK_E_NOMEM:
    case MK_E_NOFD:
        return refuse(rq, 503);
    case MK_E_SYS:
        return refuse_file(rq);
    default:
        return refuse(rq, 400);
    }
}

/* Where the request goes. A route of level 3 was found before it was made. */
static void find(const struct mk_duda_request *rq, const struct mk_request_facts *facts,
                 struct mk_duda_match *match)
{
    if (rq->route)
        *match = (struct mk_duda_match){.target = &rq->route->target};
    else
        (void)mk_duda_find(rq->service, mk_duda_rest(rq->service, facts->path), facts->query.p,
                           match);
}

/* Called at first and each time that more of the body has come. */
static enum mk_verdict go_on(struct mk_duda_request *rq)
{
    struct mk_request_facts facts;
    struct mk_duda_match match;
    ssize_t n;

    if (rq->receiver)
        return mk_duda_receive(rq);
    if (rq->state != MK_DUDA_REQUEST_GATHER)
        return mk_duda_verdict(rq);
    n = is_multipart(rq) ? read_multipart(rq)
                         : mk_duda_gather(&rq->body, rq->r, rq->service->spool_dir);
    if (n == MK_E_AGAIN)
        return MK_VERDICT_LATER;
    if (n < 0)
        return refuse_body(rq, n);
    if (is_form_too_large(rq))
        return refuse(rq, 413);
    facts.size = MK_REQUEST_ASKED;
    mk_request_facts(rq->r, &facts); /* reading may have moved its texts */
    find(rq, &facts, &match);
    return call(rq, &facts, &match);
}

/* ---- where it begins ---- */

/* Nothing of its answer was sent; what else it waits for finds that it is over. */
static enum mk_verdict give_up(struct mk_duda_request *rq)
{
    if (rq->state != MK_DUDA_REQUEST_GATHER && rq->state != MK_DUDA_REQUEST_CALLED)
        return mk_reply_error(rq->r, 503, NULL);
    rq->is_inside = true;
    mk_duda_answer_release(rq, false);
    rq->is_inside = false;
    return mk_duda_verdict(rq);
}

/* Only of a request that waits the hook is called again. */
static enum mk_verdict keep(struct mk_duda_request *rq, enum mk_verdict verdict)
{
    if (verdict != MK_VERDICT_LATER || mk_request_keep(rq->r, &request_key, rq) == 0)
        return verdict;
    return give_up(rq);
}

/* @param route  of level 3; NULL: match has where it goes */
static enum mk_verdict begin(struct mk_request *r, struct mk_duda_service *s,
                             const struct mk_duda_route *route, const struct mk_duda_match *match)
{
    struct mk_request_facts facts;
    struct mk_duda_request *rq;

    facts.size = MK_REQUEST_ASKED;
    mk_request_facts(r, &facts);
    rq = new_request(r, &facts, s);
    if (!rq)
        return mk_reply_error(r, 503, NULL);
    rq->route = route;
    if (facts.content_length == 0)
        return keep(rq, call(rq, &facts, match));
    if (route && route->before) {
        rq->is_at_head = true;
        enter(rq, &facts, match);
    }
    return keep(rq, go_on(rq));
}

enum mk_verdict mk_duda_on_route(struct mk_request *r, void *arg)
{
    const struct mk_duda_route *route = arg;
    const struct mk_duda_match match = {.target = &route->target};

    return begin(r, route->service, route, &match);
}

enum mk_verdict mk_duda_on_early_route(struct mk_request *r, void *arg)
{
    const struct mk_duda_route *route = arg;
    const struct mk_duda_match match = {.target = &route->target};
    struct mk_request_facts facts;
    struct mk_duda_request *rq;

    facts.size = MK_REQUEST_ASKED;
    mk_request_facts(r, &facts);
    rq = new_request(r, &facts, route->service);
    if (!rq)
        return mk_reply_error(r, 503, NULL);
    rq->route = route;
    rq->is_early = true;
    return keep(rq, call(rq, &facts, &match));
}

enum mk_verdict mk_duda_begin(struct mk_request *r, struct mk_duda_service *s,
                              const struct mk_duda_match *match)
{
    return begin(r, s, NULL, match);
}

bool mk_duda_go_on(struct mk_request *r, enum mk_verdict *verdict)
{
    struct mk_duda_request *rq = mk_request_kept(r, &request_key);

    if (rq)
        *verdict = go_on(rq);
    return rq != NULL;
}
