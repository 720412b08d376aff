/* SPDX-License-Identifier: Apache-2.0 */
#include "compat_scene.h"

#include <monkey/libmonkey.h>

#include <sys/stat.h>
#include <unistd.h>

/* Keys, virtual hosts, media types and lists of the 2012 interface. */

static int answer_nothing(const mklib_session *session, const char *vhost, const char *url,
                          const char *get, unsigned long get_len, const char *post,
                          unsigned long post_len, unsigned int *status, const char **content,
                          unsigned long *content_len, char *header)
{
    (void)session, (void)vhost, (void)url, (void)get, (void)get_len, (void)post, (void)post_len;
    (void)status, (void)content, (void)content_len, (void)header;
    return strcmp(url, "/post") == 0;
}

static mklib_ctx make(void)
{
    mklib_ctx ctx = mklib_init(compat_address("socket"), 0, MKLIB_LIANA, compat_path(""));

    assert_non_null(ctx);
    assert_int_equal(mklib_callback_set(ctx, MKCB_DATA, (void *)(uintptr_t)answer_nothing), 1);
    return ctx;
}

static void files_follow_the_keys(void **state)
{
    mklib_ctx ctx = make();
    char *answer;

    (void)state;
    compat_write("index.txt", "index");
    compat_write("a.odd", "odd");
    compat_write("a.own", "own");
    assert_int_equal(symlink("index.txt", compat_path("link")), 0);
    assert_int_equal(mklib_mimetype_add(ctx, "own", "text/x-own"), MKLIB_TRUE);
    assert_int_equal(mklib_start(ctx), MKLIB_TRUE);
    compat_expect("socket", "/index.txt", 200, "index");
    compat_expect("socket", "/link", 403, NULL);
    compat_expect("socket", "/", 403, NULL);
    answer = compat_ask("socket", "GET /a.odd HTTP/1.1\r\nHost: a\r\nRange: bytes=0-0\r\n", "", 0);
    assert_non_null(strstr(answer, "\r\nContent-Type: text/plain"));
    assert_non_null(strstr(answer, "\r\nServer: Monkey\r\n"));
    compat_is(answer, 206, "o");
    answer = compat_ask("socket", "GET /a.own HTTP/1.1\r\nHost: a\r\n", "", 0);
    assert_non_null(strstr(answer, "\r\nContent-Type: text/x-own"));
    compat_is(answer, 200, "own");
    assert_int_equal(mklib_stop(ctx), MKLIB_TRUE);
}

static void every_key_is_understood(void **state)
{
    mklib_ctx ctx = make();
    char *answer, body[3000];

    (void)state;
    assert_int_equal(mklib_config(ctx, MKC_WORKERS, 2, MKC_TIMEOUT, 5, MKC_USERDIR, "public_html",
                                  MKC_INDEXFILE, "none.txt index.txt", MKC_HIDEVERSION, MKLIB_FALSE,
                                  MKC_RESUME, MKLIB_FALSE, MKC_KEEPALIVE, MKLIB_FALSE,
                                  MKC_KEEPALIVETIMEOUT, 5, MKC_MAXKEEPALIVEREQUEST, 7,
                                  MKC_MAXREQUESTSIZE, 2, MKC_SYMLINK, MKLIB_TRUE,
                                  MKC_DEFAULTMIMETYPE, "text/x-default", NULL),
                     MKLIB_TRUE);
    assert_int_equal(mklib_config(ctx, MKC_USERDIR, NULL, MKC_WORKERS, 1, NULL), MKLIB_TRUE);
    assert_int_equal(mklib_start(ctx), MKLIB_TRUE);
    compat_expect("socket", "/", 200, "index");
    compat_expect("socket", "/link", 200, "index");
    answer = compat_ask("socket", "GET /a.odd HTTP/1.1\r\nHost: a\r\nRange: bytes=0-0\r\n", "", 0);
    assert_non_null(strstr(answer, "\r\nContent-Type: text/x-default"));
    assert_null(strstr(answer, "\r\nServer: Monkey\r\n"));
    compat_is(answer, 200, "odd");
    memset(body, 'b', sizeof(body));
    compat_is(compat_ask("socket", "POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n",
                         body, 2000),
              200, "");
    compat_is(compat_ask("socket", "POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 3000\r\n",
                         body, 3000),
              413, NULL);
    assert_int_equal(mklib_stop(ctx), MKLIB_TRUE);
}

