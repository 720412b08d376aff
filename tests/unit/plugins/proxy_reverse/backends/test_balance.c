/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>

#include "backends/balance.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MAX = 8 };

/* Backends "0", "1", ...; a list such as "001" has their seats in order. */
struct fixture {
    struct balance *b;
    unsigned n;
    struct balance_backend backends[MAX];
    _Atomic unsigned active[MAX];
    struct balance_set may;
    char names[MAX][24];
};

static void begin_named(struct fixture *f, enum proxy_balancer kind, const char *list,
                        const char *names)
{
    uint16_t order[PROXY_SEATS_MAX];
    unsigned nseats = 0;

    memset(f, 0, sizeof(*f));
    for (; list[nseats]; nseats++) {
        unsigned i = (unsigned)(list[nseats] - '0');

        order[nseats] = (uint16_t)i;
        f->backends[i].seats++;
        f->n = i + 1 > f->n ? i + 1 : f->n;
    }
    for (unsigned i = 0; i < f->n; i++) {
        (void)snprintf(f->names[i], sizeof(f->names[i]), "10.0.0.%c:80", names[i]);
        f->backends[i].name = mk_str_from(f->names[i]);
        f->backends[i].active = &f->active[i];
        balance_set_add(&f->may, i);
    }
    f->b = proxy_balance_new(kind, f->backends, f->n, order, nseats);
    assert_non_null(f->b);
}

static void begin(struct fixture *f, enum proxy_balancer kind, const char *list)
{
    begin_named(f, kind, list, "01234567");
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return proxy_balance_hash(state, sizeof(*state));
}

/* Choose times over with nothing left active; who was chosen how often. */
static void count(struct fixture *f, unsigned times, unsigned got[MAX])
{
    static uint64_t seed = 1;

    memset(got, 0, MAX * sizeof(got[0]));
    for (unsigned i = 0; i < times; i++) {
        struct balance_ask ask = {
            .number = i, .key = next_random(&seed), .chance = next_random(&seed), .may = &f->may};
        int chosen = proxy_balance_choose(f->b, &ask);

        assert_in_range(chosen, 0, f->n - 1);
        assert_true(balance_set_has(&f->may, (unsigned)chosen));
        got[chosen]++;
        proxy_balance_end(f->b, (unsigned)chosen);
        assert_int_equal(f->active[chosen], 0);
    }
}

static void expect(struct fixture *f, unsigned times, const double share[MAX], double tolerance,
                   const char *what)
{
    unsigned got[MAX];

    count(f, times, got);
    for (unsigned i = 0; i < f->n; i++) {
        double wanted = share[i] * times, off = (double)got[i] - wanted;

        if (off > tolerance * times + 2 || off < -tolerance * times - 2)
            fail_msg("%s: backend %u got %u, not %.0f", what, i, got[i], wanted);
    }
}

static const enum proxy_balancer all_kinds[] = {
    PROXY_NAIVE,
    PROXY_FIRST_ALIVE,
    PROXY_ROUND_ROBIN,
    PROXY_LOCKING_ROUND_ROBIN,
    PROXY_LEAST_CONNECTIONS,
    PROXY_SOURCE_HASH,
    PROXY_RANDOM2,
    PROXY_CONSISTENT_HASH,
};

/* ---- shares ---- */

