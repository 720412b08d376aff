/* SPDX-License-Identifier: Apache-2.0 */
#include "core_test.h"

#include "base/str.h"
#include "core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <unistd.h>

static void closes_once(void **state)
{
    int fd = dup(0);

    (void)state;
    mk_fd_close(&fd);
    assert_int_equal(fd, -1);
    mk_fd_close(&fd);
}

static struct mk_addr parse(const char *text)
{
    struct mk_addr addr;

    assert_int_equal(mk_addr_parse(mk_str_from(text), &addr), 0);
    return addr;
}

static int flag_of(int fd, int level, int name)
{
    int value = -1;
    socklen_t len = sizeof(value);

    assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
    return value;
}

/* The address with the port that the kernel chose. */
static struct mk_addr bound(int fd)
{
    struct mk_addr addr = {.len = sizeof(addr.un)};

    assert_int_equal(getsockname(fd, &addr.sa, &addr.len), 0);
    return addr;
}

static void listens_with_the_options(void **state)
{
    static const char *const texts[] = {"127.0.0.1:0", "[::1]:0", "0"};
    const struct mk_listen_options options = {.backlog = 10, .fast_open = 16};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(texts); i++) {
        struct mk_addr addr = parse(texts[i]);
        int fd = mk_fd_bind(&addr, true);

        if (fd == MK_E_SYS && texts[i][0] == '[')
            continue; /* no IPv6 here */
        assert_true(fd >= 0);
        assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
        assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        assert_int_equal(flag_of(fd, SOL_SOCKET, SO_REUSEPORT), 1);
        assert_int_equal(mk_fd_listen(fd, &addr, &options), 0);
        assert_int_equal(flag_of(fd, SOL_SOCKET, SO_ACCEPTCONN), 1);
        assert_int_equal(flag_of(fd, IPPROTO_TCP, TCP_NODELAY), 1);
        mk_fd_close(&fd);
    }
}

static void a_taken_address_is_said_to_be(void **state)
{
    const struct mk_listen_options options = {.backlog = 10};
    struct mk_addr addr = parse("127.0.0.1:0");
    int first = mk_fd_bind(&addr, false), second;

    (void)state;
    assert_true(first >= 0);
    assert_int_equal(mk_fd_listen(first, &addr, &options), 0);
    addr = bound(first);
    assert_int_equal(mk_fd_bind(&addr, false), MK_E_BUSY);
    assert_int_equal(errno, EADDRINUSE);
    assert_int_equal(mk_fd_bind(&addr, true), MK_E_BUSY);
    mk_fd_close(&first);
    first = mk_fd_bind(&addr, true);
    second = mk_fd_bind(&addr, true); /* both said that they share */
    assert_true(first >= 0 && second >= 0);
    mk_fd_close(&first);
    mk_fd_close(&second);
}

static void a_unix_socket_that_nobody_serves_is_replaced(void **state)
{
    const struct mk_listen_options options = {.backlog = 10};
    char dir[] = "/tmp/mk-fd-XXXXXX", text[64];
    struct mk_addr addr;
    int fd, file;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(text, sizeof(text), "unix:%s/s", dir);
    addr = parse(text);
    fd = mk_fd_bind(&addr, false);
    assert_true(fd >= 0);
    assert_int_equal(mk_fd_listen(fd, &addr, &options), 0);
    assert_int_equal(mk_fd_bind(&addr, false), MK_E_BUSY); /* served */
    mk_fd_close(&fd);
    fd = mk_fd_bind(&addr, false); /* left over */
    assert_true(fd >= 0);
    mk_fd_close(&fd);
    assert_int_equal(unlink(addr.un.sun_path), 0);
    file = open(addr.un.sun_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    mk_fd_close(&file);
    assert_int_equal(mk_fd_bind(&addr, false), MK_E_BUSY); /* no socket: not ours to remove */
    assert_int_equal(unlink(addr.un.sun_path), 0);
    assert_int_equal(rmdir(dir), 0);
    assert_int_equal(mk_fd_bind(&addr, false), MK_E_NOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closes_once),
        cmocka_unit_test(listens_with_the_options),
        cmocka_unit_test(a_taken_address_is_said_to_be),
        cmocka_unit_test(a_unix_socket_that_nobody_serves_is_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
