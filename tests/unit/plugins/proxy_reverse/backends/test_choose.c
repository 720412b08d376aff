/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "backends/backend_int.h"
#include "backends/drain.h"
#include "backends/facts.h"
#include "fake_upstream.h"

#include "kit/clock/clock.h"

/* ---- a server, and whoever asks ---- */

enum { OFFLINE_MS = 60000, MANY = 4 };

static int64_t later_ms;     /* that the clock of workers is ahead of all others */
static uint8_t client[16];   /* the address of whoever asks */
static struct mk_str target; /* and for what */
static const char *header;   /* of every name */
static const char *cookie;   /* the client's line Cookie; NULL: none */
static char logged[4096];    /* what became of backends */

int64_t mk_worker_now_ms(const struct mk_worker *w)
{
    (void)w;
    return clock_tick_ms() + later_ms;
}

void mk_server_log(struct mk_server *server, enum mk_log_level level, const char *fmt, ...)
{
    va_list args;

    (void)server;
    if (level == MK_LOG_TRACE)
        return;
    va_start(args, fmt);
    (void)vsnprintf(logged, sizeof(logged), fmt, args);
    va_end(args);
}

void mk_plugin_why(const struct mk_context *ctx, const char *fmt, ...)
{
    (void)ctx;
    (void)fmt;
}

void mk_request_facts(const struct mk_request *r, struct mk_request_facts *facts)
{
    (void)r;
    facts->target = target;
}

void mk_conn_facts(const struct mk_conn *c, struct mk_conn_facts *facts)
{
    (void)c;
    facts->id = 7;
    memcpy(facts->peer_ip, client, sizeof(client));
}

struct mk_str mk_request_header(const struct mk_request *r, struct mk_str name)
{
    (void)r;
    (void)name;
    return header ? mk_str_from(header) : (struct mk_str){NULL, 0};
}

bool mk_request_next_header(const struct mk_request *r, uint32_t *at, struct mk_str *name,
                            struct mk_str *value)
{
    (void)r;
    if (!cookie || (*at)++ > 0)
        return false;
    *name = MK_STR("Cookie");
    *value = mk_str_from(cookie);
    return true;
}

/* ---- an entry with backends b0, b1, ... ---- */

struct scene {
    struct proxy_server servers[MANY];
    struct proxy_settings set;
    struct proxy_entry entry;
    struct proxy_config config;
    struct mk_context ctx;
};

static const char *const names[MANY] = {"b0", "b1", "b2", "b3"};

static void prepare(struct scene *s, unsigned n)
{
    *s = (struct scene){
        .set = {.servers = s->servers,
                .nservers = n,
                .nmain = n,
                .weights = n,
                .balancer = PROXY_FIRST_ALIVE,
                .attempts = 1,
                .offline_ms = OFFLINE_MS,
                .connect_ms = 1000},
        .entry = {.set = &s->set, .name = "entry"},
        .config = {.entries = &s->entry},
    };
    for (unsigned i = 0; i < n; i++)
        s->servers[i] = (struct proxy_server){.name = names[i],
                                              .host = names[i],
                                              .authority = mk_str_from(names[i]),
                                              .port = 80,
                                              .weight = 1};
    s->ctx = (struct mk_context){.size = sizeof(s->ctx), .config = &s->config};
    later_ms = 0;
    cookie = NULL;
    logged[0] = '\0';
}

static void start_after(struct scene *s, const struct scene *old)
{
    assert_int_equal(proxy_backends_start(&s->ctx, old ? &old->config : NULL), 0);
}

static void stop(struct scene *s)
{
    proxy_backends_stop(&s->config);
}

/* @return the name of the backend that is chosen, which ends the attempt so; NULL: none is. */
static const char *ask_for(struct scene *s, struct proxy_ask *ask, enum proxy_outcome outcome)
{
    const struct proxy_report report = {.outcome = outcome, .status = 200, .whole_us = 1000};
    struct proxy_attempt attempt;
    const char *name;

    if (!proxy_begin(&s->entry, ask, &attempt))
        return NULL;
    name = attempt.name;
    assert_string_equal(attempt.authority.p, name);
    assert_non_null(attempt.upstream);
    if (outcome == PROXY_ANSWERED)
        proxy_answers(&attempt, 200);
    proxy_end(&attempt, &report);
    assert_null(attempt.backend);
    return name;
}

