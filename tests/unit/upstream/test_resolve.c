/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/limits.h"
#include "upstream/resolve.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/un.h>

/* The system's answers are made here: "many" has 16 addresses, "six" is IPv6, "none" is no name, ... */

static struct {
    atomic_uint lookups;
    atomic_bool held; /* look-ups wait for may_end */
    sem_t begun, may_end;
} fake;

static int fake_lookup(const char *host,
                       union mk_host_address addresses[MK_LIMIT_RESOLVE_ADDRESSES])
{
    unsigned nth = atomic_fetch_add(&fake.lookups, 1);
    int count = strcmp(host, "many") == 0 ? MK_LIMIT_RESOLVE_ADDRESSES : 1;

    if (atomic_load(&fake.held)) {
        sem_post(&fake.begun);
        sem_wait(&fake.may_end);
    }
    if (strcmp(host, "none") == 0)
        return MK_E_NOENT;
    if (strcmp(host, "later") == 0 || (nth > 0 && strcmp(host, "fails") == 0))
        return MK_E_AGAIN;
    if (nth > 0 && strcmp(host, "goes") == 0)
        return MK_E_NOENT;
    if (strcmp(host, "poor") == 0)
        return MK_E_NOMEM;
    for (int i = 0; i < count; i++) {
        addresses[i] = (union mk_host_address){
            .in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a000000 + nth)}};
    }
    if (strcmp(host, "six") == 0)
        addresses[0] = (union mk_host_address){
            .in6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT}};
    return count;
}

struct probe {
    _Atomic unsigned calls;
    int count;
    struct mk_address first;
    pthread_t on;
};

static void on_answer(void *arg, const struct mk_address *addresses, int count)
{
    struct probe *p = arg;

    p->count = count;
    if (count > 0)
        p->first = addresses[0];
    else
        assert_null(addresses);
    p->on = pthread_self();
    atomic_fetch_add(&p->calls, 1);
}

static void open_server(struct fixture *f)
{
    dir_make(f->dir);
    fixture_open(f, NULL);
    mk_resolver_of(mk_shared_of(f->server))->lookup = fake_lookup;
    atomic_store(&fake.lookups, 0);
    atomic_store(&fake.held, false);
    sem_init(&fake.begun, 0, 0);
    sem_init(&fake.may_end, 0, 0);
}

static void close_server(struct fixture *f)
{
    fixture_close(f);
    dir_remove(f->dir);
}

static int ask(struct fixture *f, struct probe *p, const char *host)
{
    *p = (struct probe){.count = 0};
    return mk_resolve(f->worker, host, 80, on_answer, p);
}

static void await(struct fixture *f, struct probe *p)
{
    const time_t give_up_at = time(NULL) + 10; /* a turn may be another answer's */

    while (p->calls == 0 && time(NULL) < give_up_at)
        mk_loop_turn(&f->worker->loop, 100, NULL, NULL);
    assert_int_equal(p->calls, 1);
}

static void look_up(struct fixture *f, struct probe *p, const char *host)
{
    assert_int_equal(ask(f, p, host), 0);
    await(f, p);
}

static const struct sockaddr_in *in_of(const struct probe *p)
{
    return (const struct sockaddr_in *)(const void *)&p->first.addr;
}

