/* SPDX-License-Identifier: Apache-2.0 */
#include "loopback.h"

#include "base/str.h"

/* Heads of answers, byte by byte, as the settings of a site shape them. */

#define GET(path, more) "GET " path " HTTP/1.1\r\nHost: a\r\n" more "\r\n"
#define DATE "Date: DDDDDDDDDDDDDDDDDDDDDDDDDDDDD\r\n"
#define NAMED DATE "Server: Monkey\r\n"
#define PAGE "Content-Type: text/html; charset=utf-8\r\n"

static const struct answer {
    const char *sentence;
    struct row rows[4];
    const char *in, *head; /* the whole head; a star stands for the rest of a line */
} answers[] = {
    /* clang-format off */
    {"a file", {{0}}, GET("/a.txt", ""),
     "HTTP/1.1 200 OK\r\n" NAMED "Content-Type: text/plain; charset=utf-8\r\nLast-Modified: *\r\nETag: *\r\nAccept-Ranges: bytes\r\nContent-Length: 5\r\n\r\n"},
    {"the same without ranges", {{"SERVER", "Resume", "off", 0}}, GET("/a.txt", "Range: bytes=0-0\r\n"),
     "HTTP/1.1 200 OK\r\n" NAMED "Content-Type: text/plain; charset=utf-8\r\nLast-Modified: *\r\nETag: *\r\nContent-Length: 5\r\n\r\n"},
    {"the end of the connection", {{0}}, GET("/a.txt", "Connection: close\r\n"),
     "HTTP/1.1 200 OK\r\n" NAMED "Content-Type: text/plain; charset=utf-8\r\nLast-Modified: *\r\nETag: *\r\nAccept-Ranges: bytes\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"},
    {"HTTP/1.0 is told that it may go on", {{0}}, "GET /a.txt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
     "HTTP/1.1 200 OK\r\n" NAMED "Content-Type: text/plain; charset=utf-8\r\nLast-Modified: *\r\nETag: *\r\nAccept-Ranges: bytes\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n"},
    {"no keep-alive here", {{"SERVER", "KeepAlive", "off", 0}}, GET("/a.txt", ""),
     "HTTP/1.1 200 OK\r\n" NAMED "Content-Type: text/plain; charset=utf-8\r\nLast-Modified: *\r\nETag: *\r\nAccept-Ranges: bytes\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"},
    {"304 has the validators and no length (RFC 9110 section 15.4.5)", {{0}}, GET("/a.txt", "If-None-Match: *\r\n"),
     "HTTP/1.1 304 Not Modified\r\n" NAMED "Last-Modified: *\r\nETag: *\r\nAccept-Ranges: bytes\r\n\r\n"},
    {"206", {{0}}, GET("/a.txt", "Range: bytes=1-2\r\n"),
     "HTTP/1.1 206 Partial Content\r\n" NAMED "Content-Type: text/plain; charset=utf-8\r\nLast-Modified: *\r\nETag: *\r\nAccept-Ranges: bytes\r\nContent-Range: bytes 1-2/5\r\nContent-Length: 2\r\n\r\n"},
    {"204 has neither length nor body (RFC 9110 section 8.6)", {{0}}, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
     "HTTP/1.1 204 No Content\r\n" NAMED "Allow: GET, HEAD, OPTIONS\r\n\r\n"},
    {"a page for an error", {{0}}, GET("/none", ""),
     "HTTP/1.1 404 Not Found\r\n" NAMED PAGE "Content-Length: *\r\n\r\n"},
    {"a page of the site's own", {{"ERROR_PAGES", "404", "a.txt", 0}}, GET("/none", ""),
     "HTTP/1.1 404 Not Found\r\n" NAMED "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\n\r\n"},
    {"a page of the site's own that is missing", {{"ERROR_PAGES", "404", "b.txt", 0}}, GET("/none", ""),
     "HTTP/1.1 404 Not Found\r\n" NAMED PAGE "Content-Length: *\r\n\r\n"},
    {"a redirect", {{"HOST", "Redirect", "http://b/ 307", 0}}, GET("/x/y?z", ""),
     "HTTP/1.1 307 Temporary Redirect\r\n" NAMED "Location: http://b/x/y?z\r\n" PAGE "Content-Length: *\r\n\r\n"},
    {"a redirect to one place", {{"HOST", "Redirect", "http://b/c", 0}}, GET("/x/y?z", ""),
     "HTTP/1.1 301 Moved Permanently\r\n" NAMED "Location: http://b/c\r\n" PAGE "Content-Length: *\r\n\r\n"},
    {"a field of the site", {{"HOST", "Header", "X-A b", 0}}, GET("/none", ""),
     "HTTP/1.1 404 Not Found\r\n" NAMED PAGE "X-A: b\r\nContent-Length: *\r\n\r\n"},
    {"another server", {{"HOST", "Header", "Server mine", 0}}, GET("/none", ""),
     "HTTP/1.1 404 Not Found\r\n" DATE PAGE "Server: mine\r\nContent-Length: *\r\n\r\n"},
    {"no server", {{"HOST", "Header", "Server", 0}}, GET("/a.txt", ""),
     "HTTP/1.1 200 OK\r\n" DATE "Content-Type: text/plain; charset=utf-8\r\nLast-Modified: *\r\nETag: *\r\nAccept-Ranges: bytes\r\nContent-Length: 5\r\n\r\n"},
    {"no validators", {{"HOST", "Header", "ETag", 0}, {"HOST", "Header", "Last-Modified", 0}}, GET("/a.txt", ""),
     "HTTP/1.1 200 OK\r\n" NAMED "Content-Type: text/plain; charset=utf-8\r\nAccept-Ranges: bytes\r\nContent-Length: 5\r\n\r\n"},
    {"precompressed files vary", {{"HOST", "Precompressed", "on", 0}}, GET("/a.txt", "Accept-Encoding: gzip\r\n"),
     "HTTP/1.1 200 OK\r\n" NAMED "Content-Type: text/plain; charset=utf-8\r\nContent-Encoding: gzip\r\nLast-Modified: *\r\nETag: *\r\nAccept-Ranges: bytes\r\nVary: Accept-Encoding\r\nContent-Length: 3\r\n\r\n"},
    /* clang-format on */
};