static const char *ask_once(struct scene *s, enum proxy_outcome outcome)
{
    struct proxy_ask ask = {.r = NULL};

    return ask_for(s, &ask, outcome);
}

static struct proxy_facts facts_of(const struct scene *s, unsigned i)
{
    struct proxy_facts facts;

    proxy_facts(&s->entry, i, &facts);
    return facts;
}

/* ---- tests ---- */

static void test_none_is_asked_twice(void **state)
{
    struct proxy_ask ask = {.r = NULL};
    struct scene s;

    (void)state;
    prepare(&s, 3);
    start_after(&s, NULL);
    assert_string_equal(ask_for(&s, &ask, PROXY_FULL), "b0");
    assert_string_equal(ask_for(&s, &ask, PROXY_FULL), "b1");
    assert_string_equal(ask_for(&s, &ask, PROXY_FULL), "b2");
    assert_null(ask_for(&s, &ask, PROXY_FULL));
    assert_string_equal(ask_once(&s, PROXY_ANSWERED), "b0");
    stop(&s);
    assert_int_equal(nupstreams, 0);
}

/* What an outcome says of the backend: is it asked again at once? */
static void test_what_outcomes_mean(void **state)
{
    static const struct {
        enum proxy_outcome outcome;
        bool is_failure;
        size_t counter;
    } rows[] = {
        {PROXY_ANSWERED, false, offsetof(struct proxy_facts, status[2])},
        {PROXY_REFUSED, true, offsetof(struct proxy_facts, refused)},
        {PROXY_BROKE, true, offsetof(struct proxy_facts, broke)},
        {PROXY_SILENT, true, offsetof(struct proxy_facts, broke)},
        {PROXY_UNFIT, false, offsetof(struct proxy_facts, broke)},
        {PROXY_STALE, false, offsetof(struct proxy_facts, requests)},
        {PROXY_FULL, false, offsetof(struct proxy_facts, requests)},
        {PROXY_LEFT, false, offsetof(struct proxy_facts, requests)},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct proxy_facts facts;
        struct scene s;
        uint64_t count;

        prepare(&s, 2);
        start_after(&s, NULL);
        assert_string_equal(ask_once(&s, rows[i].outcome), "b0");
        facts = facts_of(&s, 0);
        memcpy(&count, (const char *)&facts + rows[i].counter, sizeof(count));
        assert_int_equal(count, 1);
        assert_int_equal(facts.requests, 1);
        assert_int_equal(facts.active, 0);
        assert_int_equal(facts.health.state == HEALTH_OFFLINE, rows[i].is_failure);
        assert_string_equal(ask_once(&s, PROXY_LEFT), rows[i].is_failure ? "b1" : "b0");
        stop(&s);
    }
}

/* RFC 9110 section 15.6: a status of RetryOn says that it cannot answer; any other is an answer. */
static void test_a_status_of_retry_on_is_a_failure(void **state)
{
    static const struct {
        unsigned status;
        bool is_failure;
    } rows[] = {{503, true}, {502, false}, {500, false}, {200, false}, {404, false}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct proxy_report report = {
            .outcome = PROXY_ANSWERED, .status = rows[i].status, .is_repeated = true};
        struct proxy_ask ask = {.r = NULL};
        struct proxy_attempt attempt;
        struct scene s;

        prepare(&s, 2);
        s.set.retry_on = 1U << 3;
        start_after(&s, NULL);
        assert_true(proxy_begin(&s.entry, &ask, &attempt));
        proxy_answers(&attempt, rows[i].status);
        proxy_end(&attempt, &report);
        assert_int_equal(facts_of(&s, 0).health.state == HEALTH_OFFLINE, rows[i].is_failure);
        assert_int_equal(facts_of(&s, 0).status[rows[i].status / 100], 1);
        assert_int_equal(facts_of(&s, 0).repeated, 1);
        assert_int_equal(strstr(logged, "why=status") != NULL, rows[i].is_failure);
        stop(&s);
    }
}

