/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include "base/heap.h"

#include <monkey/events.h>

#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Work of a request on the offload pool: src/web/task.c. */

enum { THREADS = 8, PATIENCE_S = 60 };

/* What a test and its tasks share. */
struct scene {
    struct mk_task_calls calls;
    struct mk_server *server;
    sem_t may_end; /* posted once for each work that holds_on */
    pthread_t worker;
    atomic_int works, answers, ends, begun, unwanted;
    atomic_int started;              /* tasks */
    atomic_bool is_patient;          /* of begin_with_timeout */
    atomic_int served, busy, broken; /* answers to mk_server_ask */
    int results[3];
};

static void scene_close(struct scene *s)
{
    mk_server_free(s->server);
    sem_destroy(&s->may_end);
}

static void wait_for(atomic_int *number, int wanted)
{
    const struct timespec while_ = {.tv_nsec = 1000000};

    for (int i = 0; i < PATIENCE_S * 1000 && atomic_load(number) < wanted; i++)
        nanosleep(&while_, NULL);
    assert_true(atomic_load(number) >= wanted);
}

static void count_end(void *arg)
{
    struct scene *s = arg;

    atomic_fetch_add(&s->ends, 1);
}

static void compute(const struct mk_task *task, void *arg)
{
    struct scene *s = arg;

    assert_true(mk_task_is_wanted(task));
    assert_false(pthread_equal(pthread_self(), s->worker));
    atomic_fetch_add(&s->works, 1);
}

static void hold_on(const struct mk_task *task, void *arg)
{
    struct scene *s = arg;

    (void)task;
    atomic_fetch_add(&s->begun, 1);
    while (sem_wait(&s->may_end) < 0)
        continue;
}

static void work_while_wanted(const struct mk_task *task, void *arg)
{
    const struct timespec while_ = {.tv_nsec = 1000000};
    struct scene *s = arg;

    atomic_fetch_add(&s->begun, 1);
    for (int i = 0; i < PATIENCE_S * 1000 && mk_task_is_wanted(task); i++)
        nanosleep(&while_, NULL);
    if (!mk_task_is_wanted(task))
        atomic_fetch_add(&s->unwanted, 1);
}

static enum mk_verdict say_done(struct mk_request *r, void *arg)
{
    struct scene *s = arg;

    assert_true(pthread_equal(pthread_self(), s->worker));
    assert_false(mk_task_runs(r));
    atomic_fetch_add(&s->answers, 1);
    return mk_reply_bytes(r, 200, "text/plain", MK_STR("done"));
}

static enum mk_verdict begin_calls(struct mk_request *r, struct scene *s,
                                   const struct mk_task_calls *calls)
{
    int err;

    if (mk_task_runs(r))
        return MK_VERDICT_LATER;
    s->worker = pthread_self();
    err = mk_task_start(r, calls, s);
    if (err == 0)
        atomic_fetch_add(&s->started, 1);
    return err < 0 ? mk_reply_refusal(r, err) : MK_VERDICT_LATER;
}

static enum mk_verdict begin(struct mk_request *r, void *arg)
{
    struct scene *s = arg;

    return begin_calls(r, s, &s->calls);
}

/* Whatever the tasks of the other route do. */
static enum mk_verdict begin_other(struct mk_request *r, void *arg)
{
    static const struct mk_task_calls calls = {
        .size = sizeof(calls), .work = compute, .answer = say_done};

    return begin_calls(r, arg, &calls);
}

/* @param queue  HandlerQueue */
static void scene_open_with(struct scene *s, const char *queue,
                            void (*work)(const struct mk_task *, void *),
                            enum mk_verdict (*answer)(struct mk_request *, void *),
                            mk_handle_fn handle)
{
    struct mk_config *config = web_config();

    *s = (struct scene){
        .calls = {.size = sizeof(s->calls), .work = work, .answer = answer, .end = count_end}};
    sem_init(&s->may_end, 0, 0);
    assert_int_equal(mk_config_set(config, "SERVER", "HandlerQueue", queue, "test"), 0);
    assert_int_equal(mk_config_handle(config, "GET POST", "/", handle, s), 0);
    assert_int_equal(mk_config_handle(config, "GET", "/other", begin_other, s), 0);
    s->server = web_serve(config);
}

