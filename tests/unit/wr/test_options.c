/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "options.h"

#include <stdio.h>
#include <string.h>

static void test_steps(void **state)
{
    int steps[STEPS_MAX];

    (void)state;
    assert_int_equal(options_steps("100:1000:10", steps), 91);
    assert_int_equal(steps[0], 100);
    assert_int_equal(steps[90], 1000);
    assert_int_equal(options_steps("1,8,64", steps), 3);
    assert_int_equal(steps[1], 8);
    assert_int_equal(options_steps("7", steps), 1);
    assert_int_equal(options_steps("5:9:3", steps), 2);
    assert_int_equal(options_steps("5:5:1", steps), 1);
}

static void test_no_steps(void **state)
{
    static const char *const texts[] = {"",
                                        "0",
                                        ",",
                                        "1,",
                                        "1,,2",
                                        "-1",
                                        "1:2",
                                        "2:1:1",
                                        "1:9:0",
                                        "1:2:3:4",
                                        "a:b:c",
                                        "1 ,2",
                                        "1:5000:1",
                                        "1:9:",
                                        "99999999999999999999",
                                        "1:99999999999:1",
                                        ":::",
                                        "1x"};
    int steps[STEPS_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_int_equal(options_steps(texts[i], steps), 0);
}

static void test_times(void **state)
{
    static const struct {
        const char *text;
        uint32_t ms;
    } rows[] = {{"30s", 30000}, {"100ms", 100},  {"2m", 120000},
                {"1.5", 1500},  {"1h", 3600000}, {"0", 0}};
    static const char *const bad[] = {"",     "s",    "-1s", "1x",  "1 s",
                                      "1e99", "600h", "inf", "nan", "0x"};
    uint32_t ms;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_true(options_time(rows[i].text, &ms));
        assert_int_equal(ms, rows[i].ms);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(options_time(bad[i], &ms));
}

static const char *parse(struct options *o, const char *line)
{
    static char text[256], *words[32];
    int count = 0;

    (void)snprintf(text, sizeof(text), "wr %s", line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    return options_parse(o, count, words);
}

static void test_a_command_line(void **state)
{
    struct options o;

    (void)state;
    assert_null(parse(&o, "-n nginx -n php-fpm -P 80 -c 1,2 -r 5 -- ab -c %c http://x/"));
    assert_int_equal(o.ntargets, 3);
    assert_string_equal(o.targets[1].name, "php-fpm");
    assert_string_equal(o.targets[2].name, ":80");
    assert_int_equal(o.nsteps, 2);
    assert_int_equal(o.rounds, 5);
    assert_string_equal(o.command[0], "ab");
    assert_string_equal(o.command[1], "-c");
    assert_null(parse(&o, "--server A=nginx --server B=x=y -P 8080 -w 0 wrk"));
    assert_int_equal(o.ntargets, 2);
    assert_string_equal(o.targets[1].command, "x=y");
    assert_int_equal(o.warm_up_ms, 0);
    assert_null(parse(&o, "-p 1 -t 30s -i 50ms --tcp --json=a --csv b --energy"));
    assert_null(o.command);
    assert_string_equal(o.json, "a");
    assert_string_equal(o.csv, "b");
    assert_string_equal(o.sys, "/sys");
    assert_true(o.asks[WR_F_RETRANSMITS] && o.asks[WR_F_OVERFLOWS] && o.asks[WR_F_ENERGY]);
    assert_false(o.asks[WR_F_GROUP_CPU] || o.asks[WR_F_USER_INSTRUCTIONS] || o.asks[WR_F_CPU]);
}

static void test_refused_command_lines(void **state)
{
    static const char *const lines[] = {"",
                                        "-- ab",
                                        "-p x",
                                        "-p 0",
                                        "-p -3",
                                        "-n a -c 0 -- ab",
                                        "-n a -c 1",
                                        "-n a -r 2",
                                        "-n a -r x",
                                        "-n a -i 1ms",
                                        "-n a -t never",
                                        "-n a --no-such",
                                        "-n a --tc",
                                        "-n a --tcpx",
                                        "-n a --tcp=1",
                                        "-n a --json",
                                        "-n a --=x",
                                        "--server A -- ab",
                                        "--server =x -- ab",
                                        "--server A=b",
                                        "--server A=b -n c -- ab",
                                        "-P 99999 -- ab",
                                        "-P x --server A=b -- ab"};
    struct options o;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        assert_non_null(parse(&o, lines[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_no_steps),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_a_command_line),
        cmocka_unit_test(test_refused_command_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