/* A probe that is answered so leaves its backend offline, before the end of the answer. */
static void test_a_probe_with_a_status_of_retry_on(void **state)
{
    struct proxy_ask ask = {.r = NULL};
    struct proxy_attempt attempt;
    struct scene s;

    (void)state;
    prepare(&s, 2);
    s.set.retry_on = 1U << 3;
    start_after(&s, NULL);
    assert_string_equal(ask_once(&s, PROXY_REFUSED), "b0");
    later_ms = OFFLINE_MS + 1000;
    assert_true(proxy_begin(&s.entry, &ask, &attempt));
    assert_string_equal(attempt.name, "b0");
    proxy_answers(&attempt, 503);
    assert_int_equal(facts_of(&s, 0).health.state, HEALTH_OFFLINE);
    proxy_end(&attempt, &(struct proxy_report){.outcome = PROXY_ANSWERED, .status = 503});
    assert_int_equal(facts_of(&s, 0).health.state, HEALTH_OFFLINE);
    stop(&s);
}

/* In place of an answer that is there, none that is offline is asked. */
static void test_an_answer_is_better_than_one_that_is_offline(void **state)
{
    struct proxy_ask ask = {.r = NULL};
    struct scene s;

    (void)state;
    prepare(&s, 2);
    start_after(&s, NULL);
    assert_string_equal(ask_once(&s, PROXY_REFUSED), "b0");
    assert_string_equal(ask_for(&s, &ask, PROXY_LEFT), "b1");
    ask.has_answer = true;
    assert_null(ask_for(&s, &ask, PROXY_LEFT));
    ask.has_answer = false;
    assert_string_equal(ask_for(&s, &ask, PROXY_LEFT), "b0");
    stop(&s);
}

/* The URL is slow, not the backend. */
static void test_one_that_answers_others_is_not_silent(void **state)
{
    const struct proxy_report silent = {.outcome = PROXY_SILENT, .whole_us = 10000000};
    struct proxy_ask ask = {.r = NULL};
    struct proxy_attempt attempt;
    struct scene s;

    (void)state;
    prepare(&s, 2);
    start_after(&s, NULL);
    assert_true(proxy_begin(&s.entry, &ask, &attempt));
    assert_string_equal(ask_once(&s, PROXY_ANSWERED), "b0");
    proxy_end(&attempt, &silent);
    assert_int_equal(facts_of(&s, 0).health.state, HEALTH_UP);
    stop(&s);
}

static void test_a_probe_when_its_time_is_over(void **state)
{
    struct scene s;

    (void)state;
    prepare(&s, 2);
    start_after(&s, NULL);
    assert_string_equal(ask_once(&s, PROXY_REFUSED), "b0");
    assert_non_null(strstr(logged, "offline"));
    assert_string_equal(ask_once(&s, PROXY_ANSWERED), "b1");
    later_ms = OFFLINE_MS + 1000;
    assert_string_equal(ask_once(&s, PROXY_ANSWERED), "b0");
    assert_int_equal(facts_of(&s, 0).probes, 1);
    assert_int_equal(facts_of(&s, 0).health.state, HEALTH_UP);
    assert_non_null(strstr(logged, "online"));
    stop(&s);
}

/* With each balancer: a backup is asked only while no other can be, and backups are balanced as the others are. */
static void test_backups_stand_by(void **state)
{
    (void)state;
    for (int balancer = 0; balancer < PROXY_BALANCER_COUNT; balancer++) {
        struct proxy_ask ask = {.r = NULL};
        struct scene s;

        prepare(&s, 4);
        s.set.balancer = balancer;
        s.set.nmain = 2;
        s.servers[2].is_backup = s.servers[3].is_backup = true;
        start_after(&s, NULL);
        for (unsigned i = 0; i < 40; i++) {
            client[15] = (uint8_t)i;
            assert_true(ask_once(&s, PROXY_ANSWERED)[1] < '2');
        }
        assert_true(ask_for(&s, &ask, PROXY_REFUSED)[1] < '2'); /* in one request */
        assert_true(ask_for(&s, &ask, PROXY_REFUSED)[1] < '2');
        assert_true(ask_for(&s, &ask, PROXY_ANSWERED)[1] >= '2');
        assert_true(ask_for(&s, &ask, PROXY_ANSWERED)[1] >= '2');
        for (unsigned i = 0; i < 40; i++) {
            client[15] = (uint8_t)i;
            assert_true(ask_once(&s, PROXY_ANSWERED)[1] >= '2');
        }
        later_ms = OFFLINE_MS + 1000; /* one of the others may be asked again, and answers */
        assert_true(ask_once(&s, PROXY_ANSWERED)[1] < '2');
        assert_true(facts_of(&s, 3).is_backup && !facts_of(&s, 1).is_backup);
        client[15] = 0;
        stop(&s);
    }
}

