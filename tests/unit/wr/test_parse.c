/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "parse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is written is what is read. @return owned, ended by NUL */
static char *written(void)
{
    struct result r = {.command = (char[]){"ab \"-c\" <%c>\n"}, .began_s = 1234567};
    struct run run;
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    assert_non_null(to);
    run_init(&run);
    run.target = "a\xe4\"\\b";
    run.tool = "ab";
    run.round = 2;
    run.concurrency = 100;
    run.figures[WR_F_CPU] = 12.5;
    run.flags = 1U << WR_FLAG_ERRORS | 1U << WR_FLAG_CUT;
    run_sample(&run, &(struct sample){1, 2, 3, 4, 5});
    run_sample(&run, &(struct sample){.at_ms = UINT32_MAX});
    strcpy(r.machine.facts[WR_FACT_CPU], "a processor");
    assert_non_null(runs_add(&r.runs, &run));
    result_json(to, &r);
    assert_int_equal(fclose(to), 0);
    runs_fini(&r.runs);
    return text;
}

static void test_what_is_written_is_read(void **state)
{
    char *text = written();
    struct result r;

    (void)state;
    assert_null(result_parse(text, &r));
    assert_string_equal(r.command, "ab \"-c\" <%c>\n");
    assert_string_equal(r.machine.facts[WR_FACT_CPU], "a processor");
    assert_int_equal(r.runs.count, 1);
    const struct run *run = &r.runs.items[0];
    assert_string_equal(run->target, "a\xe4\"\\b");
    assert_string_equal(run->tool, "ab");
    assert_int_equal(run->round, 2);
    assert_int_equal(run->concurrency, 100);
    assert_true(run->figures[WR_F_CPU] == 12.5);
    assert_true(isnan(run->figures[WR_F_USER]));
    assert_int_equal(run->flags, 1U << WR_FLAG_ERRORS | 1U << WR_FLAG_CUT);
    assert_int_equal(run->nsamples, 2);
    assert_int_equal(run->samples[0].threads, 5);
    assert_int_equal(run->samples[1].at_ms, UINT32_MAX);
    runs_fini(&r.runs);
    free(text);
}

static void test_a_file_that_was_cut_is_refused(void **state)
{
    char *whole = written();
    size_t len = strlen(whole);
    struct result r;

    (void)state;
    for (size_t cut = 0; cut + 1 < len; cut++) { /* the last byte is a line's end */
        char *text = strndup(whole, cut);

        assert_non_null(text);
        assert_non_null(result_parse(text, &r));
        runs_fini(&r.runs);
        free(text);
    }
    free(whole);
}

static void test_other_files_are_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "[]",
        "null",
        "{}",
        "{\"schema\":\"wr/2\"}",
        "{\"schema\":\"wr/1\"} x",
        "{\"schema\":\"wr/1\",}",
        "{\"schema\":\"wr/1\",\"runs\":[{\"target\":3}]}",
        "{\"schema\":\"wr/1\",\"runs\":[{\"round\":-1}]}",
        "{\"schema\":\"wr/1\",\"runs\":[{\"figures\":{\"cpu_ms\":nan}}]}",
        "{\"schema\":\"wr/1\",\"runs\":[{\"figures\":{\"cpu_ms\":1e999}}]}",
        "{\"schema\":\"wr/1\",\"runs\":[{\"samples\":[[1,2]]}]}",
        "{\"schema\":\"wr/1\",\"x\":\"\\u0000\"}",
        "{\"schema\":\"wr/1\",\"x\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    };
    struct result r;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char *text = strdup(texts[i]);

        assert_non_null(text);
        assert_non_null(result_parse(text, &r));
        runs_fini(&r.runs);
        free(text);
    }
}

static void test_unknown_members_are_skipped(void **state)
{
    char text[] = "{\"new\":{\"a\":[1,\"]\",{}]},\"schema\":\"wr/"
                  "1\",\"runs\":[{\"x\":true,\"figures\":{\"y\":1},"
                  "\"flags\":[\"z\"]}]}";
    struct result r;

    (void)state;
    assert_null(result_parse(text, &r));
    assert_int_equal(r.runs.count, 1);
    assert_string_equal(r.runs.items[0].target, "");
    runs_fini(&r.runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_a_file_that_was_cut_is_refused),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_unknown_members_are_skipped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
