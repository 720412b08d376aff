/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "make_cert.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The library's part is played by functions that sign nothing. */

static char folder[64], words_dir[128];

static int sign(const struct tls_cert_plan *plan, struct tls_cert_pair *pair, char *why,
                size_t size)
{
    (void)why, (void)size;
    assert_true(plan->from < time(NULL) && time(NULL) < plan->until);
    assert_true(plan->until - plan->from <= 825 * 86400);
    assert_in_range(plan->serial[0], 0x40, 0x7f); /* DER would give others a byte more */
    (void)snprintf(pair->key, sizeof(pair->key), "key\n");
    (void)snprintf(pair->certificate, sizeof(pair->certificate), "certificate of %s\n",
                   plan->common_name);
    return 0;
}

static int sign_not(const struct tls_cert_plan *plan, struct tls_cert_pair *pair, char *why,
                    size_t size)
{
    (void)plan, (void)pair;
    (void)snprintf(why, size, "no entropy");
    return MK_E_SYS;
}

static const char *in(const char *name)
{
    static char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", words_dir, name);
    return path;
}

static void holds(const char *name, const char *expected, mode_t mode)
{
    char text[100] = "";
    int fd = open(in(name), O_RDONLY);
    struct stat st;

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode & 0777, mode);
    assert_true(read(fd, text, sizeof(text) - 1) >= 0);
    close(fd);
    assert_string_equal(text, expected);
}

static void is_told(const char *const *words, tls_cert_sign_fn fn, int expected_err,
                    const char *expected)
{
    char text[1000] = "";

    assert_int_equal(tls_make_cert_command(words, fn, text, sizeof(text)), expected_err);
    if (!strstr(text, expected))
        fail_msg("\"%s\" is not in: %s", expected, text);
}

static int make_folder(void **state)
{
    (void)state;
    (void)umask(022);
    (void)snprintf(folder, sizeof(folder), "/tmp/monkey-cert-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(words_dir, sizeof(words_dir), "%s/made", folder);
    return 0;
}

static int drop_folder(void **state)
{
    (void)state;
    (void)unlink(in("key.pem"));
    (void)unlink(in("cert.pem"));
    (void)rmdir(words_dir);
    return rmdir(folder);
}

static void makes_a_pair_once(void **state)
{
    const char *usual[] = {"make-cert", words_dir, NULL};
    const char *other[] = {"make-cert", words_dir, "b.test", NULL};

    (void)state;
    is_told(usual, sign, 0, "/cert.pem and /tmp/monkey-cert-");
    holds("key.pem", "key\n", 0600);
    holds("cert.pem", "certificate of localhost\n", 0644);
    is_told(other, sign, MK_E_EXISTS, "key.pem exists already");
    assert_int_equal(unlink(in("key.pem")), 0);
    is_told(other, sign, MK_E_EXISTS, "cert.pem exists already");
    assert_int_equal(access(in("key.pem"), F_OK), -1); /* no half of a pair is left */
    holds("cert.pem", "certificate of localhost\n", 0644);
    assert_int_equal(unlink(in("cert.pem")), 0);
    is_told(other, sign, 0, "valid until 2");
    holds("cert.pem", "certificate of b.test\n", 0644);
}

static void does_not_follow_a_planted_link(void **state)
{
    const char *words[] = {"make-cert", words_dir, NULL};

    (void)state;
    assert_int_equal(mkdir(words_dir, 0700), 0);
    assert_int_equal(symlink("/tmp/monkey-cert-elsewhere", in("key.pem")), 0);
    is_told(words, sign, MK_E_EXISTS, "key.pem exists already");
}

static void says_why_not(void **state)
{
    const char *no_dir[] = {"make-cert", NULL};
    const char *nowhere[] = {"make-cert", "/nowhere/at/all", NULL};
    const char *file[] = {"make-cert", "/proc/version", NULL};
    const char *name[] = {"make-cert", words_dir, "a.test", "b c", NULL};
    const char *words[] = {"make-cert", words_dir, NULL};
    const char *other[] = {"make-tea", words_dir, NULL};

    (void)state;
    is_told(no_dir, sign, MK_E_INVALID, "needs a directory");
    is_told(nowhere, sign, MK_E_SYS, "cannot make /nowhere/at/all: No such file");
    is_told(file, sign, MK_E_SYS, "cannot open /proc/version: Not a directory");
    is_told(name, sign, MK_E_INVALID, "\"b c\" is neither a host name nor an address");
    is_told(words, sign_not, MK_E_SYS, "no entropy");
    is_told(other, sign, MK_E_UNSUPPORTED, "");
    assert_int_equal(access(words_dir, F_OK), -1); /* nothing was begun */
}

/* The common name has room for 64 bytes only. */
static void a_long_name_is_not_the_common_one(void **state)
{
    const char *words[] = {
        "make-cert", words_dir,
        "a-quite-long-label-of-a-name.and-another-one-of-some-length.example.test", NULL};

    (void)state;
    is_told(words, sign, 0, "made");
    holds("cert.pem", "certificate of monkey\n", 0644);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, make_folder, drop_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(makes_a_pair_once),
        CASE(does_not_follow_a_planted_link),
        CASE(says_why_not),
        CASE(a_long_name_is_not_the_common_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
