/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <monkey/types.h>

#include "exchange/splice.h"

struct scene {
    struct proxy_pipes pool;
    struct proxy_pipe pipe;
    int ours, peers;
};

static int set_up(void **state)
{
    static struct scene s;
    int ends[2];

    s = (struct scene){.ours = -1};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    s.ours = ends[0];
    s.peers = ends[1];
    assert_int_equal(proxy_pipe_get(&s.pool, &s.pipe), 0);
    *state = &s;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *s = *state;

    proxy_pipes_free(&s->pool);
    (void)close(s->ours);
    (void)close(s->peers);
    return 0;
}

static void test_bytes_pass_up_to_the_bound(void **state)
{
    struct scene *s = *state;
    char got[8];

    assert_int_equal(proxy_pipe_fill(&s->pipe, s->ours, 9), MK_E_AGAIN);
    assert_int_equal(write(s->peers, "hello, all", 10), 10);
    assert_int_equal(proxy_pipe_fill(&s->pipe, s->ours, 5), 5);
    assert_int_equal(s->pipe.bytes, 5);
    assert_int_equal(read(s->pipe.out, got, sizeof(got)), 5);
    assert_memory_equal(got, "hello", 5);
    s->pipe.bytes = 0;
    proxy_pipe_put(&s->pool, &s->pipe);
    assert_int_equal(s->pool.nfree, 1);
    assert_true(s->pipe.in == -1 && s->pipe.out == -1);
}

static void test_one_with_bytes_in_it_is_not_used_again(void **state)
{
    struct scene *s = *state;

    assert_int_equal(write(s->peers, "secret", 6), 6);
    assert_int_equal(proxy_pipe_fill(&s->pipe, s->ours, 100), 6);
    proxy_pipe_put(&s->pool, &s->pipe);
    assert_int_equal(s->pool.nfree, 0);
}

static void test_the_end_of_input_and_what_is_no_socket(void **state)
{
    struct scene *s = *state;
    int dir = open("/", O_RDONLY | O_DIRECTORY);

    assert_int_equal(shutdown(s->peers, SHUT_WR), 0);
    assert_int_equal(proxy_pipe_fill(&s->pipe, s->ours, 100), 0);
    assert_true(proxy_pipe_fill(&s->pipe, dir, 100) < 0);
    (void)close(dir);
    proxy_pipe_put(&s->pool, &s->pipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bytes_pass_up_to_the_bound, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_with_bytes_in_it_is_not_used_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_the_end_of_input_and_what_is_no_socket, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
