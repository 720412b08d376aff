/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SERVER_H1_SITE_H
#define TESTS_SERVER_H1_SITE_H

#include "loopback.h"

#include "server/h1/h1.h"

/* The site that the tests of the HTTP/1 machine ask, over connections without a socket. */

#define HOST "Host: a\r\n"
#define CLOSE "Connection: close\r\n"

static struct fixture fix;

static const struct row site[] = {
    {"SERVER", "MaxKeepAliveRequest", "50", 0},
    {"SERVER", "MaxBodySize", "2000", 0},
    {"SERVER", "MaxRequestSize", "8", 0},
    {"SERVER", "TrustedProxies", "10.0.0.0/8", 0},
    {"HANDLERS", "Match", "^/echo echo", 0},
    {"HOST", "Precompressed", "on", 0},
    {NULL, NULL, NULL, 0},
};

static int set_up(void **state)
{
    (void)state;
    dir_make(fix.dir);
    file_write(fix.dir, "small.txt", NULL, 50);
    file_write(fix.dir, "empty.txt", NULL, 0);
    file_write(fix.dir, "middle.bin", NULL, 5000);
    file_write(fix.dir, "large.bin", NULL, 200 << 10);
    file_write(fix.dir, "huge.bin", NULL, 3 << 20);
    file_write(fix.dir, "dir/index.html", "<p>index", 8);
    file_write(fix.dir, "pre.css", "plain", 5);
    file_write(fix.dir, "pre.css.gz", "gzip!", 5);
    fixture_open(&fix, site);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_close(&fix);
    dir_remove(fix.dir);
    return 0;
}

static void cut(void *block, void *arg)
{
    (void)arg;
    mk_conn_close(block, MK_CLOSE_STOPPING);
}

/* A failed test leaves nothing to the next one. */
static int clean_up(void **state)
{
    (void)state;
    mk_heap_fail_after(-1);
    mk_pool_each(&fix.worker->conns, cut, NULL);
    mk_loop_turn(&fix.worker->loop, 0, NULL, NULL);
    return 0;
}

/* Conn ids stand in multipart boundaries: every run begins with the same. */
static struct loopback begin(struct mk_str in)
{
    struct loopback lb;

    fix.worker->next_id = 1;
    loopback_init(&lb, fix.worker, in);
    return lb;
}

#define GET(path, more) "GET " path " HTTP/1.1\r\n" HOST more "\r\n"

/* A test of a group with set_up and tear_down. */
#define RUN(test) cmocka_unit_test_teardown(test, clean_up)

#endif