static void test_shares(void **state)
{
    static const struct {
        const char *what, *list;
        enum proxy_balancer kind;
        double share[MAX], tolerance;
    } rows[] = {
        {"naive", "012", PROXY_NAIVE, {1 / 3., 1 / 3., 1 / 3.}, 0},
        {"naive, unequal", "0012", PROXY_NAIVE, {.5, .25, .25}, 0},
        {"first alive", "210", PROXY_FIRST_ALIVE, {0, 0, 1}, 0},
        {"in turn", "012", PROXY_ROUND_ROBIN, {1 / 3., 1 / 3., 1 / 3.}, 0},
        {"in turn, unequal", "0100", PROXY_ROUND_ROBIN, {.75, .25}, 0},
        {"exact", "012", PROXY_LOCKING_ROUND_ROBIN, {1 / 3., 1 / 3., 1 / 3.}, 0},
        {"exact, unequal", "0002", PROXY_LOCKING_ROUND_ROBIN, {.75, 0, .25}, 0},
        {"least", "012", PROXY_LEAST_CONNECTIONS, {1 / 3., 1 / 3., 1 / 3.}, 0},
        {"least, unequal", "0001", PROXY_LEAST_CONNECTIONS, {.75, .25}, 0},
        {"source", "012", PROXY_SOURCE_HASH, {1 / 3., 1 / 3., 1 / 3.}, .03},
        {"source, unequal", "0010", PROXY_SOURCE_HASH, {.75, .25}, .03},
        {"random", "012", PROXY_RANDOM2, {1 / 3., 1 / 3., 1 / 3.}, .03},
        {"consistent", "012", PROXY_CONSISTENT_HASH, {1 / 3., 1 / 3., 1 / 3.}, .08},
        {"consistent, unequal", "0012", PROXY_CONSISTENT_HASH, {.5, .25, .25}, .08},
        {"alone", "0", PROXY_RANDOM2, {1}, 0},
        {"alone with seats", "0000", PROXY_LEAST_CONNECTIONS, {1}, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;

        begin(&f, rows[i].kind, rows[i].list);
        /* A backend without a seat is in no list. */
        for (unsigned j = 0; j < f.n; j++) {
            if (f.backends[j].seats == 0)
                balance_set_remove(&f.may, j);
        }
        expect(&f, 12000, rows[i].share, rows[i].tolerance, rows[i].what);
        proxy_balance_free(f.b);
    }
}

/* What a backend that is away would have got falls on all others, and when it comes back all is as before. */
static void test_one_goes_and_comes_back(void **state)
{
    static const double all[MAX] = {.25, .25, .25, .25}, without[MAX] = {1 / 3., 0, 1 / 3., 1 / 3.};

    (void)state;
    for (size_t i = 0; i < COUNT(all_kinds); i++) {
        struct fixture f;

        if (all_kinds[i] == PROXY_FIRST_ALIVE)
            continue;
        begin(&f, all_kinds[i], "0123");
        expect(&f, 12000, all, .08, proxy_balancer_names[all_kinds[i]]);
        balance_set_remove(&f.may, 1);
        expect(&f, 12000, without, .08, proxy_balancer_names[all_kinds[i]]);
        balance_set_add(&f.may, 1);
        expect(&f, 12000, all, .08, proxy_balancer_names[all_kinds[i]]);
        proxy_balance_free(f.b);
    }
}

static void test_exact_while_one_goes_and_comes_back(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, PROXY_LOCKING_ROUND_ROBIN, "0123");
    for (unsigned round = 0; round < 50; round++) {
        unsigned got[MAX];

        if (round % 2)
            balance_set_remove(&f.may, 1);
        else
            balance_set_add(&f.may, 1);
        count(&f, 1200, got);
        for (unsigned i = 0; i < 4; i++) {
            int wanted = round % 2 ? (i == 1 ? 0 : 400) : 300;

            assert_in_range((int)got[i] + 2, wanted, wanted + 4);
        }
    }
    proxy_balance_free(f.b);
}

static void test_first_alive_takes_the_next(void **state)
{
    struct fixture f;
    unsigned got[MAX];

    (void)state;
    begin(&f, PROXY_FIRST_ALIVE, "012");
    balance_set_remove(&f.may, 0);
    count(&f, 10, got);
    assert_int_equal(got[1], 10);
    balance_set_remove(&f.may, 1);
    count(&f, 10, got);
    assert_int_equal(got[2], 10);
    proxy_balance_free(f.b);
}

static void test_nobody(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(all_kinds); i++) {
        struct fixture f;
        struct balance_set none = {{0}};

        begin(&f, all_kinds[i], "0012");
        assert_int_equal(
            proxy_balance_choose(f.b, &(struct balance_ask){.number = 5, .may = &none}),
            BALANCE_NOBODY);
        for (unsigned j = 0; j < f.n; j++)
            assert_int_equal(f.active[j], 0);
        proxy_balance_free(f.b);
    }
}

/* ---- load ---- */

