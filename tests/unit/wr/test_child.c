/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "child.h"

enum { TRIES = 300, TURN_MS = 1 };

static void start(struct child *c, const char *script)
{
    char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char *)(uintptr_t)script, NULL};

    assert_int_equal(child_start(c, argv), 0);
}

/* Many looks, so that some fall between the last word of the program and its end. */
static void test_the_last_words_are_not_lost(void **state)
{
    (void)state;
    for (int i = 0; i < TRIES; i++) {
        struct child c;

        start(&c, "echo the last words");
        while (!c.is_over)
            child_turn(&c, false);
        assert_string_equal(c.text, "the last words\n");
        assert_int_equal(c.status, 0);
        child_fini(&c);
    }
}

/* With whoever takes orphans in, what a program left behind is not taken for a process of the server. */
static void test_what_it_left_behind_is_gone_when_it_is_stopped(void **state)
{
    struct child c;

    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    start(&c, "sleep 600 & sleep 600 & echo ready; wait");
    for (child_turn(&c, false); c.len < strlen("ready\n"); child_turn(&c, false))
        (void)poll(NULL, 0, TURN_MS);
    child_stop(&c, SIGTERM);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    child_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_words_are_not_lost),
        cmocka_unit_test(test_what_it_left_behind_is_gone_when_it_is_stopped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