static void scene_open(struct scene *s, void (*work)(const struct mk_task *, void *),
                       enum mk_verdict (*answer)(struct mk_request *, void *), mk_handle_fn handle)
{
    scene_open_with(s, "0", work, answer, handle);
}

static void count_answer(const struct mk_answer *answer, void *arg)
{
    struct scene *s = arg;

    atomic_fetch_add(answer->error < 0        ? &s->broken
                     : answer->status == 503U ? &s->busy
                                              : &s->served,
                     1);
}

static void ask_later(struct scene *s)
{
    const struct mk_question question = {.size = sizeof(question), .target = MK_STR("/")};

    assert_int_equal(mk_server_ask(s->server, &question, count_answer, s), 0);
}

/* ---- */

static void work_is_done_elsewhere_and_answered_on_the_worker(void **state)
{
    const long live = mk_heap_live();
    struct scene s;

    (void)state;
    scene_open(&s, compute, say_done, begin);
    for (int i = 1; i <= 20; i++) {
        web_expect(s.server, "/", 200, "done");
        assert_int_equal(atomic_load(&s.works), i);
    }
    web_is(web_ask(s.server, "POST", "/", NULL, "an unread body"), 200, "done");
    scene_close(&s);
    assert_int_equal(atomic_load(&s.ends), 21);
    assert_int_equal(mk_heap_live(), live);
}

static enum mk_verdict begin_another(struct mk_request *r, void *arg)
{
    struct scene *s = arg;

    if (atomic_fetch_add(&s->answers, 1) % 2 != 0)
        return mk_reply_bytes(r, 200, "text/plain", MK_STR("both"));
    assert_int_equal(mk_task_start(r, &s->calls, s), 0);
    assert_true(mk_task_runs(r));
    return MK_VERDICT_LATER;
}

static void an_answer_may_start_another_task(void **state)
{
    const long live = mk_heap_live();
    struct scene s;

    (void)state;
    scene_open(&s, compute, begin_another, begin);
    web_expect(s.server, "/", 200, "both");
    web_expect(s.server, "/", 200, "both");
    scene_close(&s);
    assert_int_equal(atomic_load(&s.works), 4);
    assert_int_equal(atomic_load(&s.ends), 4);
    assert_int_equal(mk_heap_live(), live);
}

static void a_group_is_a_bound(void **state)
{
    struct mk_task_limits limits = {.size = sizeof(limits)};
    struct scene s;

    (void)state;
    scene_open(&s, hold_on, say_done, begin);
    limits.tasks = 1;
    assert_int_equal(mk_task_group_new(&s.calls.group, &limits), 0);
    ask_later(&s);
    wait_for(&s.begun, 1);
    web_expect(s.server, "/", 503, NULL);
    sem_post(&s.may_end);
    wait_for(&s.served, 1);
    sem_post(&s.may_end);
    web_expect(s.server, "/", 200, "done");
    scene_close(&s);
    mk_task_group_free(s.calls.group);
    mk_task_group_free(NULL);
    assert_int_equal(atomic_load(&s.ends), 2);
}

/* @param setting  HandlerQueue. @param places  that it means */
static void expect_queue_of(const char *setting, int places)
{
    enum { MORE = 5 };
    struct scene s;

    scene_open_with(&s, setting, hold_on, say_done, begin);
    for (int i = 0; i < THREADS; i++)
        ask_later(&s);
    wait_for(&s.begun, THREADS);
    for (int i = 0; i < places + MORE; i++)
        ask_later(&s);
    wait_for(&s.busy, MORE);
    for (int i = 0; i < THREADS + places; i++)
        sem_post(&s.may_end);
    wait_for(&s.served, THREADS + places);
    scene_close(&s);
    assert_int_equal(atomic_load(&s.busy), MORE);
    assert_int_equal(atomic_load(&s.ends), THREADS + places);
}

static void a_full_queue_refuses(void **state)
{
    (void)state;
    expect_queue_of("1", 1);
    expect_queue_of("300", 300);
}

