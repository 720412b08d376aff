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
    const size_t cap = MK_JOB_SIZE - offsetof(struct mk_job, own_in);
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
        ssize_t room = mk_job_room(job, MAX);

        if (room < 512 || (size_t)room != job->in_cap - job->in_end)
            fail_msg("%s: room %zd", rows[i].sentence, room);
        if (rows[i].grows != (job->in != job->own_in))
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
    while ((room = mk_job_room(job, MAX)) > 0) {
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
    const size_t cap = MK_JOB_SIZE - offsetof(struct mk_job, own_in);
    struct mk_conn c;
    struct mk_job *job = job_with(&c, 0, 100, 0, cap - 100);

    (void)state;
    mk_heap_fail_after(0);
    assert_int_equal(mk_job_room(job, MAX), MK_E_NOMEM);
    mk_heap_fail_after(-1);
    check(job, "as it was", 100, cap - 100);
    assert_true(mk_job_room(job, MAX) > 0);
    mk_job_put(&c);
    mk_job_put(&c); /* harmless */
    assert_int_equal(fix.worker->jobs.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_keeps_head_and_unread_bytes),
        cmocka_unit_test(room_ends_at_the_maximum),
        cmocka_unit_test(no_memory_leaves_all_as_it_was),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
