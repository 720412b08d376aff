/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "exchange/records.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- writing ---- */

static void a_request_without_a_body(void **state)
{
    static const char expected[] = "\1\1\0\1\0\10\0\0\0\1\1\0\0\0\0\0" /* BEGIN_REQUEST, kept */
                                   "\1\4\0\1\0\5\0\0\1\2abc"           /* PARAMS: a=bc */
                                   "\1\4\0\1\0\0\0\0"
                                   "\1\5\0\1\0\0\0\0";
    char buf[64];
    struct fcgi_writer w;

    (void)state;
    fastcgi_writer_begin(&w, buf, sizeof(buf), true);
    assert_int_equal(fastcgi_writer_param(&w, MK_STR("a"), MK_STR("bc")), 0);
    assert_int_equal(fastcgi_writer_end(&w, false), sizeof(expected) - 1);
    assert_memory_equal(buf, expected, sizeof(expected) - 1);
    fastcgi_writer_begin(&w, buf, sizeof(buf), false);
    assert_int_equal(buf[10], 0);
    assert_int_equal(fastcgi_writer_param(&w, MK_STR("a"), MK_STR("bc")), 0);
    assert_int_equal(fastcgi_writer_end(&w, true), sizeof(expected) - 1 - FCGI_HEADER);
}

static void lengths_of_one_byte_and_of_four(void **state)
{
    static char text[70000];
    static char buf[200];
    struct fcgi_writer w;

    (void)state;
    memset(text, 'x', sizeof(text));
    fastcgi_writer_begin(&w, buf, sizeof(buf), false);
    assert_int_equal(fastcgi_writer_param(&w, MK_STR(""), (struct mk_str){text, 127}), 0);
    assert_memory_equal(buf + 24, "\0\177x", 3);
    fastcgi_writer_begin(&w, buf, sizeof(buf), false);
    assert_int_equal(fastcgi_writer_param(&w, MK_STR(""), (struct mk_str){text, 128}), 0);
    assert_memory_equal(buf + 24, "\0\200\0\0\200x", 6);
}

/* What records hold, joined; their types are checked. @return bytes of PARAMS */
static size_t unwrap(const char *buf, size_t len, char *params)
{
    const unsigned char *b = (const unsigned char *)buf;
    size_t at = 16, total = 0;
    bool ended = false;

    while (at < len) {
        size_t content = (size_t)b[at + 4] << 8 | b[at + 5];

        assert_memory_equal(b + at, "\1\4\0\1", 4);
        assert_false(ended);
        ended = content == 0;
        memcpy(params + total, buf + at + FCGI_HEADER, content);
        total += content;
        at += FCGI_HEADER + content;
    }
    assert_int_equal(at, len);
    assert_true(ended);
    return total;
}

static void params_go_over_the_edges_of_records(void **state)
{
    static char text[200000], buf[210000], params[210000];
    struct fcgi_writer w;

    (void)state;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)(i * 7 + i / 251);
    for (size_t before = FCGI_CONTENT_MAX - 8; before < FCGI_CONTENT_MAX + 8; before++) {
        ssize_t n;

        fastcgi_writer_begin(&w, buf, sizeof(buf), false);
        assert_int_equal(fastcgi_writer_param(&w, MK_STR(""), (struct mk_str){text, before - 5}),
                         0);
        assert_int_equal(fastcgi_writer_param(&w, MK_STR("n"), (struct mk_str){text, 130000}), 0);
        n = fastcgi_writer_end(&w, true);
        assert_true(n > 0);
        assert_int_equal(unwrap(buf, (size_t)n, params), before + 6 + 130000);
        assert_memory_equal(params + 5, text, before - 5);
        assert_memory_equal(params + before + 6, text, 130000);
    }
}

static void what_does_not_fit_is_told(void **state)
{
    struct fcgi_writer w;

    (void)state;
    for (size_t cap = 0; cap < 45; cap++) {
        char *buf = malloc(cap ? cap : 1); /* a sanitizer sees a byte too far */

        fastcgi_writer_begin(&w, buf, cap, true);
        assert_int_equal(fastcgi_writer_param(&w, MK_STR("a"), MK_STR("bc")),
                         cap < 29 ? MK_E_LIMIT : 0);
        assert_int_equal(fastcgi_writer_end(&w, false), MK_E_LIMIT);
        free(buf);
    }
}

/* ---- reading ---- */

#define OUT(len) "\1\6\0\1\0" len "\0\0"
#define ERR(len) "\1\7\0\1\0" len "\0\0"
#define END "\1\3\0\1\0\10\0\0\0\0\0\5\0\0\0\0"

struct row {
    const char *sentence;
    struct mk_str in;
    const char *out, *err;
    bool out_ended, ended, bad;
    unsigned protocol_status, app_status;
};

