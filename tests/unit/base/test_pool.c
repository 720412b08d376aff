/* SPDX-License-Identifier: Apache-2.0 */
#include "base_test.h"

#include "base/invariant.h"
#include "base/poison.h"
#include "base/pool.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MANY = 200 };

static void blocks_are_apart_and_aligned(void **state)
{
    static const size_t sizes[] = {64, 65, 300, 4096, 5000};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(sizes); i++) {
        struct mk_pool p;
        unsigned char *blocks[MANY];

        mk_pool_init(&p, sizes[i]);
        assert_int_equal(mk_heap_live(), 0);
        for (int j = 0; j < MANY; j++) {
            blocks[j] = mk_pool_get(&p);
            assert_non_null(blocks[j]);
            assert_int_equal((uintptr_t)blocks[j] % 64, 0);
            memset(blocks[j], j, sizes[i]);
        }
        assert_int_equal(p.used, MANY);
        for (int j = 0; j < MANY; j++) {
            for (size_t k = 0; k < sizes[i]; k++)
                assert_int_equal(blocks[j][k], j);
            mk_pool_put(&p, blocks[j]);
        }
        assert_int_equal(p.used, 0);
        mk_pool_fini(&p);
    }
}

static void the_block_put_back_comes_next(void **state)
{
    struct mk_pool p;
    void *a, *b, *again;

    (void)state;
    mk_pool_init(&p, 100);
    a = mk_pool_get(&p);
    b = mk_pool_get(&p);
    mk_pool_put(&p, a);
    again = mk_pool_get(&p);
    assert_ptr_equal(again, a); /* warm in the cache, and no further page */
    mk_pool_put(&p, again);
    mk_pool_put(&p, b);
    mk_pool_fini(&p);
}

static void no_memory_is_said(void **state)
{
    struct mk_pool p;
    void *block;

    (void)state;
    mk_pool_init(&p, 100);
    mk_heap_fail_after(0);
    assert_null(mk_pool_get(&p));
    block = mk_pool_get(&p);
    assert_non_null(block);
    mk_pool_put(&p, block);
    mk_pool_fini(&p);
}

static void mark(void *block, void *arg)
{
    unsigned char *b = block;

    b[0]++;
    ++*(int *)arg;
}

static void each_meets_what_is_out_once(void **state)
{
    struct mk_pool p;
    unsigned char *blocks[MANY];
    int met = 0;

    (void)state;
    mk_pool_init(&p, 100);
    for (int i = 0; i < MANY; i++) {
        blocks[i] = mk_pool_get(&p);
        assert_non_null(blocks[i]);
        blocks[i][0] = 0;
    }
    for (int i = 0; i < MANY; i += 3)
        mk_pool_put(&p, blocks[i]);
    mk_pool_each(&p, mark, &met);
    assert_int_equal(met, p.used);
    for (int i = 0; i < MANY; i++) {
        if (i % 3 == 0)
            continue;
        assert_int_equal(blocks[i][0], 1);
        mk_pool_put(&p, blocks[i]);
    }
    met = 0;
    mk_pool_each(&p, mark, &met);
    assert_int_equal(met, 0);
    mk_pool_fini(&p);
}

static void some_are_few_and_each_has_its_turn(void **state)
{
    enum { LOOKS = 10 }; /* of each list of chunks there are fewer */
    struct mk_pool p;
    unsigned char *blocks[MANY];

    (void)state;
    mk_pool_init(&p, 100);
    for (int i = 0; i < MANY; i++) {
        blocks[i] = mk_pool_get(&p);
        assert_non_null(blocks[i]);
        blocks[i][0] = 0;
    }
    mk_pool_put(&p, blocks[MANY / 2]);
    for (int i = 0; i < LOOKS; i++) {
        int met = 0;

        mk_pool_some(&p, mark, &met);
        assert_in_range(met, 1, MK_POOL_SOME);
    }
    for (int i = 0; i < MANY; i++) {
        if (i == MANY / 2)
            continue;
        assert_in_range(blocks[i][0], 1, LOOKS);
        mk_pool_put(&p, blocks[i]);
    }
    mk_pool_fini(&p);
}

/* Pages of these blocks that are in memory. */
static size_t resident(unsigned char *const *blocks, int count, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 0;

    for (int i = 0; i < count; i++) {
        for (size_t at = 0; at < size; at += page) {
            unsigned char in = 0;

            if (mincore(blocks[i] + at - (uintptr_t)(blocks[i] + at) % page, page, &in) == 0)
                n += in & 1;
        }
    }
    return n;
}

