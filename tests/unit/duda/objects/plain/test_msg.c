/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

/* What was written to standard output since begin_capture(). */
struct capture {
    FILE *file;
    int stdout_fd;
};

static struct capture begin_capture(void)
{
    struct capture c = {.file = tmpfile()};

    (void)fflush(stdout);
    c.stdout_fd = dup(STDOUT_FILENO);
    (void)dup2(fileno(c.file), STDOUT_FILENO);
    return c;
}

static size_t end_capture(struct capture *c, char *dst, size_t size)
{
    size_t n;

    (void)fflush(stdout);
    (void)dup2(c->stdout_fd, STDOUT_FILENO);
    (void)close(c->stdout_fd);
    rewind(c->file);
    n = fread(dst, 1, size - 1, c->file);
    dst[n] = 0;
    (void)fclose(c->file);
    return n;
}

/* Remove colours. */
static void bleach(char *text)
{
    char *to = text;

    for (const char *at = text; *at;) {
        if (at[0] == '\033')
            at += strcspn(at, "m") + 1;
        else
            *to++ = *at++;
    }
    *to = 0;
}

static void lines_have_time_and_level(void **state)
{
    static const struct {
        void (*const *say)(const char *fmt, ...);
        const char *word;
    } rows[] = {
        {&mk_duda_msg.info, "[   Info]"},
        {&mk_duda_msg.warn, "[Warning]"},
        {&mk_duda_msg.err, "[  Error]"},
        {&mk_duda_msg.bug, "[ BUG ! ]"},
    };
    char text[256], expected[64];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct capture c = begin_capture();
        int at = 0;

        (*rows[i].say)("%s %d", "text", (int)i);
        (void)end_capture(&c, text, sizeof(text));
        assert_non_null(strchr(text, '\033'));
        bleach(text);
        (void)sscanf(text, "[%*4d/%*2d/%*2d %*2d:%*2d:%*2d] %n", &at);
        assert_int_equal(at, (int)strlen("[2026/11/20 20:50:23] "));
        (void)snprintf(expected, sizeof(expected), "%s text %d\n", rows[i].word, (int)i);
        assert_string_equal(text + at, expected);
    }
}

static void a_long_text_is_cut(void **state)
{
    struct capture c = begin_capture();
    char text[8192];

    (void)state;
    mk_duda_msg.info("%06000d", 1);
    mk_duda_msg.info(NULL);
    assert_in_range(end_capture(&c, text, sizeof(text)), 4000, 4300);
    assert_int_equal(text[strlen(text) - 1], '\n');
}

static void a_stack_can_be_shown(void **state)
{
    struct capture c = begin_capture();
    char text[8192];

    (void)state;
    mk_duda_debug.trace();
    mk_duda_debug.stacktrace();
    (void)end_capture(&c, text, sizeof(text));
    assert_non_null(strchr(text, '\n'));
}

/* Buffers of the interface and of the service may be freed by either. */
static void memory_is_that_of_the_process(void **state)
{
    char *block = mk_duda_mem.alloc_z(16);

    (void)state;
    for (int i = 0; i < 16; i++)
        assert_int_equal(block[i], 0);
    block[0] = 'x';
    block = mk_duda_mem.realloc(block, 1000);
    assert_int_equal(block[0], 'x');
    free(block);
    mk_duda_mem.free(malloc(8));
    mk_duda_mem.free(mk_duda_mem.alloc(8));
    mk_duda_mem.free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_time_and_level),
        cmocka_unit_test(a_long_text_is_cut),
        cmocka_unit_test(a_stack_can_be_shown),
        cmocka_unit_test(memory_is_that_of_the_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
