/* SPDX-License-Identifier: Apache-2.0 */
#include "logger_test.h"

#include "gather.h"
#include "held.h"

#include "../template_of.h"

#include <monkey/stream.h>

#include <fcntl.h>
#include <unistd.h>

/* ---- what the server does ---- */

static int watched; /* what it says to who wants to be told of an end */
static mk_taken_fn told_fn;
static void *told_arg;

int mk_request_on_taken_end(const struct mk_request *r, mk_taken_fn fn, void *arg)
{
    assert_ptr_equal(r, &watched);
    told_fn = fn;
    told_arg = arg;
    return watched;
}

static void end_tunnel(uint64_t received, uint64_t sent, bool whole)
{
    const struct mk_taken taken = {
        .size = sizeof(taken), .received = received, .sent = sent, .whole = whole};

    assert_non_null(told_fn);
    told_fn(told_arg, &taken);
    told_fn = NULL;
}

void logger_line_times(struct logger_entry *e, enum logger_style style, const struct mk_worker *w,
                       int64_t began_ms, struct logger_texts *texts)
{
    assert_ptr_equal(w, &watched);
    assert_int_equal(texts->at_s, 0);
    e->time = style == LOGGER_JSON ? MK_STR("\"now\"") : MK_STR("[now]");
    e->duration_ms = (uint64_t)(5000 - began_ms);
}

/* ---- a log ---- */

static struct {
    char dir[64], path[96], said[1024];
    struct logger_sink *sink;
    struct logger_target *target;
    struct logger_pipe *pipe;
    struct logger_format format;
} here;

static void say(void *arg, enum mk_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    (void)snprintf(here.said, sizeof(here.said), "%s", text);
}

static int set_up(void **state)
{
    int fd;

    (void)state;
    memset(&here, 0, sizeof(here));
    watched = 0;
    told_fn = NULL;
    strcpy(here.dir, "/tmp/monkey-held-XXXXXX");
    if (!mkdtemp(here.dir))
        return -1;
    (void)snprintf(here.path, sizeof(here.path), "%s/log", here.dir);
    here.sink = logger_sink_new(say, NULL);
    fd = open(here.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    here.target = here.sink ? logger_target_new(here.sink, here.path, fd, 0) : NULL;
    here.pipe = here.sink ? logger_sink_pipe(here.sink, 0) : NULL;
    return here.target && here.pipe ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(here.path);
    return rmdir(here.dir);
}

/* As a reload to no log does, and the end of a server. */
static void let_go(void)
{
    logger_target_put(here.sink, here.target);
    logger_sink_put(here.sink);
}

static void assert_log(const char *expected)
{
    char text[2 * LOGGER_LINE_MAX] = "";
    int fd = open(here.path, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_true(read(fd, text, sizeof(text) - 1) >= 0);
    assert_int_equal(close(fd), 0);
    assert_string_equal(text, expected);
}

static int hold(const char *format, struct mk_str target)
{
    struct mk_template_piece pieces[MK_TEMPLATE_MAX];
    struct mk_template from;
    struct logger_line line = {
        .format = &here.format,
        .request = (const struct mk_request *)&watched,
        .facts = {.method = MK_STR_INIT("GET"), .status = 101, .body_received = 2},
    };
    const char *why;

    assert_int_equal(template_read(&from, mk_str_from(format), MK_TEMPLATE_PRICES, pieces), 0);
    assert_int_equal(logger_format_compile(&here.format, &from, &why), 0);
    line.facts.target = target;
    line.facts.worker = (struct mk_worker *)&watched;
    line.facts.began_ms = 2000;
    line.entry.facts = &line.facts;
    return logger_held_begin(&line, here.sink, here.pipe, here.target);
}

/* Nothing of the request is left then, nor of its configuration. */
static void a_line_is_written_at_the_end(void **state)
{
    char target[] = "/chat";

    (void)state;
    assert_int_equal(hold("'%t %m %{target}r %s %B %{received}B %{ms}T %X'", mk_str_from(target)),
                     0);
    strcpy(target, "#####");
    memset(&here.format, '#', sizeof(here.format));
    assert_log("");
    end_tunnel(40, 7, true);
    let_go();
    assert_log("[now] GET /chat 101 7 42 3000 -\n");
}

static void its_log_may_have_been_given_up(void **state)
{
    (void)state;
    assert_int_equal(hold("json time bytes whole", MK_STR("/")), 0);
    let_go();
    end_tunnel(0, 7, false);
    assert_log("{\"time\":\"now\",\"bytes\":7,\"whole\":false}\n");
}

static void without_a_tunnel_nothing_is_kept(void **state)
{
    (void)state;
    watched = MK_E_NOENT;
    assert_int_equal(hold("common", MK_STR("/")), MK_E_NOENT);
    watched = MK_E_NOMEM;
    assert_int_equal(hold("common", MK_STR("/")), MK_E_NOMEM);
    let_go();
    assert_log("");
}

/* Of every length near the bound a line has its end, and is at most as long as others. */
static void the_longest_line_is_cut(void **state)
{
    static char target[LOGGER_LONG_MAX];
    static const char format[] =
        "'%B %{target}r%{target}r%{target}r%{target}r %{received}B %{target}r'";
    char text[2 * LOGGER_LINE_MAX];

    (void)state;
    memset(target, 'x', sizeof(target));
    for (size_t len = LOGGER_LONG_MAX - 40; len <= LOGGER_LONG_MAX; len++) {
        ssize_t n;
        int fd;

        assert_int_equal(hold(format, (struct mk_str){target, len}), 0);
        end_tunnel(12345678, 12345678, true);
        let_go();
        fd = open(here.path, O_RDONLY | O_CLOEXEC);
        n = read(fd, text, sizeof(text));
        assert_int_equal(close(fd), 0);
        assert_in_range(n, LOGGER_LINE_MAX - 100, LOGGER_LINE_MAX);
        assert_memory_equal(text, "12345678 xxx", 12);
        assert_memory_equal(text + n - 4, "...\n", 4);
        assert_ptr_equal(memchr(text, '\n', (size_t)n), text + n - 1);
        assert_int_equal(tear_down(state), 0);
        assert_int_equal(set_up(state), 0);
    }
    let_go();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_line_is_written_at_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(its_log_may_have_been_given_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_tunnel_nothing_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_longest_line_is_cut, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
