/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct row {
    const char *text, *why;
    int family; /* 0: refused */
    unsigned port;
    const char *canonical;
} rows[] = {
    {"80", "a port alone is every address", AF_INET6, 80, "[::]:80"},
    {"0", "any free port", AF_INET6, 0, "[::]:0"},
    {"127.0.0.1:8080", "IPv4", AF_INET, 8080, "127.0.0.1:8080"},
    {"[::1]:443", "IPv6 in brackets", AF_INET6, 443, "[::1]:443"},
    {"[::]:65535", "every IPv6 address, highest port", AF_INET6, 65535, "[::]:65535"},
    {"[0:0::0:1]:007", "several ways to write the same", AF_INET6, 7, "[::1]:7"},
    {"unix:/run/x", "a path", AF_UNIX, 0, "unix:/run/x"},
    {"", "empty", 0, 0, NULL},
    {":80", "no address", 0, 0, NULL},
    {"127.0.0.1", "no port", 0, 0, NULL},
    {"127.0.0.1:", "empty port", 0, 0, NULL},
    {"127.0.0.1:65536", "port too large", 0, 0, NULL},
    {"127.0.0.1:+80", "a sign is no digit", 0, 0, NULL},
    {"127.0.0.1:80 ", "trailing blank", 0, 0, NULL},
    {"000000080", "more digits than a port has", 0, 0, NULL},
    {"::1:80", "IPv6 without brackets", 0, 0, NULL},
    {"[::1]", "no port behind the brackets", 0, 0, NULL},
    {"[]:80", "empty brackets", 0, 0, NULL},
    {"[:80", "one bracket", 0, 0, NULL},
    {"]:80", "the other bracket", 0, 0, NULL},
    {"localhost:80", "names are not resolved", 0, 0, NULL},
    {"unix:", "no path", 0, 0, NULL},
    {"unix:run/x", "a relative path", 0, 0, NULL},
};

static unsigned port_of(const struct mk_address *a)
{
    switch (a->sa.sa_family) {
    case AF_INET:
        return ntohs(a->in.sin_port);
    case AF_INET6:
        return ntohs(a->in6.sin6_port);
    default:
        return 0;
    }
}

static void test_parse(void **state)
{
    char text[MK_ADDRESS_TEXT];
    struct mk_address a;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        print_message("\"%s\": %s\n", rows[i].text, rows[i].why);
        assert_int_equal(mk_address_parse(rows[i].text, &a), rows[i].family != 0);
        if (!rows[i].family)
            continue;
        assert_int_equal(a.sa.sa_family, rows[i].family);
        assert_int_equal(port_of(&a), rows[i].port);
        assert_string_equal(mk_address_canonical(rows[i].text, text), rows[i].canonical);
    }
}

static void test_refuses_a_path_too_long_for_a_socket(void **state)
{
    char text[200] = "unix:/";
    struct mk_address a;

    (void)state;
    memset(text + 6, 'x', sizeof(a.un.sun_path) - 2);
    assert_true(mk_address_parse(text, &a));
    text[6 + sizeof(a.un.sun_path) - 2] = 'x';
    assert_false(mk_address_parse(text, &a));
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
    int fd = mk_address_bind("127.0.0.1:0", false);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(int_option(fd, SOL_SOCKET, SO_ACCEPTCONN), 0);
    assert_int_equal(int_option(fd, SOL_SOCKET, SO_REUSEPORT), 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    close(fd);
    fd = mk_address_bind("127.0.0.1:0", true);
    assert_int_equal(int_option(fd, SOL_SOCKET, SO_REUSEPORT), 1);
    close(fd);
    errno = 0;
    assert_int_equal(mk_address_bind("nonsense", false), -1);
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
    first = mk_address_bind(text, false);
    assert_true(first >= 0);
    assert_int_equal(stat(text + 5, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666);
    assert_int_equal(listen(first, 1), 0);
    assert_int_equal(mk_address_bind(text, false), -1); /* somebody answers there */
    assert_int_equal(errno, EADDRINUSE);
    close(first);
    second = mk_address_bind(text, false);
    assert_true(second >= 0);
    mk_address_remove_stale(text); /* it does not listen, so nobody answers */
    assert_int_equal(access(text + 5, F_OK), -1);
    close(second);
    second = mk_address_bind(text, false);
    close(second);
    assert_int_equal(chmod(dir, 0777), 0); /* now others could put something else there */
    assert_int_equal(mk_address_bind(text, false), -1);
    assert_int_equal(errno, EACCES);
    assert_int_equal(unlink(text + 5), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_refuses_a_path_too_long_for_a_socket),
        cmocka_unit_test(test_binds_without_listening),
        cmocka_unit_test(test_replaces_only_a_stale_unix_socket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
