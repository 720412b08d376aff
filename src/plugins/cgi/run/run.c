/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_int.h"

#include "kit/target/target.h"

#include <stdlib.h>
#include <string.h>

/* ---- the crew's list ---- */

static struct run **bucket_of(struct crew *crew, uint64_t ticket)
{
    return &crew->runs[ticket % CREW_BUCKETS];
}

static struct run *find(struct crew *crew, uint64_t ticket)
{
    struct run *run = *bucket_of(crew, ticket);

    while (run && (!run->r || run->ticket != ticket))
        run = run->next;
    return run;
}

static void add(struct crew *crew, struct run *run)
{
    run->link = bucket_of(crew, run->ticket);
    run->next = *run->link;
    if (run->next)
        run->next->link = &run->next;
    *run->link = run;
}

/* ---- states ---- */

void cgi_run_trace(const void *of, const struct states *table, unsigned was, unsigned is)
{
    const struct run *run = of;
    static const char text[] = "cgi state of=%s was=%s is=%s script=\"%s\"";

    if (run->r)
        mk_request_log(run->r, MK_LOG_TRACE, text, table->of, table->rows[was].name,
                       table->rows[is].name, run->label);
    else
        mk_server_log(mk_worker_server(run->worker), MK_LOG_TRACE, text, table->of,
                      table->rows[was].name, table->rows[is].name, run->label);
}

/* ---- the end ---- */

static void free_run(struct run *run)
{
    *run->link = run->next;
    if (run->next)
        run->next->link = run->link;
    mk_io_close(run->line);
    mk_io_close(run->input);
    mk_io_close(run->output);
    mk_io_close(run->errors);
    mk_alarm_free(run->alarm);
    upload_leave(&run->upload);
    cgi_spawner_put(run->spawner);
    free(run->order);
    free(run);
}

/* What a script leaves behind in its group is ended with the request. */
void cgi_run_settle(struct run *run)
{
    if (run->has_request)
        return;
    if (run_has_ended(run) && run->line && run->state == RUN_GOES)
        cgi_run_end_script(run);
    if (run->line || run->place.unwanted)
        return;
    cgi_run_hear_last_errors(run);
    free_run(run);
}

/* The answer is whole, or the request went elsewhere: the script may finish what it does. */
static bool is_content(const struct run *run)
{
    const struct gateway_answer *a = &run->answer;

    if (a->progress == GATEWAY_MOVED)
        return true;
    return a->progress == GATEWAY_BODY &&
           (a->ended || a->head_only || a->head.status == 204 || a->head.status == 304);
}

static void stop_before_start(struct run *run)
{
    (void)cgi_pool_leave(&run->place); /* if it is granted just now, on_granted settles */
    mk_alarm_cancel(run->alarm);
    run_go(run, RUN_OVER);
}

static void leave_request(struct run *run)
{
    bool is_done = is_content(run);

    upload_leave(&run->upload);
    run->r = NULL;
    mk_io_close(run->input);
    run->input = NULL;
    cgi_run_end_output(run);
    if (run->state == RUN_GOES && is_done)
        mk_alarm_set(run->alarm, run->timeout_ms);
    else if (run->state == RUN_GOES)
        cgi_run_end_script(run);
    else if (run->state < RUN_GOES)
        stop_before_start(run);
}

/* The request has ended, in whichever way. */
static void on_end(void *arg)
{
    struct run *run = arg;

    if (run->r)
        leave_request(run);
    gateway_answer_fini(&run->answer);
    intake_fini(&run->body);
    run->has_request = false;
    cgi_run_settle(run);
}

void cgi_run_end_all(struct crew *crew)
{
    for (size_t i = 0; i < CREW_BUCKETS; i++) {
        for (struct run *run = crew->runs[i], *next; run; run = next) {
            next = run->next;
            (void)cgi_pool_leave(&run->place);
            free_run(run);
        }
    }
}

/* ---- on the way ---- */

