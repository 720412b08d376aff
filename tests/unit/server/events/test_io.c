/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <monkey/events.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct probe {
    struct mk_io *io;
    int peer;
    unsigned calls, last;
    struct probe *closes; /* another one, or itself, when called */
    bool reads;           /* one byte a call */
};

static void on_io(struct mk_io *io, unsigned events, void *arg)
{
    struct probe *p = arg;
    char byte;

    p->calls++;
    p->last = events;
    assert_int_not_equal(events, 0);
    if (p->reads)
        assert_int_equal(read(mk_io_fd(io), &byte, 1), 1);
    if (p->closes && p->closes->io) {
        mk_io_close(p->closes->io);
        p->closes->io = NULL;
    }
}

static void open_pair(struct probe *p, struct mk_worker *w, unsigned events)
{
    int fds[2];

    *p = (struct probe){.peer = -1};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(mk_io_open(&p->io, w, fds[0], events, on_io, p), 0);
    p->peer = fds[1];
}

static void close_pair(struct probe *p, struct mk_worker *w)
{
    mk_io_close(p->io);
    if (p->peer >= 0)
        assert_int_equal(close(p->peer), 0);
    mk_loop_turn(&w->loop, 0, NULL, NULL);
}

static void say(const struct probe *p, const char *bytes)
{
    assert_int_equal(write(p->peer, bytes, strlen(bytes)), strlen(bytes));
}

static void turn(struct mk_worker *w)
{
    mk_loop_turn(&w->loop, 0, NULL, NULL);
}

/* Turns once, and tells what came. */
static unsigned heard(struct probe *p, struct mk_worker *w)
{
    p->last = 0;
    turn(w);
    return p->last;
}

static int set_up(void **state)
{
    static struct fixture f;

    dir_make(f.dir);
    fixture_open(&f, NULL);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    fixture_close(f);
    dir_remove(f->dir);
    return 0;
}

static void a_state_is_told_while_it_lasts(void **state)
{
    struct mk_worker *w = ((struct fixture *)*state)->worker;
    struct probe p;

    open_pair(&p, w, MK_IO_READ);
    assert_int_equal(heard(&p, w), 0);
    say(&p, "ab");
    assert_int_equal(heard(&p, w), MK_IO_READ);
    p.reads = true;
    assert_int_equal(heard(&p, w), MK_IO_READ);
    assert_int_equal(heard(&p, w), MK_IO_READ);
    assert_int_equal(heard(&p, w), 0);
    assert_int_equal(p.calls, 3);
    close_pair(&p, w);
}

static void an_edge_is_told_once(void **state)
{
    struct mk_worker *w = ((struct fixture *)*state)->worker;
    struct probe p;

    open_pair(&p, w, MK_IO_READ | MK_IO_EDGE);
    say(&p, "a");
    assert_int_equal(heard(&p, w), MK_IO_READ);
    assert_int_equal(heard(&p, w), 0);
    assert_int_equal(mk_io_want(p.io, MK_IO_READ | MK_IO_EDGE), 0); /* asked again, told again */
    assert_int_equal(heard(&p, w), MK_IO_READ);
    assert_int_equal(heard(&p, w), 0);
    say(&p, "b");
    assert_int_equal(heard(&p, w), MK_IO_READ);
    close_pair(&p, w);
}

static void only_what_is_wanted_is_told(void **state)
{
    struct mk_worker *w = ((struct fixture *)*state)->worker;
    struct probe p;

    open_pair(&p, w, 0);
    say(&p, "a");
    assert_int_equal(heard(&p, w), 0);
    assert_int_equal(mk_io_want(p.io, MK_IO_WRITE), 0);
    assert_int_equal(heard(&p, w), MK_IO_WRITE);
    assert_int_equal(mk_io_want(p.io, MK_IO_WRITE | MK_IO_READ), 0);
    assert_int_equal(heard(&p, w), MK_IO_WRITE | MK_IO_READ);
    assert_int_equal(mk_io_want(p.io, 0), 0);
    assert_int_equal(heard(&p, w), 0);
    close_pair(&p, w);
}

/* A half-closed or closed peer may not make the loop spin under an io that has nothing to do. */
static void an_end_that_nobody_asked_about_is_told_once(void **state)
{
    static const unsigned wants[] = {0, MK_IO_EDGE};
    struct mk_worker *w = ((struct fixture *)*state)->worker;
    struct probe p;

    for (size_t i = 0; i < MK_ARRAY_LEN(wants); i++) {
        open_pair(&p, w, wants[i]);
        (void)heard(&p, w);
        assert_int_equal(shutdown(p.peer, SHUT_WR), 0);
        assert_int_equal(heard(&p, w), MK_IO_HANGUP);
        assert_int_equal(heard(&p, w), 0);
        assert_int_equal(close(p.peer), 0);
        p.peer = -1;
        assert_true(heard(&p, w) & MK_IO_HANGUP);
        assert_int_equal(heard(&p, w), 0);
        close_pair(&p, w);
    }
    open_pair(&p, w, MK_IO_WRITE);
    assert_int_equal(heard(&p, w), MK_IO_WRITE);
    assert_int_equal(shutdown(p.peer, SHUT_WR), 0);
    assert_int_equal(heard(&p, w), MK_IO_WRITE | MK_IO_HANGUP);
    assert_int_equal(heard(&p, w), MK_IO_WRITE);
    /* Whoever begins to read learns of it by reading. */
    assert_int_equal(mk_io_want(p.io, MK_IO_READ), 0);
    assert_int_equal(heard(&p, w), MK_IO_READ | MK_IO_HANGUP);
    close_pair(&p, w);
}

