/* SPDX-License-Identifier: Apache-2.0 */
#include "loopback.h"

#include "server/route/stage.h"

#include <stdlib.h>

/* The stages, with a plugin that says what each row wants it to say. */

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST(path, length) "POST " path " HTTP/1.1\r\nHost: a\r\nContent-Length: " length "\r\n\r\n"

enum act {
    NOTHING,
    ANSWER,      /* a whole answer */
    BEGIN,       /* mk_reply_begin alone */
    ANSWER_TWICE /* and another behind it */
};

/* One call of a hook: what it does, then what it says. */
struct say {
    enum act act;
    int verdict;
};

struct script {
    struct say says[4];
    unsigned asked;
    struct mk_request *request; /* of the last call */
    char path[64];              /* likewise */
};

static struct fixture fix;
static struct script stage20, second20, handler, directory;
static unsigned ended, finished, whole, opened, closed, events;
static int accept_verdict;

static void answer(struct mk_request *r, const char *body)
{
    (void)mk_reply_bytes(r, 200, "text/plain", mk_str_from(body));
}

static void on_end(void *arg)
{
    (void)arg;
    ended++;
}

static enum mk_verdict play(struct script *s, struct mk_request *r)
{
    const struct say *say = &s->says[s->asked++];
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_reply p;

    assert_true(s->asked <= 4);
    mk_request_facts(r, &facts);
    (void)snprintf(s->path, sizeof(s->path), "%.*s", (int)facts.path.len, facts.path.p);
    s->request = r;
    if (s->asked == 1)
        assert_int_equal(mk_request_on_end(r, on_end, NULL), 0);
    if (say->act == BEGIN)
        assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    if (say->act == ANSWER || say->act == ANSWER_TWICE)
        answer(r, "plugin");
    if (say->act == ANSWER_TWICE)
        answer(r, "again");
    return (enum mk_verdict)say->verdict;
}

static enum mk_verdict on_request(struct mk_request *r, const struct mk_context *ctx)
{
    assert_ptr_equal(ctx->worker, fix.worker);
    return play(&stage20, r);
}

static enum mk_verdict on_request_second(struct mk_request *r, const struct mk_context *ctx)
{
    (void)ctx;
    return play(&second20, r);
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    (void)ctx;
    assert_ptr_equal(data, &handler);
    return play(data, r);
}

static enum mk_verdict on_directory(struct mk_request *r, const struct mk_context *ctx, int fd)
{
    (void)ctx;
    assert_true(fd >= 0);
    return play(&directory, r);
}

static void on_finish(struct mk_request *r, const struct mk_context *ctx)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};

    (void)ctx;
    mk_request_facts(r, &facts);
    finished++;
    whole += facts.whole;
}

static enum mk_verdict on_accept(struct mk_conn *c, const struct mk_context *ctx)
{
    (void)c;
    (void)ctx;
    opened++;
    return (enum mk_verdict)accept_verdict;
}

static void on_close(struct mk_conn *c, const struct mk_context *ctx)
{
    (void)c;
    (void)ctx;
    closed++;
}

static void on_conn_event(struct mk_conn *c, const struct mk_context *ctx, unsigned what)
{
    (void)c;
    (void)ctx;
    events |= what;
}

static const struct mk_plugin first = {
    MK_PLUGIN("first", "says what it is told"),
    .on_request = on_request,
    .on_handle = on_handle,
    .on_directory = on_directory,
    .on_finish = on_finish,
    .on_accept = on_accept,
    .on_close = on_close,
    .on_conn_event = on_conn_event,
};
static const struct mk_plugin second = {
    MK_PLUGIN("second", "comes behind"),
    .on_request = on_request_second,
};
static const struct mk_hooked both[] = {{.plugin = &first}, {.plugin = &second}};

static const struct row site[] = {
    {"HANDLERS", "Match", "^/handled echo", 0},
    {"HANDLERS", "Match", "^/handled/twice echo", 0},
    {"HANDLERS", "Match", "index.html$ echo", 0},
    {"SERVER", "HandlerTimeout", "3", 0},
    {"SERVER", "BodyTimeout", "2", 0},
    {NULL, NULL, NULL, 0},
};

