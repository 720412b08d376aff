/* SPDX-License-Identifier: Apache-2.0 */
#include "compat_scene.h"

#include <monkey/libmonkey.h>

#include <stdatomic.h>
#include <unistd.h>

/* The callbacks of the 2012 interface, asked by a client. */

static atomic_int closed, open_sessions;

static mklib_ctx serve(const char *name, cb_data data, const char *root)
{
    mklib_ctx ctx = mklib_init(compat_address(name), 0, 0, root);

    assert_non_null(ctx);
    assert_int_equal(mklib_callback_set(ctx, MKCB_DATA, (void *)(uintptr_t)data), MKLIB_TRUE);
    return ctx;
}

static void start(mklib_ctx ctx)
{
    assert_int_equal(mklib_start(ctx), MKLIB_TRUE);
}

static void stop(mklib_ctx ctx)
{
    assert_int_equal(mklib_stop(ctx), MKLIB_TRUE);
}

/* "VHOST URL GET(len) POST(len)" */
static int show(const mklib_session *session, const char *vhost, const char *url, const char *get,
                unsigned long get_len, const char *post, unsigned long post_len,
                unsigned int *status, const char **content, unsigned long *content_len,
                char *header)
{
    static char text[4000];

    assert_non_null(session);
    assert_int_equal(*status, 200);
    (void)snprintf(text, sizeof(text), "%s %s %s(%lu) %.20s(%lu)", vhost, url, get ? get : "none",
                   get_len, post ? post : "none", post_len);
    (void)strcpy(header, "Content-Type: text/x-shown\r\nX-Second: 2");
    *content = text;
    *content_len = strlen(text);
    return MKLIB_TRUE;
}

static void the_data_callback_answers(void **state)
{
    mklib_ctx ctx = serve("socket", show, NULL);
    char *answer;

    (void)state;
    assert_int_equal(mklib_vhost_config(ctx, "second", MKV_SERVERNAME, "two deux", NULL), 1);
    start(ctx);
    compat_expect("socket", "/", 200, "default / none(0) none(0)");
    compat_expect("socket", "/a%20b/../c?x=1&y", 200, "default /c x=1&y(5) none(0)");
    compat_expect("socket", "/?", 200, "default / (0) none(0)");
    answer =
        compat_ask("socket", "POST /p HTTP/1.1\r\nHost: deux\r\nContent-Length: 3\r\n", "a=b", 3);
    assert_non_null(strstr(answer, "\r\nContent-Type: text/x-shown\r\n"));
    assert_non_null(strstr(answer, "\r\nX-Second: 2\r\n"));
    compat_is(answer, 200, "second /p none(0) a=b(3)");
    answer = compat_ask("socket", "POST /e HTTP/1.1\r\nHost: two\r\nContent-Length: 0\r\n", "", 0);
    compat_is(answer, 200, "second /e none(0) none(0)");
    stop(ctx);
}

static void a_url_may_be_long(void **state)
{
    enum { LONG = 7000 };
    mklib_ctx ctx = serve("socket", show, NULL);
    char head[LONG + 100], *answer;

    (void)state;
    start(ctx);
    (void)snprintf(head, sizeof(head), "GET /%0*d HTTP/1.1\r\nHost: a\r\n", LONG, 0);
    answer = compat_ask("socket", head, "", 0);
    assert_non_null(strstr(answer, "0000"));
    compat_is(answer, 200, NULL);
    stop(ctx);
}

static int measure(const mklib_session *session, const char *vhost, const char *url,
                   const char *get, unsigned long get_len, const char *post, unsigned long post_len,
                   unsigned int *status, const char **content, unsigned long *content_len,
                   char *header)
{
    static char text[100];
    unsigned long sum = 0;

    (void)session, (void)vhost, (void)url, (void)get, (void)get_len, (void)status, (void)header;
    for (unsigned long i = 0; i < post_len; i++)
        sum += (unsigned char)post[i];
    (void)snprintf(text, sizeof(text), "%lu %lu", post_len, sum);
    *content = text;
    *content_len = strlen(text);
    return MKLIB_TRUE;
}

static void bodies_arrive_whole(void **state)
{
    enum { LONG = 1 << 20 };
    mklib_ctx ctx = serve("socket", measure, NULL);
    char head[100], expected[100], *body = malloc(LONG);

    (void)state;
    assert_non_null(body);
    memset(body, 3, LONG);
    start(ctx);
    (void)snprintf(head, sizeof(head), "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n",
                   LONG);
    (void)snprintf(expected, sizeof(expected), "%d %d", LONG, 3 * LONG);
    compat_is(compat_ask("socket", head, body, LONG), 200, expected);
    compat_is(compat_ask("socket", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n",
                         "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", 18),
              200, "3 294");
    compat_is(compat_ask("socket", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n",
                         "x\r\n", 3),
              400, NULL);
    stop(ctx);
    free(body);
}

/* The path says what to answer. */
static int odd(const mklib_session *session, const char *vhost, const char *url, const char *get,
               unsigned long get_len, const char *post, unsigned long post_len,
               unsigned int *status, const char **content, unsigned long *content_len, char *header)
{
    static char large[2 << 20];

    (void)session, (void)vhost, (void)get, (void)get_len, (void)post, (void)post_len;
    if (strcmp(url, "/file.txt") == 0 || strcmp(url, "/none") == 0)
        return MKLIB_FALSE;
    if (strcmp(url, "/full") == 0)
        memset(header, 'x', 256);
    if (strcmp(url, "/framing") == 0)
        (void)strcpy(header, "Content-Length: 9\r\nno field\r\nX-Kept: yes\nX-Last: l\r\n\r\n");
    if (strcmp(url, "/large") == 0) {
        memset(large, 'l', sizeof(large) - 1);
        *content = large;
        *content_len = sizeof(large) - 1;
    }
    if (strcmp(url, "/teapot") == 0)
        *status = 418;
    if (strcmp(url, "/status") == 0)
        *status = 100;
    if (strcmp(url, "/null") == 0) {
        *content = NULL;
        *content_len = 5;
    }
    return MKLIB_TRUE;
}

