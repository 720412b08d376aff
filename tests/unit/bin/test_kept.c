/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kept.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Sockets that a keeper keeps: which of them are open, and when. */

static int listening(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static void test_new_ones_replace_old_ones(void **state)
{
    struct mk_kept kept = {0};
    int first = listening(), second = listening();

    (void)state;
    assert_true(mk_kept_add(&kept, first));
    assert_int_equal(kept.settled, 0);
    mk_kept_settle(&kept);
    assert_int_equal(kept.settled, 1);
    assert_true(mk_kept_add(&kept, second));
    mk_kept_settle(&kept);
    assert_int_equal(kept.settled, 1);
    assert_int_equal(kept.fds[0], second);
    assert_false(is_open(first));
    mk_kept_close(&kept);
    assert_false(is_open(second));
}

/* A reload left the server with sockets from elsewhere alone. */
static void test_none_replace_old_ones(void **state)
{
    struct mk_kept kept = {0};
    int first = listening();

    (void)state;
    mk_kept_settle(&kept);
    assert_int_equal(kept.settled, 0);
    assert_true(mk_kept_add(&kept, first));
    mk_kept_settle(&kept);
    assert_true(is_open(first));
    mk_kept_settle(&kept);
    assert_int_equal(kept.settled, 0);
    assert_int_equal(kept.count, 0);
    assert_false(is_open(first));
    mk_kept_close(&kept);
}

static void test_forgets_what_was_not_settled(void **state)
{
    struct mk_kept kept = {0};
    int first = listening(), second = listening();

    (void)state;
    assert_true(mk_kept_add(&kept, first));
    mk_kept_settle(&kept);
    assert_true(mk_kept_add(&kept, second));
    mk_kept_forget(&kept);
    assert_false(is_open(second));
    assert_true(is_open(first));
    mk_kept_close(&kept);
}

static void test_many(void **state)
{
    struct mk_kept kept = {0};
    int first = listening();

    (void)state;
    for (int i = 0; i < 100; i++)
        assert_true(mk_kept_add(&kept, dup(first)));
    mk_kept_settle(&kept);
    assert_int_equal(kept.settled, 100);
    mk_kept_close(&kept);
    close(first);
}

static void test_takes_only_listening_sockets(void **state)
{
    struct mk_kept kept = {0};
    int fd = socket(AF_INET, SOCK_STREAM, 0), null = open("/dev/null", O_RDONLY), last;

    (void)state;
    assert_false(mk_kept_add(&kept, fd));
    assert_false(mk_kept_add(&kept, null));
    assert_false(mk_kept_add(&kept, -1));
    assert_false(is_open(fd) || is_open(null));
    mk_kept_close(&kept);
    last = listening();
    assert_false(mk_kept_add(&kept, last));
    assert_false(is_open(last));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_ones_replace_old_ones),
        cmocka_unit_test(test_none_replace_old_ones),
        cmocka_unit_test(test_forgets_what_was_not_settled),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_takes_only_listening_sockets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
