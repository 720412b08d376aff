/* SPDX-License-Identifier: Apache-2.0 */
#include "../../http/guard.h"

#include "hpack_int.h"

#include <stdlib.h>

/* Bytes that are read and those that are written end at an inaccessible page each. */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { ROOM = 4096 };

struct scene {
    struct guard in, out;
};

static int open_scene(void **state)
{
    static struct scene scene;

    scene = (struct scene){guard_open(ROOM), guard_open(ROOM)};
    *state = &scene;
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;

    guard_close(&scene->in);
    guard_close(&scene->out);
    return 0;
}

static void check_text(struct scene *scene, struct mk_str text, const uint8_t *code, size_t len)
{
    const char *copy = guard_put(&scene->in, text.p, text.len);
    uint8_t *dst = (uint8_t *)guard_end(&scene->out, len);
    char *back;

    assert_int_equal(huffman_encoded_len(copy, text.len), len);
    assert_ptr_equal(huffman_encode(dst, copy, text.len), dst + len);
    if (code)
        assert_memory_equal(dst, code, len);
    dst = (uint8_t *)guard_put(&scene->in, dst, len);
    back = guard_end(&scene->out, text.len);
    assert_int_equal(huffman_decode(back, text.len, dst, len), text.len);
    assert_memory_equal(back, text.p, text.len);
    if (text.len > 0)
        assert_int_equal(huffman_decode(back, text.len - 1, dst, len), MK_E_LIMIT);
}

static void test_texts_have_the_codes_of_the_rfc(void **state)
{
    static const struct {
        struct mk_str text;
        const char *code;
    } rows[] = {
        /* appendix C */
        {MK_STR_INIT(""), ""},
        {MK_STR_INIT("www.example.com"), "\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"},
        {MK_STR_INIT("no-cache"), "\xa8\xeb\x10\x64\x9c\xbf"},
        {MK_STR_INIT("custom-key"), "\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f"},
        {MK_STR_INIT("custom-value"), "\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf"},
        {MK_STR_INIT("302"), "\x64\x02"},
        {MK_STR_INIT("private"), "\xae\xc3\x77\x1a\x4b"},
        {MK_STR_INIT("gzip"), "\x9b\xd9\xab"},
        {MK_STR_INIT("https://www.example.com"),
         "\x9d\x29\xad\x17\x18\x63\xc7\x8f\x0b\x97\xc8\xe9\xae\x82\xae\x43\xd3"},
        /* appendix B */
        {MK_STR_INIT("\n"), "\xff\xff\xff\xf3"},
        {MK_STR_INIT("\x01"), "\xff\xff\xb1"},
        {MK_STR_INIT("!"), "\xfe\x3f"},
        {MK_STR_INIT("&"), "\xf8"},
        {MK_STR_INIT("\xf9"), "\xff\xff\xff\xef"},
        {MK_STR_INIT("\xc0"), "\xff\xff\xf8\x3f"},
        {MK_STR_INIT("\x7f"), "\xff\xff\xff\xcf"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        check_text(*state, rows[i].text, (const uint8_t *)rows[i].code, strlen(rows[i].code));
}

static void test_every_byte_comes_back(void **state)
{
    for (int first = 0; first < 256; first++) {
        for (int second = 0; second < 256; second++) {
            const char text[] = {(char)first, (char)second};

            check_text(*state, (struct mk_str){text, 2}, NULL, huffman_encoded_len(text, 2));
        }
    }
}

static void test_what_is_no_code_is_refused(void **state)
{
    static const struct {
        const char *what;
        struct mk_str code;
        ssize_t result;
    } rows[] = {
        {"padding of no bits", MK_STR_INIT("\xf8"), 1},
        {"padding of three bits", MK_STR_INIT("\x1f"), 1},
        {"padding with a zero", MK_STR_INIT("\x1e"), MK_E_BAD},
        {"padding of zeros", MK_STR_INIT("\x18"), MK_E_BAD},
        {"padding of eight bits", MK_STR_INIT("\xf8\xff"), MK_E_BAD},
        {"padding of eleven bits", MK_STR_INIT("\x1f\xff"), MK_E_BAD},
        {"nothing but padding", MK_STR_INIT("\xff"), MK_E_BAD},
        {"EOS", MK_STR_INIT("\xff\xff\xff\xff"), MK_E_BAD},
        {"EOS of exactly 30 bits after a text", MK_STR_INIT("\x64\x03\xff\xff\xff\xff"), MK_E_BAD},
        {"EOS, then a text", MK_STR_INIT("\xff\xff\xff\xfc\x1f"), MK_E_BAD},
        {"a part of a long code", MK_STR_INIT("\xff\xff\xff"), MK_E_BAD},
        {"a part of a code with a zero", MK_STR_INIT("\x1f\xff\xe0"), MK_E_BAD},
    };
    struct scene *scene = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *code = guard_str(&scene->in, rows[i].code).p;
        char *dst = guard_end(&scene->out, 16);

        if (huffman_decode(dst, 16, (const uint8_t *)code, rows[i].code.len) != rows[i].result)
            fail_msg("%s", rows[i].what);
    }
}

static void test_a_code_that_is_no_shorter_is_given_up(void **state)
{
    static const struct {
        struct mk_str text;
        bool is_shorter;
    } rows[] = {
        {MK_STR_INIT(""), false},
        {MK_STR_INIT("a"), false},
        {MK_STR_INIT("403"), false},
        {MK_STR_INIT("12"), false},
        {MK_STR_INIT("302"), true},
        {MK_STR_INIT("&&&&&&&&&&&&"), false},
        {MK_STR_INIT("&&&&a&&&&&&&"), false},
        {MK_STR_INIT("&&&&aaa&&&&&"), true},
        {MK_STR_INIT("\x01\x02\x03\x04\x05\x06\x07\x08"), false},
    };
    struct scene *scene = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct mk_str text = guard_str(&scene->in, rows[i].text);
        const size_t room = text.len ? text.len - 1 : 0;
        uint8_t *dst = (uint8_t *)guard_end(&scene->out, room);
        const uint8_t *end = huffman_encode_shorter(dst, text.p, text.len);

        assert_int_equal(end != NULL, rows[i].is_shorter);
        if (end)
            assert_int_equal(end - dst, huffman_encoded_len(text.p, text.len));
    }
}