static int set_up(void **state)
{
    (void)state;
    dir_make(fix.dir);
    file_write(fix.dir, "file.txt", "file", 4);
    file_write(fix.dir, "bare/x", NULL, 1);
    file_write(fix.dir, "dir/index.html", NULL, 3);
    fixture_open(&fix, site);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_close(&fix);
    dir_remove(fix.dir);
    return 0;
}

static struct mk_site *the_site(void)
{
    return &fix.plan.snapshot.sites[0];
}

/* No script says anything, no hook is there. */
static int forget(void **state)
{
    (void)state;
    memset(&stage20, 0, sizeof(stage20));
    memset(&second20, 0, sizeof(second20));
    memset(&handler, 0, sizeof(handler));
    memset(&directory, 0, sizeof(directory));
    ended = finished = whole = opened = closed = events = 0;
    the_site()->on_request = the_site()->on_directory = the_site()->on_finish =
        (struct mk_hooks){NULL, 0};
    fix.plan.snapshot.on_accept = fix.plan.snapshot.on_close = fix.plan.snapshot.on_conn_event =
        (struct mk_hooks){NULL, 0};
    for (size_t i = 0; i < the_site()->nroutes; i++) {
        the_site()->routes[i].who.plugin = &first;
        the_site()->routes[i].data = &handler;
    }
    return 0;
}

static struct loopback talk_to(const char *in)
{
    struct loopback lb;

    loopback_init(&lb, fix.worker, mk_str_from(in));
    loopback_talk(&lb);
    return lb;
}

/* ---- verdicts ---- */

static void test_verdicts_of_a_handler(void **state)
{
    static const struct {
        const char *what;
        struct say says[2];
        unsigned status; /* 0: no answer, connection closed */
    } rows[] = {
        {"answers", {{ANSWER, MK_VERDICT_DONE}}, 200},
        {"passes, and the next route too", {{NOTHING, MK_VERDICT_PASS}}, 404},
        {"closes", {{NOTHING, MK_VERDICT_CLOSE}}, 0},
        {"returned DONE without an answer", {{NOTHING, MK_VERDICT_DONE}}, 500},
        {"begins and says done", {{BEGIN, MK_VERDICT_DONE}}, 500},
        {"begins and passes", {{BEGIN, MK_VERDICT_PASS}}, 500},
        {"says what no verdict is", {{NOTHING, 77}}, 500},
        {"says a negative one", {{NOTHING, -1}}, 500},
        {"answers and passes: the answer stands", {{ANSWER, MK_VERDICT_PASS}}, 200},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct loopback lb;

        forget(NULL);
        memcpy(handler.says, rows[i].says, sizeof(rows[i].says));
        lb = talk_to(GET("/handled"));
        if (loopback_status(&lb, 0) != rows[i].status)
            fail_msg("%s: %u", rows[i].what, loopback_status(&lb, 0));
        assert_int_equal(loopback_status(&lb, 1), 0);
        assert_int_equal(ended, 1);
        loopback_free(&lb);
    }
}

static void test_second_answer_breaks_the_connection_off(void **state)
{
    struct loopback lb;

    (void)state;
    handler.says[0] = (struct say){ANSWER_TWICE, MK_VERDICT_DONE};
    lb = talk_to(GET("/handled") GET("/file.txt"));
    assert_int_equal(loopback_status(&lb, 0), 200);
    assert_false(loopback_has(&lb, "again"));
    assert_int_equal(loopback_status(&lb, 1), 0);
    loopback_free(&lb);
}

static void test_pass_goes_on_to_the_next_route_and_the_file(void **state)
{
    struct loopback lb;

    (void)state;
    handler.says[1] = (struct say){ANSWER, MK_VERDICT_DONE};
    lb = talk_to(GET("/handled/twice"));
    assert_int_equal(loopback_status(&lb, 0), 200);
    assert_int_equal(handler.asked, 2);
    loopback_free(&lb);
}