static void test_least_fills_by_seats(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, PROXY_LEAST_CONNECTIONS, "0012");
    for (unsigned i = 0; i < 400; i++)
        assert_in_range(proxy_balance_choose(f.b, &(struct balance_ask){.may = &f.may}), 0, 2);
    assert_int_equal(f.active[0], 200);
    assert_int_equal(f.active[1], 100);
    assert_int_equal(f.active[2], 100);
    for (unsigned i = 0; i < 50; i++)
        proxy_balance_end(f.b, 2);
    for (unsigned i = 0; i < 50; i++)
        assert_int_equal(proxy_balance_choose(f.b, &(struct balance_ask){.may = &f.may}), 2);
    proxy_balance_free(f.b);
}

static void test_random2_avoids_the_busy(void **state)
{
    struct fixture f;
    unsigned got[MAX];

    (void)state;
    begin(&f, PROXY_RANDOM2, "012");
    f.active[0] = 100;
    for (unsigned i = 0; i < 1000; i++) {
        struct balance_ask ask = {.chance = proxy_balance_hash(&i, sizeof(i)), .may = &f.may};
        int chosen = proxy_balance_choose(f.b, &ask);

        assert_int_not_equal(chosen, 0); /* of any two it is the busier one */
        proxy_balance_end(f.b, (unsigned)chosen);
    }
    f.active[0] = 0;
    count(&f, 3000, got);
    assert_in_range(got[0], 850, 1150);
    proxy_balance_free(f.b);
}

/* ---- keys ---- */

static int of_key(struct fixture *f, unsigned key)
{
    struct balance_ask ask = {.key = proxy_balance_hash(&key, sizeof(key)), .may = &f->may};
    int chosen = proxy_balance_choose(f->b, &ask);

    assert_in_range(chosen, 0, f->n - 1);
    proxy_balance_end(f->b, (unsigned)chosen);
    return chosen;
}

static void test_keys_stay(void **state)
{
    static const enum proxy_balancer kinds[] = {PROXY_SOURCE_HASH, PROXY_CONSISTENT_HASH};
    enum { KEYS = 3000 };

    (void)state;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        struct fixture f;
        int before[KEYS];

        begin(&f, kinds[k], "01234");
        for (unsigned i = 0; i < KEYS; i++)
            before[i] = of_key(&f, i);
        balance_set_remove(&f.may, 3);
        for (unsigned i = 0; i < KEYS; i++) {
            int now = of_key(&f, i);

            if (before[i] != 3)
                assert_int_equal(now, before[i]);
            else
                assert_int_not_equal(now, 3);
        }
        balance_set_add(&f.may, 3);
        for (unsigned i = 0; i < KEYS; i++)
            assert_int_equal(of_key(&f, i), before[i]);
        proxy_balance_free(f.b);
    }
}

/* A fifth backend takes about a fifth of the keys; between the others none moves. In whatever order they stand. */
static void test_few_keys_move_when_the_list_grows(void **state)
{
    enum { KEYS = 5000 };
    struct fixture four, five;
    unsigned moved = 0;

    (void)state;
    begin_named(&four, PROXY_CONSISTENT_HASH, "0123", "abcd");
    begin_named(&five, PROXY_CONSISTENT_HASH, "01234", "decab");
    for (unsigned i = 0; i < KEYS; i++) {
        char before = "abcd"[of_key(&four, i)], now = "decab"[of_key(&five, i)];

        if (before == now)
            continue;
        assert_int_equal(now, 'e');
        moved++;
    }
    assert_in_range(moved, KEYS / 5 - KEYS / 12, KEYS / 5 + KEYS / 12);
    proxy_balance_free(four.b);
    proxy_balance_free(five.b);
}