/* Its threads are held by tasks that do not end, and hundreds more of them wait. */
static void a_crowded_route_delays_no_other(void **state)
{
    enum { CROWD = 1000 };
    struct scene s;

    (void)state;
    scene_open(&s, hold_on, say_done, begin);
    for (int i = 0; i < CROWD; i++)
        ask_later(&s);
    wait_for(&s.begun, THREADS);
    wait_for(&s.started, CROWD);
    for (int i = 0; i < 3; i++)
        web_expect(s.server, "/other", 200, "done");
    assert_int_equal(atomic_load(&s.begun), THREADS);
    for (int i = 0; i < CROWD; i++)
        sem_post(&s.may_end);
    wait_for(&s.served, CROWD);
    scene_close(&s);
    assert_int_equal(atomic_load(&s.busy), 0);
    assert_int_equal(atomic_load(&s.ends), CROWD);
}

static void a_group_may_have_fewer_threads(void **state)
{
    const struct mk_task_limits limits = {.size = sizeof(limits), .threads = 2};
    enum { MEMBERS = 6 };
    struct scene s;

    (void)state;
    scene_open(&s, hold_on, say_done, begin);
    assert_int_equal(mk_task_group_new(&s.calls.group, &limits), 0);
    for (int i = 0; i < MEMBERS; i++)
        ask_later(&s);
    wait_for(&s.begun, 2);
    wait_for(&s.started, MEMBERS);
    web_expect(s.server, "/other", 200, "done");
    assert_int_equal(atomic_load(&s.begun), 2);
    for (int i = 0; i < MEMBERS; i++)
        sem_post(&s.may_end);
    wait_for(&s.served, MEMBERS);
    scene_close(&s);
    mk_task_group_free(s.calls.group);
}

static void handlers_may_have_more_threads(void **state)
{
    struct mk_config *config = web_config();
    enum { MORE = 20 };
    struct scene s = {
        .calls = {.size = sizeof(s.calls), .work = hold_on, .answer = say_done, .end = count_end}};

    (void)state;
    sem_init(&s.may_end, 0, 0);
    assert_int_equal(mk_config_set(config, "SERVER", "HandlerThreads", "20", "test"), 0);
    assert_int_equal(mk_config_handle(config, "GET", "/", begin, &s), 0);
    s.server = web_serve(config);
    for (int i = 0; i < MORE; i++)
        ask_later(&s);
    wait_for(&s.begun, MORE);
    for (int i = 0; i < MORE; i++)
        sem_post(&s.may_end);
    wait_for(&s.served, MORE);
    scene_close(&s);
}

/* All requests of a group that wait end by their timeout: others get their places before a thread comes. */
static enum mk_verdict begin_with_timeout(struct mk_request *r, void *arg)
{
    struct scene *s = arg;

    if (mk_task_runs(r))
        return MK_VERDICT_LATER;
    if (atomic_load(&s->begun) == THREADS && !atomic_load(&s->is_patient))
        mk_request_timeout(r, 1);
    return begin(r, arg);
}

static void ask_many(struct scene *s, int n)
{
    for (int i = 0; i < n; i++)
        ask_later(s);
}

/* All threads have begun. So many tasks fill a bound; they end with their requests, and so many others have their places. */
static void expect_places_of(struct scene *s, int places)
{
    ask_many(s, places);
    wait_for(&s->ends, places);
    wait_for(&s->served, places); /* each with 500 */
    atomic_store(&s->is_patient, true);
    ask_many(s, places + 1);
    wait_for(&s->busy, 1);
    for (int i = 0; i < THREADS + places; i++)
        sem_post(&s->may_end);
    wait_for(&s->served, THREADS + places + places);
    scene_close(s);
    assert_int_equal(atomic_load(&s->busy), 1);
    assert_int_equal(atomic_load(&s->begun), THREADS + places);
}

static void a_request_that_ends_leaves_its_group(void **state)
{
    enum { MEMBERS = 5 };
    const struct mk_task_limits limits = {.size = sizeof(limits), .tasks = THREADS + MEMBERS};
    const long live = mk_heap_live();
    struct scene s;

    (void)state;
    scene_open(&s, hold_on, say_done, begin_with_timeout);
    assert_int_equal(mk_task_group_new(&s.calls.group, &limits), 0);
    ask_many(&s, THREADS);
    wait_for(&s.begun, THREADS);
    expect_places_of(&s, MEMBERS);
    assert_int_equal(atomic_load(&s.ends), THREADS + MEMBERS + MEMBERS);
    mk_task_group_free(s.calls.group);
    assert_int_equal(mk_heap_live(), live);
}

