/* SPDX-License-Identifier: Apache-2.0 */
#include "loopback.h"

#include "server/h1/job.h"

/* The buffer that input arrives in: what it keeps while it is moved and enlarged. */

enum { MAX = 20000 };

static struct fixture fix;

static int set_up(void **state)
{
    (void)state;
    dir_make(fix.dir);
    fixture_open(&fix, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_close(&fix);
    dir_remove(fix.dir);
    return 0;
}

/* A job whose buffer holds used bytes, a head and unread bytes, each of a letter of its own. */
static struct mk_job *job_with(struct mk_conn *c, size_t used, size_t head, size_t gap,
                               size_t unread)
{
    struct mk_job *job;

    *c = (struct mk_conn){.worker = fix.worker};
    job = mk_job_get(c);
    assert_non_null(job);
    assert_ptr_equal(mk_job_get(c), job);
    assert_true(used + head + gap + unread <= job->in_cap);
    memset(job->in, 'u', used);
    memset(job->in + used, 'h', head);
    memset(job->in + used + head, 'g', gap);
    memset(job->in + used + head + gap, 'b', unread);
    job->in_at = (uint32_t)used;
    job->request.head_len = (uint32_t)head;
    job->in_body = (uint32_t)(used + head + gap);
    job->in_end = (uint32_t)(used + head + gap + unread);
    return job;
}

static void check(const struct mk_job *job, const char *sentence, size_t head, size_t unread)
{
    const char *at = job->in + job->in_at, *body = job->in + job->in_body;

    if (job->request.head_len != head || mk_job_input(job) != unread || job->in_end > job->in_cap)
        fail_msg("%s: head %u, input %zu", sentence, job->request.head_len, mk_job_input(job));
    for (size_t i = 0; i < head; i++)
        assert_int_equal(at[i], 'h');
    for (size_t i = 0; i < unread; i++)
        assert_int_equal(body[i], 'b');
}

static void room_keeps_head_and_unread_bytes(void **state)
{
    const size_t cap = MK_INPUT_ROOM;
    const struct {
        const char *sentence;
        size_t used, head, gap, unread;
        bool moves, grows;
    } rows[] = {
        {"nothing in it", 0, 0, 0, 0, false, false},
        {"all used", cap, 0, 0, 0, true, false},
        {"a beginning", 0, 0, 0, 100, false, false},
        {"a head and some of its body", 0, 200, 0, 100, false, false},
        {"full of what was used", cap - 100, 0, 0, 100, true, false},
        {"used bytes before a head", cap - 300, 200, 0, 100, true, false},
        {"a gap between head and body", 0, 200, cap - 300, 100, true, false},
        {"gaps before and behind a head", cap / 2, 200, cap / 2 - 300, 100, true, false},
        {"full of a head that arrives", 0, 0, 0, cap, false, true},
        {"full of a head and its body", 0, cap - 200, 0, 200, false, true},
        {"nearly full", 0, cap - 300, 0, 200, false, true},
        {"nearly full, with a little to gain", 50, cap - 300, 0, 200, true, true},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_conn c;
        struct mk_job *job = job_with(&c, rows[i].used, rows[i].head, rows[i].gap, rows[i].unread);
        ssize_t room = mk_job_room(&c, MAX);

        if (room < 512 || (size_t)room != job->in_cap - job->in_end)
            fail_msg("%s: room %zd", rows[i].sentence, room);
        if (rows[i].grows != !job->input)
            fail_msg("%s: %s", rows[i].sentence, rows[i].grows ? "did not grow" : "grew");
        check(job, rows[i].sentence, rows[i].head, rows[i].unread);
        memset(job->in + job->in_end, 'b', (size_t)room);
        mk_job_put(&c);
        assert_null(c.job);
    }
}

static void room_ends_at_the_maximum(void **state)
{
    struct mk_conn c;
    struct mk_job *job = job_with(&c, 0, 0, 0, 0);
    size_t total = 0;
    ssize_t room;

    (void)state;
    while ((room = mk_job_room(&c, MAX)) > 0) {
        memset(job->in + job->in_end, 'b', (size_t)room);
        job->in_end += (uint32_t)room;
        total += (size_t)room;
    }
    assert_int_equal(room, 0);
    assert_int_equal(total, MAX);
    check(job, "full", 0, MAX);
    mk_job_put(&c);
}

static void no_memory_leaves_all_as_it_was(void **state)
{
    const size_t cap = MK_INPUT_ROOM;
    struct mk_conn c;
    struct mk_job *job = job_with(&c, 0, 100, 0, cap - 100);

    (void)state;
    mk_heap_fail_after(0);
    assert_int_equal(mk_job_room(&c, MAX), MK_E_NOMEM);
    mk_heap_fail_after(-1);
    check(job, "as it was", 100, cap - 100);
    assert_true(mk_job_room(&c, MAX) > 0);
    mk_job_put(&c);
    mk_job_put(&c); /* harmless */
    assert_int_equal(fix.worker->jobs.used, 0);
}

/* ---- requests that wait ---- */

/* A connection whose request waits: its head and what came behind it. */
static void wait_with(struct mk_conn *c, size_t head, size_t unread)
{
    (void)job_with(c, 0, head, 0, unread);
    mk_job_seal(c);
    mk_job_seal(c); /* harmless */
    assert_int_equal(c->job->in_cap, head + unread);
}

static void those_that_wait_share_a_block(void **state)
{
    enum { HEAD = 200, WAITING = 100 };
    static struct mk_conn waiting[WAITING];
    size_t each = (MK_INPUT_ROOM - MK_INPUT_SHARED) / HEAD + 1;

    (void)state;
    for (size_t i = 0; i < WAITING; i++)
        wait_with(&waiting[i], HEAD - 20, 20);
    assert_true(fix.worker->inputs.used <= WAITING / each + 1);
    for (size_t i = 0; i < WAITING; i++) {
        check(waiting[i].job, "among others", HEAD - 20, 20);
        mk_job_put(&waiting[i]);
    }
    assert_int_equal(fix.worker->inputs.used, 1);
    assert_int_equal(fix.worker->open_input->used, 0);
}

/* Whichever ends first, nobody reads into what another has. */
static void blocks_are_given_back_in_any_order(void **state)
{
    enum { WAITING = 12 };
    struct mk_conn waiting[WAITING], reader;
    unsigned seed = 7;

    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        unsigned left = WAITING;

        for (unsigned i = 0; i < WAITING; i++)
            wait_with(&waiting[i], 1 + (seed = seed * 1103515245 + 12345) / 65536 % 900, i % 3);
        while (left > 0) {
            unsigned i = (seed = seed * 1103515245 + 12345) / 65536 % WAITING;

            (void)job_with(&reader, 0, 100, 0, MK_INPUT_SHARED - 100);
            if (waiting[i].job) {
                check(waiting[i].job, "while others read", waiting[i].job->request.head_len, i % 3);
                mk_job_put(&waiting[i]);
                left--;
            }
            if (left % 2)
                mk_job_seal(&reader);
            mk_job_put(&reader);
        }
        assert_int_equal(fix.worker->inputs.used, 1);
    }
    assert_int_equal(fix.worker->jobs.used, 0);
}

