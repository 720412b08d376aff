/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "proc.h"

#define REST                                                                                       \
    " S 7 9 9 0 -1 4194560 100 200 3 4 50 60 70 80 20 0 5 0 12345 1000 321 18446744073709551615 1"

static void test_stat_has_its_fields(void **state)
{
    struct proc_stat s;

    (void)state;
    assert_true(proc_parse_stat("42 (nginx)" REST, &s));
    assert_int_equal(s.pid, 42);
    assert_string_equal(s.name, "nginx");
    assert_int_equal(s.state, 'S');
    assert_int_equal(s.parent, 7);
    assert_int_equal(s.minor, 100);
    assert_int_equal(s.cminor, 200);
    assert_int_equal(s.major, 3);
    assert_int_equal(s.cmajor, 4);
    assert_int_equal(s.user, 50);
    assert_int_equal(s.kernel, 60);
    assert_int_equal(s.cuser, 70);
    assert_int_equal(s.ckernel, 80);
    assert_int_equal(s.threads, 5);
    assert_int_equal(s.start, 12345);
    assert_int_equal(s.rss, 321);
}

static void test_a_name_may_look_like_the_fields(void **state)
{
    struct proc_stat s;

    (void)state;
    assert_true(proc_parse_stat("42 (a) R 1 (b)" REST, &s));
    assert_string_equal(s.name, "a) R 1 (b");
    assert_int_equal(s.parent, 7);
}

static void test_other_text_is_no_stat(void **state)
{
    static const char *const texts[] = {"",      "42",     "42 (",           "42 )(",
                                        "42 ()", "42 () ", "42 (x) S 1 2 3", "42 (x) S a"};
    struct proc_stat s;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_false(proc_parse_stat(texts[i], &s));
}

static void test_schedstat(void **state)
{
    uint64_t ran, waited;

    (void)state;
    assert_true(proc_parse_schedstat("631086 1434164 2\n", &ran, &waited));
    assert_int_equal(ran, 631086);
    assert_int_equal(waited, 1434164);
    assert_false(proc_parse_schedstat("631086\n", &ran, &waited));
    assert_false(proc_parse_schedstat("", &ran, &waited));
}

static void test_machine_is_busy_without_idle_and_steal(void **state)
{
    struct proc_machine m;

    (void)state;
    assert_true(proc_parse_machine("cpu  1 2 4 1000 1000 8 16 32 0 0\ncpu0 1 1 1 1\n", &m));
    assert_int_equal(m.busy, 31);
    assert_int_equal(m.steal, 32);
    assert_false(proc_parse_machine("cpu0 1 2 3 4 5 6 7 8\n", &m));
    assert_false(proc_parse_machine("cpu  1 2 3\n", &m));
}

static void test_listeners_only(void **state)
{
    struct proc_listener l;

    (void)state;
    assert_true(proc_parse_listener(
        "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0"
        "        0 12345 1 0000000000000000 100 0 0 10 0",
        &l));
    assert_int_equal(l.port, 8080);
    assert_int_equal(l.inode, 12345);
    assert_true(proc_parse_listener(
        "  12: 00000000000000000000000000000000:01BB 00000000000000000000000000000000:0000 0A "
        "00000000:00000000 00:00000000 00000000  1000        0 77 1",
        &l));
    assert_int_equal(l.port, 443);
    assert_false(proc_parse_listener(
        "   0: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000     0"
        "        0 12345 1",
        &l));
    assert_false(proc_parse_listener("  sl  local_address rem_address   st", &l));
}

static void test_find_takes_whole_lines(void **state)
{
    const char *text = "Name:\tVmHWM: 1\nVmHWM:\t   1824 kB\nVmRSS:\nrss 5\n";
    uint64_t number;

    (void)state;
    assert_true(proc_find(text, "VmHWM:", &number));
    assert_int_equal(number, 1824);
    assert_true(proc_find(text, "rss ", &number));
    assert_int_equal(number, 5);
    assert_false(proc_find(text, "VmRSS:", &number));
    assert_false(proc_find(text, "VmSwap:", &number));
    assert_false(proc_find("", "VmHWM:", &number));
}

static void test_a_list_of_pids(void **state)
{
    const char *at = "12 345 0 6";

    (void)state;
    assert_int_equal(proc_next_pid(&at), 12);
    assert_int_equal(proc_next_pid(&at), 345);
    assert_int_equal(proc_next_pid(&at), 0);
    at = "99999999999999999999999";
    assert_int_equal(proc_next_pid(&at), 0);
}

static void test_columns_stand_below_their_names(void **state)
{
    const char *text =
        "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 22 333\nIpExt: InNoRoutes\n";
    uint64_t number;

    (void)state;
    assert_true(proc_find_column(text, "TcpExt:", "ListenOverflows", &number));
    assert_int_equal(number, 22);
    assert_true(proc_find_column(text, "TcpExt:", "ListenDrops", &number));
    assert_int_equal(number, 333);
    assert_false(proc_find_column(text, "TcpExt:", "Listen", &number));
    assert_false(proc_find_column(text, "IpExt:", "InNoRoutes", &number));
    assert_false(proc_find_column("TcpExt: A B\nTcpExt: 1\n", "TcpExt:", "B", &number));
}

static void test_a_unit_is_a_whole_part_of_the_path(void **state)
{
    const char *text =
        "12:cpu:/\n1:name=systemd:/system.slice/a.service\n0::/system.slice/nginx.service/worker\n";

    (void)state;
    assert_true(proc_is_in_unit(text, "nginx.service"));
    assert_true(proc_is_in_unit(text, "a.service"));
    assert_false(proc_is_in_unit(text, "inx.service"));
    assert_false(proc_is_in_unit(text, "nginx"));
    assert_false(proc_is_in_unit(text, ""));
    assert_false(proc_is_in_unit("a.service", "a.service"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stat_has_its_fields),
        cmocka_unit_test(test_a_name_may_look_like_the_fields),
        cmocka_unit_test(test_other_text_is_no_stat),
        cmocka_unit_test(test_schedstat),
        cmocka_unit_test(test_machine_is_busy_without_idle_and_steal),
        cmocka_unit_test(test_listeners_only),
        cmocka_unit_test(test_find_takes_whole_lines),
        cmocka_unit_test(test_a_list_of_pids),
        cmocka_unit_test(test_a_unit_is_a_whole_part_of_the_path),
        cmocka_unit_test(test_columns_stand_below_their_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
