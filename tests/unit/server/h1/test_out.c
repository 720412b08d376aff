/* SPDX-License-Identifier: Apache-2.0 */
#include "loopback.h"

#include "server/h1/job.h"
#include "server/h1/out.h"

#include <stdlib.h>

/* Gathering, sending, and what is left over, below the HTTP machine. */

static struct fixture fix;

static int set_up(void **state)
{
    (void)state;
    dir_make(fix.dir);
    file_write(fix.dir, "small", NULL, 3000);
    file_write(fix.dir, "large", NULL, 300000);
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

static void cut(void *block, void *arg)
{
    (void)arg;
    mk_conn_close(block, MK_CLOSE_STOPPING);
}

static int clean_up(void **state)
{
    struct mk_gather *g = fix.worker->gather;

    (void)state;
    mk_heap_fail_after(-1);
    g->bytes = g->used = 0;
    g->nparts = 0;
    mk_pool_each(&fix.worker->conns, cut, NULL);
    mk_loop_turn(&fix.worker->loop, 0, NULL, NULL);
    return 0;
}

static void open_conn(struct loopback *lb, size_t out_piece)
{
    loopback_init(lb, fix.worker, MK_STR(""));
    lb->out_piece = out_piece;
    loopback_open(lb);
}

static void done(struct loopback *lb)
{
    loopback_close(lb);
    loopback_free(lb);
    assert_int_equal(fix.worker->gather->bytes, 0);
}

/* Write n pattern bytes as if they stood at an offset of the whole output. */
static void gather(struct loopback *lb, size_t at, size_t n)
{
    char *to = mk_out_reserve(lb->conn, n);

    assert_non_null(to);
    for (size_t i = 0; i < n; i++)
        to[i] = file_byte(at + i);
    mk_out_commit(lb->conn, n);
}

static void check(const struct loopback *lb, size_t len)
{
    assert_int_equal(lb->out_len, len);
    for (size_t i = 0; i < len; i++)
        assert_int_equal(lb->out[i], file_byte(i));
}

static enum mk_pump pump(struct loopback *lb, size_t budget)
{
    return mk_out_pump(lb->conn, &budget);
}

/* Pump until all is out; a blocked peer makes room each time. */
static void pump_all(struct loopback *lb)
{
    for (int i = 0; mk_out_is_pending(lb->conn); i++) {
        enum mk_pump verdict = mk_out_flush(lb->conn, false);

        assert_true(verdict == MK_PUMP_DONE || verdict == MK_PUMP_READER);
        assert_true(i < 100000);
        (void)loopback_arrive(lb);
        verdict = pump(lb, SIZE_MAX);
        assert_true(verdict == MK_PUMP_DONE || verdict == MK_PUMP_READER);
    }
}

static void pieces_gather_and_leave_in_one_call(void **state)
{
    struct loopback lb;

    (void)state;
    open_conn(&lb, 0);
    for (size_t i = 0; i < 10; i++)
        gather(&lb, i * 100, 100);
    assert_int_equal(fix.worker->gather->nparts, 1); /* one after the other in memory is one part */
    assert_int_equal(lb.nsend, 0);
    assert_true(mk_out_is_pending(lb.conn));
    assert_int_equal(mk_out_flush(lb.conn, false), MK_PUMP_DONE);
    assert_int_equal(mk_out_flush(lb.conn, false), MK_PUMP_DONE);
    assert_int_equal(lb.nsend, 1);
    assert_false(mk_out_is_pending(lb.conn));
    check(&lb, 1000);
    done(&lb);
}

static void a_full_buffer_is_sent_first(void **state)
{
    struct loopback lb;

    (void)state;
    open_conn(&lb, 0);
    assert_null(mk_out_reserve(lb.conn, MK_LIMIT_GATHER_BYTES + 1));
    for (size_t i = 0; i < 20; i++)
        gather(&lb, i * 10000, 10000);
    assert_int_equal(lb.nsend, 3); /* six fit */
    assert_int_equal(mk_out_flush(lb.conn, false), MK_PUMP_DONE);
    check(&lb, 200000);
    done(&lb);
}

static void what_is_not_taken_waits_in_order(void **state)
{
    static const size_t pieces[] = {1, 7, 100, 999, 1000, 1001, 30000};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(pieces); i++) {
        struct loopback lb;
        size_t at = 0;

        open_conn(&lb, pieces[i]);
        for (int round = 0; round < 5; round++) {
            enum mk_pump verdict;

            gather(&lb, at, 1000);
            at += 1000;
            verdict = mk_out_flush(lb.conn, false);
            assert_int_equal(verdict, at > lb.out_len ? MK_PUMP_READER : MK_PUMP_DONE);
            assert_int_equal(lb.conn->leftover_len, at - lb.out_len);
            assert_int_equal(fix.worker->gather->bytes, 0); /* the buffer is everybody's */
            if (round % 2)
                (void)loopback_arrive(&lb);
        }
        pump_all(&lb);
        check(&lb, 5000);
        assert_null(lb.conn->leftover);
        done(&lb);
    }
}

static struct mk_file *file_of(const char *path, bool with_body)
{
    struct mk_files *files = &fix.worker->view->files;
    struct mk_file_root *root = mk_files_site_root(files, &fix.plan.snapshot.sites[0]);
    struct mk_file *file = mk_files_get(files, root, mk_str_from(path), 1);

