/* SPDX-License-Identifier: Apache-2.0 */
#include "loopback.h"

/* One request after the other with allocation 0, 1, ... failing: a clean error or the normal answer. */

#define GET(path, more) "GET " path " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" more "\r\n"
#define FILLER                                                                                     \
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" \
    "xxxx"
#define LONG_FIELD(name)                                                                           \
    name ": " FILLER FILLER FILLER FILLER FILLER FILLER FILLER FILLER FILLER FILLER "\r\n"

static const struct row site[] = {
    {"SERVER", "UserDir", "www", 0},
    {"HANDLERS", "Match", "^/echo echo", 0},
    {"HANDLERS", "Match", "^/e(c|x)x?o$ echo", 0},
    {"ERROR_PAGES", "404", "own.html", 0},
    {"ERROR_PAGES", "416", "missing.html", 0},
    {"HOST", "Precompressed", "on", 0},
    {"HOST", "Header", "X-A b", 0},
    {"HOST", "CacheControl", "*.css max-age=60", 0},
    {"HOST", "ServerName", "a b *.c", 0},
    {"HOST", "ServerName", "other", 1},
    {"HOST", "Redirect", "http://elsewhere/", 1},
    {NULL, NULL, NULL, 0},
};

static const struct {
    const char *sentence;
    struct mk_str in;
    unsigned status;
} requests[] = {
    {"a small file", MK_STR_INIT(GET("/small.txt", "")), 200},
    {"a small file twice, so that its bytes are kept",
     MK_STR_INIT("GET /small.txt HTTP/1.1\r\nHost: a\r\n\r\n" GET("/small.txt", "")), 200},
    {"a large file", MK_STR_INIT(GET("/large.bin", "")), 200},
    {"a compressed variant", MK_STR_INIT(GET("/pre.css", "Accept-Encoding: gzip\r\n")), 200},
    {"one range", MK_STR_INIT(GET("/large.bin", "Range: bytes=1-2\r\n")), 206},
    {"several ranges",
     MK_STR_INIT(GET("/large.bin", "Range: bytes=1-2,100-199,50000-90000,-10\r\n")), 206},
    {"no such range", MK_STR_INIT(GET("/small.txt", "Range: bytes=999-\r\n")), 416},
    {"no such file, with a page of the site", MK_STR_INIT(GET("/nothing", "")), 404},
    {"an index file", MK_STR_INIT(GET("/dir/", "")), 200},
    {"a directory without its slash", MK_STR_INIT(GET("/dir", "")), 301},
    {"above the root", MK_STR_INIT(GET("/../x", "")), 403},
    {"not modified", MK_STR_INIT(GET("/small.txt", "If-None-Match: *\r\n")), 304},
    {"a redirect", MK_STR_INIT("GET /x?y HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n"),
     301},
    {"a user nobody knows", MK_STR_INIT(GET("/~nobody-of-that-name/", "")), 404},
    {"an echo",
     MK_STR_INIT(
         "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"),
     200},
    {"an echo by another pattern", MK_STR_INIT(GET("/exo", "")), 200},
    {"an echo in chunks",
     MK_STR_INIT("POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: "
                 "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
     200},
    {"a head that does not fit its first buffer",
     MK_STR_INIT(
         GET("/small.txt", LONG_FIELD("A") LONG_FIELD("B") LONG_FIELD("C") LONG_FIELD("D"))),
     200},
    {"an echo of such a head",
     MK_STR_INIT(GET("/echo", LONG_FIELD("A") LONG_FIELD("B") LONG_FIELD("C") LONG_FIELD("D"))),
     200},
    {"no request at all", MK_STR_INIT("hello\r\n\r\n"), 400},
};

static struct fixture fix;

static int set_up(void **state)
{
    (void)state;
    dir_make(fix.dir);
    file_write(fix.dir, "small.txt", NULL, 50);
    file_write(fix.dir, "large.bin", NULL, 200 << 10);
    file_write(fix.dir, "pre.css", NULL, 500);
    file_write(fix.dir, "pre.css.gz", NULL, 100);
    file_write(fix.dir, "own.html", "own page", 8);
    file_write(fix.dir, "dir/index.html", "index", 5);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mk_heap_fail_after(-1);
    dir_remove(fix.dir);
    return 0;
}

/* The last answer, whose status counts, and which is whole when the first is. */
static unsigned last_status(struct loopback *lb)
{
    unsigned n = 0;

    while (loopback_status(lb, n + 1) != 0)
        n++;
    return loopback_status(lb, n);
}

static bool is_clean_error(unsigned status)
{
    return status == 0 || status == 500 || status == 503;
}

/* @return whether the fault was met. */
static bool run(size_t i, long n, size_t piece)
{
    struct loopback lb;
    bool met;
    void *probe;
    unsigned status;

    fixture_open(&fix, site);
    loopback_init(&lb, fix.worker, requests[i].in);
    lb.in_piece = lb.out_piece = piece;
    mk_heap_fail_after(n);
    loopback_open(&lb);
    loopback_run(&lb);
    probe = mk_heap_alloc(1);
    met = probe != NULL;
    mk_heap_free(probe);
    mk_heap_fail_after(-1);
    status = last_status(&lb);
    if (status != requests[i].status && (!met || !is_clean_error(status)))
        fail_msg("%s, allocation %ld: status %u", requests[i].sentence, n, status);
    loopback_close(&lb);
    loopback_free(&lb);
    fixture_close(&fix); /* which counts what is left */
    return met;
}

static void a_request_without_memory_ends_cleanly(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(requests); i++) {
        long n = 0;

        while (run(i, n, 0))
            n++;
        if (n < 1 || n > 100)
            fail_msg("%s: %ld allocations", requests[i].sentence, n);
    }
}

