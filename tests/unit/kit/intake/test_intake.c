/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "intake.h"

enum { KB = 1024 };

/* ---- a request whose body is the alphabet, as far as it has come; and a spool ---- */

static struct mk_request {
    struct mk_request_facts facts;
    size_t came, read; /* bytes of the body */
    size_t with_head;  /* of them in the input buffer */
    ssize_t then;      /* what reading says behind those that came */
    unsigned status, resumed;
    char *memory;
} req;

static struct mk_spool {
    char bytes[256 * KB];
    size_t size, max;
} spool;
static unsigned nspools;
static bool no_memory;
static int64_t now_ms;

int64_t mk_worker_now_ms(const struct mk_worker *w)
{
    (void)w;
    return now_ms;
}

struct mk_str mk_request_header(const struct mk_request *r, struct mk_str name)
{
    (void)name;
    return r->facts.content_length == 0 ? MK_STR("0") : (struct mk_str){NULL, 0};
}

size_t mk_request_buffered(const struct mk_request *r)
{
    return r->with_head;
}

ssize_t mk_request_read(struct mk_request *r, char *dst, size_t len)
{
    size_t n = r->came - r->read < len ? r->came - r->read : len;

    if (n == 0)
        return r->then;
    for (size_t i = 0; i < n; i++)
        dst[i] = (char)('a' + (r->read + i) % 26);
    r->read += n;
    return (ssize_t)n;
}

void mk_request_resume(struct mk_request *r)
{
    r->resumed++;
}

void *mk_request_alloc(struct mk_request *r, size_t size)
{
    r->memory = no_memory ? NULL : malloc(size);
    return r->memory;
}

void mk_request_hold(struct mk_request *r, size_t bytes)
{
    (void)r;
    (void)bytes;
}

void mk_request_log(const struct mk_request *r, enum mk_log_level level, const char *fmt, ...)
{
    (void)r;
    (void)level;
    (void)fmt;
}

enum mk_verdict mk_reply_error(struct mk_request *r, unsigned status, const char *lines)
{
    (void)lines;
    r->status = status;
    return MK_VERDICT_DONE;
}

const char *mk_error_text(int error)
{
    (void)error;
    return "";
}

struct mk_spool *mk_spool_new(size_t memory, uint64_t max, const char *dir)
{
    assert_int_equal(memory, 64 * KB);
    assert_true(max > 0);
    assert_string_equal(dir, "/spool");
    if (no_memory)
        return NULL;
    spool.size = 0;
    nspools++;
    return &spool;
}

int mk_spool_write(struct mk_spool *s, const char *bytes, size_t len)
{
    if (len > s->max - s->size)
        return MK_E_ACCESS;
    memcpy(s->bytes + s->size, bytes, len);
    s->size += len;
    return 0;
}

ssize_t mk_spool_read(const struct mk_spool *s, uint64_t at, char *dst, size_t len)
{
    size_t n = at < s->size ? s->size - (size_t)at : 0;

    n = n < len ? n : len;
    memcpy(dst, s->bytes + at, n);
    return (ssize_t)n;
}

uint64_t mk_spool_size(const struct mk_spool *s)
{
    return s->size;
}

void mk_spool_free(struct mk_spool *s)
{
    nspools -= s != NULL;
}

/* ---- */

static struct intake in;

static int set_up(void **state)
{
    (void)state;
    req = (struct mk_request){.then = MK_E_AGAIN};
    spool.max = sizeof(spool.bytes);
    no_memory = false;
    now_ms = 1000;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    intake_fini(&in);
    free(req.memory);
    assert_int_equal(nspools, 0);
    return 0;
}

static void begin(int64_t length, enum intake_mode mode)
{
    req.facts.content_length = length;
    intake_init(&in, &req, &req.facts, mode, true);
}

static enum mk_verdict gather(void)
{
    return intake_gather(&in, &req, "/spool");
}

/* So many bytes come out, those that went in, whatever the size of the pieces; then what. */
static void read_all(size_t count, ssize_t then)
{
    char piece[7777];
    ssize_t n;

    for (size_t at = 0; at < count; at += (size_t)n) {
        n = intake_read(&in, &req, piece, count - at < sizeof(piece) ? count - at : sizeof(piece));
        assert_true(n > 0);
        for (size_t i = 0; i < (size_t)n; i++)
            assert_int_equal(piece[i], 'a' + (at + i) % 26);
    }
    assert_int_equal(intake_read(&in, &req, piece, sizeof(piece)), then);
}

static void test_no_body(void **state)
{
    (void)state;
    begin(0, INTAKE_ON);
    assert_int_equal(gather(), MK_VERDICT_PASS);
    read_all(0, 0);
    assert_true(in.announced);
}

static void test_what_came_with_the_head_is_not_copied(void **state)
{
    (void)state;
    for (int mode = INTAKE_AUTO; mode <= INTAKE_OFF; mode++) {
        req = (struct mk_request){.came = 100, .with_head = 100};
        begin(100, (enum intake_mode)mode);
        assert_int_equal(gather(), MK_VERDICT_PASS);
        assert_int_equal(nspools, 0);
        read_all(100, 0);
        assert_false(in.owes);
    }
}

