/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include "base/str.h"
#include "server/answer/misuse.h"
#include "server/request/request_state.h"

#include <fcntl.h>
#include <unistd.h>

/* What the log says of handlers that call wrongly, and what becomes of their answers. */

static char logged[4096];
static int ends[2];

static int hear_log(void **state)
{
    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    mk_log_set_fd(&answer_site.server->shared.log, ends[1]);
    return 0;
}

static int end_log(void **state)
{
    (void)state;
    mk_log_set_fd(&answer_site.server->shared.log, open("/dev/null", O_WRONLY | O_CLOEXEC));
    close(ends[0]);
    close(ends[1]);
    return 0;
}

/* How often a text is in what was logged since. */
static unsigned count_logged(const char *text)
{
    ssize_t n = read(ends[0], logged, sizeof(logged) - 1);
    unsigned count = 0;

    logged[n > 0 ? n : 0] = '\0';
    for (const char *at = logged; (at = strstr(at, text)); at += strlen(text))
        count++;
    return count;
}

/* ---- handlers ---- */

static enum mk_verdict three_mistakes(struct mk_request *r)
{
    assert_int_equal(mk_misuse_log(r, "the first mistake", MK_E_EXISTS), MK_E_EXISTS);
    assert_int_equal(mk_misuse_log(r, "the second mistake", 0), 0);
    (void)mk_misuse_log(r, "the third mistake", MK_E_BAD);
    return mk_reply_bytes(r, 200, NULL, STR("hello"));
}

static enum mk_verdict mistake_inside_a_head(struct mk_request *r)
{
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    (void)mk_misuse_log(r, "inside a head", MK_E_BAD);
    assert_int_equal(mk_reply_end(&p, 5), 0);
    assert_int_equal(mk_reply_memory(r, STR("hello")), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict mistake_after_a_head(struct mk_request *r)
{
    (void)answer_head(r, 200, 5);
    (void)mk_misuse_log(r, "after a head", MK_E_BAD);
    assert_true(mk_answering_is_broken(r));
    assert_int_equal(mk_reply_memory(r, STR("hello")), 0); /* nobody will see it */
    return MK_VERDICT_DONE;
}

/* ---- tests ---- */

static void talk(const struct answer *answer)
{
    struct loopback lb;

    answer_begin(&lb, answer);
    loopback_talk(&lb);
    if (!loopback_matches(&lb, answer->out))
        fail_msg("%s: %.*s", answer->sentence, (int)lb.out_len, lb.out);
    assert_true(loopback_is_closed(&lb));
    loopback_free(&lb);
}

static void a_request_is_logged_once_and_its_connection_closes(void **state)
{
    static const struct answer answer = {"before a head", three_mistakes, GET GET,
                                         OK "Content-Length: 5\r\n" CLOSE "\r\nhello", true};

    (void)state;
    talk(&answer);
    assert_int_equal(count_logged("plugin failed"), 1);
    assert_non_null(strstr(logged, "status=0 why=\"the first mistake\""));
    talk(&answer); /* another request is another line */
    assert_int_equal(count_logged("why=\"the first mistake\""), 1);
}

static void a_head_that_is_being_written_may_be_ended(void **state)
{
    static const struct answer answer = {"inside a head", mistake_inside_a_head, GET GET,
                                         OK "Content-Length: 5\r\n" CLOSE "\r\nhello", true};

    (void)state;
    talk(&answer);
    assert_int_equal(count_logged("status=200 why=\"inside a head\""), 1);
}

static void an_answer_whose_head_is_complete_is_broken_off(void **state)
{
    static const struct answer answer = {"after a head", mistake_after_a_head, GET GET,
                                         OK "Content-Length: 5\r\n\r\n", true};

    (void)state;
    talk(&answer);
    assert_int_equal(count_logged("status=200 why=\"after a head\""), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, hear_log, end_log)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_request_is_logged_once_and_its_connection_closes),
        CASE(a_head_that_is_being_written_may_be_ended),
        CASE(an_answer_whose_head_is_complete_is_broken_off),
    };

    return cmocka_run_group_tests(tests, answer_set_up, answer_tear_down);
}
