/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/str.h"
#include "http/head_text.h"

static const struct row {
    const char *sentence;
    struct mk_str method, target, fields;
    size_t length;
    const char *text; /* NULL: refused */
} rows[] = {
    {"a Host is added", MK_STR_INIT("GET"), MK_STR_INIT("/"), MK_STR_INIT(""), 0,
     "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"},
    {"a Host stays", MK_STR_INIT("GET"), MK_STR_INIT("/"), MK_STR_INIT("hOST: a\r\nB: c\r\n"), 0,
     "GET / HTTP/1.1\r\nhOST: a\r\nB: c\r\n\r\n"},
    {"a body has a length", MK_STR_INIT("PUT"), MK_STR_INIT("/"), MK_STR_INIT("Host: a\r\n"), 7,
     "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n"},
    {"no method", MK_STR_INIT(""), MK_STR_INIT("/"), MK_STR_INIT(""), 0, NULL},
    {"a zero in the method", MK_STR_INIT("G\0T"), MK_STR_INIT("/"), MK_STR_INIT(""), 0, NULL},
    {"a second line in the target", MK_STR_INIT("GET"), MK_STR_INIT("/\r\nA:b"), MK_STR_INIT(""), 0,
     NULL},
    {"a blank in the target", MK_STR_INIT("GET"), MK_STR_INIT("/ HTTP/1.1"), MK_STR_INIT(""), 0,
     NULL},
    {"a byte above 126", MK_STR_INIT("GET"), MK_STR_INIT("/\x7f"), MK_STR_INIT(""), 0, NULL},
    {"no target", MK_STR_INIT("GET"), {NULL, 0}, MK_STR_INIT(""), 0, NULL},
    {"no line end", MK_STR_INIT("GET"), MK_STR_INIT("/"), MK_STR_INIT("A: b"), 0, NULL},
    {"half a line end", MK_STR_INIT("GET"), MK_STR_INIT("/"), MK_STR_INIT("A: b\n"), 0, NULL},
    {"an empty line", MK_STR_INIT("GET"), MK_STR_INIT("/"), MK_STR_INIT("A: b\r\n\r\nC: d\r\n"), 0,
     NULL},
    {"a folded line", MK_STR_INIT("GET"), MK_STR_INIT("/"), MK_STR_INIT("A: b\r\n c: d\r\n"), 0,
     NULL},
    {"a zero in a value", MK_STR_INIT("GET"), MK_STR_INIT("/"), MK_STR_INIT("A: \0b\r\n"), 0, NULL},
    {"a zero in a name", MK_STR_INIT("GET"), MK_STR_INIT("/"), MK_STR_INIT("A\0: b\r\n"), 0, NULL},
    {"CR in a value", MK_STR_INIT("GET"), MK_STR_INIT("/"), MK_STR_INIT("A: b\rc\r\n"), 0, NULL},
};

static void heads_are_written_or_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct mk_buf b;
        int err;

        mk_buf_init(&b, 4096);
        err = mk_head_text(&b, rows[i].method, rows[i].target, rows[i].fields, MK_HEAD_FIELDS_ANY,
                           rows[i].length);
        if (rows[i].text ? err != 0 || !mk_str_eq(mk_buf_str(&b), mk_str_from(rows[i].text))
                         : err != MK_E_INVALID || b.len > 0)
            fail_msg("%s: %d", rows[i].sentence, err);
        mk_buf_fini(&b);
    }
}

static void framing_is_refused(void **state)
{
    static const char *const lines[] = {
        "Content-Length: 0\r\n", "transfer-encoding: chunked\r\n", "CONNECTION: close\r\n",
        "Upgrade: a\r\n",        "Expect: 100-continue\r\n",       "TE: trailers\r\n",
        "Trailer: A\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct mk_buf b;

        mk_buf_init(&b, 4096);
        if (mk_head_text(&b, MK_STR("GET"), MK_STR("/"), mk_str_from(lines[i]), MK_HEAD_FIELDS_ANY,
                         0) != MK_E_INVALID)
            fail_msg("%s", lines[i]);
        mk_buf_fini(&b);
    }
}

/* Who has judged them need not pay twice. */
static void judged_fields_are_not_looked_at(void **state)
{
    struct mk_buf b;

    (void)state;
    mk_buf_init(&b, 4096);
    assert_int_equal(mk_head_text(&b, MK_STR("GET"), MK_STR("/"), MK_STR("Expect: x\r\n"),
                                  MK_HEAD_FIELDS_JUDGED, 0),
                     0);
    assert_true(mk_str_eq(mk_buf_str(&b), MK_STR("GET / HTTP/1.1\r\nExpect: x\r\n\r\n")));
    mk_buf_fini(&b);
}

static void a_full_buffer_is_told(void **state)
{
    struct mk_buf b;

    (void)state;
    mk_buf_init(&b, 16);
    assert_int_equal(
        mk_head_text(&b, MK_STR("GET"), MK_STR("/"), MK_STR(""), MK_HEAD_FIELDS_ANY, 0),
        MK_E_LIMIT);
    mk_buf_fini(&b);
}

static void written_heads_are_copied_or_refused(void **state)
{
    static const struct {
        struct mk_str method, target;
        size_t max;
        int err;
    } copies[] = {
        {MK_STR_INIT("GET"), MK_STR_INIT("/"), 4096, 0},
        {MK_STR_INIT("GET"), MK_STR_INIT("/"), 4, MK_E_LIMIT},
        {MK_STR_INIT("G T"), MK_STR_INIT("/"), 4096, MK_E_INVALID},
        {MK_STR_INIT("GET"), MK_STR_INIT("/ /"), 4096, MK_E_INVALID},
        {MK_STR_INIT("GET"), {NULL, 0}, 4096, MK_E_INVALID},
    };
    const struct mk_str text = MK_STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n");

    (void)state;
    for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++) {
        struct mk_buf b;

        mk_buf_init(&b, copies[i].max);
        assert_int_equal(mk_head_text_copy(&b, copies[i].method, copies[i].target, text),
                         copies[i].err);
        assert_true(copies[i].err < 0 ? b.len == 0 : mk_str_eq(mk_buf_str(&b), text));
        mk_buf_fini(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_written_or_refused),
        cmocka_unit_test(written_heads_are_copied_or_refused),
        cmocka_unit_test(framing_is_refused),
        cmocka_unit_test(judged_fields_are_not_looked_at),
        cmocka_unit_test(a_full_buffer_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
