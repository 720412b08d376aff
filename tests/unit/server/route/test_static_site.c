/* SPDX-License-Identifier: Apache-2.0 */
#include "heard.h"

#include <sys/stat.h>
#include <unistd.h>

/* From a path to a file, an index, a redirect or a refusal, as the settings of a site say. */

static const struct answer {
    const char *sentence;
    struct row rows[3];
    const char *method, *target;
    unsigned status;
    const char *line, *body; /* part of the fields, all of the body; NULL: any */
} answers[] = {
    /* clang-format off */
    {"a file", {{0}}, "GET", "/a.txt", 200, "Content-Type: text/plain", "hello"},
    {"a file below a folder", {{0}}, "GET", "/sub/b.txt", 200, NULL, "below"},
    {"a path with escapes", {{0}}, "GET", "/%61.txt", 200, NULL, "hello"},
    {"a file that is not there", {{0}}, "GET", "/none", 404, NULL, NULL},
    {"a file as a folder", {{0}}, "GET", "/a.txt/", 404, NULL, NULL},
    {"a method that files do not know", {{0}}, "DELETE", "/a.txt", 405, "Allow: GET, HEAD, OPTIONS\r\n", NULL},
    {"the same where nothing is", {{0}}, "POST", "/none", 405, NULL, NULL},
    {"a method that nobody knows", {{0}}, "BREW", "/a.txt", 501, NULL, NULL},
    {"what a file allows", {{0}}, "OPTIONS", "/a.txt", 204, "Allow: GET, HEAD, OPTIONS\r\n", ""},

    {"a dot file", {{0}}, "GET", "/.secret", 403, NULL, NULL},
    {"a file below a dot folder", {{0}}, "GET", "/.git/config", 403, NULL, NULL},
    {"a dot file in a folder", {{0}}, "GET", "/sub/.secret", 403, NULL, NULL},
    {"a name of three dots", {{0}}, "GET", "/...and-more", 200, NULL, "more"},
    {"a well-known file (RFC 8615)", {{0}}, "GET", "/.well-known/x", 200, NULL, "known"},
    {"well-known in a folder only", {{0}}, "GET", "/sub/.well-known/x", 403, NULL, NULL},
    {"a name that begins as well-known does", {{0}}, "GET", "/.well-known-not", 403, NULL, NULL},

    {"a link", {{0}}, "GET", "/link", 403, NULL, NULL},
    {"a link where links are allowed", {{"SERVER", "SymLink", "on", 0}}, "GET", "/link", 200, NULL, "hello"},

    {"a folder without its slash (RFC 9110 section 15.4.2)", {{0}}, "GET", "/sub", 301, "Location: /sub/\r\n", NULL},
    {"the same with a query", {{0}}, "GET", "/sub?a=b", 301, "Location: /sub/?a=b\r\n", NULL},
    {"its name is escaped", {{0}}, "GET", "/with%20blank", 301, "Location: /with%20blank/\r\n", NULL},
    {"a folder without its slash and a form", {{0}}, "POST", "/sub", 405, NULL, NULL},
    {"a folder with an index", {{0}}, "GET", "/indexed/", 200, NULL, "index"},
    {"a folder without an index", {{0}}, "GET", "/sub/", 403, NULL, NULL},
    {"another name of an index", {{"SERVER", "IndexFile", "none b.txt", 0}}, "GET", "/sub/", 200, NULL, "below"},

    {"the first of TryFiles that is there", {{"HOST", "TryFiles", "$uri.txt $uri /a.txt", 0}}, "GET", "/sub/b", 200, NULL, "below"},
    {"the last of TryFiles", {{"HOST", "TryFiles", "$uri /a.txt", 0}}, "GET", "/none", 200, NULL, "hello"},
    {"TryFiles with an index", {{"HOST", "TryFiles", "$uri $uri/ =404", 0}}, "GET", "/indexed/", 200, NULL, "index"},
    {"TryFiles leads to a slash", {{"HOST", "TryFiles", "$uri $uri/ =404", 0}}, "GET", "/indexed", 301, "Location: /indexed/\r\n", NULL},
    {"a host in a name of TryFiles", {{"HOST", "TryFiles", "/$host.txt /$scheme.txt /$request_id$uri /a.txt", 0}}, "GET", "/none", 200, NULL, "hello"},
    {"the path behind another one", {{"HOST", "TryFiles", "/sub$uri", 0}}, "GET", "/b.txt", 200, NULL, "below"},
    {"the path of all behind a slash", {{"HOST", "TryFiles", "/indexed/$uri", 0}}, "GET", "/", 200, NULL, "index"},
    {"a query that is no name", {{"HOST", "TryFiles", "/$query /$query.txt =410", 0}}, "GET", "/none?../a", 410, NULL, NULL},
    {"a status of TryFiles", {{"HOST", "TryFiles", "$uri =410", 0}}, "GET", "/none", 410, NULL, NULL},
    {"no item of TryFiles", {{"HOST", "TryFiles", "$uri", 0}}, "GET", "/none", 404, NULL, NULL},
    {"TryFiles and a method that files do not know", {{"HOST", "TryFiles", "$uri =410", 0}}, "DELETE", "/none", 405, NULL, NULL},

    {"an error page of the site", {{"ERROR_PAGES", "404", "a.txt", 0}}, "GET", "/none", 404, NULL, "hello"},
    {"an error page for a status of TryFiles", {{"ERROR_PAGES", "410", "a.txt", 0}, {"HOST", "TryFiles", "$uri =410", 0}}, "GET", "/none", 410, NULL, "hello"},
    /* clang-format on */
};

