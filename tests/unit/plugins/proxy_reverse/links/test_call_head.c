/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "links/call_int.h"

/* Heads as HTTP/1 has them, and what a server of HTTP/2 makes of them. */

static char heard[1 << 17];
static size_t heard_len;

/* ---- the client, which has one stream ---- */

static ssize_t give(struct h2_stream *st, char *dst, size_t len, enum h2_last *last)
{
    (void)st, (void)dst, (void)len, (void)last;
    return MK_E_AGAIN;
}

static void nothing(struct h2_stream *st)
{
    (void)st;
}

static const struct h2_events of_client = {.give = give, .answered = nothing, .over = nothing};

/* ---- the server ---- */

static struct h2_stream at_server;

static struct h2_stream *begin(struct h2_session *s, uint32_t id)
{
    (void)s;
    assert_int_equal(id, 1);
    memset(&at_server, 0, sizeof(at_server));
    return &at_server;
}

static int field(struct h2_stream *st, enum h2_field kind, const struct hpack_field *f)
{
    (void)st;
    (void)kind;
    heard_len += (size_t)snprintf(heard + heard_len, sizeof(heard) - heard_len, "%.*s=%.*s\n",
                                  (int)f->name.len, f->name.p, (int)f->value.len, f->value.p);
    return 0;
}

static int head(struct h2_stream *st)
{
    (void)st;
    return 0;
}

static const struct h2_events of_server = {.begin = begin,
                                           .field = field,
                                           .head = head,
                                           .give = give,
                                           .answered = nothing,
                                           .over = nothing};

static struct h2_session client, server;
static struct h2_stream stream;
static struct h2_out out;
static char bytes[1 << 17], room[HPACK_FIELD_MAX];
static size_t sum;

static void open_both(void)
{
    const struct h2_limits limits = {
        .max_streams = 9, .max_head = 1 << 17, .stream_window = 65535, .window_max = 65535};
    struct h2_limits mine = limits;

    mine.is_client = true;
    out = (struct h2_out){.p = bytes, .cap = sizeof(bytes)};
    h2_session_init(&server, &of_server, &limits, &out, &sum, 0);
    out.used = 0;
    h2_session_init(&client, &of_client, &mine, &out, &sum, 0);
    client.room = server.room = room;
    memset(&stream, 0, sizeof(stream));
    assert_true(h2_session_open(&client, &stream));
    heard_len = 0;
    heard[0] = '\0';
}

static void close_both(void)
{
    h2_session_fini(&client);
    h2_session_fini(&server);
    assert_int_equal(sum, 0);
}

static int pass_on(struct mk_str text, bool is_secure, int64_t *to_send)
{
    struct proxy_call_head h;
    int err = proxy_call_read_head(&h, text);

    open_both();
    if (err == 0)
        err = proxy_call_write_head(&stream, &h, is_secure);
    *to_send = h.to_send;
    do { /* a large head waits for room */
        h2_session_receive(&server, (const uint8_t *)bytes, out.used);
        out.used = 0;
        (void)h2_session_write(&client);
    } while (out.used > 0);
    assert_false(server.is_over);
    close_both();
    return err;
}

/* ---- heads ---- */

#define KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define ASKING "GET / HTTP/1.1\r\nUpgrade: websocket\r\n"
#define PSEUDO ":method=GET\n:scheme=http\n:authority=a:1\n:path=/p?q\n"

static const struct {
    const char *sentence, *text, *heard;
    int64_t to_send;
} rows[] = {
    {"pseudo-header fields first: RFC 9113, 8.3.1",
     "GET /p?q HTTP/1.1\r\nX-Y: Z \r\nHost: a:1\r\n\r\n", PSEUDO "x-y=Z\n", 0},
    {"none of HTTP/1's connections: RFC 9113, 8.2.2",
     "GET /p?q HTTP/1.1\r\nHost: a:1\r\nConnection: close\r\nKeep-Alive: 1\r\nProxy-Connection: "
     "x\r\nTE: trailers\r\n\r\n",
     PSEUDO "te=trailers\n", 0},
    {"a length", "PUT / HTTP/1.1\r\nHost: b\r\nContent-Length: 17\r\n\r\n",
     ":method=PUT\n:scheme=http\n:authority=b\n:path=/\ncontent-length=17\n", 17},
    {"a length of nothing", "PUT / HTTP/1.1\r\nHost: b\r\nContent-Length: 0\r\n\r\n",
     ":method=PUT\n:scheme=http\n:authority=b\n:path=/\ncontent-length=0\n", 0},
    {"a body without one", "PUT / HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n",
     ":method=PUT\n:scheme=http\n:authority=b\n:path=/\n", -1},
    {"no authority", "OPTIONS * HTTP/1.1\r\nA: b\r\n\r\n",
     ":method=OPTIONS\n:scheme=http\n:path=*\na=b\n", 0},
    {"many small fields", "GET / HTTP/1.1\r\nHost: b\r\na:\r\nb:\r\nc:1\r\nd:\r\ne:\r\nf:\r\n\r\n",
     ":method=GET\n:scheme=http\n:authority=b\n:path=/\na=\nb=\nc=1\nd=\ne=\nf=\n", 0},
    {"a tunnel: RFC 8441, 4 and 5",
     "GET /p HTTP/1.1\r\nHost: b\r\nOrigin: o\r\nSec-WebSocket-Key: " KEY
     "\r\nSec-WebSocket-Version: 13\r\nConnection: upgrade\r\nUpgrade: WebSocket\r\n\r\n",
     ":method=CONNECT\n:protocol=WebSocket\n:scheme=http\n:authority=b\n:path=/p\norigin=o\n"
     "sec-websocket-version=13\n",
     -1},
    {"the first of several protocols, without a key",
     "GET / HTTP/1.1\r\nHost: b\r\nUpgrade: a/1 , websocket\r\nSec-WebSocket-Key: x\r\n\r\n",
     ":method=CONNECT\n:protocol=a/1\n:scheme=http\n:authority=b\n:path=/\nsec-websocket-key=x\n",
     -1},
    {"a key of nothing", "GET / HTTP/1.1\r\nHost: b\r\nSec-WebSocket-Key: x\r\n\r\n",
     ":method=GET\n:scheme=http\n:authority=b\n:path=/\nsec-websocket-key=x\n", 0},
};