static void numbers_and_paths_are_answered_at_once(void **state)
{
    static const struct {
        const char *host;
        int family; /* 0: no such name */
        socklen_t len;
    } rows[] = {
        {"127.0.0.1", AF_INET, sizeof(struct sockaddr_in)},
        {"::1", AF_INET6, sizeof(struct sockaddr_in6)},
        {"unix:/run/x", AF_UNIX, sizeof(struct sockaddr_un)},
        {"unix:", 0, 0},
        {"", 0, 0},
    };
    struct fixture f;
    struct probe p;
    char path[200];

    (void)state;
    open_server(&f);
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        assert_int_equal(ask(&f, &p, rows[i].host), 0);
        assert_int_equal(p.calls, 1);
        assert_int_equal(p.count, rows[i].family ? 1 : MK_E_NOENT);
        if (rows[i].family) {
            assert_int_equal(p.first.addr.ss_family, rows[i].family);
            assert_int_equal(p.first.len, rows[i].len);
        }
    }
    assert_int_equal(ask(&f, &p, "127.0.0.1"), 0);
    assert_int_equal(ntohs(in_of(&p)->sin_port), 80);
    assert_int_equal(ask(&f, &p, "unix:/run/x"), 0);
    assert_string_equal(((struct sockaddr_un *)(void *)&p.first.addr)->sun_path, "/run/x");
    memset(path, 'a', sizeof(path));
    memcpy(path, "unix:/", 6);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(ask(&f, &p, path), 0);
    assert_int_equal(p.count, MK_E_NOENT);
    assert_int_equal(mk_resolve(f.worker, "127.0.0.1", 65536, on_answer, &p), 0);
    assert_int_equal(p.count, MK_E_NOENT);
    assert_int_equal(fake.lookups, 0);
    close_server(&f);
}

static void a_name_is_asked_once_and_kept(void **state)
{
    struct fixture f;
    struct probe p, q;

    (void)state;
    open_server(&f);
    assert_int_equal(ask(&f, &p, "many"), 0);
    assert_int_equal(p.calls, 0);
    await(&f, &p);
    assert_int_equal(p.count, MK_LIMIT_RESOLVE_ADDRESSES);
    assert_int_equal(ntohs(in_of(&p)->sin_port), 80);
    assert_int_equal(mk_resolve(f.worker, "MANY", 443, on_answer, &q), 0); /* any case */
    assert_int_equal(q.count, MK_LIMIT_RESOLVE_ADDRESSES);
    assert_int_equal(ntohs(in_of(&q)->sin_port), 443);
    assert_int_equal(fake.lookups, 1);
    look_up(&f, &p, "six");
    assert_int_equal(p.first.addr.ss_family, AF_INET6);
    assert_int_equal(p.first.len, sizeof(struct sockaddr_in6));
    close_server(&f);
}

static void answers_age(void **state)
{
    static const struct {
        const char *host;
        int error, kept_ms;
    } rows[] = {
        {"some", 1, MK_RESOLVE_FRESH_MS},
        {"none", MK_E_NOENT, MK_RESOLVE_FAILED_MS},
        {"later", MK_E_AGAIN, MK_RESOLVE_FAILED_MS},
        {"poor", MK_E_NOMEM, 0},
    };
    struct fixture f;
    struct probe p;

    (void)state;
    open_server(&f);
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        int64_t *now_ms = &f.worker->loop.clock.mono_ms, began_ms;

        atomic_store(&fake.lookups, 0);
        look_up(&f, &p, rows[i].host);
        assert_int_equal(p.count, rows[i].error);
        began_ms = *now_ms;
        if (rows[i].kept_ms > 0) {
            *now_ms = began_ms + rows[i].kept_ms - 1000;
            assert_int_equal(ask(&f, &p, rows[i].host), 0);
            assert_int_equal(p.calls, 1);
            assert_int_equal(p.count, rows[i].error);
            assert_int_equal(fake.lookups, 1);
        }
        *now_ms = began_ms + rows[i].kept_ms + 1000;
        assert_int_equal(ask(&f, &p, rows[i].host), 0);
        *now_ms = began_ms;
        await(&f, &p);
        for (int turns = 0; turns < 50 && fake.lookups < 2;
             turns++) /* an old answer does not wait for it */
            mk_loop_turn(&f.worker->loop, 100, NULL, NULL);
        assert_int_equal(fake.lookups, 2);
    }
    close_server(&f);
}