static struct fixture fix;

static int set_up(void **state)
{
    char path[64];

    (void)state;
    dir_make(fix.dir);
    file_write(fix.dir, "a.txt", "hello", 5);
    file_write(fix.dir, "sub/b.txt", "below", 5);
    file_write(fix.dir, "indexed/index.html", "index", 5);
    file_write(fix.dir, ".secret", "secret", 6);
    file_write(fix.dir, "sub/.secret", "secret", 6);
    file_write(fix.dir, ".git/config", "secret", 6);
    file_write(fix.dir, ".well-known/x", "known", 5);
    file_write(fix.dir, ".well-known-not", "secret", 6);
    file_write(fix.dir, "sub/.well-known/x", "secret", 6);
    file_write(fix.dir, "...and-more", "more", 4);
    file_write(fix.dir, "with blank/x", "x", 1);
    (void)snprintf(path, sizeof(path), "%s/link", fix.dir);
    assert_int_equal(symlink("a.txt", path), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dir_remove(fix.dir);
    return 0;
}

static void a_path_gets_what_the_site_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(answers); i++) {
        const struct answer *a = &answers[i];
        struct mk_question q = heard_question(a->target);
        struct heard h;

        fixture_open(&fix, a->rows);
        q.method = mk_str_from(a->method);
        heard_talk(&fix, &q, &h);
        if (h.error != 0 || h.status != a->status || (a->line && !strstr(h.fields, a->line)) ||
            (a->body && strcmp(h.body, a->body) != 0))
            fail_msg("%s: error %d, status %u\n%s\n%s", a->sentence, h.error, h.status, h.fields,
                     h.body);
        heard_free(&h);
        fixture_close(&fix);
    }
}

/* A shortage says nothing of the path: the client may ask again. */
static void without_memory_nothing_is_not_found(void **state)
{
    struct heard h;

    (void)state;
    fixture_open(&fix, NULL);
    for (long n = 0;; n++) {
        struct mk_question q = heard_question("/sub/b.txt");
        int err;

        mk_heap_fail_after(-1);
        heard_get(&fix, "/a.txt", "", &h); /* what a worker keeps is there already */
        heard_free(&h);
        mk_heap_fail_after(n);
        err = heard_ask(&fix, &q, &h);
        heard_turns(&fix, &h);
        mk_heap_fail_after(-1);
        mk_loop_turn(&fix.worker->loop, 0, NULL, NULL);
        if (err == 0 && h.error == 0 && h.status != 503 && h.status != 200)
            fail_msg("allocation %ld: status %u", n, h.status);
        if (h.calls > 0)
            heard_free(&h);
        if (err == 0 && h.error == 0 && h.status == 200)
            break;
        assert_true(n < 100);
    }
    fixture_close(&fix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_gets_what_the_site_says),
        cmocka_unit_test(without_memory_nothing_is_not_found),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
