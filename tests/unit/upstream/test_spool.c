/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <monkey/upstream.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[32];
static long live;

static int set_up(void **state)
{
    (void)state;
    dir_make(dir);
    live = mk_heap_live();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(mk_heap_live(), live);
    dir_remove(dir);
    return 0;
}

/* Write the pattern in pieces up to size. */
static void fill(struct mk_spool *s, size_t size, size_t piece)
{
    char bytes[20000];

    while (mk_spool_size(s) < size) {
        uint64_t at = mk_spool_size(s);
        size_t len = size - at < piece ? (size_t)(size - at) : piece;

        for (size_t i = 0; i < len; i++)
            bytes[i] = file_byte((size_t)at + i);
        assert_int_equal(mk_spool_write(s, bytes, len), 0);
    }
}

static void check(const struct mk_spool *s, uint64_t at, size_t len, size_t expected)
{
    static char bytes[20001];

    memset(bytes, '!', sizeof(bytes));
    assert_int_equal(mk_spool_read(s, at, bytes, len), expected);
    for (size_t i = 0; i < expected; i++) {
        if (bytes[i] != file_byte((size_t)at + i))
            fail_msg("byte %zu from %zu on", i, (size_t)at);
    }
    assert_int_equal(bytes[expected], '!');
}

static unsigned names_in(const char *path)
{
    DIR *d = opendir(path);
    unsigned count = 0;

    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d)) != NULL;)
        count += entry->d_name[0] != '.';
    (void)closedir(d);
    return count;
}

static void gives_back_what_was_written(void **state)
{
    static const struct {
        const char *sentence;
        size_t memory, size, piece;
    } rows[] = {
        {"all in memory", 16384, 10000, 1000},
        {"memory just full", 10000, 10000, 999},
        {"memory that is no power of two", 5000, 5000, 1},
        {"a piece over the border", 4096, 10000, 1000},
        {"one large piece", 100, 15000, 15000},
        {"no memory at all", 0, 10000, 777},
        {"one byte in memory", 1, 3000, 10},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_spool *s = mk_spool_new(rows[i].memory, rows[i].size, dir);
        size_t size = rows[i].size;

        print_message("%s\n", rows[i].sentence);
        assert_non_null(s);
        check(s, 0, 10, 0);
        fill(s, size, rows[i].piece);
        assert_int_equal(mk_spool_size(s), size);
        check(s, 0, size, size);
        check(s, 0, size + 100, size);
        check(s, 0, 1, 1);
        check(s, size - 1, 10, 1);
        check(s, size, 10, 0);
        check(s, UINT64_MAX, 10, 0);
        for (size_t at = 0; at + 500 < size; at += 311)
            check(s, at, 500, 500);
        assert_int_equal(names_in(dir), 0);
        mk_spool_free(s);
    }
    mk_spool_free(NULL);
}

static void bounds_its_size(void **state)
{
    struct mk_spool *s = mk_spool_new(100, 1000, dir);

    (void)state;
    assert_non_null(s);
    fill(s, 999, 100);
    assert_int_equal(mk_spool_write(s, "ab", 2), MK_E_LIMIT);
    assert_int_equal(mk_spool_size(s), 999);
    fill(s, 1000, 100);
    assert_int_equal(mk_spool_write(s, "a", 1), MK_E_LIMIT);
    assert_int_equal(mk_spool_write(s, "", 0), 0);
    check(s, 0, 2000, 1000);
    mk_spool_free(s);
}

/* A write that fails in the file leaves no part of it in memory. */
static void a_failed_write_changes_nothing(void **state)
{
    char missing[64], bytes[200];
    struct mk_spool *s;

    (void)state;
    (void)snprintf(missing, sizeof(missing), "%s/none", dir);
    s = mk_spool_new(100, 1000, missing);
    assert_non_null(s);
    fill(s, 50, 50);
    memset(bytes, '?', sizeof(bytes));
    assert_int_equal(mk_spool_write(s, bytes, sizeof(bytes)), MK_E_NOENT);
    assert_int_equal(mk_spool_size(s), 50);
    fill(s, 100, 50); /* what memory holds needs no file */
    check(s, 0, 1000, 100);
    mk_spool_free(s);
}

