/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include "base/heap.h"

#include <monkey/events.h>

#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

/* Groups of server-sent events: src/web/sse_group.c. Streams are answers from memory, on the workers in turn. */

static int send_text(struct mk_sse_group *g, const char *data)
{
    const struct mk_sse_event event = {.size = sizeof(event), .data = mk_str_from(data)};

    return mk_sse_group_send(g, &event);
}

static struct mk_sse_group_facts facts_of(const struct mk_sse_group *g)
{
    struct mk_sse_group_facts facts = {.size = sizeof(facts)};

    mk_sse_group_facts(g, &facts);
    return facts;
}

static struct mk_server *serve(struct mk_config *config)
{
    struct mk_server *server;

    assert_int_equal(mk_server_new(&server, config, NULL), 0);
    return server;
}

static void begin(struct mk_server *server)
{
    assert_int_equal(mk_server_listen(server), 0);
    assert_int_equal(mk_server_start(server), 0);
}

/* ---- random schedules: streams in some of the groups, threads that send to some ---- */

enum { GROUPS = 5, STREAMS = 24, SENDERS = 3, EVENTS = 150, SEEDS = 6 };

static struct crowd {
    struct mk_sse_group *groups[GROUPS];
    struct member {
        struct crowd *crowd;
        unsigned mask, leaves; /* groups; those that it leaves meanwhile */
        struct mk_sse *stream; /* its worker's */
        struct mk_alarm *alarm;
        unsigned after_ms;
        char *body;
    } members[STREAMS];
    struct sender {
        pthread_t thread;
        struct crowd *crowd;
        unsigned seed;
        int sent[GROUPS];
    } senders[SENDERS];
    atomic_int joined, answered;
} crowd;

static void end_member(void *arg)
{
    struct member *m = arg;

    mk_alarm_free(m->alarm);
    m->stream = NULL;
}

static void leave_some(struct mk_alarm *alarm, void *arg)
{
    struct member *m = arg;

    (void)alarm;
    for (int g = 0; g < GROUPS; g++) {
        if (m->leaves >> g & 1)
            mk_sse_group_leave(m->crowd->groups[g], m->stream);
    }
}

static enum mk_verdict join_crowd(struct mk_request *r, void *arg)
{
    struct crowd *c = arg;
    struct member *m = &c->members[atomic_fetch_add(&c->joined, 1)];
    const struct mk_sse_options options = {
        .size = sizeof(options), .queue = 1 << 20, .on_end = end_member, .arg = m};
    struct mk_request_facts facts = {.size = sizeof(facts)};
    char number[16];

    mk_request_facts(r, &facts);
    m->alarm = mk_alarm_new(facts.worker, leave_some, m);
    assert_non_null(m->alarm);
    assert_int_equal(mk_sse_open(r, &options, &m->stream), 0);
    snprintf(number, sizeof(number), "%d", (int)(m - c->members));
    assert_int_equal(
        mk_sse_send(m->stream, &(struct mk_sse_event){.size = sizeof(struct mk_sse_event),
                                                      .data = mk_str_from(number)}),
        0);
    for (int g = 0; g < GROUPS; g++) {
        if (m->mask >> g & 1)
            assert_int_equal(mk_sse_group_join(c->groups[g], m->stream), 0);
    }
    mk_alarm_set(m->alarm, m->after_ms);
    return MK_VERDICT_DONE;
}

static void take_answer(const struct mk_answer *answer, void *arg)
{
    struct crowd *c = arg;
    char *body = malloc(answer->body.len + 1);

    assert_non_null(body);
    memcpy(body, answer->body.p, answer->body.len);
    body[answer->body.len] = '\0';
    assert_int_equal(answer->error, 0);
    c->members[strtol(body + strlen("data: "), NULL, 10)].body = body;
    atomic_fetch_add(&c->answered, 1);
}

static void *send_some(void *arg)
{
    struct sender *s = arg;
    const int number = (int)(s - s->crowd->senders);

    for (int i = 0; i < EVENTS; i++) {
        const int g = rand_r(&s->seed) % GROUPS;
        char text[32];
        int err;

        snprintf(text, sizeof(text), "%d %d %d", number, g, s->sent[g]++);
        while ((err = send_text(s->crowd->groups[g], text)) == MK_E_BUSY)
            (void)sched_yield();
        assert_int_equal(err, 0);
        if (rand_r(&s->seed) % 4 == 0)
            (void)sched_yield();
    }
    return NULL;
}