/* A backup's room is no reason to ask it: requests wait for the others. */
static void test_backups_are_no_room(void **state)
{
    struct proxy_ask ask = {.r = NULL};
    struct proxy_attempt attempt;
    struct scene s;

    (void)state;
    prepare(&s, 2);
    s.set.nmain = 1;
    s.set.max_connections = 1;
    s.servers[1].is_backup = true;
    start_after(&s, NULL);
    assert_true(proxy_begin(&s.entry, &ask, &attempt));
    assert_string_equal(ask_once(&s, PROXY_ANSWERED), "b0");
    proxy_end(&attempt, &(struct proxy_report){.outcome = PROXY_ANSWERED, .status = 200});
    stop(&s);
}

/* To refuse the request would be no better; the one that is offline longest is asked first. */
static void test_all_are_offline(void **state)
{
    struct proxy_ask ask = {.r = NULL}, late = {.r = NULL};
    struct scene s;

    (void)state;
    prepare(&s, 2);
    start_after(&s, NULL);
    assert_string_equal(ask_for(&s, &ask, PROXY_REFUSED), "b0");
    assert_string_equal(ask_for(&s, &ask, PROXY_REFUSED), "b1");
    assert_null(ask_for(&s, &ask, PROXY_REFUSED));
    assert_string_equal(ask_once(&s, PROXY_LEFT), "b0");
    late.last_ms = mk_worker_now_ms(NULL) - 1000; /* silent ones are not all waited for */
    assert_null(ask_for(&s, &late, PROXY_LEFT));
    assert_string_equal(ask_once(&s, PROXY_ANSWERED), "b0");
    assert_int_equal(facts_of(&s, 0).health.state, HEALTH_UP);
    assert_int_equal(facts_of(&s, 1).health.state, HEALTH_OFFLINE);
    stop(&s);
}

static void test_a_single_backend(void **state)
{
    (void)state;
    for (unsigned is_put_offline = 0; is_put_offline < 2; is_put_offline++) {
        struct scene s;

        prepare(&s, 1);
        s.set.offline_single = is_put_offline;
        start_after(&s, NULL);
        assert_string_equal(ask_once(&s, PROXY_REFUSED), "b0");
        if (is_put_offline)
            assert_null(ask_once(&s, PROXY_REFUSED));
        else
            assert_string_equal(ask_once(&s, PROXY_REFUSED), "b0");
        stop(&s);
    }
}

/* One whose connections are all taken is left out while another has room, but not by those that go by a key. */
static void test_room_for_connections(void **state)
{
    struct proxy_ask first = {.r = NULL};
    struct proxy_attempt attempt;
    struct scene s;

    (void)state;
    prepare(&s, 2);
    s.set.max_connections = 1;
    start_after(&s, NULL);
    assert_true(proxy_begin(&s.entry, &first, &attempt));
    assert_string_equal(attempt.name, "b0");
    assert_int_equal(facts_of(&s, 0).active, 1);
    assert_string_equal(ask_once(&s, PROXY_ANSWERED), "b1");
    proxy_end(&attempt, &(struct proxy_report){.outcome = PROXY_ANSWERED, .status = 200});
    assert_string_equal(ask_once(&s, PROXY_ANSWERED), "b0");
    stop(&s);
}

static void test_a_key_waits_for_its_backend(void **state)
{
    struct proxy_ask first = {.r = NULL};
    struct proxy_attempt attempt;
    struct scene s;

    (void)state;
    prepare(&s, 4);
    s.set.max_connections = 1;
    s.set.balancer = PROXY_SOURCE_HASH;
    start_after(&s, NULL);
    assert_true(proxy_begin(&s.entry, &first, &attempt));
    assert_string_equal(ask_once(&s, PROXY_ANSWERED), attempt.name);
    proxy_end(&attempt, &(struct proxy_report){.outcome = PROXY_ANSWERED, .status = 200});
    stop(&s);
}