/* While no thread is free. */
static void a_request_that_ends_leaves_the_queue(void **state)
{
    const long live = mk_heap_live();
    struct scene s;

    (void)state;
    scene_open_with(&s, "200", hold_on, say_done, begin_with_timeout);
    ask_many(&s, THREADS);
    wait_for(&s.begun, THREADS);
    expect_places_of(&s, 200);
    assert_int_equal(mk_heap_live(), live);
}

static int client_of(const struct mk_server *server)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_port = htons((uint16_t)mk_server_port(server, 0));
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL), sizeof(request) - 1);
    return fd;
}

static void reset(int fd)
{
    const struct linger none = {.l_onoff = 1};

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none)), 0);
    close(fd);
}

/* First those whose tasks wait, which therefore never begin, then those whose tasks run. */
static void clients_may_leave_their_tasks(void **state)
{
    enum { WAITING = 3 };
    const long live = mk_heap_live();
    int clients[THREADS + WAITING];
    struct scene s;

    (void)state;
    scene_open(&s, work_while_wanted, say_done, begin);
    for (int i = 0; i < THREADS + WAITING; i++) {
        clients[i] = client_of(s.server);
        wait_for(&s.started, i + 1);
    }
    wait_for(&s.begun, THREADS);
    for (int i = THREADS; i < THREADS + WAITING; i++)
        reset(clients[i]);
    wait_for(&s.ends, WAITING);
    assert_int_equal(atomic_load(&s.unwanted), 0);
    for (int i = 0; i < THREADS; i++)
        reset(clients[i]);
    wait_for(&s.ends, THREADS + WAITING);
    scene_close(&s);
    assert_int_equal(atomic_load(&s.begun), THREADS);
    assert_int_equal(atomic_load(&s.unwanted), THREADS);
    assert_int_equal(atomic_load(&s.answers), 0);
    assert_int_equal(mk_heap_live(), live);
}

static void a_reload_lets_tasks_go_on(void **state)
{
    const long live = mk_heap_live();
    struct scene s;

    (void)state;
    scene_open(&s, hold_on, say_done, begin);
    for (int i = 0; i < THREADS + 1; i++)
        ask_later(&s);
    wait_for(&s.begun, THREADS);
    wait_for(&s.started, THREADS + 1);
    assert_int_equal(mk_server_reload(s.server, web_config()), 0);
    assert_int_equal(mk_server_reload(s.server, web_config()), 0);
    assert_int_equal(atomic_load(&s.answers), 0);
    for (int i = 0; i < THREADS + 2; i++)
        sem_post(&s.may_end);
    wait_for(&s.served, THREADS + 1);
    web_expect(s.server, "/", 200, "done");
    scene_close(&s);
    assert_int_equal(atomic_load(&s.answers), THREADS + 2);
    assert_int_equal(atomic_load(&s.ends), THREADS + 2);
    assert_int_equal(mk_heap_live(), live);
}

static void a_graceful_stop_waits_for_tasks(void **state)
{
    const long live = mk_heap_live();
    struct scene s;

    (void)state;
    scene_open(&s, hold_on, say_done, begin);
    for (int i = 0; i < THREADS + 1; i++)
        ask_later(&s);
    wait_for(&s.begun, THREADS);
    wait_for(&s.started, THREADS + 1);
    mk_server_stop(s.server, PATIENCE_S * 1000);
    for (int i = 0; i < THREADS + 1; i++)
        sem_post(&s.may_end);
    assert_int_equal(mk_server_wait(s.server, PATIENCE_S * 1000), 0);
    scene_close(&s);
    assert_int_equal(atomic_load(&s.served), THREADS + 1);
    assert_int_equal(atomic_load(&s.ends), THREADS + 1);
    assert_int_equal(mk_heap_live(), live);
}