static void test_unknown_method_is_the_handlers_first(void **state)
{
    struct loopback lb;

    (void)state;
    handler.says[0] = (struct say){ANSWER, MK_VERDICT_DONE};
    lb = talk_to("PROPFIND /handled HTTP/1.1\r\nHost: a\r\n\r\n"
                 "PROPFIND /file.txt HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_int_equal(loopback_status(&lb, 0), 200);
    assert_int_equal(loopback_status(&lb, 1), 501);
    loopback_free(&lb);
}

/* ---- stage 20 ---- */

static void hook_requests(void)
{
    the_site()->on_request = (struct mk_hooks){both, 2};
}

static void test_stage_20_is_asked_in_order(void **state)
{
    struct loopback lb;

    (void)state;
    hook_requests();
    second20.says[0] = (struct say){ANSWER, MK_VERDICT_DONE};
    lb = talk_to(GET("/file.txt"));
    assert_int_equal(stage20.asked, 1);
    assert_int_equal(second20.asked, 1);
    assert_true(loopback_has(&lb, "plugin"));
    loopback_free(&lb);
}

static void test_stage_20_sees_one_path_however_it_is_written(void **state)
{
    static const char *const targets[] = {"/admin", "/%61dmin", "//admin", "/x/../admin",
                                          "/./admin"};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(targets); i++) {
        char in[128];
        struct loopback lb;

        forget(NULL);
        hook_requests();
        stage20.says[0] = (struct say){ANSWER, MK_VERDICT_DONE};
        (void)snprintf(in, sizeof(in), "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", targets[i]);
        lb = talk_to(in);
        assert_string_equal(stage20.path, "/admin");
        loopback_free(&lb);
    }
}

static void test_stage_20_is_asked_again_for_an_index_file(void **state)
{
    struct loopback lb;

    (void)state;
    hook_requests();
    stage20.says[1] = (struct say){ANSWER, MK_VERDICT_DONE};
    lb = talk_to(GET("/dir/"));
    assert_int_equal(stage20.asked, 2);
    assert_string_equal(stage20.path, "/dir/index.html");
    assert_int_equal(handler.asked, 0);
    loopback_free(&lb);
}

/* ---- LATER ---- */

static struct loopback open_with(const char *in)
{
    struct loopback lb;

    loopback_init(&lb, fix.worker, mk_str_from(in));
    return lb;
}

static void test_later_goes_on_where_it_stopped(void **state)
{
    struct loopback lb = open_with(GET("/handled"));
    uint64_t ticket;

    (void)state;
    hook_requests();
    stage20.says[0] = (struct say){NOTHING, MK_VERDICT_LATER};
    handler.says[0] = (struct say){NOTHING, MK_VERDICT_LATER};
    handler.says[1] = (struct say){ANSWER, MK_VERDICT_DONE};
    loopback_open(&lb);
    loopback_run(&lb);
    assert_int_equal(stage20.asked, 1);
    assert_int_equal(second20.asked, 0);
    ticket = mk_request_ticket(stage20.request);
    assert_ptr_equal(mk_worker_request(fix.worker, ticket), stage20.request);
    loopback_turn(&lb); /* nothing came: it is not asked */
    assert_int_equal(stage20.asked, 1);
    mk_request_resume(stage20.request);
    loopback_run(&lb);
    assert_int_equal(stage20.asked, 2);
    assert_int_equal(second20.asked, 1);
    assert_int_equal(handler.asked, 1);
    assert_int_equal(mk_server_resume(fix.server, ticket), 0);
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, 0), 200);
    assert_null(mk_worker_request(fix.worker, ticket));
    assert_int_equal(mk_server_resume(fix.server, ticket), 0); /* in peace */
    loopback_run(&lb);
    loopback_close(&lb);
    loopback_free(&lb);
}

static void test_directory_hook_may_wait(void **state)
{
    struct loopback lb = open_with(GET("/bare/"));

    (void)state;
    the_site()->on_directory = (struct mk_hooks){both, 1};
    directory.says[0] = (struct say){NOTHING, MK_VERDICT_LATER};
    directory.says[1] = (struct say){ANSWER, MK_VERDICT_DONE};
    loopback_open(&lb);
    loopback_run(&lb);
    assert_int_equal(directory.asked, 1);
    mk_request_resume(directory.request);
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, 0), 200);
    loopback_close(&lb);
    loopback_free(&lb);
}