static void test_random_texts_come_back(void **state)
{
    srand(7541);
    for (int i = 0; i < 10000; i++) {
        const size_t len = (size_t)rand() % 200;
        const int below = rand() % 3 ? 128 : 256;
        char text[200];

        for (size_t k = 0; k < len; k++)
            text[k] = (char)(rand() % below);
        check_text(*state, (struct mk_str){text, len}, NULL, huffman_encoded_len(text, len));
    }
}

static void test_random_codes_are_read_to_their_end(void **state)
{
    struct scene *scene = *state;
    int accepted = 0;

    srand(7541);
    for (int i = 0; i < 100000; i++) {
        const size_t len = (size_t)rand() % 12;
        uint8_t code[12], *at, again[64];
        char *text = guard_end(&scene->out, 24);
        ssize_t n;

        for (size_t k = 0; k < len; k++)
            code[k] = (uint8_t)(rand() % 4 ? rand() : 0xff);
        at = (uint8_t *)guard_put(&scene->in, code, len);
        n = huffman_decode(text, 24, at, len);
        if (n < 0)
            continue;
        accepted++;
        assert_int_equal(huffman_encode(again, text, (size_t)n) - again, len);
        assert_memory_equal(again, code, len);
    }
    assert_true(accepted > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_have_the_codes_of_the_rfc),
        cmocka_unit_test(test_every_byte_comes_back),
        cmocka_unit_test(test_what_is_no_code_is_refused),
        cmocka_unit_test(test_a_code_that_is_no_shorter_is_given_up),
        cmocka_unit_test(test_random_texts_come_back),
        cmocka_unit_test(test_random_codes_are_read_to_their_end),
    };

    return cmocka_run_group_tests(tests, open_scene, close_scene);
}