/* The requests end first: work that has begun learns it, work that waits is begun by chance at most, and no answer is given. */
static void a_stop_leaves_work_unwanted(void **state)
{
    enum { WAITING = 3 };
    const long live = mk_heap_live();
    struct scene s;

    (void)state;
    scene_open(&s, work_while_wanted, say_done, begin);
    for (int i = 0; i < THREADS; i++)
        ask_later(&s);
    wait_for(&s.begun, THREADS);
    for (int i = 0; i < WAITING; i++)
        ask_later(&s);
    mk_server_stop(s.server, 0);
    wait_for(&s.unwanted, THREADS);
    scene_close(&s);
    assert_int_equal(atomic_load(&s.begun), atomic_load(&s.unwanted));
    assert_int_equal(atomic_load(&s.answers), 0);
    assert_true(atomic_load(&s.ends) >= THREADS && atomic_load(&s.ends) <= THREADS + WAITING);
    assert_int_equal(atomic_load(&s.broken), THREADS + WAITING);
    assert_int_equal(mk_heap_live(), live);
}

static enum mk_verdict begin_wrongly(struct mk_request *r, void *arg)
{
    struct scene *s = arg;
    struct mk_task_calls incomplete = s->calls;

    if (mk_task_runs(r))
        return MK_VERDICT_LATER;
    s->worker = pthread_self();
    incomplete.work = NULL;
    s->results[0] = mk_task_start(r, &incomplete, s);
    s->results[2] = mk_task_start(r, NULL, s);
    if (mk_task_start(r, &s->calls, s) < 0)
        return mk_reply_error(r, 500, NULL);
    s->results[1] = mk_task_start(r, &s->calls, s);
    return MK_VERDICT_LATER;
}

static void misuse_is_refused(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s, compute, say_done, begin_wrongly);
    web_expect(s.server, "/", 200, "done");
    scene_close(&s);
    assert_int_equal(s.results[0], MK_E_INVALID);
    assert_int_equal(s.results[1], MK_E_EXISTS);
    assert_int_equal(s.results[2], MK_E_INVALID);
    assert_int_equal(atomic_load(&s.ends), 1);
}

static enum mk_verdict begin_by_size(struct mk_request *r, void *arg)
{
    struct scene *s = arg;
    struct mk_task_calls calls = s->calls;

    if (mk_task_runs(r))
        return MK_VERDICT_LATER;
    s->worker = pthread_self();
    calls.size = offsetof(struct mk_task_calls, work);
    s->results[0] = mk_task_start(r, &calls, s);
    calls.size = offsetof(struct mk_task_calls, answer);
    s->results[1] = mk_task_start(r, &calls, s);
    calls.size = offsetof(struct mk_task_calls, end);
    return mk_task_start(r, &calls, s) < 0 ? mk_reply_error(r, 500, NULL) : MK_VERDICT_LATER;
}

/* Bytes after the size belong to the caller: a program built with an older header has none of the members there. */
static void calls_are_read_up_to_their_size(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s, compute, say_done, begin_by_size);
    web_expect(s.server, "/", 200, "done");
    scene_close(&s);
    assert_int_equal(s.results[0], MK_E_INVALID);
    assert_int_equal(s.results[1], MK_E_INVALID);
    assert_int_equal(atomic_load(&s.ends), 0);
}

static enum mk_verdict say_nothing(struct mk_request *r, void *arg)
{
    (void)r;
    (void)arg;
    return MK_VERDICT_PASS;
}

static void a_task_without_an_answer_is_an_error(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s, compute, say_nothing, begin);
    web_expect(s.server, "/", 500, NULL);
    scene_close(&s);
    assert_int_equal(atomic_load(&s.ends), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_done_elsewhere_and_answered_on_the_worker),
        cmocka_unit_test(an_answer_may_start_another_task),
        cmocka_unit_test(a_group_is_a_bound),
        cmocka_unit_test(a_full_queue_refuses),
        cmocka_unit_test(a_crowded_route_delays_no_other),
        cmocka_unit_test(a_group_may_have_fewer_threads),
        cmocka_unit_test(handlers_may_have_more_threads),
        cmocka_unit_test(a_request_that_ends_leaves_its_group),
        cmocka_unit_test(a_request_that_ends_leaves_the_queue),
        cmocka_unit_test(clients_may_leave_their_tasks),
        cmocka_unit_test(a_reload_lets_tasks_go_on),
        cmocka_unit_test(a_graceful_stop_waits_for_tasks),
        cmocka_unit_test(a_stop_leaves_work_unwanted),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(calls_are_read_up_to_their_size),
        cmocka_unit_test(a_task_without_an_answer_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