static void odd_answers_are_sent_or_refused(void **state)
{
    mklib_ctx ctx;
    char *answer;

    (void)state;
    compat_write("file.txt", "a file");
    ctx = serve("socket", odd, compat_path(""));
    start(ctx);
    compat_expect("socket", "/file.txt", 200, "a file");
    compat_expect("socket", "/none", 404, NULL);
    compat_expect("socket", "/empty", 200, "");
    compat_expect("socket", "/teapot", 418, "");
    compat_expect("socket", "/status", 500, NULL);
    compat_expect("socket", "/null", 500, NULL);
    compat_expect("socket", "/full", 200, "");
    answer = compat_ask("socket", "GET /framing HTTP/1.1\r\nHost: a\r\n", "", 0);
    assert_non_null(strstr(answer, "\r\nX-Kept: yes\r\n"));
    assert_non_null(strstr(answer, "\r\nX-Last: l\r\n"));
    assert_null(strstr(answer, "Content-Length: 9"));
    compat_is(answer, 200, "");
    answer = compat_ask("socket", "GET /large HTTP/1.1\r\nHost: a\r\n", "", 0);
    assert_int_equal(strlen(strstr(answer, "\r\n\r\n") + 4), (2 << 20) - 1);
    compat_is(answer, 200, NULL);
    stop(ctx);
}

static int is_welcome = MKLIB_TRUE;

static int check_ip(const char *ip)
{
    assert_string_equal(ip, "unix:");
    return is_welcome;
}

static int check_url(const char *url)
{
    return strcmp(url, "/secret") != 0;
}

static void checks_refuse(void **state)
{
    mklib_ctx ctx = serve("socket", show, NULL);
    int fd;

    (void)state;
    assert_int_equal(mklib_callback_set(ctx, MKCB_IPCHECK, (void *)(uintptr_t)check_ip), 1);
    assert_int_equal(mklib_callback_set(ctx, MKCB_URLCHECK, (void *)(uintptr_t)check_url), 1);
    start(ctx);
    compat_expect("socket", "/", 200, NULL);
    compat_expect("socket", "/secret", 403, NULL);
    compat_expect("socket", "/%73ecret?x", 403, NULL);
    is_welcome = MKLIB_FALSE;
    fd = compat_connect("socket");
    free(compat_rest(fd));
    is_welcome = MKLIB_TRUE;
    compat_expect("socket", "/", 200, NULL);
    stop(ctx);
}

/* Content of this request alone, for its close callback. */
static const mklib_session *sessions[4];
static char *contents[4];

static int allocate(const mklib_session *session, const char *vhost, const char *url,
                    const char *get, unsigned long get_len, const char *post,
                    unsigned long post_len, unsigned int *status, const char **content,
                    unsigned long *content_len, char *header)
{
    int number = atomic_fetch_add(&open_sessions, 1);
    char *host = NULL, *none = NULL;

    (void)vhost, (void)url, (void)get, (void)get_len, (void)post, (void)post_len, (void)status;
    (void)header;
    assert_int_equal(mklib_get_request_header(session, "hOST", &host), 0);
    assert_int_equal(mklib_get_request_header(session, "X-None", &none), 0);
    assert_null(none);
    sessions[number] = session;
    contents[number] = host;
    *content = host;
    *content_len = strlen(host);
    return MKLIB_TRUE;
}

static void release(const mklib_session *session)
{
    char *agent = NULL;

    assert_int_equal(mklib_get_request_header(session, "Host", &agent), 0);
    assert_non_null(agent);
    free(agent);
    for (int i = 0; i < atomic_load(&open_sessions); i++) {
        if (sessions[i] == session) {
            free(contents[i]);
            sessions[i] = NULL;
            atomic_fetch_add(&closed, 1);
        }
    }
}

static void each_request_is_closed_once(void **state)
{
    mklib_ctx ctx = serve("socket", allocate, NULL);

    (void)state;
    assert_int_equal(mklib_callback_set(ctx, MKCB_CLOSE, (void *)(uintptr_t)release), 1);
    start(ctx);
    compat_expect("socket", "/", 200, "a");
    compat_expect("socket", "/", 200, "a");
    compat_expect("socket", "/../..", 403, NULL); /* refused before any callback */
    stop(ctx);
    assert_int_equal(atomic_load(&open_sessions), 2);
    assert_int_equal(atomic_load(&closed), 2);
}

static void contexts_are_independent(void **state)
{
    mklib_ctx one = serve("socket", show, NULL), two = serve("other", odd, NULL);

    (void)state;
    start(one);
    start(two);
    compat_expect("socket", "/empty", 200, "default /empty none(0) none(0)");
    compat_expect("other", "/empty", 200, "");
    stop(one);
    compat_expect("other", "/teapot", 418, "");
    stop(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_data_callback_answers),
        cmocka_unit_test(a_url_may_be_long),
        cmocka_unit_test(bodies_arrive_whole),
        cmocka_unit_test(odd_answers_are_sent_or_refused),
        cmocka_unit_test(checks_refuse),
        cmocka_unit_test(each_request_is_closed_once),
        cmocka_unit_test(contexts_are_independent),
    };

    return cmocka_run_group_tests(tests, compat_set_up, compat_tear_down);
}