/* From the first event of each sender in each group on, none is missing, and all come where it has not left. */
static void check_member(const struct crowd *c, const struct member *m)
{
    int seen[SENDERS][GROUPS] = {0}, sender, group, number;

    for (const char *at = strstr(m->body, "\n\n") + 2; *at; at = strstr(at, "\n\n") + 2) {
        assert_int_equal(sscanf(at, "data: %d %d %d", &sender, &group, &number), 3);
        assert_true(m->mask >> group & 1);
        assert_int_equal(seen[sender][group], number);
        seen[sender][group]++;
    }
    for (sender = 0; sender < SENDERS; sender++) {
        for (group = 0; group < GROUPS; group++) {
            if (m->mask & ~m->leaves & 1U << group)
                assert_int_equal(seen[sender][group], c->senders[sender].sent[group]);
        }
    }
}

static void choose(struct crowd *c, unsigned seed)
{
    memset(c, 0, sizeof(*c));
    for (int i = 0; i < STREAMS; i++) {
        struct member *m = &c->members[i];

        m->crowd = c;
        m->mask = 1U + (unsigned)rand_r(&seed) % ((1 << GROUPS) - 1);
        m->leaves = i % 2 ? m->mask & (unsigned)rand_r(&seed) : 0;
        m->after_ms = (unsigned)rand_r(&seed) % 20;
        if (m->leaves == m->mask)
            m->leaves &= m->leaves - 1; /* in one it stays, and ends with that */
    }
    for (int i = 0; i < SENDERS; i++)
        c->senders[i] = (struct sender){.crowd = c, .seed = seed + (unsigned)i};
}

static size_t wanted_members(const struct crowd *c)
{
    size_t n = 0;

    for (int i = 0; i < STREAMS; i++)
        n += (size_t)__builtin_popcount(c->members[i].mask & ~c->members[i].leaves);
    return n;
}

static size_t members_of(const struct crowd *c)
{
    size_t n = 0;

    for (int g = 0; g < GROUPS; g++)
        n += facts_of(c->groups[g]).members;
    return n;
}

static void run_crowd(unsigned seed)
{
    const struct mk_sse_group_options options = {.size = sizeof(options), .queue = 2000};
    const struct mk_question question = {
        .size = sizeof(question), .method = MK_STR("GET"), .target = MK_STR("/")};
    struct mk_config *config = web_config_of("3");
    struct crowd *c = &crowd;
    struct mk_server *server;

    choose(c, seed);
    assert_int_equal(mk_config_handle(config, "GET", "/", join_crowd, c), 0);
    server = serve(config);
    begin(server);
    for (int g = 0; g < GROUPS; g++)
        assert_int_equal(mk_sse_group_new(&c->groups[g], server, &options), 0);
    for (int i = 0; i < STREAMS; i++)
        assert_int_equal(mk_server_ask(server, &question, take_answer, c), 0);
    while (atomic_load(&c->joined) < STREAMS || members_of(c) < wanted_members(c))
        (void)sched_yield();
    for (int i = 0; i < SENDERS; i++)
        assert_int_equal(pthread_create(&c->senders[i].thread, NULL, send_some, &c->senders[i]), 0);
    for (int i = 0; i < SENDERS; i++)
        assert_int_equal(pthread_join(c->senders[i].thread, NULL), 0);
    for (int g = 0; g < GROUPS; g++)
        assert_int_equal(mk_sse_group_close(c->groups[g]), 0);
    while (atomic_load(&c->answered) < STREAMS)
        (void)sched_yield();
    assert_int_equal(members_of(c), 0);
    mk_server_free(server);
    for (int g = 0; g < GROUPS; g++) {
        assert_int_equal(facts_of(c->groups[g]).slow, 0);
        mk_sse_group_free(c->groups[g]);
    }
}

static void every_member_gets_all_events_in_order(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        const long live = mk_heap_live();

        run_crowd(seed);
        for (int i = 0; i < STREAMS; i++) {
            check_member(&crowd, &crowd.members[i]);
            free(crowd.members[i].body);
        }
        assert_int_equal(mk_heap_live(), live);
    }
}

/* ---- the queue of a group ---- */

/* Workers that have not begun take nothing. */
static void what_workers_do_not_take_is_bounded(void **state)
{
    const struct mk_sse_group_options options = {.size = sizeof(options), .queue = 1000};
    const long live = mk_heap_live();
    struct mk_server *server = serve(web_config_of("2"));
    struct mk_sse_group *g;
    char large[1000];
    int n = 0, err;

    (void)state;
    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    assert_int_equal(mk_sse_group_new(&g, server, &options), 0);
    assert_int_equal(send_text(g, large), MK_E_LIMIT);
    while ((err = send_text(g, "some")) == 0)
        n++;
    assert_int_equal(err, MK_E_BUSY);
    assert_int_equal(n, 1000 / (64 + (int)strlen("data: some\n\n")));
    assert_int_equal(mk_sse_group_close(g), 0); /* always goes */
    begin(server);
    while ((err = send_text(g, "some")) == MK_E_BUSY)
        (void)sched_yield();
    assert_int_equal(err, 0);
    mk_server_free(server);
    assert_int_equal(send_text(g, "late"), MK_E_PEER);
    assert_int_equal(mk_sse_group_close(g), MK_E_PEER);
    mk_sse_group_free(g);
    assert_int_equal(mk_heap_live(), live);
}