static const struct row rows[] = {
    {"an answer in one record", MK_STR_INIT(OUT("\3") "abc" END), "abc", "", false, true, false, 0,
     5},
    {"its output is ended", MK_STR_INIT(OUT("\1") "a" OUT("\0") END), "a", "", true, true, false, 0,
     5},
    {"ended twice", MK_STR_INIT(OUT("\0") OUT("\0") END), "", "", true, true, false, 0, 5},
    {"in pieces, with padding", MK_STR_INIT("\1\6\0\1\0\2\3\0ab\0\0\0" OUT("\1") "c" END), "abc",
     "", false, true, false, 0, 5},
    {"nothing but padding", MK_STR_INIT("\1\7\0\1\0\0\2\0\0\0" END), "", "", false, true, false, 0,
     5},
    {"padding behind the end", MK_STR_INIT("\1\3\0\1\0\10\2\0\0\0\0\0\0\0\0\0\0\0"), "", "", false,
     true, false, 0, 0},
    {"complaints between", MK_STR_INIT(OUT("\1") "a" ERR("\2") "no" OUT("\1") "b" ERR("\0") END),
     "ab", "no", false, true, false, 0, 5},
    {"overloaded", MK_STR_INIT("\1\3\0\1\0\10\0\0\1\2\3\4\2\0\0\0"), "", "", false, true, false,
     FCGI_OVERLOADED, 0x01020304},
    {"cut off", MK_STR_INIT(OUT("\5") "abc"), "abc", "", false, false, false, 0, 0},
    {"another version", MK_STR_INIT("\2\6\0\1\0\1\0\0a"), "", "", false, false, true, 0, 0},
    {"text", MK_STR_INIT("HTTP/1.1 200 OK\r\n\r\n"), "", "", false, false, true, 0, 0},
    {"another request", MK_STR_INIT("\1\6\0\2\0\1\0\0a"), "", "", false, false, true, 0, 0},
    {"another request, high byte", MK_STR_INIT("\1\6\1\1\0\1\0\0a"), "", "", false, false, true, 0,
     0},
    {"management", MK_STR_INIT("\1\12\0\0\0\0\0\0"), "", "", false, false, true, 0, 0},
    {"a type of ours", MK_STR_INIT("\1\5\0\1\0\0\0\0"), "", "", false, false, true, 0, 0},
    {"output after its end", MK_STR_INIT(OUT("\0") OUT("\1") "a"), "", "", true, false, true, 0, 0},
    {"complaints behind the end of output", MK_STR_INIT(OUT("\0") ERR("\1") "a" END), "", "a", true,
     true, false, 0, 5},
    {"a short end", MK_STR_INIT("\1\3\0\1\0\7\0\0\0\0\0\0\0\0\0"), "", "", false, false, true, 0,
     0},
    {"a long end", MK_STR_INIT("\1\3\0\1\0\11\0\0\0\0\0\0\0\0\0\0\0"), "", "", false, false, true,
     0, 0},
    {"something behind the end", MK_STR_INIT(END "\1"), "", "", false, true, true, 0, 5},
};

struct seen {
    char out[64], err[64];
    size_t out_len, err_len;
    bool bad;
};

/* At an address of its own, that ends where memory does. */
static void feed(struct fcgi_reader *f, struct seen *s, char *page_end, const char *bytes,
                 size_t len)
{
    char *buf = page_end - len;
    size_t at = 0, used;
    struct mk_str piece;

    memcpy(buf, bytes, len);
    while (!s->bad) {
        int what = fastcgi_read(f, buf + at, len - at, &used, &piece);

        at += used;
        s->bad = what < 0;
        if (what == FCGI_PIECE_MORE)
            break;
        if (what == FCGI_PIECE_OUT) {
            memcpy(s->out + s->out_len, piece.p, piece.len);
            s->out_len += piece.len;
        } else if (what == FCGI_PIECE_ERR) {
            memcpy(s->err + s->err_len, piece.p, piece.len);
            s->err_len += piece.len;
        }
    }
    assert_true(s->bad || at == len);
}

static void check(const struct row *row, const struct fcgi_reader *f, const struct seen *s)
{
    if (s->bad != row->bad || (f->why != NULL) != row->bad || f->ended != row->ended ||
        f->out_ended != row->out_ended || s->out_len != strlen(row->out) ||
        s->err_len != strlen(row->err) || memcmp(s->out, row->out, s->out_len) != 0 ||
        memcmp(s->err, row->err, s->err_len) != 0 || f->protocol_status != row->protocol_status ||
        f->app_status != row->app_status)
        fail_msg("%s: read otherwise", row->sentence);
}

static char *page_end(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + size, size, PROT_NONE), 0);
    return pages + size;
}

static void reads_the_same_however_it_is_cut(void **state)
{
    char *end = page_end();

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct mk_str in = rows[i].in;

        for (size_t cut = 0; cut <= in.len; cut++) {
            struct fcgi_reader f = {.have = 0};
            struct seen s = {.bad = false};

            feed(&f, &s, end, in.p, cut);
            feed(&f, &s, end, in.p + cut, in.len - cut);
            check(&rows[i], &f, &s);
        }
        struct fcgi_reader f = {.have = 0};
        struct seen s = {.bad = false};

        for (size_t at = 0; at < in.len; at++)
            feed(&f, &s, end, in.p + at, 1);
        check(&rows[i], &f, &s);
    }
}

static void the_largest_record(void **state)
{
    static char buf[FCGI_HEADER + FCGI_CONTENT_MAX + 255];
    struct fcgi_reader f = {.have = 0};
    struct mk_str piece;
    size_t used;

    (void)state;
    fastcgi_put_header(buf, FCGI_STDOUT, FCGI_CONTENT_MAX);
    buf[6] = (char)255;
    assert_int_equal(fastcgi_read(&f, buf, sizeof(buf), &used, &piece), FCGI_PIECE_OUT);
    assert_int_equal(used, sizeof(buf));
    assert_int_equal(piece.len, FCGI_CONTENT_MAX);
    assert_ptr_equal(piece.p, buf + FCGI_HEADER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_without_a_body),
        cmocka_unit_test(lengths_of_one_byte_and_of_four),
        cmocka_unit_test(params_go_over_the_edges_of_records),
        cmocka_unit_test(what_does_not_fit_is_told),
        cmocka_unit_test(reads_the_same_however_it_is_cut),
        cmocka_unit_test(the_largest_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
