/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fmt.h"

#include <stdio.h>
#include <stdlib.h>

static void assert_formatted(const char *in, const char *expected)
{
    const struct mk_str text = mk_str_from(in);
    char *dst = malloc(fmt_room(text));
    struct fmt_fault fault;
    ssize_t len = fmt_text(dst, text, &fault);

    if (len < 0)
        fail_msg("\"%s\" was refused in line %u: %s", in, fault.line, fault.why);
    if (len != (ssize_t)strlen(expected) || memcmp(dst, expected, strlen(expected)) != 0)
        fail_msg("\"%s\" became \"%.*s\" and not \"%s\"", in, (int)len, dst, expected);
    free(dst);
}

static void gives_the_form_of_the_shipped_files(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"", ""},
        {"\n\n", ""},
        {"# only this", "# only this\n"},
        {"[A]\n\tKey\t value  of two\t\n", "[A]\n    Key value  of two\n"},
        {"\xef\xbb\xbf[ A ]\r\n Key\r\n", "[A]\n    Key\n"},
        {"\n# a\n\n\n[A]\n  x 1\n[B]\n  y 2\n\n", "# a\n\n[A]\n    x 1\n\n[B]\n    y 2\n"},
        {"[A]\n  x 1\n  # of x  \n      #   of B\n[B]\n",
         "[A]\n    x 1\n    # of x\n    #   of B\n[B]\n"},
        {"[A]\n[B]\n", "[A]\n[B]\n"},
        {"@include *.conf\n[A]\n  @INCLUDE  b\n", "@include *.conf\n\n[A]\n    @INCLUDE b\n"},
        {"[A]\n  x \\# a#b \"# c\"\n", "[A]\n    x \\# a#b \"# c\"\n"},
        /* columns that somebody has made */
        {"[A]\n  html  text/html\n  css   text/css\n",
         "[A]\n    html  text/html\n    css   text/css\n"},
        {"[A]\n  html  text/html\n  css    text/css\n",
         "[A]\n    html text/html\n    css text/css\n"},
        {"[A]\n  a   1\n  b   2\n\n  c  3\n  d 4\n",
         "[A]\n    a   1\n    b   2\n\n    c 3\n    d 4\n"},
        {"[A]\n  a  1\n  b\n", "[A]\n    a 1\n    b\n"},
        {"[A]\n  ab 1\n  cd 2\n", "[A]\n    ab 1\n    cd 2\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_formatted(rows[i].in, rows[i].out);
        assert_formatted(rows[i].out, rows[i].out);
    }
}

static void refuses_what_the_server_would(void **state)
{
    static const struct {
        const char *in;
        unsigned line;
        const char *why;
    } rows[] = {
        {"Key value\n", 1, "not indented"},
        {"[A]\n  x 1\nKey value\n", 3, "not indented"},
        {"  Key value\n", 1, "before any section"},
        {"[A]\n  x\n   y\n", 3, "indentation"},
        {"[A]\n  x\n\ty\n", 3, "indentation"},
        {"  [A]\n", 1, "first column"},
        {"[A\n", 1, "ends its line"},
        {"[A] b\n", 1, "ends its line"},
        {"[A]]\n", 1, "ends its line"},
        {"[ ]\n", 1, "without a name"},
        {"[]\n", 1, "without a name"},
        {"[A]\n  x \x01\n", 2, "control byte"},
        {"# \x7f", 1, "control byte"},
        {"[A]\r", 1, "control byte"},
        {"[A]\n  x 1 # y\n", 2, "a line of its own"},
        {"[A]\n  x # y\n", 2, "a line of its own"},
        {"[A]\n  x \"a # b\" c\t#\n", 2, "a line of its own"},
        {"@INCLUDE x # y\n", 1, "a line of its own"},
        {"@INCLUDE\n", 1, "@INCLUDE PATH"},
        {"@INCLUDED x\n", 1, "@INCLUDE PATH"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct mk_str text = mk_str_from(rows[i].in);
        char *dst = malloc(fmt_room(text));
        struct fmt_fault fault;

        if (fmt_text(dst, text, &fault) >= 0)
            fail_msg("\"%s\" was taken", rows[i].in);
        assert_int_equal(fault.line, rows[i].line);
        assert_non_null(strstr(fault.why, rows[i].why));
        free(dst);
    }
}

/* A line that is read again has at most so many bytes. */
static void lines_are_bounded(void **state)
{
    static char text[FMT_LINE_MAX + 32];
    static char dst[2 * sizeof(text)];
    struct fmt_fault fault;

    (void)state;
    for (size_t len = FMT_LINE_MAX - 8; len < FMT_LINE_MAX + 8; len++) {
        const int head = snprintf(text, sizeof(text), "[A]\n x ");

        memset(text + head, 'v', len - 3);
        assert_int_equal(fmt_text(dst, (struct mk_str){text, (size_t)head + len - 3}, &fault) >= 0,
                         len + 3 <= FMT_LINE_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_form_of_the_shipped_files),
        cmocka_unit_test(refuses_what_the_server_would),
        cmocka_unit_test(lines_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
