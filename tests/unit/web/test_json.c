/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include <float.h>
#include <math.h>

/* JSON without a tree: src/web/json.c. */

static void is(struct mk_json *j, const char *text)
{
    assert_int_equal(mk_json_end(j), 0);
    assert_int_equal(j->len, strlen(text));
    assert_memory_equal(j->p, text, j->len);
}

static void values_nest(void **state)
{
    struct mk_json j;
    char room[512];

    (void)state;
    mk_json_begin(&j, room, sizeof(room), NULL, NULL);
    mk_json_object(&j);
    mk_json_key(&j, MK_STR("a"));
    mk_json_array(&j);
    mk_json_int(&j, INT64_MIN);
    mk_json_uint(&j, UINT64_MAX);
    mk_json_object(&j);
    mk_json_close(&j);
    mk_json_array(&j);
    mk_json_close(&j);
    mk_json_bool(&j, true);
    mk_json_bool(&j, false);
    mk_json_null(&j);
    mk_json_close(&j);
    mk_json_key(&j, MK_STR("b\"\n"));
    mk_json_text(&j, MK_STR("\x01<\xc3\xa9\xff"));
    mk_json_key(&j, MK_STR("c"));
    mk_json_text(&j, (struct mk_str){NULL, 0});
    mk_json_key(&j, MK_STR("d"));
    mk_json_raw(&j, MK_STR("[1]"));
    mk_json_close(&j);
    is(&j, "{\"a\":[-9223372036854775808,18446744073709551615,{},[],true,false,null],"
           "\"b\\\"\\u000A\":\"\\u0001<\xc3\xa9\\uFFFD\",\"c\":null,\"d\":[1]}");
}

/* One letter a call: what is written, then whether it is one JSON text. */
static int write_all(const char *calls)
{
    struct mk_json j;
    char room[2048];

    mk_json_begin(&j, room, sizeof(room), NULL, NULL);
    for (; *calls; calls++) {
        switch (*calls) {
        case '{':
            mk_json_object(&j);
            break;
        case '[':
            mk_json_array(&j);
            break;
        case '}':
            mk_json_close(&j);
            break;
        case 'k':
            mk_json_key(&j, MK_STR("k"));
            break;
        case 'r':
            mk_json_raw(&j, MK_STR(""));
            break;
        default:
            mk_json_null(&j);
        }
    }
    return mk_json_end(&j);
}