static void a_full_disk_is_an_error(void **state)
{
    struct rlimit before, small;
    char bytes[8192] = {0};
    struct mk_spool *s = mk_spool_new(1000, 1 << 20, dir);

    (void)state;
    assert_non_null(s);
    fill(s, 5000, 1000);
    (void)signal(SIGXFSZ, SIG_IGN); /* threads of the library have all signals blocked */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 6000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(mk_spool_write(s, bytes, sizeof(bytes)), MK_E_SYS);
    assert_int_equal(errno, EFBIG);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(mk_spool_size(s), 5000);
    fill(s, 9000, 1000);
    check(s, 0, 10000, 9000);
    mk_spool_free(s);
}

static void no_descriptor_is_an_error(void **state)
{
    struct rlimit before, none;
    struct mk_spool *s = mk_spool_new(10, 1000, dir);

    (void)state;
    assert_non_null(s);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(mk_spool_write(s, "0123456789a", 11), MK_E_NOFD);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(mk_spool_size(s), 0);
    fill(s, 100, 11);
    check(s, 0, 100, 100);
    mk_spool_free(s);
}

/* ---- a file system without files that have no name ---- */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { LOW_WORD = 0 };
#else
enum { LOW_WORD = 4 };
#endif

#define FLAGS_AT(arg) (offsetof(struct seccomp_data, args[arg]) + LOW_WORD)
#define REFUSE(call, flags)                                                                        \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),                         \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 3),                                         \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (flags)),                                               \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),                      \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP)

/* The kernel says what such a file system says. @return false where it may not be asked to. */
static bool refuse_nameless_files(void)
{
    struct sock_filter filter[] = {
        REFUSE(SYS_openat, FLAGS_AT(2)),
#ifdef SYS_open
        REFUSE(SYS_open, FLAGS_AT(1)),
#endif
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {MK_ARRAY_LEN(filter), filter};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* @return 0 when it went well, 77 when it could not be tried. */
static int spool_with_names(void)
{
    char back[100] = "";
    struct mk_spool *s = mk_spool_new(10, 1000, dir);
    int fd;

    if (!s || !refuse_nameless_files())
        return 77;
    fd = open(dir, O_TMPFILE | O_RDWR, 0600);
    if (fd >= 0 || errno != EOPNOTSUPP)
        return 1;
    if (mk_spool_write(s, "0123456789abcdef", 16) != 0 || names_in(dir) != 0)
        return 2;
    if (mk_spool_read(s, 0, back, sizeof(back)) != 16 || strcmp(back, "0123456789abcdef") != 0)
        return 3;
    mk_spool_free(s);
    return 0;
}

static void a_name_is_taken_away_again(void **state)
{
    pid_t child = fork(); /* the filter stays for ever */
    int status;

    (void)state;
    assert_true(child >= 0);
    if (child == 0)
        _exit(spool_with_names());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void survives_without_memory(void **state)
{
    char bytes[8192] = {0};
    struct mk_spool *s;

    (void)state;
    mk_heap_fail_after(0);
    assert_null(mk_spool_new(100, 1000, dir));
    s = mk_spool_new(65536, 65536, dir);
    assert_non_null(s);
    fill(s, 4096, 4096);
    mk_heap_fail_after(0);
    assert_int_equal(mk_spool_write(s, bytes, sizeof(bytes)), MK_E_NOMEM);
    mk_heap_fail_after(-1);
    assert_int_equal(mk_spool_size(s), 4096);
    fill(s, 20000, 5000);
    check(s, 0, 20000, 20000);
    mk_spool_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_back_what_was_written),
        cmocka_unit_test(bounds_its_size),
        cmocka_unit_test(a_failed_write_changes_nothing),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(no_descriptor_is_an_error),
        cmocka_unit_test(a_name_is_taken_away_again),
        cmocka_unit_test(survives_without_memory),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