/* Nobody waits while a name is looked up again, and what was known holds while nobody can be asked. */
static void an_old_answer_bridges_the_next_look_up(void **state)
{
    static const struct {
        const char *host;
        int count; /* of the next answer */
    } rows[] = {{"some", 1}, {"fails", 1}, {"goes", MK_E_NOENT}};
    struct fixture f;
    struct probe p;

    (void)state;
    open_server(&f);
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        int64_t *now_ms = &f.worker->loop.clock.mono_ms, began_ms;

        atomic_store(&fake.lookups, 0);
        atomic_store(&fake.held, false);
        look_up(&f, &p, rows[i].host);
        began_ms = *now_ms;
        atomic_store(&fake.held, true);
        *now_ms = began_ms + MK_RESOLVE_FRESH_MS + 1000;
        for (int again = 0; again < 2; again++) {
            assert_int_equal(ask(&f, &p, rows[i].host), 0);
            assert_int_equal(p.calls, 1);
            assert_int_equal(p.count, 1);
            assert_int_equal(in_of(&p)->sin_addr.s_addr, htonl(0x0a000000));
        }
        *now_ms = began_ms + 2 * MK_RESOLVE_FRESH_MS + 2000; /* that old it is not used */
        assert_int_equal(ask(&f, &p, rows[i].host), 0);
        assert_int_equal(p.calls, 0);
        assert_int_equal(sem_wait(&fake.begun), 0);
        sem_post(&fake.may_end);
        *now_ms = began_ms;
        await(&f, &p);
        assert_int_equal(p.count, rows[i].count);
        assert_int_equal(fake.lookups, 2);
    }
    close_server(&f);
}

/* Where nobody could be connected to: not more often than once a second, and nobody gets the old answer meanwhile. */
static void an_answer_in_doubt_is_looked_up_again(void **state)
{
    static const struct {
        const char *host;
        int after_ms;
        unsigned lookups;
    } rows[] = {
        {"some", MK_RESOLVE_DOUBT_MS - 1000, 1},
        {"Some", MK_RESOLVE_DOUBT_MS + 1000, 2},
        {"other", MK_RESOLVE_DOUBT_MS + 1000, 1},
    };
    struct fixture f;
    struct probe p;

    (void)state;
    open_server(&f);
    mk_resolve_doubt(f.worker, "some"); /* nobody has asked for it */
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        int64_t *now_ms = &f.worker->loop.clock.mono_ms;

        atomic_store(&fake.lookups, 0);
        look_up(&f, &p, "some");
        atomic_store(&fake.lookups, 1);
        *now_ms += rows[i].after_ms;
        for (int again = 0; again < 2; again++)
            mk_resolve_doubt(f.worker, rows[i].host);
        assert_int_equal(ask(&f, &p, "some"), 0);
        assert_int_equal(p.calls, rows[i].lookups == 1);
        await(&f, &p);
        assert_int_equal(p.count, 1);
        assert_int_equal(fake.lookups, rows[i].lookups);
    }
    close_server(&f);
}

static void those_who_ask_together_share_a_look_up(void **state)
{
    struct probe probes[20];
    struct fixture f;

    (void)state;
    open_server(&f);
    atomic_store(&fake.held, true);
    for (size_t i = 0; i < MK_ARRAY_LEN(probes); i++)
        assert_int_equal(ask(&f, &probes[i], "some"), 0);
    assert_int_equal(sem_wait(&fake.begun), 0);
    sem_post(&fake.may_end);
    for (size_t i = 0; i < MK_ARRAY_LEN(probes); i++) {
        await(&f, &probes[i]);
        assert_int_equal(probes[i].count, 1);
    }
    assert_int_equal(fake.lookups, 1);
    assert_int_equal(mk_resolver_of(mk_shared_of(f.server))->nwaiters, 0);
    close_server(&f);
}

static void waiting_is_bounded(void **state)
{
    static struct probe probes[MK_LIMIT_RESOLVE_WAITERS];
    struct fixture f;
    struct probe late;

    (void)state;
    open_server(&f);
    atomic_store(&fake.held, true);
    for (size_t i = 0; i < MK_ARRAY_LEN(probes); i++)
        assert_int_equal(ask(&f, &probes[i], "some"), 0);
    assert_int_equal(ask(&f, &late, "some"), MK_E_BUSY);
    sem_post(&fake.may_end);
    for (size_t i = 0; i < MK_ARRAY_LEN(probes); i++)
        await(&f, &probes[i]);
    assert_int_equal(late.calls, 0);
    close_server(&f);
}