static void wrong_nesting_is_an_error(void **state)
{
    static const char *const right[] = {"n", "{}", "[}", "{kn}", "[nn}", "{knk[n{}}}", "[[[}}}"};
    static const char *const wrong[] = {"",    "{",   "}",    "nn",  "{n}",  "k", "{k}",  "{kk",
                                        "[k}", "{}}", "{}{}", "{kn", "[n}n", "r", "{knn}"};
    char deep[2 * MK_JSON_DEPTH + 3];

    (void)state;
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
        assert_int_equal(write_all(right[i]), 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(write_all(wrong[i]), MK_E_INVALID);
    memset(deep, '[', MK_JSON_DEPTH);
    memset(deep + MK_JSON_DEPTH, '}', MK_JSON_DEPTH);
    deep[2 * MK_JSON_DEPTH] = '\0';
    assert_int_equal(write_all(deep), 0);
    memset(deep, '[', MK_JSON_DEPTH + 1);
    assert_int_equal(write_all(deep), MK_E_LIMIT);
}

static void numbers_read_back(void **state)
{
    static const struct {
        double n;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {0.1, "0.1"},
        {1e300, "1e+300"},
        {1.5, "1.5"},
        {-2, "-2"},
        {INFINITY, "null"},
        {NAN, "null"},
        {1.0 / 3, "0.3333333333333333"},
        {5e-324, "4.94065645841247e-324"},
        {100000, "100000"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mk_json j;
        char room[64];

        mk_json_begin(&j, room, sizeof(room), NULL, NULL);
        mk_json_number(&j, cases[i].n);
        is(&j, cases[i].text);
    }
    for (double n = DBL_MIN; n < 1e300; n *= 3.7) {
        struct mk_json j;
        char room[64];

        mk_json_begin(&j, room, sizeof(room), NULL, NULL);
        mk_json_number(&j, n);
        room[j.len] = '\0';
        assert_true(strtod(room, NULL) == n);
    }
}

/* Bytes of a text that pass a buffer of 4 KB. */
static int pass_on(struct mk_json *j, size_t needed, void *arg)
{
    size_t *passed = arg;

    assert_true(needed <= 4096);
    *passed += j->len;
    j->len = 0;
    return 0;
}

static void a_small_buffer_is_passed_on(void **state)
{
    static char text[10000], room[4096];
    struct mk_json j;
    size_t passed = 0;

    (void)state;
    memset(text, '\n', sizeof(text));
    mk_json_begin(&j, room, sizeof(room), pass_on, &passed);
    mk_json_text(&j, (struct mk_str){text, sizeof(text)});
    assert_int_equal(mk_json_end(&j), 0);
    assert_int_equal(passed + j.len, 6 * sizeof(text) + 2);
}

static void characters_are_not_cut(void **state)
{
    (void)state;
    for (size_t before = 505; before < 520; before++) {
        char text[600], room[8192];
        struct mk_json j;

        memset(text, 'x', before);
        memcpy(text + before, "\xf0\x9f\x98\x80", 4);
        mk_json_begin(&j, room, sizeof(room), NULL, NULL);
        mk_json_text(&j, (struct mk_str){text, before + 4});
        assert_int_equal(mk_json_end(&j), 0);
        assert_int_equal(j.len, before + 6);
        assert_memory_equal(room + 1, text, before + 4);
    }
}

static void a_full_buffer_is_an_error(void **state)
{
    (void)state;
    for (size_t size = 0; size < 13; size++) {
        struct mk_json j;
        char room[13];

        mk_json_begin(&j, room, size, NULL, NULL);
        mk_json_array(&j);
        mk_json_int(&j, -12345678901);
        mk_json_close(&j);
        assert_int_equal(mk_json_end(&j), MK_E_LIMIT);
    }
}

static enum mk_verdict answer(struct mk_request *r, void *arg)
{
    const size_t *count = arg;
    struct mk_json j;

    mk_json_begin_reply(&j, r, 100000);
    mk_json_array(&j);
    for (size_t i = 0; i < *count; i++)
        mk_json_text(&j, MK_STR("some text"));
    mk_json_close(&j);
    return mk_reply_json(r, 201, &j);
}

static void answers_have_a_bound(void **state)
{
    size_t count = 0;
    struct mk_server *server = web_serve_one("GET", "/", answer, &count);
    struct mk_answer *got;

    (void)state;
    web_expect(server, "/", 201, "[]");
    count = 3000;
    got = web_ask(server, "GET", "/", NULL, NULL);
    assert_true(web_has_line(got, "Content-Type: application/json"));
    assert_int_equal(got->body.len, 3000 * 12 + 1);
    mk_answer_free(got);
    count = 10000;
    web_expect(server, "/", 500, NULL);
    mk_server_free(server);
}

static enum mk_verdict length(struct mk_request *r, void *arg)
{
    struct mk_str body, again;
    char text[32];
    int err = mk_request_body(r, 1000, &body);

    (void)arg;
    if (err < 0)
        return mk_reply_refusal(r, err);
    assert_int_equal(mk_request_body(r, 1000, &again), 0);
    assert_ptr_equal(body.p, again.p);
    assert_int_equal(body.p[body.len], '\0');
    return mk_reply_bytes(r, 200, NULL,
                          (struct mk_str){text, (size_t)snprintf(text, 32, "%zu", body.len)});
}

static void bodies_are_gathered(void **state)
{
    static char body[1002];
    struct mk_server *server = web_serve_one("POST", "/", length, NULL);

    (void)state;
    memset(body, 'x', 1001);
    web_is(web_ask(server, "POST", "/", NULL, body), 413, NULL);
    body[1000] = '\0';
    web_is(web_ask(server, "POST", "/", NULL, body), 200, "1000");
    web_is(web_ask(server, "POST", "/", NULL, NULL), 200, "0");
    mk_server_free(server);
}

static enum mk_verdict every_byte(struct mk_request *r, void *arg)
{
    const size_t *len = arg;
    struct mk_str body;
    int err = mk_request_body(r, *len, &body);

    if (err < 0)
        return mk_reply_refusal(r, err);
    assert_int_equal(body.len, *len);
    for (size_t i = 0; i < body.len; i++)
        assert_int_equal(body.p[i], 'a' + i % 23);
    assert_int_equal(body.p[body.len], '\0');
    return mk_reply_bytes(r, 200, NULL, MK_STR("whole"));
}

/* Around the sizes at which room grows, and of just as many bytes as are allowed. */
static void large_bodies_are_gathered_whole(void **state)
{
    static const size_t sizes[] = {1, 1023, 1024, 1025, 4095, 4096, 65535, 65536, 65537, 300000};
    static char body[300001];
    size_t len;
    struct mk_server *server = web_serve_one("POST", "/", every_byte, &len);

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        len = sizes[i];
        for (size_t at = 0; at < len; at++)
            body[at] = (char)('a' + at % 23);
        body[len] = '\0';
        web_is(web_ask(server, "POST", "/", NULL, body), 200, "whole");
    }
    mk_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_nest),
        cmocka_unit_test(wrong_nesting_is_an_error),
        cmocka_unit_test(numbers_read_back),
        cmocka_unit_test(a_small_buffer_is_passed_on),
        cmocka_unit_test(characters_are_not_cut),
        cmocka_unit_test(a_full_buffer_is_an_error),
        cmocka_unit_test(answers_have_a_bound),
        cmocka_unit_test(bodies_are_gathered),
        cmocka_unit_test(large_bodies_are_gathered_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