/* Of many keys some go elsewhere; the same key never does. */
static void test_what_a_hash_goes_by(void **state)
{
    static const struct {
        int key;
        bool goes_by_target, goes_by_header;
    } rows[] = {
        {PROXY_HASH_ADDRESS, false, false},
        {PROXY_HASH_URI, true, false},
        {PROXY_HASH_HEADER, false, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool by_target = false, by_header = false;
        const char *usual;
        struct scene s;
        char text[8];

        prepare(&s, MANY);
        s.set.balancer = PROXY_CONSISTENT_HASH;
        s.set.hash_key = rows[i].key;
        start_after(&s, NULL);
        target = MK_STR("/");
        header = "h";
        usual = ask_once(&s, PROXY_ANSWERED);
        for (unsigned n = 0; n < 100; n++) {
            (void)snprintf(text, sizeof(text), "/%u", n);
            target = mk_str_from(text);
            by_target = by_target || strcmp(ask_once(&s, PROXY_ANSWERED), usual) != 0;
            target = MK_STR("/");
            header = text;
            by_header = by_header || strcmp(ask_once(&s, PROXY_ANSWERED), usual) != 0;
            header = "h";
        }
        assert_int_equal(by_target, rows[i].goes_by_target);
        assert_int_equal(by_header, rows[i].goes_by_header);
        stop(&s);
    }
}

/* ---- reloads ---- */

static void test_a_reload_hands_on_what_is_known(void **state)
{
    struct scene s, next;

    (void)state;
    prepare(&s, 2);
    start_after(&s, NULL);
    assert_string_equal(ask_once(&s, PROXY_REFUSED), "b0");
    prepare(&next, 3);
    start_after(&next, &s);
    assert_ptr_equal(next.entry.group->backends[0]->state, s.entry.group->backends[0]->state);
    assert_ptr_equal(next.entry.group->backends[0]->pool, s.entry.group->backends[0]->pool);
    stop(&s);
    assert_int_equal(nupstreams, 3);
    assert_int_equal(facts_of(&next, 0).health.state, HEALTH_OFFLINE);
    assert_string_equal(ask_once(&next, PROXY_ANSWERED), "b1");
    stop(&next);
    assert_int_equal(nupstreams, 0);
}

static void test_another_way_of_connecting_keeps_the_health(void **state)
{
    struct scene s, next;

    (void)state;
    prepare(&s, 1);
    start_after(&s, NULL);
    prepare(&next, 1);
    next.set.connect_ms = 2000;
    start_after(&next, &s);
    assert_ptr_equal(next.entry.group->backends[0]->state, s.entry.group->backends[0]->state);
    assert_ptr_not_equal(next.entry.group->backends[0]->pool, s.entry.group->backends[0]->pool);
    stop(&s);
    stop(&next);
}

/* An entry of another name has backends of its own, unless the old name has gone. */
static void test_entries_are_told_apart_by_name(void **state)
{
    struct scene s, renamed;
    struct proxy_entry twin;

    (void)state;
    prepare(&s, 1);
    start_after(&s, NULL);
    prepare(&renamed, 1);
    renamed.entry.name = "renamed";
    start_after(&renamed, &s);
    assert_ptr_equal(renamed.entry.group->backends[0]->state, s.entry.group->backends[0]->state);
    stop(&renamed);
    prepare(&renamed, 1);
    twin = (struct proxy_entry){.set = &renamed.set, .name = "twin"};
    renamed.entry.next = &twin;
    start_after(&renamed, &s);
    assert_ptr_equal(renamed.entry.group->backends[0]->state, s.entry.group->backends[0]->state);
    assert_ptr_not_equal(twin.group->backends[0]->state, s.entry.group->backends[0]->state);
    stop(&renamed);
    stop(&s);
}

static void test_an_attempt_outlives_its_configuration(void **state)
{
    struct proxy_ask ask = {.r = NULL};
    struct proxy_attempt attempt;
    struct scene s;

    (void)state;
    prepare(&s, 1);
    start_after(&s, NULL);
    assert_true(proxy_begin(&s.entry, &ask, &attempt));
    stop(&s);
    assert_int_equal(nupstreams, 1);
    assert_string_equal(attempt.name, "b0");
    proxy_end(&attempt, &(struct proxy_report){.outcome = PROXY_ANSWERED, .status = 200});
    assert_int_equal(nupstreams, 0);
}

/* ---- sticky sessions ---- */

static char cookie_text[64];

/* The client has the cookie of that backend. */
static void hold_cookie(const struct scene *s, unsigned i)
{
    (void)snprintf(cookie_text, sizeof(cookie_text), "a=b; at=%.*s", PROXY_STICKY_LEN,
                   s->entry.group->backends[i]->sticky);
    cookie = cookie_text;
}

/* @return the name of the backend, whose answer sets a cookie or not. */
static const char *ask_sticky(struct scene *s, bool *sets_cookie, enum proxy_outcome outcome)
{
    struct proxy_ask ask = {.r = NULL};
    struct proxy_attempt attempt;
    const char *name;

    if (!proxy_begin(&s->entry, &ask, &attempt))
        return NULL;
    name = attempt.name;
    *sets_cookie = attempt.sets_cookie;
    assert_memory_equal(proxy_attempt_cookie(&attempt).p, attempt.backend->sticky,
                        PROXY_STICKY_LEN);
    proxy_end(&attempt, &(struct proxy_report){.outcome = outcome, .status = 200});
    return name;
}

static void prepare_sticky(struct scene *s, unsigned n)
{
    prepare(s, n);
    s->set.sticky = MK_STR("at");
}

static void test_a_cookie_keeps_to_its_backend(void **state)
{
    (void)state;
    for (int balancer = 0; balancer < PROXY_BALANCER_COUNT; balancer++) {
        struct scene s;
        bool sets;

        prepare_sticky(&s, 4);
        s.set.balancer = balancer;
        start_after(&s, NULL);
        assert_non_null(ask_sticky(&s, &sets, PROXY_ANSWERED));
        assert_true(sets);
        for (unsigned i = 0; i < 4; i++) {
            hold_cookie(&s, i);
            assert_string_equal(ask_sticky(&s, &sets, PROXY_ANSWERED), names[i]);
            assert_false(sets);
        }
        stop(&s);
    }
}

static void test_cookies_that_name_none(void **state)
{
    static const char *const lines[] = {"at=0123456789abcdef", "at=", "at", "at=b2", "at=b2:80", "",
                                        "at=0123456789abcdef0"};

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct scene s;
        bool sets;

        prepare_sticky(&s, 3);
        start_after(&s, NULL);
        cookie = lines[i];
        assert_string_equal(ask_sticky(&s, &sets, PROXY_ANSWERED), "b0");
        assert_true(sets);
        stop(&s);
    }
}