static void test_heads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct mk_str text = {rows[i].text, strlen(rows[i].text)};
        int64_t to_send = 99;

        assert_int_equal(pass_on(text, false, &to_send), 0);
        if (strcmp(heard, rows[i].heard) != 0)
            fail_msg("%s: %s", rows[i].sentence, heard);
        assert_int_equal(to_send, rows[i].to_send);
        assert_int_equal(stream.state, to_send == 0 ? H2_STREAM_HALF_LOCAL : H2_STREAM_OPEN);
    }
}

static void test_a_secure_one(void **state)
{
    int64_t to_send;

    (void)state;
    assert_int_equal(pass_on(MK_STR("GET / HTTP/1.1\r\n\r\n"), true, &to_send), 0);
    assert_string_equal(heard, ":method=GET\n:scheme=https\n:path=/\n");
}

/* More than a frame, with fields that no table has: what is reserved for them is enough. */
static void test_a_large_one(void **state)
{
    static char text[60000];
    size_t n = (size_t)snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: b\r\n");
    unsigned count = 0;
    int64_t to_send;
    const char *at = heard;

    (void)state;
    for (; n < sizeof(text) - 100; count++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%c%u:~\r\n", 'a' + count % 26, count);
    n += (size_t)snprintf(text + n, sizeof(text) - n, "\r\n");
    assert_int_equal(pass_on((struct mk_str){text, n}, false, &to_send), 0);
    for (unsigned i = 0; i < count + 4; i++) {
        at = strchr(at, '\n');
        assert_non_null(at);
        at++;
    }
    assert_int_equal(*at, '\0');
}

/* RFC 6455 section 1.3 has this key and what it becomes. */
static void test_lines_of_an_opened_tunnel(void **state)
{
    struct h2_text lines = {.p = NULL};
    struct proxy_call_head h;

    (void)state;
    assert_int_equal(proxy_call_read_head(&h, MK_STR(ASKING "Sec-WebSocket-Key: " KEY "\r\n\r\n")),
                     0);
    assert_int_equal(proxy_call_write_opening(&lines, &h), 0);
    assert_int_equal(h2_text_append(&lines, "", 1, 1024), 0);
    assert_string_equal(lines.p, "Connection: upgrade\r\nUpgrade: websocket\r\n"
                                 "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n");
    h2_text_free(&lines);
}

/* One that is longer than any protocol's name is no protocol. */
static void test_a_protocol_without_end(void **state)
{
    static char text[2000];
    struct proxy_call_head h;
    size_t n = (size_t)snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nUpgrade: ");

    (void)state;
    memset(text + n, 'a', 1500);
    n += 1500;
    n += (size_t)snprintf(text + n, sizeof(text) - n, "\r\n\r\n");
    assert_int_equal(proxy_call_read_head(&h, (struct mk_str){text, n}), MK_E_INVALID);
}

/* Nothing is written of what is no head. */
static void test_no_head(void **state)
{
    static const char *const texts[] = {
        "",
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET \r\n\r\n",
        "GET / HTTP/1.1\r\nUpgrade: \r\n\r\n",
        "GET / HTTP/1.1\r\nUpgrade: , a\r\n\r\n",
        ASKING "\r\n",
        ASKING "Sec-WebSocket-Key: \r\n\r\n",
        ASKING "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
        ASKING "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n", /* 17 bytes */
        ASKING "Sec-WebSocket-Key: AAAAAAAAAA\"AAAAAAAAAAA==\r\n\r\n",
        ASKING "Sec-WebSocket-Key: " KEY "\r\nsec-websocket-key: " KEY "\r\n\r\n",
    };
    int64_t to_send;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const struct mk_str text = {texts[i], strlen(texts[i])};

        if (pass_on(text, false, &to_send) != MK_E_INVALID)
            fail_msg("\"%s\" is a head", texts[i]);
        assert_string_equal(heard, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_a_secure_one),
        cmocka_unit_test(test_a_large_one),
        cmocka_unit_test(test_no_head),
        cmocka_unit_test(test_lines_of_an_opened_tunnel),
        cmocka_unit_test(test_a_protocol_without_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