/* Others read, and none of them into these bytes. */
static void others_read_beside(const char *head, size_t len)
{
    struct mk_conn others[8];

    for (size_t i = 0; i < MK_ARRAY_LEN(others); i++)
        (void)job_with(&others[i], 0, 0, 0, MK_INPUT_SHARED);
    for (size_t i = 0; i < len; i++)
        assert_int_equal(head[i], 'h');
    for (size_t i = 0; i < MK_ARRAY_LEN(others); i++)
        mk_job_put(&others[i]);
}

/* Handlers have texts of it, wherever its body is read to. */
static void a_head_stays_until_its_request_has_ended(void **state)
{
    enum { BEFORE = 900, HEAD = 500 };
    struct mk_conn first, c;
    const char *heads[2];

    (void)state;
    wait_with(&first, BEFORE, 0);
    (void)job_with(&c, 0, HEAD, 0, MK_INPUT_ROOM - BEFORE - HEAD);
    heads[0] = c.job->in;
    assert_true(mk_job_room(&c, MAX) > 0);
    assert_non_null(c.job->input);
    others_read_beside(heads[0], HEAD);
    heads[1] = c.job->in;
    memset(c.job->in + c.job->in_end, 'b', c.job->in_cap - c.job->in_end);
    c.job->in_end = c.job->in_cap;
    assert_true(mk_job_room(&c, MAX) > 0);
    assert_null(c.job->input);
    for (size_t i = 0; i < MK_ARRAY_LEN(heads); i++)
        others_read_beside(heads[i], HEAD);
    check(first.job, "untouched", BEFORE, 0);
    c.job->in_body = c.job->in_end;
    mk_job_begin_message(fix.worker, c.job);
    assert_int_equal(c.job->nheld, 0);
    mk_job_put(&c);
    mk_job_put(&first);
    assert_int_equal(fix.worker->inputs.used, 1);
}

/* What came behind a request that waited is read on with, in a block of its own. */
static void who_has_waited_gets_room_again(void **state)
{
    static const struct {
        size_t unread;
        bool fails;
    } rows[] = {{0, false}, {40, false}, {40, true}};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_conn first, c;
        ssize_t room;

        wait_with(&first, 100, 0);
        wait_with(&c, 300, rows[i].unread);
        mk_job_begin_message(fix.worker, c.job);
        if (rows[i].fails) {
            struct mk_pool *pool = &fix.worker->inputs;
            void *others[256];
            size_t n = 0;

            while (!mk_list_is_empty(&pool->free_chunks) && n < MK_ARRAY_LEN(others))
                others[n++] = mk_pool_get(pool);
            mk_heap_fail_after(0);
            assert_int_equal(mk_job_room(&c, MAX), MK_E_NOMEM);
            mk_heap_fail_after(-1);
            check(c.job, "without memory", 0, rows[i].unread);
            while (n > 0)
                mk_pool_put(pool, others[--n]);
        }
        room = mk_job_room(&c, MAX);
        assert_int_equal(room, MK_INPUT_ROOM - rows[i].unread);
        assert_non_null(c.job->input);
        check(c.job, "read on", 0, rows[i].unread);
        memset(c.job->in + c.job->in_end, 'x', (size_t)room);
        check(first.job, "untouched", 100, 0);
        mk_job_put(&first);
        mk_job_put(&c);
        assert_int_equal(fix.worker->inputs.used, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_keeps_head_and_unread_bytes),
        cmocka_unit_test(room_ends_at_the_maximum),
        cmocka_unit_test(no_memory_leaves_all_as_it_was),
        cmocka_unit_test(those_that_wait_share_a_block),
        cmocka_unit_test(blocks_are_given_back_in_any_order),
        cmocka_unit_test(who_has_waited_gets_room_again),
        cmocka_unit_test(a_head_stays_until_its_request_has_ended),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