    for (int i = 0; with_body && !file->body && i < 2; i++) {
        mk_file_put(file);
        file = mk_files_get(files, root, mk_str_from(path), 1);
    }
    assert_non_null(file);
    assert_true(!with_body || file->body);
    return file;
}

static void cached_bytes_are_not_copied_and_stay_while_needed(void **state)
{
    struct mk_file *file = file_of("/small", true);
    uint32_t refs = file->refs;
    struct loopback lb;
    size_t added = 0;

    (void)state;
    open_conn(&lb, 0);
    while (mk_out_add_file_bytes(lb.conn, file, file->body, 3000)) {
        mk_file_ref(file);
        added++;
    }
    assert_int_equal(added, MK_GATHER_PARTS);
    assert_int_equal(file->refs, refs + added);
    assert_int_equal(mk_out_flush(lb.conn, false), MK_PUMP_DONE);
    assert_int_equal(file->refs, refs);
    assert_int_equal(lb.nsend, 1);
    assert_int_equal(lb.out_len, added * 3000);
    for (size_t i = 0; i < lb.out_len; i++)
        assert_int_equal(lb.out[i], file_byte(i % 3000));
    mk_file_put(file);
    done(&lb);
}

static void cached_bytes_that_are_left_over_are_copied(void **state)
{
    struct mk_file *file = file_of("/small", true);
    uint32_t refs = file->refs;
    struct loopback lb;

    (void)state;
    open_conn(&lb, 3500);
    for (int i = 0; i < 4; i++) {
        assert_true(mk_out_add_file_bytes(lb.conn, mk_file_ref(file), file->body, 3000));
    }
    assert_int_equal(mk_out_flush(lb.conn, false), MK_PUMP_READER);
    assert_int_equal(file->refs, refs);
    assert_int_equal(lb.conn->leftover_len, 12000 - 3500);
    pump_all(&lb);
    for (size_t i = 0; i < lb.out_len; i++)
        assert_int_equal(lb.out[i], file_byte(i % 3000));
    assert_int_equal(lb.out_len, 12000);
    mk_file_put(file);
    done(&lb);
}

static void a_tail_follows_what_is_left_over(void **state)
{
    static const size_t pieces[] = {0, 1000, 65536, 100000};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(pieces); i++) {
        struct loopback lb;

        open_conn(&lb, pieces[i]);
        gather(&lb, 0, 2000);
        (void)!mk_out_flush(lb.conn, true);
        lb.conn->tail = file_of("/large", false);
        lb.conn->tail_at = 2000;
        lb.conn->tail_end = 300000;
        pump_all(&lb);
        check(&lb, 300000);
        assert_null(lb.conn->tail);
        done(&lb);
    }
}

static void a_budget_ends_the_turn(void **state)
{
    struct loopback lb;

    (void)state;
    open_conn(&lb, 0);
    lb.conn->tail = file_of("/large", false);
    lb.conn->tail_end = 300000;
    assert_int_equal(pump(&lb, 70000), MK_PUMP_TURN);
    check(&lb, 70000);
    assert_int_equal(pump(&lb, 230000), MK_PUMP_DONE);
    check(&lb, 300000);
    done(&lb);
}

static void faults_are_told_and_leave_nothing(void **state)
{
    static const struct {
        const char *sentence;
        bool broken, read_error, no_memory, short_file;
        enum mk_pump verdict;
    } rows[] = {
        {"the peer is gone", true, false, false, false, MK_PUMP_CUT},
        {"the disk fails", false, true, false, false, MK_PUMP_BROKEN},
        {"no memory for what is left over", false, false, true, false, MK_PUMP_NO_MEMORY},
        {"the file is shorter than it was", false, false, false, true, MK_PUMP_TRUNCATED},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct loopback lb;
        enum mk_pump verdict;

        open_conn(&lb, rows[i].no_memory ? 10 : 0);
        gather(&lb, 0, 1000);
        lb.broken = rows[i].broken;
        lb.read_error = rows[i].read_error;
        if (rows[i].no_memory)
            mk_heap_fail_after(0);
        verdict = mk_out_flush(lb.conn, true);
        mk_heap_fail_after(-1);
        lb.conn->tail = file_of("/large", false);
        lb.conn->tail_end = rows[i].short_file ? 300001 : 300000;
        if (verdict == MK_PUMP_DONE)
            verdict = pump(&lb, SIZE_MAX);
        if (verdict != rows[i].verdict)
            fail_msg("%s: %d", rows[i].sentence, (int)verdict);
        assert_int_equal(fix.worker->gather->bytes, 0);
        done(&lb);
    }
}

#define RUN(test) cmocka_unit_test_teardown(test, clean_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(pieces_gather_and_leave_in_one_call),
        RUN(a_full_buffer_is_sent_first),
        RUN(what_is_not_taken_waits_in_order),
        RUN(cached_bytes_are_not_copied_and_stay_while_needed),
        RUN(cached_bytes_that_are_left_over_are_copied),
        RUN(a_tail_follows_what_is_left_over),
        RUN(a_budget_ends_the_turn),
        RUN(faults_are_told_and_leave_nothing),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