/* What it names is offline: another one answers, and the client gets another cookie. */
static void test_a_cookie_of_one_that_is_offline(void **state)
{
    struct proxy_ask ask = {.r = NULL};
    struct scene s;
    bool sets;

    (void)state;
    prepare_sticky(&s, 3);
    start_after(&s, NULL);
    hold_cookie(&s, 1);
    assert_string_equal(ask_for(&s, &ask, PROXY_REFUSED), "b1");
    assert_string_equal(ask_for(&s, &ask, PROXY_ANSWERED), "b0"); /* in the same request */
    assert_string_equal(ask_sticky(&s, &sets, PROXY_ANSWERED), "b0");
    assert_true(sets);
    later_ms = OFFLINE_MS + 1000; /* it may be a probe */
    assert_string_equal(ask_sticky(&s, &sets, PROXY_ANSWERED), "b1");
    assert_false(sets);
    stop(&s);
}

/* The session is on the backup: it goes on there when others are back. */
static void test_a_cookie_of_a_backup(void **state)
{
    struct scene s;
    bool sets;

    (void)state;
    prepare_sticky(&s, 2);
    s.set.nmain = 1;
    s.servers[1].is_backup = true;
    start_after(&s, NULL);
    assert_string_equal(ask_sticky(&s, &sets, PROXY_ANSWERED), "b0");
    hold_cookie(&s, 1);
    assert_string_equal(ask_sticky(&s, &sets, PROXY_ANSWERED), "b1");
    assert_false(sets);
    stop(&s);
}