static void the_same_to_a_slow_peer(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(requests); i++) {
        long n = 0;

        while (run(i, n, 997))
            n++;
    }
}

static void a_server_without_memory_is_not_made(void **state)
{
    static const struct row fair[] = {
        {"SERVER", "Workers", "3", 0},
        {"SERVER", "Scheduler", "Fair", 0},
        {"SERVER", "LogLevel", "error", 0},
        {"HANDLERS", "Match", "^/(a|b) echo", 0},
        {"HANDLERS", "Match", "^/(c|d) echo", 0},
        {NULL, NULL, NULL, 0},
    };
    struct mk_server *server = NULL;
    struct plan plan;
    long n;

    (void)state;
    plan_make(&plan, fair);
    assert_int_equal(plan.faults.count, 0);
    for (n = 0; !server; n++) {
        long live = mk_heap_live();

        assert_true(n < 100);
        mk_heap_fail_after(n);
        server = mk_server_create(&plan.snapshot, NULL);
        mk_heap_fail_after(-1);
        mk_server_free(server);
        assert_int_equal(mk_heap_live(), live);
        assert_int_equal(atomic_load(&plan.snapshot.refs), 1);
    }
    assert_true(n > 10);
    plan_free(&plan);
}

/* A configuration with something of everything, built with each allocation failing. */
static void a_snapshot_without_memory_is_not_built(void **state)
{
    struct plan plan;
    long n = 0;

    (void)state;
    plan_make(&plan, site);
    for (;; n++) {
        struct mk_arena arena;
        struct mk_faults faults;
        struct mk_setup ctx = {.arena = &arena, .faults = &faults};
        struct mk_snapshot snapshot;
        int err;

        memset(&snapshot, 0, sizeof(snapshot));
        mk_arena_init(&arena, NULL, 0, SIZE_MAX);
        mk_faults_init(&faults, &arena);
        mk_heap_fail_after(n);
        err = mk_snapshot_build(&snapshot, &plan.source, &ctx);
        mk_heap_fail_after(-1);
        mk_arena_fini(&arena);
        if (err == 0 && !faults.no_memory)
            break;
        assert_true(err == MK_E_NOMEM || faults.no_memory);
        assert_true(n < 1000);
    }
    assert_true(n > 0);
    plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_without_memory_ends_cleanly),
        cmocka_unit_test(the_same_to_a_slow_peer),
        cmocka_unit_test(a_server_without_memory_is_not_made),
        cmocka_unit_test(a_snapshot_without_memory_is_not_built),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