static void test_directory_that_nobody_shows_is_refused(void **state)
{
    struct loopback lb;

    (void)state;
    the_site()->on_directory = (struct mk_hooks){both, 1};
    lb = talk_to(GET("/bare/") GET("/dir/"));
    assert_int_equal(directory.asked, 1); /* not where there is an index file */
    assert_int_equal(loopback_status(&lb, 0), 403);
    loopback_free(&lb);
}

static void test_answer_from_outside_leaves_by_itself(void **state)
{
    struct loopback lb = open_with(GET("/handled") GET("/file.txt"));

    (void)state;
    handler.says[0] = (struct say){NOTHING, MK_VERDICT_LATER};
    loopback_open(&lb);
    loopback_run(&lb);
    answer(handler.request, "from outside");
    loopback_run(&lb);
    assert_true(loopback_has(&lb, "from outside"));
    assert_int_equal(loopback_status(&lb, 1), 200);
    assert_int_equal(handler.asked, 1);
    loopback_close(&lb);
    loopback_free(&lb);
}

static void test_answers_of_two_connections_are_not_mixed(void **state)
{
    struct loopback a = open_with(GET("/handled")), b = open_with(GET("/handled"));
    struct mk_request *of_a;

    (void)state;
    handler.says[0] = handler.says[1] = (struct say){NOTHING, MK_VERDICT_LATER};
    loopback_open(&a);
    loopback_run(&a);
    of_a = handler.request;
    loopback_open(&b);
    loopback_run(&b);
    answer(of_a, "for the first");
    answer(handler.request, "for the second");
    loopback_turn(&a);
    loopback_run(&b);
    loopback_run(&a);
    assert_true(loopback_has(&a, "for the first"));
    assert_false(loopback_has(&a, "for the second"));
    assert_true(loopback_has(&b, "for the second"));
    assert_false(loopback_has(&b, "for the first"));
    loopback_close(&a);
    loopback_close(&b);
    loopback_free(&a);
    loopback_free(&b);
}

static void test_client_that_leaves_ends_its_request(void **state)
{
    struct loopback lb = open_with(GET("/handled"));
    uint64_t ticket;

    (void)state;
    handler.says[0] = (struct say){NOTHING, MK_VERDICT_LATER};
    loopback_open(&lb);
    loopback_run(&lb);
    ticket = mk_request_ticket(handler.request);
    assert_int_equal(ended, 0);
    loopback_close(&lb);
    assert_int_equal(ended, 1);
    assert_null(mk_worker_request(fix.worker, ticket));
    loopback_free(&lb);
}

static void test_half_close_is_a_leave_only_when_asked_for(void **state)
{
    (void)state;
    for (int ends = 0; ends < 2; ends++) {
        struct loopback lb = open_with(GET("/handled"));

        forget(NULL);
        lb.half_close = true;
        lb.first_piece = 20;
        handler.says[0] = handler.says[1] = (struct say){NOTHING, MK_VERDICT_LATER};
        loopback_open(&lb);
        loopback_run(&lb);
        mk_request_ends_on_hangup(handler.request, ends);
        mk_request_resume(handler.request);
        loopback_run(&lb);
        assert_int_equal(loopback_is_closed(&lb), ends);
        loopback_close(&lb);
        loopback_free(&lb);
    }
}

static void test_tickets_are_not_used_again(void **state)
{
    uint64_t before = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        struct loopback lb = open_with(GET("/handled"));
        uint64_t ticket;

        forget(NULL);
        handler.says[0] = (struct say){NOTHING, MK_VERDICT_LATER};
        loopback_open(&lb);
        loopback_run(&lb);
        ticket = mk_request_ticket(handler.request);
        assert_true(ticket > before);
        assert_null(mk_worker_request(fix.worker, before));
        before = ticket;
        loopback_close(&lb);
        loopback_free(&lb);
    }
    assert_null(mk_worker_request(fix.worker, ~(uint64_t)0));
    assert_null(mk_worker_request(fix.worker, 0));
}