static void test_a_slow_one_is_gathered_whole(void **state)
{
    (void)state;
    begin(100000, INTAKE_AUTO);
    for (req.came = 1; req.came < 100000; req.came += 1000) {
        assert_int_equal(gather(), MK_VERDICT_LATER);
        now_ms += 100;
    }
    req.came = 100000;
    assert_int_equal(gather(), MK_VERDICT_PASS);
    assert_false(in.owes);
    read_all(50000, (ssize_t)7777);
    assert_true(intake_can_rewind(&in));
    intake_rewind(&in);
    read_all(100000, 0);
    intake_rewind(&in);
    read_all(100000, 0);
}

static void test_a_fast_one_passes_and_is_streamed(void **state)
{
    (void)state;
    begin(1000000, INTAKE_AUTO);
    req.came = 100;
    assert_int_equal(gather(), MK_VERDICT_LATER);
    req.came = 200 * (size_t)KB;
    assert_int_equal(gather(), MK_VERDICT_PASS);
    assert_in_range(req.read, ARRIVAL_FAST, 48 * KB);
    assert_true(in.owes);
    req.came = 1000000;
    req.then = 0;
    read_all(1000000, 0);
    assert_int_equal(nspools, 0); /* what was gathered is gone */
    assert_false(intake_can_rewind(&in));
    assert_false(in.owes);
}

static void test_a_length_that_is_needed(void **state)
{
    (void)state;
    begin(-1, INTAKE_AUTO);
    req.came = 200 * (size_t)KB;
    assert_int_equal(gather(), MK_VERDICT_LATER);
    req.then = 0;
    assert_int_equal(gather(), MK_VERDICT_PASS);
    assert_int_equal(in.length, 200 * KB);
    read_all(200 * (size_t)KB, 0);
}

static void test_a_length_that_is_not_needed(void **state)
{
    (void)state;
    req.facts.content_length = -1;
    intake_init(&in, &req, &req.facts, INTAKE_AUTO, false);
    req.came = 200 * (size_t)KB;
    assert_int_equal(gather(), MK_VERDICT_PASS);
    assert_int_equal(in.length, -1);
    read_all(200 * (size_t)KB, MK_E_AGAIN);
    req.then = 0;
    read_all(0, 0);
}

static void test_on_gathers_a_fast_one_too(void **state)
{
    (void)state;
    begin(256 * KB, INTAKE_ON);
    req.came = 200 * (size_t)KB;
    assert_int_equal(gather(), MK_VERDICT_LATER);
    req.came = 256 * (size_t)KB;
    assert_int_equal(gather(), MK_VERDICT_PASS);
    read_all(256 * (size_t)KB, 0);
}

static void test_off_reads_nothing_ahead(void **state)
{
    (void)state;
    begin(-1, INTAKE_OFF);
    req.came = 10;
    assert_int_equal(gather(), MK_VERDICT_PASS);
    assert_int_equal(req.read, 0);
    read_all(10, MK_E_AGAIN);
}

/* The piece for which there is no room is not lost. */
static void test_no_room_on_the_disk(void **state)
{
    (void)state;
    spool.max = 20000;
    begin(100000, INTAKE_AUTO);
    req.came = 15000;
    assert_int_equal(gather(), MK_VERDICT_LATER);
    req.came = 22000;
    now_ms += 2000;
    assert_int_equal(gather(), MK_VERDICT_PASS);
    assert_true(in.owes);
    read_all(22000, MK_E_AGAIN);
    req.came = 100000;
    assert_true(in.at == 22000);
}

static void test_refusals(void **state)
{
    static const struct {
        ssize_t then;
        enum mk_verdict verdict;
        unsigned status;
    } rows[] = {
        {MK_E_BAD, MK_VERDICT_DONE, 400},
        {MK_E_LIMIT, MK_VERDICT_DONE, 413},
        {MK_E_NOMEM, MK_VERDICT_DONE, 503},
        {MK_E_PEER, MK_VERDICT_CLOSE, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        req = (struct mk_request){.came = 10, .then = rows[i].then};
        begin(100, INTAKE_AUTO);
        assert_int_equal(gather(), rows[i].verdict);
        assert_int_equal(req.status, rows[i].status);
        intake_fini(&in);
    }
    req.then = MK_E_AGAIN;
    spool.max = 5;
    begin(100, INTAKE_ON); /* must have room */
    req.came = 20;
    assert_int_equal(gather(), MK_VERDICT_DONE);
    assert_int_equal(req.status, 500);
}

static void test_without_memory(void **state)
{
    (void)state;
    no_memory = true;
    begin(100, INTAKE_AUTO);
    assert_int_equal(gather(), MK_VERDICT_DONE);
    assert_int_equal(req.status, 503);
    no_memory = false;
    req.came = 10;
    assert_int_equal(gather(), MK_VERDICT_LATER);
    no_memory = true;
    spool.max = 10;
    req.came = 20;
    assert_int_equal(gather(), MK_VERDICT_DONE);
    assert_int_equal(req.status, 500);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_no_body),
        CASE(test_what_came_with_the_head_is_not_copied),
        CASE(test_a_slow_one_is_gathered_whole),
        CASE(test_a_fast_one_passes_and_is_streamed),
        CASE(test_a_length_that_is_needed),
        CASE(test_a_length_that_is_not_needed),
        CASE(test_on_gathers_a_fast_one_too),
        CASE(test_off_reads_nothing_ahead),
        CASE(test_no_room_on_the_disk),
        CASE(test_refusals),
        CASE(test_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