void cgi_run_advance(struct run *run)
{
    if (run->r && run->state >= RUN_GOES) {
        enum gateway_progress progress = gateway_answer_input(&run->answer);

        if (progress == GATEWAY_FAILED)
            cgi_run_end_script(run);
        else if (progress == GATEWAY_MOVED)
            leave_request(run);
    }
    cgi_run_settle(run);
}

static void time_out(struct run *run)
{
    char url[TARGET_TEXT];

    mk_request_log(run->r, MK_LOG_ERROR, "cgi script=\"%s\" was silent for too long url=\"%s\"",
                   run->label, target_text(run->r, url));
    gateway_answer_fail(&run->answer, 504, NULL);
    cgi_run_spoil(run);
    cgi_run_end_script(run);
}

/* Whoever waits for the client or for us has time. */
static void check_progress(struct run *run)
{
    int64_t now = mk_worker_now_ms(run->worker), spent = now - run->moved_ms;

    if (run->out >= OUT_ENDED) { /* and the script has not ended since: it closed it on purpose */
        if (run->out == OUT_ENDED)
            run_turn(run, &cgi_out_states, &run->out, OUT_SILENT);
        cgi_run_advance(run);
        return;
    }
    if (run->out != OUT_AWAITED || run->is_starved || cgi_run_is_our_turn(run)) {
        run->moved_ms = now;
        spent = 0;
    }
    if (spent >= run->timeout_ms)
        time_out(run);
    else
        mk_alarm_set(run->alarm, run->timeout_ms - (unsigned)spent);
}

static void turn_away(struct run *run, const char *why)
{
    stop_before_start(run);
    cgi_run_spoil(run);
    mk_request_log(run->r, MK_LOG_WARN, "cgi script=\"%s\" %s", run->label, why);
    gateway_answer_fail(&run->answer, 503, "Retry-After: 5\r\n");
}

static void on_alarm(struct mk_alarm *alarm, void *arg)
{
    struct run *run = arg;

    (void)alarm;
    switch ((enum run_state)run->state) {
    case RUN_WAITS:
        turn_away(run, "waited too long for a place");
        break;
    case RUN_STARTS:
        cgi_run_start(run);
        break;
    case RUN_GOES:
        if (run->r)
            check_progress(run);
        else
            cgi_run_end_script(run);
        break;
    case RUN_ENDS: /* the spawner hangs */
        mk_io_close(run->line);
        run->line = NULL;
        run_go(run, RUN_OVER);
        if (!run_has_ended(run))
            cgi_run_note_end(run, true);
        cgi_run_settle(run);
        break;
    case RUN_GATHERS:
    case RUN_OVER:
    case RUN_STATE_COUNT:
        break;
    }
}

/* Its upload has become slow, and others wait for its place. */
static void end_slow(struct upload *upload)
{
    struct run *run = (struct run *)(void *)((char *)upload - offsetof(struct run, upload));

    if (run->state != RUN_GOES)
        return;
    upload_leave(upload);
    mk_request_log(run->r, MK_LOG_WARN,
                   "cgi script=\"%s\" ended, because its client sends too slowly while others wait",
                   run->label);
    gateway_answer_fail(&run->answer, 408, NULL);
    cgi_run_spoil(run);
    cgi_run_end_script(run);
}

/* A place is held. */
static void start(struct run *run)
{
    if (upload_begin(&run->upload, run->place.pool->uploads, run->worker, &run->body, end_slow) < 0)
        turn_away(run, "cannot be run for lack of memory");
    else
        cgi_run_start(run);
}

static void on_granted(struct place *place)
{
    struct run *run = (struct run *)(void *)((char *)place - offsetof(struct run, place));

    place->unwanted = false;
    if (place->state == PLACE_HELD)
        start(run);
    cgi_run_settle(run);
}

/* ---- the beginning ---- */

static bool is_nph(struct mk_str name)
{
    size_t at = name.len;

    while (at > 0 && name.p[at - 1] != '/')
        at--;
    return name.len - at >= 4 && memcmp(name.p + at, "nph-", 4) == 0;
}

static int find_script(struct gateway_script *script, struct mk_request *r,
                       const struct cgi_route *route)
{
    if (route->prefix_len == 0)
        return gateway_script_find(script, r);
    if (route->folder)
        return gateway_script_find_in(script, r, route->prefix_len, route->folder);
    return gateway_script_mount(script, r, route->prefix_len, route->interpreter);
}