static void test_ticket_without_memory_is_none(void **state)
{
    struct loopback lb = open_with(GET("/handled"));

    (void)state;
    handler.says[0] = (struct say){NOTHING, MK_VERDICT_LATER};
    mk_heap_free(fix.worker->tickets->slots);
    mk_tickets_init(fix.worker->tickets);
    loopback_open(&lb);
    loopback_run(&lb);
    mk_heap_fail_after(0);
    assert_int_equal(mk_request_ticket(handler.request), 0);
    mk_heap_fail_after(-1);
    assert_int_not_equal(mk_request_ticket(handler.request), 0);
    loopback_close(&lb);
    loopback_free(&lb);
}

/* ---- timeouts ---- */

static void test_handler_that_never_answers_is_500(void **state)
{
    struct loopback lb = open_with(GET("/handled"));

    (void)state;
    handler.says[0] = (struct say){NOTHING, MK_VERDICT_LATER};
    loopback_open(&lb);
    loopback_run(&lb);
    loopback_time_out(&lb);
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, 0), 500);
    assert_int_equal(ended, 1);
    loopback_close(&lb);
    loopback_free(&lb);
}

static void test_patience_for_ever_outlives_the_timer(void **state)
{
    struct loopback lb = open_with(GET("/handled"));

    (void)state;
    handler.says[0] = (struct say){NOTHING, MK_VERDICT_LATER};
    loopback_open(&lb);
    loopback_run(&lb);
    mk_request_timeout(handler.request, 0);
    loopback_time_out(&lb);
    loopback_run(&lb);
    assert_false(loopback_is_closed(&lb));
    assert_int_equal(ended, 0);
    loopback_close(&lb);
    loopback_free(&lb);
}

static enum mk_verdict read_then_wait(struct mk_request *r, const struct mk_context *ctx,
                                      void *data)
{
    char body[64];
    ssize_t n;

    (void)ctx;
    (void)data;
    handler.asked++;
    n = mk_request_read(r, body, sizeof(body));
    if (n == MK_E_AGAIN)
        return MK_VERDICT_LATER;
    answer(r, n > 0 ? "body" : "none");
    return MK_VERDICT_DONE;
}

static const struct mk_plugin reader = {MK_PLUGIN("reader", "reads"), .on_handle = read_then_wait};

static void test_body_wakes_who_waits_for_it(void **state)
{
    struct loopback lb = open_with(POST("/handled", "5"));

    (void)state;
    the_site()->routes[0].who.plugin = &reader;
    loopback_open(&lb);
    loopback_run(&lb);
    assert_int_equal(handler.asked, 1);
    loopback_say(&lb, MK_STR("hello"));
    loopback_run(&lb);
    assert_true(loopback_has(&lb, "body"));
    loopback_close(&lb);
    loopback_free(&lb);
}

static void test_body_that_does_not_come_is_408(void **state)
{
    struct loopback lb = open_with(POST("/handled", "5"));

    (void)state;
    the_site()->routes[0].who.plugin = &reader;
    loopback_open(&lb);
    loopback_run(&lb);
    loopback_time_out(&lb);
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, 0), 408);
    loopback_close(&lb);
    loopback_free(&lb);
}

static void test_100_is_sent_when_the_body_is_first_read(void **state)
{
    static const char in[] = "POST /handled HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
                             "Expect: 100-continue\r\n\r\n";
    struct loopback lb = open_with(in);

    (void)state;
    handler.says[0] = (struct say){ANSWER, MK_VERDICT_DONE};
    loopback_open(&lb);
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, 0), 200); /* nobody read it: no 100 */
    loopback_close(&lb);
    loopback_free(&lb);

    lb = open_with(in);
    the_site()->routes[0].who.plugin = &reader;
    loopback_open(&lb);
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, 0), 100);
    loopback_say(&lb, MK_STR("hello"));
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, 1), 200);
    loopback_close(&lb);
    loopback_free(&lb);
}

/* ---- stages 10, 40, 50, and events ---- */