static char dir[32];

static int set_up(void **state)
{
    (void)state;
    dir_make(dir);
    file_write(dir, "a.txt", "hello", 5);
    file_write(dir, "a.txt.gz", "gz!", 3);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dir_remove(dir);
    return 0;
}

static void open_site(struct fixture *f, const struct row *rows)
{
    struct row all[6] = {{"SERVER", "HideVersion", "on", 0}};

    for (size_t i = 1; rows->section; i++)
        all[i] = *rows++;
    memcpy(f->dir, dir, sizeof(dir));
    fixture_open(f, all);
}

static void heads_are_as_written_here(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(answers); i++) {
        struct fixture f;
        struct loopback lb;

        open_site(&f, answers[i].rows);
        loopback_init(&lb, f.worker, mk_str_from(answers[i].in));
        loopback_talk(&lb);
        if (!loopback_begins(&lb, answers[i].head))
            fail_msg("%s: got\n%.*s\nexpected\n%s", answers[i].sentence, (int)lb.out_len, lb.out,
                     answers[i].head);
        loopback_free(&lb);
        fixture_close(&f);
    }
}

/* The length that a head promises is what follows. */
static void bodies_are_as_long_as_promised(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(answers); i++) {
        struct fixture f;
        struct loopback lb;
        const char *end, *length;
        unsigned long promised = 0;

        open_site(&f, answers[i].rows);
        loopback_init(&lb, f.worker, mk_str_from(answers[i].in));
        loopback_talk(&lb);
        end = memmem(lb.out, lb.out_len, "\r\n\r\n", 4);
        assert_non_null(end);
        length = memmem(lb.out, lb.out_len, "Content-Length: ", 16);
        if (length)
            assert_int_equal(sscanf(length + 16, "%lu", &promised), 1);
        if ((size_t)(lb.out + lb.out_len - (end + 4)) != promised)
            fail_msg("%s: promised %lu", answers[i].sentence, promised);
        loopback_free(&lb);
        fixture_close(&f);
    }
}

static void a_site_may_not_add_more_than_a_head_holds(void **state)
{
    struct row rows[10] = {{0}};
    char value[1024];
    struct plan p;

    (void)state;
    (void)snprintf(value, sizeof(value), "X-Long %01000d", 1);
    for (size_t i = 0; i < 9; i++)
        rows[i] = (struct row){"HOST", "Header", value, 0};
    plan_make(&p, rows);
    assert_int_equal(p.error, 0);
    assert_int_equal(p.faults.count, 1);
    assert_non_null(strstr(plan_faults(&p), "8192 bytes"));
    plan_free(&p);
}

static void what_a_site_may_add_is_sent_with_everything_else(void **state)
{
    struct row rows[9] = {{0}};
    char value[1024];
    struct fixture f;
    struct loopback lb;

    (void)state;
    (void)snprintf(value, sizeof(value), "X-Long %01000d", 1);
    for (size_t i = 0; i < 8; i++)
        rows[i] = (struct row){"HOST", "Header", value, 0};
    memcpy(f.dir, dir, sizeof(dir));
    fixture_open(&f, rows);
    loopback_init(&lb, f.worker, MK_STR(GET("/a.txt", "")));
    loopback_open(&lb);
    loopback_run(&lb);
    assert_true(lb.out_len > 8000);
    assert_memory_equal(lb.out, "HTTP/1.1 200 ", 13);
    loopback_close(&lb);
    loopback_free(&lb);
    fixture_close(&f);
}

static void the_date_follows_the_clock(void **state)
{
    static const struct row none[] = {{NULL, NULL, NULL, 0}};
    struct fixture f;
    struct loopback lb;

    (void)state;
    open_site(&f, none);
    loopback_init(&lb, f.worker, MK_STR("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"));
    loopback_open(&lb);
    (void)loopback_arrive(&lb);
    f.worker->loop.clock.wall_s = 784111777; /* RFC 9110 section 5.6.7 */
    lb.conn->watch.on_event(&lb.conn->watch, EPOLLIN);
    assert_true(loopback_has(&lb, "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"));
    f.worker->loop.clock.wall_s++;
    loopback_say(&lb, lb.in);
    (void)loopback_arrive(&lb);
    lb.conn->watch.on_event(&lb.conn->watch, EPOLLIN);
    assert_true(loopback_has(&lb, "Date: Sun, 06 Nov 1994 08:49:38 GMT\r\n"));
    loopback_close(&lb);
    loopback_free(&lb);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_as_written_here),
        cmocka_unit_test(bodies_are_as_long_as_promised),
        cmocka_unit_test(a_site_may_not_add_more_than_a_head_holds),
        cmocka_unit_test(what_a_site_may_add_is_sent_with_everything_else),
        cmocka_unit_test(the_date_follows_the_clock),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