/* ---- slow clients ---- */

struct slow {
    struct mk_sse_group *group, *other;
    struct mk_sse *stream;
    enum mk_sse_slow policy;
};

static void join_group(struct slow *s, struct mk_request *r, struct mk_server *server)
{
    const struct mk_sse_options options = {.size = sizeof(options), .queue = 40};
    const struct mk_sse_group_options how = {.size = sizeof(how), .slow = s->policy};

    assert_int_equal(mk_sse_group_new(&s->group, server, &how), 0);
    assert_int_equal(mk_sse_open(r, &options, &s->stream), 0);
    assert_int_equal(mk_sse_group_join(s->group, s->stream), 0);
}

/* An event that no queue of this size has room for stands for a client that does not read. */
static enum mk_verdict be_slow(struct mk_request *r, void *arg)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct slow *s = arg;

    mk_request_facts(r, &facts);
    join_group(s, r, facts.server);
    assert_int_equal(mk_sse_group_new(&s->other, facts.server, NULL), 0);
    assert_int_equal(mk_sse_group_join(s->group, s->stream), 0);
    assert_int_equal(mk_sse_group_join(s->other, s->stream), 0);
    assert_int_equal(facts_of(s->group).members, 1);
    assert_int_equal(send_text(s->group, "first"), 0);
    assert_int_equal(send_text(s->group, "too large for the queue of this stream"), 0);
    assert_int_equal(send_text(s->other, "last"), 0);
    assert_int_equal(mk_sse_group_close(s->other), 0);
    return MK_VERDICT_DONE;
}

static void slow_clients(enum mk_sse_slow policy, const char *body)
{
    struct slow slow = {.policy = policy};
    const long live = mk_heap_live();
    struct mk_server *server = web_serve_one("GET", "/", be_slow, &slow);

    web_expect(server, "/", 200, body);
    assert_int_equal(facts_of(slow.group).slow, 1);
    assert_int_equal(facts_of(slow.group).members, 0);
    assert_int_equal(facts_of(slow.other).members, 0);
    mk_server_free(server);
    mk_sse_group_free(slow.group);
    mk_sse_group_free(slow.other);
    assert_int_equal(mk_heap_live(), live);
}

static void a_slow_client_loses_its_place(void **state)
{
    (void)state;
    slow_clients(MK_SSE_END, "data: first\n\n");
}

static void a_slow_client_may_miss_an_event(void **state)
{
    (void)state;
    slow_clients(MK_SSE_SKIP, "data: first\n\ndata: last\n\n");
}

/* ---- events that are larger than the queue of a stream ---- */

enum { LARGE = 500 };

static const char *large_text(void)
{
    static char text[LARGE + 1];

    memset(text, 'x', LARGE);
    return text;
}

/* Nothing waits before the first of them, and the first before the second. */
static enum mk_verdict get_large_ones(struct mk_request *r, void *arg)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct slow *s = arg;

    mk_request_facts(r, &facts);
    join_group(s, r, facts.server);
    assert_int_equal(send_text(s->group, large_text()), 0);
    assert_int_equal(send_text(s->group, "next"), 0);
    assert_int_equal(send_text(s->group, large_text()), 0);
    assert_int_equal(send_text(s->group, "last"), 0);
    assert_int_equal(mk_sse_group_close(s->group), 0);
    return MK_VERDICT_DONE;
}

static void large_events(enum mk_sse_slow policy, const char *rest)
{
    struct slow slow = {.policy = policy};
    const long live = mk_heap_live();
    struct mk_server *server = web_serve_one("GET", "/", get_large_ones, &slow);
    char body[LARGE + 64];

    snprintf(body, sizeof(body), "data: %s\n\ndata: next\n\n%s", large_text(), rest);
    web_expect(server, "/", 200, body);
    assert_int_equal(facts_of(slow.group).slow, 1);
    mk_server_free(server);
    mk_sse_group_free(slow.group);
    assert_int_equal(mk_heap_live(), live);
}

static void a_large_event_is_sent_if_nothing_waits_before_it(void **state)
{
    (void)state;
    large_events(MK_SSE_END, "");
    large_events(MK_SSE_SKIP, "data: last\n\n");
}

enum { HUGE_EVENT = 16 << 20, READERS = 3 };

static enum mk_verdict join_one(struct mk_request *r, void *arg)
{
    struct mk_sse_group *const *g = arg;
    struct mk_sse *s;