static void test_finish_is_told_once_a_request(void **state)
{
    struct loopback lb;

    (void)state;
    the_site()->on_finish = (struct mk_hooks){both, 1};
    lb = talk_to(GET("/file.txt") GET("/missing") "GET / HTTP/9.9\r\n\r\n");
    assert_int_equal(finished, 3);
    assert_int_equal(whole, 3);
    loopback_free(&lb);
}

static void test_finish_tells_of_what_was_broken_off(void **state)
{
    struct loopback lb = open_with(GET("/handled"));

    (void)state;
    the_site()->on_finish = (struct mk_hooks){both, 1};
    handler.says[0] = (struct say){NOTHING, MK_VERDICT_LATER};
    loopback_open(&lb);
    loopback_run(&lb);
    loopback_close(&lb);
    assert_int_equal(finished, 1);
    assert_int_equal(whole, 0);
    loopback_free(&lb);
}

static void test_connection_that_is_not_let_in(void **state)
{
    struct loopback lb;

    (void)state;
    fix.plan.snapshot.on_accept = fix.plan.snapshot.on_close = (struct mk_hooks){both, 1};
    accept_verdict = MK_VERDICT_CLOSE;
    lb = talk_to(GET("/file.txt"));
    assert_int_equal(opened, 1);
    assert_int_equal(lb.out_len, 0);
    assert_int_equal(closed, 0);
    loopback_free(&lb);
}

static void test_close_is_told_once_a_connection(void **state)
{
    struct loopback lb;

    (void)state;
    fix.plan.snapshot.on_accept = fix.plan.snapshot.on_close = fix.plan.snapshot.on_conn_event =
        (struct mk_hooks){both, 1};
    accept_verdict = MK_VERDICT_PASS;
    lb = open_with(GET("/file.txt") GET("/file.txt"));
    lb.in_piece = 10;
    loopback_talk(&lb);
    assert_int_equal(opened, 1);
    assert_int_equal(closed, 1);
    assert_true(events & MK_IO_READ);
    loopback_free(&lb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_verdicts_of_a_handler, forget),
        cmocka_unit_test_setup(test_second_answer_breaks_the_connection_off, forget),
        cmocka_unit_test_setup(test_pass_goes_on_to_the_next_route_and_the_file, forget),
        cmocka_unit_test_setup(test_unknown_method_is_the_handlers_first, forget),
        cmocka_unit_test_setup(test_stage_20_is_asked_in_order, forget),
        cmocka_unit_test_setup(test_stage_20_sees_one_path_however_it_is_written, forget),
        cmocka_unit_test_setup(test_stage_20_is_asked_again_for_an_index_file, forget),
        cmocka_unit_test_setup(test_later_goes_on_where_it_stopped, forget),
        cmocka_unit_test_setup(test_directory_hook_may_wait, forget),
        cmocka_unit_test_setup(test_directory_that_nobody_shows_is_refused, forget),
        cmocka_unit_test_setup(test_answer_from_outside_leaves_by_itself, forget),
        cmocka_unit_test_setup(test_answers_of_two_connections_are_not_mixed, forget),
        cmocka_unit_test_setup(test_client_that_leaves_ends_its_request, forget),
        cmocka_unit_test_setup(test_half_close_is_a_leave_only_when_asked_for, forget),
        cmocka_unit_test_setup(test_tickets_are_not_used_again, forget),
        cmocka_unit_test_setup(test_ticket_without_memory_is_none, forget),
        cmocka_unit_test_setup(test_handler_that_never_answers_is_500, forget),
        cmocka_unit_test_setup(test_patience_for_ever_outlives_the_timer, forget),
        cmocka_unit_test_setup(test_body_wakes_who_waits_for_it, forget),
        cmocka_unit_test_setup(test_body_that_does_not_come_is_408, forget),
        cmocka_unit_test_setup(test_100_is_sent_when_the_body_is_first_read, forget),
        cmocka_unit_test_setup(test_finish_is_told_once_a_request, forget),
        cmocka_unit_test_setup(test_finish_tells_of_what_was_broken_off, forget),
        cmocka_unit_test_setup(test_connection_that_is_not_let_in, forget),
        cmocka_unit_test_setup(test_close_is_told_once_a_connection, forget),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