/* Names beyond the table's size push out those used longest ago. */
static void the_table_is_bounded(void **state)
{
    struct fixture f;
    struct probe p;

    (void)state;
    open_server(&f);
    for (int i = 0; i < MK_LIMIT_RESOLVE_NAMES + 10; i++) {
        char host[32];

        (void)snprintf(host, sizeof(host), "host%d", i);
        look_up(&f, &p, host);
        assert_int_equal(ask(&f, &p, "host0"), 0); /* stays: it is used */
        assert_int_equal(p.calls, 1);
    }
    assert_int_equal(mk_resolver_of(mk_shared_of(f.server))->nnames, MK_LIMIT_RESOLVE_NAMES);
    atomic_store(&fake.lookups, 0);
    look_up(&f, &p, "host1");
    assert_int_equal(fake.lookups, 1);
    close_server(&f);
}

/* Both threads are held and the queue of the pool fills. */
static void a_full_pool_is_told(void **state)
{
    static struct probe probes[MK_OFFLOAD_THREADS + MK_LIMIT_OFFLOAD_QUEUE];
    struct fixture f;
    struct probe late;
    char host[32];

    (void)state;
    open_server(&f);
    atomic_store(&fake.held, true);
    for (size_t i = 0; i < MK_ARRAY_LEN(probes); i++) {
        (void)snprintf(host, sizeof(host), "host%zu", i);
        assert_int_equal(ask(&f, &probes[i], host), 0);
        if (i < MK_OFFLOAD_THREADS)
            assert_int_equal(sem_wait(&fake.begun), 0);
    }
    assert_int_equal(ask(&f, &late, "late"), MK_E_BUSY);
    for (size_t i = 0; i < MK_ARRAY_LEN(probes); i++)
        sem_post(&fake.may_end);
    for (size_t i = 0; i < MK_ARRAY_LEN(probes); i++)
        await(&f, &probes[i]);
    assert_int_equal(late.calls, 0);
    close_server(&f);
}

/* Neither a full pool nor a lack of memory takes away what was known: it is asked again when there are means. */
static void what_was_known_outlives_a_full_pool(void **state)
{
    static struct probe probes[MK_OFFLOAD_THREADS + MK_LIMIT_OFFLOAD_QUEUE];
    struct fixture f;
    struct probe p;
    int64_t *now_ms, began_ms;

    (void)state;
    open_server(&f);
    now_ms = &f.worker->loop.clock.mono_ms;
    look_up(&f, &p, "some");
    began_ms = *now_ms;
    atomic_store(&fake.held, true);
    for (size_t i = 0; i < MK_ARRAY_LEN(probes); i++) {
        char host[32];

        (void)snprintf(host, sizeof(host), "host%zu", i);
        assert_int_equal(ask(&f, &probes[i], host), 0);
        if (i < MK_OFFLOAD_THREADS)
            assert_int_equal(sem_wait(&fake.begun), 0);
    }
    *now_ms = began_ms + MK_RESOLVE_FRESH_MS + 1000;
    for (int again = 0; again < 4; again++) {
        mk_heap_fail_after(again < 2 ? -1 : 0);
        assert_int_equal(ask(&f, &p, "some"), 0);
        mk_heap_fail_after(-1);
        assert_int_equal(p.calls, 1);
        assert_int_equal(p.count, 1);
        assert_int_equal(in_of(&p)->sin_addr.s_addr, htonl(0x0a000000));
    }
    *now_ms = began_ms;
    for (size_t i = 0; i < MK_ARRAY_LEN(probes) + 1; i++)
        sem_post(&fake.may_end);
    for (size_t i = 0; i < MK_ARRAY_LEN(probes); i++)
        await(&f, &probes[i]);
    atomic_store(&fake.lookups, 0);
    *now_ms = began_ms + MK_RESOLVE_FRESH_MS + 1000;
    assert_int_equal(ask(&f, &p, "some"), 0);
    assert_int_equal(p.calls, 1);
    for (int turns = 0; turns < 100 && fake.lookups == 0; turns++)
        mk_loop_turn(&f.worker->loop, 100, NULL, NULL);
    assert_int_equal(fake.lookups, 1);
    close_server(&f);
}