    assert_int_equal(mk_sse_open(r, NULL, &s), 0);
    assert_int_equal(mk_sse_group_join(*g, s), 0);
    return MK_VERDICT_DONE;
}

static int get_by_socket(const struct mk_server *server)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)mk_server_port(server, 0)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL), sizeof(request) - 1);
    return fd;
}

/* It is more than sockets hold. */
static void a_server_ends_in_the_middle_of_a_large_event(void **state)
{
    const struct mk_sse_group_options how = {.size = sizeof(how), .queue = 2 * HUGE_EVENT};
    const long live = mk_heap_live();
    struct mk_config *config = web_config_of("2");
    char *text = malloc(HUGE_EVENT);
    struct mk_sse_group *g;
    struct mk_server *server;
    int clients[READERS];

    (void)state;
    assert_non_null(text);
    memset(text, 'x', HUGE_EVENT - 1);
    text[HUGE_EVENT - 1] = '\0';
    assert_int_equal(mk_config_handle(config, "GET", "/", join_one, &g), 0);
    server = serve(config);
    assert_int_equal(mk_sse_group_new(&g, server, &how), 0);
    begin(server);
    for (int i = 0; i < READERS; i++)
        clients[i] = get_by_socket(server);
    while (facts_of(g).members < READERS)
        (void)sched_yield();
    assert_int_equal(send_text(g, text), 0);
    assert_int_equal(send_text(g, "next"), 0);
    mk_server_free(server);
    assert_int_equal(facts_of(g).slow, 0);
    mk_sse_group_free(g);
    for (int i = 0; i < READERS; i++)
        (void)close(clients[i]);
    free(text);
    assert_int_equal(mk_heap_live(), live);
}

/* ---- what is refused ---- */

static enum mk_verdict join_wrongly(struct mk_request *r, void *arg)
{
    struct mk_sse_group *foreign = arg;
    struct mk_sse *s;

    assert_int_equal(mk_sse_open(r, NULL, &s), 0);
    assert_int_equal(mk_sse_group_join(foreign, s), MK_E_INVALID);
    mk_sse_group_leave(foreign, s);
    mk_sse_close(s);
    assert_int_equal(mk_sse_group_join(foreign, s), MK_E_INVALID);
    return MK_VERDICT_DONE;
}

static void groups_refuse(void **state)
{
    const struct mk_sse_event event = {
        .size = sizeof(event), .type = MK_STR("a\nb"), .data = MK_STR("c")};
    const struct mk_sse_group_options wrong = {.size = sizeof(wrong),
                                               .slow = (enum mk_sse_slow)(MK_SSE_SKIP + 1)};
    struct mk_server *other = serve(web_config_of("1")), *server;
    struct mk_sse_group *g;

    (void)state;
    assert_int_equal(mk_sse_group_new(&g, other, &wrong), MK_E_INVALID);
    assert_int_equal(mk_sse_group_new(&g, other, NULL), 0);
    server = web_serve_one("GET", "/", join_wrongly, g);
    web_expect(server, "/", 200, "");
    mk_server_free(server);
    assert_int_equal(mk_sse_group_send(g, &event), MK_E_INVALID);
    mk_server_free(other);
    mk_sse_group_free(g);
}

static void without_memory_nobody_gets_it(void **state)
{
    struct mk_server *server = serve(web_config_of("1"));
    struct mk_sse_group *g = NULL;
    int err = MK_E_NOMEM;
    long live;

    (void)state;
    assert_int_equal(mk_sse_group_new(&g, server, NULL), 0);
    mk_sse_group_free(g); /* the server keeps what handles share */
    g = NULL;
    live = mk_heap_live();
    for (long n = 0; err != 0 && n < 20; n++) {
        mk_heap_fail_after(n);
        err = mk_sse_group_new(&g, server, NULL);
        err = err == 0 ? send_text(g, "some") : err;
        mk_heap_fail_after(-1);
        assert_true(err == 0 || err == MK_E_NOMEM);
        if (err == 0)
            break;
        mk_sse_group_free(g);
        g = NULL;
        assert_int_equal(mk_heap_live(), live);
    }
    assert_int_equal(err, 0);
    mk_server_free(server);
    mk_sse_group_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_gets_all_events_in_order),
        cmocka_unit_test(what_workers_do_not_take_is_bounded),
        cmocka_unit_test(a_slow_client_loses_its_place),
        cmocka_unit_test(a_slow_client_may_miss_an_event),
        cmocka_unit_test(a_large_event_is_sent_if_nothing_waits_before_it),
        cmocka_unit_test(a_server_ends_in_the_middle_of_a_large_event),
        cmocka_unit_test(groups_refuse),
        cmocka_unit_test(without_memory_nobody_gets_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