static void test_a_reload_keeps_cookies(void **state)
{
    static const char *const keys[] = {NULL, "0123456789abcdef"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct scene first, second;
        bool sets;

        prepare_sticky(&first, 3);
        first.set.sticky_key = keys[i];
        start_after(&first, NULL);
        hold_cookie(&first, 2);
        prepare_sticky(&second, 3);
        second.set.sticky_key = keys[i];
        start_after(&second, &first);
        cookie = cookie_text;
        assert_string_equal(ask_sticky(&second, &sets, PROXY_ANSWERED), "b2");
        stop(&first);
        stop(&second);
        /* another start: only a key that was written is the same */
        prepare_sticky(&first, 3);
        first.set.sticky_key = keys[i];
        start_after(&first, NULL);
        cookie = cookie_text;
        assert_string_equal(ask_sticky(&first, &sets, PROXY_ANSWERED), keys[i] ? "b2" : "b0");
        stop(&first);
    }
}

/* ---- drained ones ---- */

/* With each balancer: no request goes there, however many others are left, until it is undrained. */
static void test_drained_ones_get_nothing(void **state)
{
    (void)state;
    for (int balancer = 0; balancer < PROXY_BALANCER_COUNT; balancer++) {
        struct proxy_ask ask = {.r = NULL};
        struct scene s;

        prepare(&s, 3);
        s.set.balancer = balancer;
        start_after(&s, NULL);
        proxy_drain(&s.entry, 1, true);
        assert_non_null(strstr(logged, "backend drained entry=entry backend=b1"));
        for (unsigned i = 0; i < 30; i++) {
            client[15] = (uint8_t)i;
            assert_string_not_equal(ask_once(&s, PROXY_ANSWERED), "b1");
        }
        assert_true(facts_of(&s, 1).is_drained && facts_of(&s, 1).requests == 0);
        assert_non_null(ask_for(&s, &ask, PROXY_REFUSED)); /* not as the last resort either */
        assert_non_null(ask_for(&s, &ask, PROXY_REFUSED));
        assert_null(ask_for(&s, &ask, PROXY_REFUSED));
        assert_false(proxy_all_drained(&s.entry));
        proxy_drain(&s.entry, 1, false);
        assert_string_equal(ask_once(&s, PROXY_ANSWERED), "b1");
        client[15] = 0;
        stop(&s);
    }
}

static void test_all_are_drained(void **state)
{
    struct scene s;

    (void)state;
    prepare(&s, 2);
    s.set.nmain = 1;
    s.servers[1].is_backup = true;
    start_after(&s, NULL);
    proxy_drain(&s.entry, 0, true);
    assert_string_equal(ask_once(&s, PROXY_ANSWERED), "b1"); /* the backup stands by */
    proxy_drain(&s.entry, 1, true);
    assert_null(ask_once(&s, PROXY_ANSWERED));
    assert_true(proxy_all_drained(&s.entry));
    stop(&s);
}

/* The last request says that it is free; its cookie has it asked all the same; a reload changes nothing of that. */
static void test_a_drained_one_becomes_free(void **state)
{
    struct proxy_ask ask = {.r = NULL};
    struct proxy_attempt attempt;
    struct scene first, second;
    bool sets;

    (void)state;
    prepare_sticky(&first, 2);
    start_after(&first, NULL);
    assert_true(proxy_begin(&first.entry, &ask, &attempt));
    assert_string_equal(attempt.name, "b0");
    proxy_drain(&first.entry, 0, true);
    assert_int_equal(facts_of(&first, 0).active, 1);
    proxy_end(&attempt, &(struct proxy_report){.outcome = PROXY_ANSWERED, .status = 200});
    assert_non_null(strstr(logged, "drained backend is free entry=entry backend=b0"));
    hold_cookie(&first, 0);
    prepare_sticky(&second, 2);
    start_after(&second, &first);
    assert_string_equal(ask_sticky(&second, &sets, PROXY_ANSWERED), "b1");
    cookie = cookie_text;
    assert_string_equal(ask_sticky(&second, &sets, PROXY_ANSWERED), "b0");
    assert_false(sets);
    stop(&first);
    stop(&second);
}

