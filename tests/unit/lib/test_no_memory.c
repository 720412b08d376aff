/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <sys/stat.h>

#include <monkey/inspect.h>
#include <monkey/server.h>

#include "base/heap.h"

/* Start-up and reload with allocation 0, 1, ... failing. */

static char dir[] = "/tmp/mk-lib-XXXXXX";

static const struct {
    const char *name, *text;
} files[] = {
    {"monkey.conf",
     "[SERVER]\n    Listen 127.0.0.1:0\n    Listen 127.0.0.1:0\n    Workers 2\n    ErrorLog "
     "error.log\n"
     "    LogLevel error\n    Indexfile index.html index.htm\n    TrustedProxies 10.0.0.0/8\n"
     "[EACH]\n    Match ^/(a|b)$\n[HOST]\n    ServerName third\n    DocumentRoot /tmp\n"},
    {"monkey.mime", "[MIMETYPES]\n    html text/html\n    txt text/plain\n"},
    {"plugins.load", "[PLUGINS]\n    Load sections\n"},
    {"plugins/sections/one.conf", "[SHARED]\n    Word w\n    List a b\n"},
    {"sites/default",
     "[HOST]\n    DocumentRoot /tmp\n    Header X-A b\n[HANDLERS]\n    Match ^/e(c|x)o echo\n"
     "    Match ^/s sections text\n[ERROR_PAGES]\n    404 own.html\n"
     "[SHARED]\n    Number 3\n    Custom c\n[EACH]\n    Match /c\n    Text t\n"},
    {"sites/other", "[HOST]\n    ServerName other *.other\n    Redirect http://elsewhere/\n"},
};

static const char *const folders[] = {"sites", "plugins", "plugins/sections"};

static void write_file(const char *name, const char *text)
{
    char path[128];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    file = fopen(path, "we");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    char path[64];

    (void)state;
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", dir, folders[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        write_file(files[i].name, files[i].text);
    return 0;
}

static void remove_file(const char *name)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    (void)remove(path);
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        remove_file(files[i].name);
    remove_file("error.log");
    for (size_t i = sizeof(folders) / sizeof(folders[0]); i-- > 0;)
        remove_file(folders[i]);
    remove_file(".");
    return rmdir(dir);
}

/* @return 0 with a read configuration, or what went wrong. */
static int read_config(struct mk_config **config)
{
    const struct mk_config_files where = {.size = sizeof(where), .dir = dir};
    int err = mk_config_new(config, NULL);

    if (err < 0)
        return err;
    err = mk_config_read(*config, &where);
    if (err == 0)
        err = mk_config_set(*config, "SERVER", "Timeout", "5", "test");
    if (err == 0)
        err = mk_config_set(*config, "HOST", "ServerName", "first", "test");
    if (err < 0)
        mk_config_free(*config);
    return err;
}

static void count_text(void *arg, const char *text, size_t len)
{
    (void)text;
    *(size_t *)arg += len;
}

/* Everything up to listening sockets. @return 0 or the error. */
static int start_up(struct mk_server **server)
{
    struct mk_config *config;
    int err = read_config(&config);

    if (err < 0)
        return err;
    err = mk_server_new(server, config, NULL);
    if (err > 0) { /* a fault is no answer to a lack of memory */
        size_t len = 0;

        mk_config_faults(config, count_text, &len);
        mk_config_free(config);
        fail_msg("%d faults", err);
    }
    if (err < 0)
        return err;
    err = mk_server_listen(*server);
    if (err < 0) {
        assert_non_null(mk_server_why(*server));
        mk_server_free(*server);
    }
    return err;
}

static void a_start_without_memory_fails_cleanly(void **state)
{
    long live = mk_heap_live(), n = 0;
    struct mk_server *server;
    int err;

    (void)state;
    for (;; n++) {
        mk_heap_fail_after(n);
        err = start_up(&server);
        mk_heap_fail_after(-1);
        if (err == 0)
            break;
        assert_int_equal(err, MK_E_NOMEM);
        if (mk_heap_live() != live)
            fail_msg("allocation %ld: %ld kept", n, mk_heap_live() - live);
        assert_true(n < 1000);
    }
    mk_server_free(server);
    assert_int_equal(mk_heap_live(), live);
    assert_true(n > 10);
}

static void a_dump_without_memory_says_so(void **state)
{
    struct mk_config *config;
    size_t whole = 0;
    long live = mk_heap_live();

    (void)state;
    assert_int_equal(read_config(&config), 0);
    assert_int_equal(mk_config_check(config), 0);
    assert_int_equal(mk_config_dump(config, count_text, &whole), 0);
    for (long n = 0;; n++) {
        size_t len = 0;
        int err;

        mk_heap_fail_after(n);
        err = mk_config_dump(config, count_text, &len);
        mk_heap_fail_after(-1);
        if (err == 0) {
            assert_int_equal(len, whole);
            break;
        }
        assert_int_equal(err, MK_E_NOMEM);
    }
    mk_config_free(config);
    assert_int_equal(mk_heap_live(), live);
}

static void add_address(void *arg, const char *text, size_t len)
{
    char *all = arg;

    (void)strncat(all, text, len);
    (void)strcat(all, " ");
}

/* Two lines of port 0 are two addresses, and a reload keeps both. */
static void a_reload_keeps_what_stays(void **state)
{
    char before[256] = "", after[256] = "";
    struct mk_config *config;
    struct mk_server *server;

    (void)state;
    assert_int_equal(start_up(&server), 0);
    assert_int_equal(mk_server_start(server), 0);
    mk_server_addresses(server, add_address, before);
    assert_int_equal(read_config(&config), 0);
    assert_int_equal(mk_server_reload(server, config), 0);
    mk_server_addresses(server, add_address, after);
    assert_string_equal(before, after);
    mk_server_free(server);
}

/* What the last failed reload reported is kept, in one block. */
static long live_beside_report(struct mk_server *server)
{
    char byte;

    return mk_heap_live() - (long)mk_server_reload_report(server, &byte, 1);
}

static void a_reload_without_memory_leaves_the_old_in_force(void **state)
{
    char before[256] = "", after[256] = "";
    long live = mk_heap_live();
    struct mk_config *config;
    struct mk_server *server;
    int err = -1;

    (void)state;
    assert_int_equal(start_up(&server), 0);
    assert_int_equal(mk_server_start(server), 0);
    assert_int_equal(read_config(&config), 0);
    assert_int_equal(mk_server_reload(server, config),
                     0); /* now the threads hold all that they ever will */
    mk_server_addresses(server, add_address, before);
    for (long n = 0; err != 0; n++) {
        long running = live_beside_report(server);

        assert_true(n < 1000);
        mk_heap_fail_after(n);
        err = read_config(&config);
        if (err == 0) {
            err = mk_server_reload(server, config);
            if (err != 0)
                mk_config_free(config);
        }
        mk_heap_fail_after(-1);
        if (err == 0)
            break;
        assert_int_equal(err, MK_E_NOMEM);
        assert_int_equal(live_beside_report(server), running);
        after[0] = '\0';
        mk_server_addresses(server, add_address, after);
        assert_string_equal(before, after);
    }
    mk_server_free(server);
    assert_int_equal(mk_heap_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_without_memory_fails_cleanly),
        cmocka_unit_test(a_dump_without_memory_says_so),
        cmocka_unit_test(a_reload_keeps_what_stays),
        cmocka_unit_test(a_reload_without_memory_leaves_the_old_in_force),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