/* Lets the look-ups that run go on once the server ends. */
static void *let_them_end(void *arg)
{
    struct mk_offload_pool *pool = arg;
    bool ending = false;

    while (!ending) {
        pthread_mutex_lock(&pool->lock);
        ending = pool->ending;
        pthread_mutex_unlock(&pool->lock);
        (void)sched_yield();
    }
    for (int i = 0; i < MK_OFFLOAD_THREADS; i++)
        sem_post(&fake.may_end);
    return NULL;
}

/* The server is freed while two names are looked up and another waits for a thread. */
static void the_end_answers_everybody(void **state)
{
    struct probe a, b, c;
    struct fixture f;
    pthread_t helper;

    (void)state;
    open_server(&f);
    atomic_store(&fake.held, true);
    assert_int_equal(ask(&f, &a, "first"), 0);
    assert_int_equal(ask(&f, &b, "second"), 0);
    assert_int_equal(sem_wait(&fake.begun), 0);
    assert_int_equal(sem_wait(&fake.begun), 0);
    assert_int_equal(ask(&f, &c, "third"), 0);
    assert_int_equal(
        pthread_create(&helper, NULL, let_them_end, &f.server->shared.offload[MK_WORK_NAME]), 0);
    close_server(&f);
    assert_int_equal(pthread_join(helper, NULL), 0);
    assert_int_equal(a.calls, 1);
    assert_int_equal(a.count, 1);
    assert_int_equal(b.calls, 1);
    assert_int_equal(b.count, 1);
    assert_int_equal(c.calls, 1);
    assert_int_equal(c.count, MK_E_AGAIN);
    assert_int_equal(fake.lookups, 2);
}

static void memory_may_fail_anywhere(void **state)
{
    struct fixture f;
    struct probe p;
    int err;

    (void)state;
    open_server(&f);
    for (long n = 0;; n++) {
        assert_true(n < 10);
        mk_heap_fail_after(n);
        err = ask(&f, &p, "some");
        mk_heap_fail_after(-1);
        if (err == 0)
            break;
        assert_int_equal(err, MK_E_NOMEM);
        assert_int_equal(p.calls, 0);
        assert_int_equal(mk_resolver_of(mk_shared_of(f.server))->nnames, 0);
        assert_int_equal(mk_resolver_of(mk_shared_of(f.server))->nwaiters, 0);
    }
    await(&f, &p);
    close_server(&f);
}

/* With the real system: what every host knows without asking anybody. */
static void the_system_is_asked(void **state)
{
    struct fixture f;
    struct probe p;

    (void)state;
    dir_make(f.dir);
    fixture_open(&f, NULL);
    look_up(&f, &p, "localhost");
    assert_true(p.count > 0);
    assert_true(p.first.addr.ss_family == AF_INET || p.first.addr.ss_family == AF_INET6);
    close_server(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_paths_are_answered_at_once),
        cmocka_unit_test(a_name_is_asked_once_and_kept),
        cmocka_unit_test(answers_age),
        cmocka_unit_test(an_old_answer_bridges_the_next_look_up),
        cmocka_unit_test(an_answer_in_doubt_is_looked_up_again),
        cmocka_unit_test(those_who_ask_together_share_a_look_up),
        cmocka_unit_test(waiting_is_bounded),
        cmocka_unit_test(the_table_is_bounded),
        cmocka_unit_test(a_full_pool_is_told),
        cmocka_unit_test(what_was_known_outlives_a_full_pool),
        cmocka_unit_test(the_end_answers_everybody),
        cmocka_unit_test(memory_may_fail_anywhere),
        cmocka_unit_test(the_system_is_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