static void virtual_hosts_are_listed(void **state)
{
    mklib_ctx ctx = make();
    struct mklib_vhost **list, *host;
    char *names = NULL;
    size_t len = 0, count = 0;
    FILE *text = open_memstream(&names, &len);

    (void)state;
    assert_int_equal(mklib_vhost_config(ctx, "files", MKV_SERVERNAME, "one uno", MKV_DOCUMENTROOT,
                                        compat_path(""), NULL),
                     MKLIB_TRUE);
    assert_int_equal(mklib_vhost_config(ctx, "bare", NULL), MKLIB_TRUE);
    list = mklib_vhost_list(ctx);
    assert_non_null(list);
    mklib_vhost_foreach(host, list)
    {
        (void)fprintf(text, "%s:%s:%d ", host->name, host->server_names,
                      strcmp(host->document_root, "/dev/null") != 0);
        count++;
    }
    (void)fclose(text);
    assert_int_equal(count, 3);
    assert_non_null(strstr(names, "files:one uno:1 bare:bare:0 "));
    assert_memory_equal(names, "default:", 8);
    free(names);
    assert_int_equal(mklib_start(ctx), MKLIB_TRUE);
    compat_is(compat_ask("socket", "GET /index.txt HTTP/1.1\r\nHost: uno\r\n", "", 0), 200,
              "index");
    compat_is(compat_ask("socket", "GET /index.txt HTTP/1.1\r\nHost: bare\r\n", "", 0), 404, NULL);
    assert_non_null(mklib_vhost_list(ctx));
    assert_int_equal(mklib_stop(ctx), MKLIB_TRUE);
}

static void workers_are_listed(void **state)
{
    mklib_ctx ctx = make();
    struct mklib_worker_info **list, *worker;
    unsigned long long connections = 0;
    int fd, count = 0;

    (void)state;
    assert_int_equal(mklib_config(ctx, MKC_WORKERS, 3, NULL), MKLIB_TRUE);
    assert_int_equal(mklib_start(ctx), MKLIB_TRUE);
    fd = compat_connect("socket");
    for (int tries = 0; connections == 0 && tries < 3000; tries++) { /* until it is accepted */
        list = mklib_scheduler_worker_info(ctx);
        assert_non_null(list);
        count = 0;
        mklib_worker_info_foreach(worker, list)
        {
            assert_true(worker->pid > 0 && worker->pid != getpid());
            connections += worker->active_connections;
            count++;
        }
        (void)usleep(10000);
    }
    assert_int_equal(count, 3);
    assert_int_equal(connections, 1);
    (void)close(fd);
    assert_int_equal(mklib_stop(ctx), MKLIB_TRUE);
}

static void media_types_are_listed(void **state)
{
    mklib_ctx ctx = make();
    struct mklib_mime **list, *mime;
    int found = 0, html = 0;

    (void)state;
    assert_int_equal(mklib_mimetype_add(ctx, "own", "text/x-own"), MKLIB_TRUE);
    list = mklib_mimetype_list(ctx);
    assert_non_null(list);
    mklib_mime_foreach(mime, list)
    {
        found += strcmp(mime->name, "own") == 0 && strcmp(mime->type, "text/x-own") == 0;
        html += strcmp(mime->name, "html") == 0 && strcmp(mime->type, "text/html") == 0;
    }
    assert_int_equal(found, 1);
    assert_int_equal(html, 1);
    assert_int_equal(mklib_start(ctx), MKLIB_TRUE);
    assert_int_equal(mklib_stop(ctx), MKLIB_TRUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_follow_the_keys),    cmocka_unit_test(every_key_is_understood),
        cmocka_unit_test(virtual_hosts_are_listed), cmocka_unit_test(workers_are_listed),
        cmocka_unit_test(media_types_are_listed),
    };

    return cmocka_run_group_tests(tests, compat_set_up, compat_tear_down);
}