static void hold_head(void *arg, size_t bytes)
{
    struct run *run = arg;

    if (run->r)
        intake_hold(&run->body, run->r, bytes);
}

static int fill(struct run *run, struct mk_request *r, const struct gateway_script *script)
{
    struct mk_request_facts f = {.size = sizeof(f)};
    enum mk_response_kind kind = is_nph(script->name) ? MK_RESPONSE_HTTP : MK_RESPONSE_CGI;

    run->alarm = mk_alarm_new(run->worker, on_alarm, run);
    if (!run->alarm || mk_request_on_end(r, on_end, run) < 0)
        return MK_E_NOMEM;
    run->r = r;
    run->has_request = true;
    run->is_traced = mk_request_logs(r, MK_LOG_TRACE);
    run->script = *script;
    run->timeout_ms = run->site->timeout_ms;
    run->place.worker = run->worker;
    run->place.granted = on_granted;
    (void)gateway_complaint_escape(run->label, sizeof(run->label), script->name);
    mk_request_facts(r, &f);
    intake_init(&run->body, r, &f, (enum intake_mode)run->site->buffering, true);
    gateway_answer_init(&run->answer, r, kind, run->site->max_answer_head, cgi_run_output, run);
    run->answer.hold = hold_head;
    run->answer.backend = run->label;
    run->answer.type = run->route->type;
    return 0;
}

static struct run *new_run(struct mk_request *r, struct crew *crew, const struct yard *yard,
                           const struct cgi_site *site, const struct cgi_route *route,
                           const struct gateway_script *script)
{
    uint64_t ticket = mk_request_ticket(r);
    struct run *run = ticket ? calloc(1, sizeof(*run)) : NULL;

    if (!run)
        return NULL;
    run->worker = crew->worker;
    run->yard = yard;
    run->site = site;
    run->route = route;
    run->ticket = ticket;
    run->spawner = cgi_spawner_get(site->spawner);
    add(crew, run);
    if (fill(run, r, script) < 0) {
        free_run(run);
        return NULL;
    }
    return run;
}

static void take_place(struct run *run)
{
    int err;

    mk_request_ends_on_hangup(run->r, true);
    mk_request_timeout(run->r, 0); /* we know better what is waited for */
    run_go(run, RUN_WAITS);
    err = cgi_pool_take(run->site->pool, &run->place);
    if (err == 0)
        start(run);
    else if (err == MK_E_AGAIN)
        mk_alarm_set(run->alarm, run->site->queue_ms);
    else
        turn_away(run, "refused, because too many wait");
}

static enum mk_verdict verdict_of(const struct run *run)
{
    return run->answer.progress == GATEWAY_HEAD || run->answer.progress == GATEWAY_MOVED
               ? MK_VERDICT_LATER
               : MK_VERDICT_DONE;
}

static enum mk_verdict begin(struct mk_request *r, struct run *run)
{
    enum mk_verdict verdict = intake_gather(&run->body, r, run->site->spool_dir);

    if (verdict != MK_VERDICT_PASS)
        return verdict;
    take_place(run);
    return verdict_of(run);
}

enum mk_verdict cgi_run_handle(struct mk_request *r, struct crew *crew, const struct yard *yard,
                               const struct cgi_site *site, const struct cgi_route *route)
{
    struct run *run = find(crew, mk_request_ticket(r));
    struct gateway_script script;
    int found;

    if (run && run->state == RUN_GATHERS)
        return begin(r, run);
    if (run) {
        if (run->state == RUN_GOES)
            cgi_run_feed(run);
        return verdict_of(run);
    }
    found = find_script(&script, r, route);
    if (found == GATEWAY_DIRECTORY)
        return MK_VERDICT_PASS;
    if (found < 0)
        return mk_reply_error(r, gateway_script_status(found), NULL);
    run = new_run(r, crew, yard, site, route, &script);
    return run ? begin(r, run) : mk_reply_error(r, 503, NULL);
}