/* Without Sticky a cookie is the application's. */
static void test_no_cookie_is_looked_at(void **state)
{
    struct scene s;
    bool sets;

    (void)state;
    prepare(&s, 2);
    start_after(&s, NULL);
    cookie = "at=0000000000000000"; /* as a backend without name would have it */
    assert_string_equal(ask_sticky(&s, &sets, PROXY_ANSWERED), "b0");
    assert_false(sets);
    stop(&s);
}

/* ---- facts ---- */

static void test_facts(void **state)
{
    struct proxy_attempt attempt;
    struct proxy_ask ask = {.r = NULL};
    struct proxy_facts facts;
    struct scene s;

    (void)state;
    prepare(&s, 1);
    s.servers[0].weight = 2;
    s.set.weights = 2;
    s.set.check_path = "/";
    s.set.check_ms = 5000;
    start_after(&s, NULL);
    assert_true(proxy_begin(&s.entry, &ask, &attempt));
    proxy_end(&attempt, &(struct proxy_report){.outcome = PROXY_ANSWERED,
                                               .status = 404,
                                               .head_us = 100,
                                               .whole_us = 200,
                                               .sent = 11,
                                               .received = 22});
    proxy_backend_checked(s.entry.group->backends[0], false);
    assert_int_equal(proxy_facts_count(&s.entry), 1);
    facts = facts_of(&s, 0);
    assert_string_equal(facts.name, "b0");
    assert_int_equal(facts.weight, 2);
    assert_int_equal(facts.status[4], 1);
    assert_int_equal(facts.sent, 11);
    assert_int_equal(facts.received, 22);
    assert_int_equal(facts.checks, 1);
    assert_int_equal(facts.failed_checks, 1);
    assert_int_equal(facts.latency.count, 1);
    assert_int_equal(facts.open, 3);
    assert_int_equal(facts.idle, 2);
    assert_int_equal(facts.waiting, 1);
    assert_true(facts.rate > 0 && facts.rate < 1);
    /* the check put it offline, and the next one is the next try */
    assert_int_equal(facts.health.state, HEALTH_OFFLINE);
    assert_true(facts.health.wait_ms > 0 && facts.health.wait_ms <= 5000);
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_is_asked_twice),
        cmocka_unit_test(test_what_outcomes_mean),
        cmocka_unit_test(test_a_status_of_retry_on_is_a_failure),
        cmocka_unit_test(test_a_probe_with_a_status_of_retry_on),
        cmocka_unit_test(test_an_answer_is_better_than_one_that_is_offline),
        cmocka_unit_test(test_one_that_answers_others_is_not_silent),
        cmocka_unit_test(test_a_probe_when_its_time_is_over),
        cmocka_unit_test(test_backups_stand_by),
        cmocka_unit_test(test_backups_are_no_room),
        cmocka_unit_test(test_all_are_offline),
        cmocka_unit_test(test_a_single_backend),
        cmocka_unit_test(test_room_for_connections),
        cmocka_unit_test(test_a_key_waits_for_its_backend),
        cmocka_unit_test(test_what_a_hash_goes_by),
        cmocka_unit_test(test_a_reload_hands_on_what_is_known),
        cmocka_unit_test(test_another_way_of_connecting_keeps_the_health),
        cmocka_unit_test(test_entries_are_told_apart_by_name),
        cmocka_unit_test(test_an_attempt_outlives_its_configuration),
        cmocka_unit_test(test_a_cookie_keeps_to_its_backend),
        cmocka_unit_test(test_cookies_that_name_none),
        cmocka_unit_test(test_a_cookie_of_one_that_is_offline),
        cmocka_unit_test(test_a_cookie_of_a_backup),
        cmocka_unit_test(test_a_reload_keeps_cookies),
        cmocka_unit_test(test_drained_ones_get_nothing),
        cmocka_unit_test(test_all_are_drained),
        cmocka_unit_test(test_a_drained_one_becomes_free),
        cmocka_unit_test(test_no_cookie_is_looked_at),
        cmocka_unit_test(test_facts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
