/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "objects/events/loops.h"

static void a_channel_wakes_its_loop(void **state)
{
    mk_event_loop_t *loop = mk_duda_loop_create(8);
    int r, w;
    char byte;

    (void)state;
    assert_non_null(loop);
    assert_int_equal(mk_duda_loop_channel_create(loop, &r, &w), 0);
    assert_int_equal(write(w, "x", 1), 1);
    assert_int_equal(mk_duda_loop_wait(loop), 1);
    assert_int_equal(loop->n_events, 1);
    assert_int_equal(loop->events[0].fd, r);
    assert_int_equal(loop->events[0].mask, MK_EVENT_READ);
    assert_int_equal(read(r, &byte, 1), 1);
    (void)close(w);
    assert_int_equal(mk_duda_loop_wait(loop), 1); /* the other end has gone: read finds the end */
    assert_int_equal(loop->events[0].mask, MK_EVENT_READ);
    assert_int_equal(read(r, &byte, 1), 0);
    assert_int_equal(mk_duda_loop_delete(loop, r), 0);
    (void)close(r);
    mk_duda_loop_free(loop);
}

static void a_timeout_comes_again(void **state)
{
    mk_event_loop_t *loop = mk_duda_loop_create(1);
    int fd = mk_duda_loop_timeout_create(loop, 1);
    uint64_t times;

    (void)state;
    assert_true(fd >= 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mk_duda_loop_wait(loop), 1);
        assert_int_equal(loop->events[0].fd, fd);
        assert_int_equal(read(fd, &times, sizeof(times)), sizeof(times));
        assert_true(times >= 1);
    }
    (void)close(fd);
    mk_duda_loop_free(loop);
}

/* Makes a loop with one descriptor that is always ready to be written, so that a wait never blocks. */
static mk_event_loop_t *loop_with(int fds[2], int ready[2])
{
    mk_event_loop_t *loop = mk_duda_loop_create(8);

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(mk_duda_loop_add(loop, ready[1], MK_EVENT_WRITE, NULL), 0);
    return loop;
}

static void close_with(mk_event_loop_t *loop, const int fds[2], const int ready[2])
{
    for (int i = 0; i < 2; i++) {
        (void)close(fds[i]);
        (void)close(ready[i]);
    }
    mk_duda_loop_free(loop);
}

/* @return what the loop says of a descriptor now; 0: nothing */
static uint32_t mask_of(mk_event_loop_t *loop, int fd, void **arg)
{
    int n = mk_duda_loop_wait(loop);

    for (int i = 0; i < n; i++)
        if (loop->events[i].fd == fd) {
            *arg = loop->events[i].data;
            return loop->events[i].mask;
        }
    return 0;
}

static void says_what_was_asked_for(void **state)
{
    int fds[2], ready[2], mark;
    mk_event_loop_t *loop = loop_with(fds, ready);
    void *arg = NULL;

    (void)state;
    assert_int_equal(write(fds[1], "x", 1), 1);
    assert_int_equal(mk_duda_loop_add(loop, fds[0], MK_EVENT_READ, &mark), 0);
    assert_int_equal(mask_of(loop, fds[0], &arg), MK_EVENT_READ);
    assert_ptr_equal(arg, &mark);
    assert_int_equal(mask_of(loop, fds[0], &arg), MK_EVENT_READ); /* as long as it lasts */
    assert_int_equal(mk_duda_loop_add(loop, fds[0], MK_EVENT_WRITE, NULL), 0); /* replaces */
    assert_int_equal(mask_of(loop, fds[0], &arg), MK_EVENT_WRITE);
    assert_null(arg);
    assert_int_equal(mk_duda_loop_add(loop, fds[0], MK_EVENT_READ | MK_EVENT_WRITE, NULL), 0);
    assert_int_equal(mask_of(loop, fds[0], &arg), MK_EVENT_READ | MK_EVENT_WRITE);
    assert_int_equal(mk_duda_loop_add(loop, fds[0], MK_EVENT_SLEEP, NULL), 0);
    assert_int_equal(mask_of(loop, fds[0], &arg), 0);
    assert_int_equal(mk_duda_loop_add(loop, fds[0], MK_EVENT_READ | MK_EVENT_EDGE, NULL), 0);
    assert_int_equal(mask_of(loop, fds[0], &arg), MK_EVENT_READ);
    assert_int_equal(mask_of(loop, fds[0], &arg), 0); /* once for each edge */
    assert_int_equal(mk_duda_loop_delete(loop, fds[0]), 0);
    assert_int_equal(mask_of(loop, fds[0], &arg), 0);
    close_with(loop, fds, ready);
}

static void a_closed_descriptor_can_come_again(void **state)
{
    int fds[2], ready[2];
    mk_event_loop_t *loop = loop_with(fds, ready);
    void *arg = NULL;

    (void)state;
    assert_int_equal(mk_duda_loop_add(loop, fds[0], MK_EVENT_WRITE, NULL), 0);
    (void)close(fds[0]);
    assert_int_equal(dup2(fds[1], fds[0]), fds[0]);
    assert_int_equal(mk_duda_loop_add(loop, fds[0], MK_EVENT_WRITE, NULL), 0);
    assert_int_equal(mask_of(loop, fds[0], &arg), MK_EVENT_WRITE);
    close_with(loop, fds, ready);
}

static void refuses_what_cannot_be_watched(void **state)
{
    mk_event_loop_t *loop = mk_duda_loop_create(-3);
    FILE *file = tmpfile();
    int r, w;

    (void)state;
    assert_int_equal(loop->size, 1);
    assert_int_equal(mk_duda_loop_add(loop, fileno(file), MK_EVENT_READ, NULL), -1);
    assert_int_equal(mk_duda_loop_add(loop, -1, MK_EVENT_READ, NULL), -1);
    assert_int_equal(mk_duda_loop_add(NULL, 0, MK_EVENT_READ, NULL), -1);
    assert_int_equal(mk_duda_loop_delete(loop, 5000), -1);
    assert_int_equal(mk_duda_loop_delete(loop, -1), -1);
    assert_int_equal(mk_duda_loop_delete(NULL, 0), -1);
    assert_int_equal(mk_duda_loop_timeout_create(loop, 0), -1);
    assert_int_equal(mk_duda_loop_timeout_create(NULL, 1), -1);
    assert_int_equal(mk_duda_loop_channel_create(NULL, &r, &w), -1);
    assert_int_equal(mk_duda_loop_wait(NULL), -1);
    assert_string_equal(mk_duda_loop_backend(), "epoll");
    (void)fclose(file);
    mk_duda_loop_free(loop);
    mk_duda_loop_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_channel_wakes_its_loop),
        cmocka_unit_test(a_timeout_comes_again),
        cmocka_unit_test(says_what_was_asked_for),
        cmocka_unit_test(a_closed_descriptor_can_come_again),
        cmocka_unit_test(refuses_what_cannot_be_watched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