static void trim_gives_back_what_a_peak_left(void **state)
{
    enum { SIZE = 4096, COUNT = 63 * 4 };
    struct mk_pool p;
    unsigned char *blocks[COUNT], *kept;
    size_t before;
    int met = 0;

    (void)state;
    mk_pool_init(&p, SIZE);
    for (int i = 0; i < COUNT; i++) {
        blocks[i] = mk_pool_get(&p);
        assert_non_null(blocks[i]);
        memset(blocks[i], 1, SIZE);
    }
    assert_int_equal(mk_heap_live(), 4);
    kept = blocks[10];
    before = resident(blocks, 63, SIZE);
    for (int i = 0; i < COUNT; i++) {
        if (blocks[i] != kept)
            mk_pool_put(&p, blocks[i]);
    }
    assert_true(mk_pool_trim(&p)); /* the peak was just now */
    assert_int_equal(mk_heap_live(), 4);
    assert_false(mk_pool_trim(&p));
    assert_int_equal(mk_heap_live(), 2); /* the chunk in use, and one spare */
    assert_true(resident(blocks, 63, SIZE) < before / 2);
    assert_int_equal(kept[SIZE - 1], 1);
    mk_pool_each(&p, mark, &met);
    assert_int_equal(met, 1);
    mk_pool_put(&p, kept);
    mk_pool_fini(&p);
}

static void trim_leaves_what_is_needed_again_and_again(void **state)
{
    struct mk_pool p;
    void *blocks[MANY];

    (void)state;
    mk_pool_init(&p, 1000);
    for (int round = 0; round < 5; round++) {
        long live = mk_heap_live();

        for (int i = 0; i < MANY; i++) {
            blocks[i] = mk_pool_get(&p);
            assert_non_null(blocks[i]);
        }
        if (round > 0)
            assert_int_equal(mk_heap_live(), live); /* nothing had to be mapped again */
        for (int i = 0; i < MANY; i++)
            mk_pool_put(&p, blocks[i]);
        assert_true(mk_pool_trim(&p));
    }
    mk_pool_fini(&p);
}

/* Whatever the order of gets, puts and trims, no two that are out share a byte. */
static void random_use_keeps_blocks_whole(void **state)
{
    enum { SIZE = 500, STEPS = 20000 };
    static unsigned char *out[MANY];
    struct mk_pool p;

    (void)state;
    srand(7);
    memset(out, 0, sizeof(out));
    mk_pool_init(&p, SIZE);
    for (int i = 0; i < STEPS; i++) {
        int at = rand() % MANY;

        if (!out[at]) {
            out[at] = mk_pool_get(&p);
            assert_non_null(out[at]);
            memset(out[at], at, SIZE);
        } else {
            assert_int_equal(out[at][0], at);
            assert_int_equal(out[at][SIZE - 1], at);
            mk_pool_put(&p, out[at]);
            out[at] = NULL;
        }
        if (i % 500 == 0)
            (void)mk_pool_trim(&p);
    }
    for (int i = 0; i < MANY; i++) {
        if (out[i])
            mk_pool_put(&p, out[i]);
    }
    mk_pool_fini(&p);
}

/* A read of what was put back, or behind a block, is reported where there is a sanitizer. */
static void what_is_not_out_is_poisoned(void **state)
{
    enum { SIZE = 104 };
    struct mk_pool p;
    unsigned char *a, *b;

    (void)state;
    if (!MK_HAS_POISON)
        skip();
    mk_pool_init(&p, SIZE);
    a = mk_pool_get(&p);
    b = mk_pool_get(&p);
    assert_false(mk_is_poisoned(a) || mk_is_poisoned(a + SIZE - 1));
    assert_true(mk_is_poisoned(a + SIZE) && mk_is_poisoned(b + SIZE));
    assert_true(mk_is_poisoned(b + p.block_size)); /* never out yet */
    mk_pool_put(&p, a);
    assert_true(mk_is_poisoned(a) && mk_is_poisoned(a + SIZE - 1));
    assert_false(mk_is_poisoned(b));
    assert_ptr_equal(mk_pool_get(&p), a);
    assert_false(mk_is_poisoned(a));
    mk_pool_put(&p, a);
    mk_pool_put(&p, b);
    (void)mk_pool_trim(&p);
    assert_true(mk_is_poisoned(b));
    mk_pool_fini(&p);
    assert_false(mk_is_poisoned(b)); /* what is mapped there next is somebody else's */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEAK_CHECKED(blocks_are_apart_and_aligned),
        LEAK_CHECKED(the_block_put_back_comes_next),
        LEAK_CHECKED(no_memory_is_said),
        LEAK_CHECKED(each_meets_what_is_out_once),
        LEAK_CHECKED(some_are_few_and_each_has_its_turn),
        LEAK_CHECKED(trim_gives_back_what_a_peak_left),
        LEAK_CHECKED(trim_leaves_what_is_needed_again_and_again),
        LEAK_CHECKED(random_use_keeps_blocks_whole),
        LEAK_CHECKED(what_is_not_out_is_poisoned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