static void the_end_of_a_pipe_is_readable(void **state)
{
    struct mk_worker *w = ((struct fixture *)*state)->worker;
    struct probe p = {.io = NULL};
    int fds[2];

    assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(mk_io_open(&p.io, w, fds[0], MK_IO_READ, on_io, &p), 0);
    assert_int_equal(close(fds[1]), 0);
    assert_int_equal(heard(&p, w), MK_IO_READ | MK_IO_HANGUP);
    mk_io_close(p.io);
    turn(w);
    assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(mk_io_open(&p.io, w, fds[1], 0, on_io, &p), 0);
    assert_int_equal(close(fds[0]), 0);
    assert_int_equal(heard(&p, w), MK_IO_ERROR);
    assert_int_equal(heard(&p, w), 0);
    mk_io_close(p.io);
    turn(w);
}

/* Both have an event in the same turn: the first closes the other, or itself, which hears no more. */
static void closes_inside_a_call(void **state)
{
    struct mk_worker *w = ((struct fixture *)*state)->worker;
    struct probe p, q;

    open_pair(&p, w, MK_IO_READ);
    open_pair(&q, w, MK_IO_READ);
    p.closes = &q;
    q.closes = &p;
    say(&p, "a");
    say(&q, "a");
    turn(w);
    assert_int_equal(p.calls + q.calls, 1);
    close_pair(&p, w);
    close_pair(&q, w);

    open_pair(&p, w, MK_IO_READ);
    p.closes = &p;
    say(&p, "a");
    turn(w);
    turn(w);
    assert_int_equal(p.calls, 1);
    assert_null(p.io);
    close_pair(&p, w);
    mk_io_close(NULL);
}

/* What a child process inherited may not keep a closed one alive in epoll. */
static void a_copy_of_the_descriptor_tells_nothing(void **state)
{
    struct mk_worker *w = ((struct fixture *)*state)->worker;
    struct pollfd waiting = {.fd = w->loop.epfd, .events = POLLIN};
    struct probe p;
    int copy;

    open_pair(&p, w, MK_IO_READ);
    copy = fcntl(mk_io_fd(p.io), F_DUPFD_CLOEXEC, 0);
    assert_true(copy >= 0);
    mk_io_close(p.io);
    p.io = NULL;
    turn(w);
    say(&p, "a");
    assert_int_equal(poll(&waiting, 1, 0), 0);
    turn(w);
    assert_int_equal(p.calls, 0);
    assert_int_equal(close(copy), 0);
    close_pair(&p, w);
}

static void a_released_descriptor_stays_open(void **state)
{
    struct mk_worker *w = ((struct fixture *)*state)->worker;
    struct probe p;
    char byte = 0;
    int fd;

    open_pair(&p, w, MK_IO_READ);
    mk_io_timeout(p.io, 1);
    say(&p, "a");
    fd = mk_io_release(p.io);
    p.io = NULL;
    mk_loop_turn(&w->loop, 150, NULL, NULL);
    mk_loop_turn(&w->loop, 150, NULL, NULL);
    assert_int_equal(p.calls, 0);
    assert_int_equal(read(fd, &byte, 1), 1);
    assert_int_equal(byte, 'a');
    assert_int_equal(close(fd), 0);
    close_pair(&p, w);
}

static void wait_for_call(struct probe *p, struct mk_worker *w)
{
    unsigned before = p->calls;

    for (int i = 0; i < 50 && p->calls == before; i++)
        mk_loop_turn(&w->loop, 100, NULL, NULL);
}

static void times_out_once(void **state)
{
    struct mk_worker *w = ((struct fixture *)*state)->worker;
    struct probe p;
    int64_t from;

    open_pair(&p, w, MK_IO_READ);
    turn(w);
    from = mk_worker_now_ms(w);
    mk_io_timeout(p.io, 60000);
    mk_io_timeout(p.io, 120);
    wait_for_call(&p, w);
    assert_int_equal(p.last, MK_IO_TIMEOUT);
    assert_in_range(mk_worker_now_ms(w) - from, 120, 2000);
    mk_loop_turn(&w->loop, 150, NULL, NULL);
    assert_int_equal(p.calls, 1);
    mk_io_timeout(p.io, 1);
    mk_io_timeout(p.io, 0);
    mk_loop_turn(&w->loop, 150, NULL, NULL);
    assert_int_equal(p.calls, 1);
    p.closes = &p;
    mk_io_timeout(p.io, 1);
    wait_for_call(&p, w);
    assert_null(p.io);
    close_pair(&p, w);
}

static void what_cannot_be_watched_stays_the_callers(void **state)
{
    struct fixture *f = *state;
    struct mk_io *io;
    int fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(mk_io_open(&io, f->worker, fd, MK_IO_READ, on_io, NULL), MK_E_INVALID);
    assert_null(io);
    mk_heap_fail_after(0);
    assert_int_equal(mk_io_open(&io, f->worker, fd, MK_IO_READ, on_io, NULL), MK_E_NOMEM);
    mk_heap_fail_after(-1);
    assert_int_equal(close(fd), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_is_told_while_it_lasts),
        cmocka_unit_test(an_edge_is_told_once),
        cmocka_unit_test(only_what_is_wanted_is_told),
        cmocka_unit_test(an_end_that_nobody_asked_about_is_told_once),
        cmocka_unit_test(the_end_of_a_pipe_is_readable),
        cmocka_unit_test(closes_inside_a_call),
        cmocka_unit_test(a_copy_of_the_descriptor_tells_nothing),
        cmocka_unit_test(a_released_descriptor_stays_open),
        cmocka_unit_test(times_out_once),
        cmocka_unit_test(what_cannot_be_watched_stays_the_callers),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
