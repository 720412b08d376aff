/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include "base/heap.h"

/* Preconditions and ranges of what handlers make: src/web/entity.c. */

static const char content[] = "0123456789";

/* Some bytes at a time, and a pause now and then. */
static ssize_t give(struct mk_request *r, void *arg, uint64_t at, char *dst, size_t len)
{
    unsigned *calls = arg;

    if ((*calls)++ % 2 == 0) {
        mk_request_resume(r);
        return MK_E_AGAIN;
    }
    if (at >= 10)
        return 0;
    len = len < 3 ? len : 3;
    len = len < 10 - at ? len : 10 - (size_t)at;
    memcpy(dst, content + at, len);
    return (ssize_t)len;
}

static struct mk_entity entity;
static unsigned calls;

static enum mk_verdict answer(struct mk_request *r, void *arg)
{
    calls = 0;
    return mk_reply_entity(r, &entity, give, arg);
}

static enum mk_verdict change(struct mk_request *r, void *arg)
{
    unsigned status = mk_entity_check(r, &entity);

    (void)arg;
    return status == 200 ? mk_reply_bytes(r, 201, NULL, MK_STR(""))
                         : mk_reply_unchanged(r, &entity, status);
}

static const struct {
    const char *method, *fields;
    unsigned status;
    const char *body, *line;
} cases[] = {
    {"GET", NULL, 200, "0123456789", "ETag: \"v1\""},
    {"GET", NULL, 200, "0123456789", "Accept-Ranges: bytes"},
    {"GET", NULL, 200, "0123456789", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"},
    {"GET", NULL, 200, "0123456789", "Content-Type: a/b"},
    {"HEAD", NULL, 200, "", "Content-Length: 10"},
    {"GET", "If-None-Match: \"v0\", W/\"v1\"\r\n", 304, "", "ETag: \"v1\""},
    {"HEAD", "If-None-Match: *\r\n", 304, "", NULL},
    {"GET", "If-None-Match: \"v2\"\r\n", 200, "0123456789", NULL},
    {"GET", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 304, "", NULL},
    {"GET", "If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 200, NULL, NULL},
    {"GET", "If-None-Match: \"v2\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 200,
     NULL, NULL},
    {"GET", "If-Match: \"v2\"\r\n", 412, NULL, NULL},
    {"GET", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 412, NULL, NULL},
    {"GET", "Range: bytes=2-4\r\n", 206, "234", "Content-Range: bytes 2-4/10"},
    {"GET", "Range: bytes=-1\r\n", 206, "9", "Content-Length: 1"},
    {"GET", "Range: bytes=5-\r\nIf-Range: \"v1\"\r\n", 206, "56789", NULL},
    {"GET", "Range: bytes=5-\r\nIf-Range: \"v0\"\r\n", 200, "0123456789", NULL},
    {"GET", "Range: bytes=10-\r\n", 416, NULL, "Content-Range: bytes */10"},
    {"GET", "Range: bytes=0-0,1-1\r\n", 206, "01", "Content-Range: bytes 0-1/10"},
    {"GET", "Range: bytes=0-0,5-5\r\nIf-Range: \"v0\"\r\n", 200, "0123456789", NULL},
    {"HEAD", "Range: bytes=0-0,5-5\r\n", 200, "", "Content-Length: 10"},
    {"GET", "Range: lines=1\r\n", 200, "0123456789", NULL},
    {"HEAD", "Range: bytes=2-4\r\n", 200, "", "Content-Length: 10"},
    {"PUT", "If-Match: \"v1\"\r\n", 201, "", NULL},
    {"PUT", "If-Match: W/\"v1\"\r\n", 412, NULL, NULL},
    {"PUT", "If-None-Match: *\r\n", 412, NULL, NULL},
};

static struct mk_server *serve(void)
{
    struct mk_config *config = web_config();

    assert_int_equal(mk_config_handle(config, "GET", "/", answer, &calls), 0);
    assert_int_equal(mk_config_handle(config, "PUT", "/", change, NULL), 0);
    entity = (struct mk_entity){
        .size = sizeof(entity),
        .etag = MK_STR("\"v1\""),
        .has_modified = true,
        .modified = 784111777,
        .type = "a/b",
        .length = 10,
    };
    return web_serve(config);
}

static void clients_get_what_they_lack(void **state)
{
    struct mk_server *server = serve();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mk_answer *got = web_ask(server, cases[i].method, "/", cases[i].fields, NULL);

        if (got->status != cases[i].status || (cases[i].line && !web_has_line(got, cases[i].line)))
            fail_msg("%s %s: %u %.*s", cases[i].method, cases[i].fields, got->status,
                     (int)got->fields.len, got->fields.p);
        web_is(got, cases[i].status, cases[i].body);
    }
    mk_server_free(server);
}

/* The boundary that an answer names, copied. */
static void boundary_of(const struct mk_answer *answer, char dst[80])
{
    static const char before[] = "Content-Type: multipart/byteranges; boundary=";
    const char *at = memmem(answer->fields.p, answer->fields.len, before, sizeof(before) - 1);

    assert_non_null(at);
    assert_int_equal(sscanf(at + sizeof(before) - 1, "%79[a-z0-9]", dst), 1);
}

static struct mk_answer *ask_parts(struct mk_server *server, char boundary[80])
{
    struct mk_answer *answer =
        web_ask(server, "GET", "/", "Range: bytes=7-8, 0-2, -1, 20-\r\n", NULL);

    assert_int_equal(answer->status, 206);
    assert_false(web_has_line(answer, "Content-Range"));
    assert_true(web_has_line(answer, "ETag: \"v1\""));
    boundary_of(answer, boundary);
    return answer;
}

static void several_ranges_are_parts(void **state)
{
    const long live = mk_heap_live();
    struct mk_server *server = serve();
    char boundary[80], other[80], expected[1000];

    (void)state;
    for (int typed = 0; typed < 2; typed++) {
        const char *type = typed ? "Content-Type: a/b\r\n" : "";

        struct mk_answer *answer;

        entity.type = typed ? "a/b" : NULL;
        answer = ask_parts(server, boundary);
        (void)snprintf(expected, sizeof(expected),
                       "\r\n--%s\r\n%sContent-Range: bytes 7-9/10\r\n\r\n789"
                       "\r\n--%s\r\n%sContent-Range: bytes 0-2/10\r\n\r\n012\r\n--%s--\r\n",
                       boundary, type, boundary, type, boundary);
        web_is(answer, 206, expected);
    }
    mk_answer_free(ask_parts(server, other));
    assert_string_not_equal(boundary, other);
    mk_server_free(server);
    assert_int_equal(mk_heap_live(), live);
}

static void too_many_ranges_are_the_whole(void **state)
{
    struct mk_server *server = serve();

    (void)state;
    web_is(web_ask(server, "GET", "/", "Range: bytes=0-0,2-2,4-4,6-6,8-8\r\n", NULL), 206, NULL);
    web_is(web_ask(server, "GET", "/",
                   "Range: bytes=,,,,,0-0,2-2,4-4,6-6,8-8,9-9,9-9,9-9,9-9,9-9,"
                   "9-9,9-9,9-9,9-9,9-9,9-9,9-9,9-9,9-9,9-9,9-9,9-9,9-9,9-9,"
                   "9-9,9-9,9-9,9-9,9-9,9-9,9-9,9-9,9-9,9-9,9-9,9-9,9-9\r\n",
                   NULL),
           200, content);
    mk_server_free(server);
}

static void without_validators_there_is_nothing_to_compare(void **state)
{
    struct mk_server *server = serve();

    (void)state;
    entity.etag = (struct mk_str){NULL, 0};
    entity.has_modified = false;
    web_is(
        web_ask(server, "GET", "/", "If-Modified-Since: Sun, 06 Nov 2094 08:49:37 GMT\r\n", NULL),
        200, content);
    web_is(web_ask(server, "GET", "/", "If-None-Match: \"\"\r\n", NULL), 200, content);
    web_is(web_ask(server, "GET", "/",
                   "Range: bytes=1-1\r\nIf-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n", NULL),
           200, content);
    entity.is_missing = true;
    web_is(web_ask(server, "PUT", "/", "If-Match: *\r\n", NULL), 412, NULL);
    web_is(web_ask(server, "PUT", "/", "If-None-Match: *\r\n", NULL), 201, NULL);
    mk_server_free(server);
}

static void lengths_may_be_unknown(void **state)
{
    struct mk_server *server = serve();

    (void)state;
    entity.length = -1;
    web_is(web_ask(server, "GET", "/", "Range: bytes=1-1\r\n", NULL), 200, content);
    entity.length = 0;
    web_is(web_ask(server, "GET", "/", NULL, NULL), 200, "");
    web_is(web_ask(server, "GET", "/", "Range: bytes=0-\r\n", NULL), 416, NULL);
    mk_server_free(server);
}

static void tags_differ_with_the_bytes(void **state)
{
    char one[MK_ETAG_TEXT], two[MK_ETAG_TEXT], same[MK_ETAG_TEXT], weak[MK_ETAG_TEXT];

    (void)state;
    assert_int_equal(mk_etag_write(one, MK_STR("a"), false).len, 34);
    mk_etag_write(two, MK_STR("b"), false);
    mk_etag_write(same, MK_STR("a"), false);
    assert_int_equal(mk_etag_write(weak, MK_STR("a"), true).len, 36);
    assert_string_equal(one, same);
    assert_string_not_equal(one, two);
    assert_string_equal(weak + 2, one);
    mk_etag_write(two, MK_STR(""), false);
    assert_string_not_equal(one, two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_get_what_they_lack),
        cmocka_unit_test(several_ranges_are_parts),
        cmocka_unit_test(too_many_ranges_are_the_whole),
        cmocka_unit_test(without_validators_there_is_nothing_to_compare),
        cmocka_unit_test(lengths_may_be_unknown),
        cmocka_unit_test(tags_differ_with_the_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
