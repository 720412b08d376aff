/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "answer.h"

#include <stdlib.h>
#include <string.h>

static void test_status_lines(void **state)
{
    static const struct {
        const char *text;
        int status;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\n", 200},
        {"HTTP/1.0 404 Not", 404},
        {"HTTP/1.1 204\r\n", 204},
        {"HTTP/1.1 099 x\r\n", 0},
        {"HTTP/1.1 600 x\r\n", 0},
        {"HTTP/1.1 2000 x\r\n", 0},
        {"HTTP/2.0 200 OK\r\n", 0},
        {"HTTP/1.2 200 OK\r\n", 0},
        {"HTTP/1.1  200 OK\r\n", 0},
        {"HTTP/1.1 -20 OK\r\n", 0},
        {"http/1.1 200 OK\r\n", 0},
        {"SSH-2.0-OpenSSH_9.2\r\n", 0},
        {"\x15\x03\x01\x00\x02\x02\x46 and more", 0},
        {"", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_int_equal(answer_status(rows[i].text, strlen(rows[i].text)), rows[i].status);
}

/* A block of exactly the bytes: a sanitizer sees one that is read too far. */
static void test_an_answer_may_end_anywhere(void **state)
{
    const char *text = "HTTP/1.1 200 OK\r\n";

    (void)state;
    for (size_t len = 0; len <= strlen(text); len++) {
        char *exact = malloc(len ? len : 1);

        assert_non_null(exact);
        memcpy(exact, text, len);
        assert_int_equal(answer_status(exact, len), len >= 13 ? 200 : 0);
        free(exact);
    }
}

static void test_a_head_names_its_server(void **state)
{
    static const struct {
        const char *head, *server;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\nServer: nginx/1.26\r\n\r\n", "nginx/1.26"},
        {"HTTP/1.1 200 OK\r\nA: b\r\nserver:\t x (y)\r\n\r\n", "x (y)"},
        {"HTTP/1.1 200 OK\r\nServer: cut", "cut"},
        {"HTTP/1.1 200 OK\r\nServer: a long name\r\n", "a long nam"},
        {"HTTP/1.1 200 OK\r\nServer:\r\n\r\n", ""},
        {"HTTP/1.1 200 OK\r\n\r\n\r\nServer: in the body\r\n\r\n", ""},
        {"", ""},
    };
    char server[11];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        answer_server(rows[i].head, server, sizeof(server));
        assert_string_equal(server, rows[i].server);
    }
}

static bool place_of(const char *word, struct place *p)
{
    char first[] = "ab", second[2048];
    char *words[] = {first, second, NULL};

    strcpy(second, word);
    return place_of_words(words, p);
}

static void test_places(void **state)
{
    struct place p;

    (void)state;
    assert_true(place_of("http://127.0.0.1:8080/a/b.html?c#d", &p));
    assert_string_equal(p.host, "127.0.0.1");
    assert_string_equal(p.port, "8080");
    assert_string_equal(p.path, "/a/b.html?c");
    assert_false(p.is_tls);
    assert_true(place_of("https://[::1]", &p));
    assert_string_equal(p.host, "::1");
    assert_string_equal(p.port, "443");
    assert_string_equal(p.path, "/");
    assert_true(p.is_tls);
    assert_true(place_of("echo GET http://x/ | vegeta attack", &p));
    assert_string_equal(p.host, "x");
    assert_string_equal(p.path, "/");
}

static void test_no_places(void **state)
{
    static const char *const words[] = {"",
                                        "http",
                                        "http://",
                                        "http:///",
                                        "http://:80/",
                                        "http://x:/",
                                        "http://[::1/",
                                        "http://[::1]x/",
                                        "http://x:123456789/",
                                        "ftp://x/"};
    char endless[2040] = "http://";
    struct place p;

    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        assert_false(place_of(words[i], &p));
    memset(endless + 7, 'a', sizeof(endless) - 8);
    assert_false(place_of(endless, &p));
    endless[8] = '/';
    assert_false(place_of(endless, &p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_lines),
        cmocka_unit_test(test_an_answer_may_end_anywhere),
        cmocka_unit_test(test_a_head_names_its_server),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_no_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