/* The ring has a bound: with the most seats there are. */
static void test_a_ring_of_many(void **state)
{
    static struct balance_backend backends[BALANCE_MAX_BACKENDS];
    static _Atomic unsigned active[BALANCE_MAX_BACKENDS];
    static uint16_t order[PROXY_SEATS_MAX];
    static char names[BALANCE_MAX_BACKENDS][24];
    struct balance_set may = {{0}};
    unsigned got[BALANCE_MAX_BACKENDS] = {0};
    struct balance *b;

    (void)state;
    for (unsigned i = 0; i < BALANCE_MAX_BACKENDS; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "10.0.0.%u:80", i);
        backends[i] = (struct balance_backend){mk_str_from(names[i]),
                                               PROXY_SEATS_MAX / BALANCE_MAX_BACKENDS, &active[i]};
        balance_set_add(&may, i);
    }
    for (unsigned i = 0; i < PROXY_SEATS_MAX; i++)
        order[i] = (uint16_t)(i % BALANCE_MAX_BACKENDS);
    b = proxy_balance_new(PROXY_CONSISTENT_HASH, backends, BALANCE_MAX_BACKENDS, order,
                          PROXY_SEATS_MAX);
    assert_non_null(b);
    for (unsigned i = 0; i < 256000; i++) {
        struct balance_ask ask = {.key = proxy_balance_hash(&i, sizeof(i)), .may = &may};

        got[proxy_balance_choose(b, &ask)]++;
    }
    for (unsigned i = 0; i < BALANCE_MAX_BACKENDS; i++)
        assert_in_range(got[i], 500, 1700);
    proxy_balance_free(b);
}

/* Other proxies, other versions and other machines put a key in the same place. */
static void test_hash_is_fixed(void **state)
{
    (void)state;
    assert_true(proxy_balance_hash("", 0) == UINT64_C(0xefd01f60ba992926));
    assert_true(proxy_balance_hash("monkey", 6) == UINT64_C(0x6e13730674e6bcff));
}

/* ---- threads ---- */

enum { THREADS = 4, TURNS = 5000 };

struct crowd {
    struct fixture *f;
    _Atomic unsigned got[MAX];
    _Atomic bool failed;
};

static void *one_of_a_crowd(void *arg)
{
    struct crowd *c = arg;

    for (unsigned i = 0; i < TURNS; i++) {
        unsigned key = i;
        struct balance_ask ask = {.number = i,
                                  .key = proxy_balance_hash(&key, sizeof(key)),
                                  .chance = proxy_balance_hash(&key, sizeof(key)),
                                  .may = &c->f->may};
        int chosen = proxy_balance_choose(c->f->b, &ask);

        if (chosen < 0) {
            c->failed = true;
            break;
        }
        c->got[chosen]++;
        proxy_balance_end(c->f->b, (unsigned)chosen);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(all_kinds); k++) {
        pthread_t threads[THREADS];
        struct fixture f;
        struct crowd c = {.f = &f};
        unsigned sum = 0;

        begin(&f, all_kinds[k], "0123");
        for (unsigned i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, one_of_a_crowd, &c), 0);
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        assert_false(c.failed);
        for (unsigned i = 0; i < 4; i++) {
            sum += c.got[i];
            assert_int_equal(f.active[i], 0);
            if (all_kinds[k] == PROXY_ROUND_ROBIN || all_kinds[k] == PROXY_LOCKING_ROUND_ROBIN)
                assert_int_equal(c.got[i], THREADS * TURNS / 4);
        }
        assert_int_equal(sum, THREADS * TURNS);
        proxy_balance_free(f.b);
    }
}

static void *one_who_stays(void *arg)
{
    struct crowd *c = arg;

    for (unsigned i = 0; i < TURNS; i++)
        c->got[proxy_balance_choose(c->f->b, &(struct balance_ask){.may = &c->f->may})]++;
    return NULL;
}

/* Whatever the interleaving: when nobody ends, all backends have the same. */
static void test_least_is_exact_over_threads(void **state)
{
    pthread_t threads[THREADS];
    struct fixture f;
    struct crowd c = {.f = &f};

    (void)state;
    begin(&f, PROXY_LEAST_CONNECTIONS, "0123");
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, one_who_stays, &c), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(f.active[i], THREADS * TURNS / 4);
    proxy_balance_free(f.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_one_goes_and_comes_back),
        cmocka_unit_test(test_exact_while_one_goes_and_comes_back),
        cmocka_unit_test(test_first_alive_takes_the_next),
        cmocka_unit_test(test_nobody),
        cmocka_unit_test(test_least_fills_by_seats),
        cmocka_unit_test(test_random2_avoids_the_busy),
        cmocka_unit_test(test_keys_stay),
        cmocka_unit_test(test_few_keys_move_when_the_list_grows),
        cmocka_unit_test(test_a_ring_of_many),
        cmocka_unit_test(test_hash_is_fixed),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_least_is_exact_over_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
