/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "binding.h"

#include <monkey/server.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void test_has_one_way_of_writing_an_address(void **state)
{
    static const struct {
        const char *text, *why, *canonical;
    } rows[] = {
        {"80", "a port alone is every address", "[::]:80"},
        {"127.0.0.1:8080", "IPv4", "127.0.0.1:8080"},
        {"[0:0::0:1]:007", "several ways to write the same", "[::1]:7"},
        {"unix:/run/x", "a path", "unix:/run/x"},
        {"localhost:80", "no address", "localhost:80"},
        {"127.0.0.1:+80", "a sign is no digit", "127.0.0.1:+80"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[MK_ADDRESS_TEXT];

        print_message("\"%s\": %s\n", rows[i].text, rows[i].why);
        assert_string_equal(mk_address_canonical(rows[i].text, text), rows[i].canonical);
    }
}

static void test_refuses_a_path_too_long_for_a_socket(void **state)
{
    char text[300] = "unix:/";

    (void)state;
    memset(text + 6, 'x', sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1);
    assert_int_equal(mk_binding_open(text, false), -1);
    assert_int_equal(errno, EINVAL);
    memset(text + 6, 'x', sizeof(text) - 7);
    assert_int_equal(mk_binding_open(text, false), -1);
    assert_int_equal(errno, EACCES);
}

static int int_option(int fd, int level, int name)
{
    int value = -1;
    socklen_t len = sizeof(value);

    assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
    return value;
}

static void test_binds_without_listening(void **state)
{
    int fd = mk_binding_open("127.0.0.1:0", false);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(int_option(fd, SOL_SOCKET, SO_ACCEPTCONN), 0);
    assert_int_equal(int_option(fd, SOL_SOCKET, SO_REUSEPORT), 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    close(fd);
    fd = mk_binding_open("127.0.0.1:0", true);
    assert_int_equal(int_option(fd, SOL_SOCKET, SO_REUSEPORT), 1);
    close(fd);
    errno = 0;
    assert_int_equal(mk_binding_open("nonsense", false), -1);
    assert_int_equal(errno, EINVAL);
}

static void test_replaces_only_a_stale_unix_socket(void **state)
{
    char dir[] = "/tmp/mk-address-XXXXXX", text[64];
    struct stat st;
    int first, second;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(text, sizeof(text), "unix:%s/s", dir);
    first = mk_binding_open(text, false);
    assert_true(first >= 0);
    assert_int_equal(stat(text + 5, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666);
    assert_int_equal(listen(first, 1), 0);
    assert_int_equal(mk_binding_open(text, false), -1); /* somebody answers there */
    assert_int_equal(errno, EADDRINUSE);
    close(first);
    second = mk_binding_open(text, false);
    assert_true(second >= 0);
    mk_binding_remove_stale(text); /* it does not listen, so nobody answers */
    assert_int_equal(access(text + 5, F_OK), -1);
    close(second);
    second = mk_binding_open(text, false);
    close(second);
    assert_int_equal(chmod(dir, 0777), 0); /* now others could put something else there */
    assert_int_equal(mk_binding_open(text, false), -1);
    assert_int_equal(errno, EACCES);
    assert_int_equal(unlink(text + 5), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_has_one_way_of_writing_an_address),
        cmocka_unit_test(test_refuses_a_path_too_long_for_a_socket),
        cmocka_unit_test(test_binds_without_listening),
        cmocka_unit_test(test_replaces_only_a_stale_unix_socket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
