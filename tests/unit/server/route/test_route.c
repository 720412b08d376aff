/* SPDX-License-Identifier: Apache-2.0 */
#include "heard.h"

#include "base/limits.h"
#include "base/str.h"

/* Which site, redirect, handler or file a request comes to, and where handlers may send it. */

static struct fixture fix;

/* ---- a handler that shows what it was asked, after what the field Do says ---- */

static enum mk_verdict show(struct mk_request *r, const char *name)
{
    struct mk_request_facts f = {.size = sizeof(f)};
    char text[256];

    mk_request_facts(r, &f);
    (void)snprintf(text, sizeof(text), "%s %.*s %.*s%s%.*s", name, (int)f.method.len, f.method.p,
                   (int)f.path.len, f.path.p, f.query.p ? "?" : "", (int)f.query.len,
                   f.query.p ? f.query.p : "");
    return mk_reply_bytes(r, 200, NULL, mk_str_from(text));
}

static enum mk_verdict turn(struct mk_request *r, int err)
{
    const char *text = err == MK_E_LIMIT    ? "error limit"
                       : err == MK_E_ACCESS ? "error access"
                       : err == MK_E_BAD    ? "error bad"
                                            : "another error";

    if (err == 0)
        return MK_VERDICT_LATER;
    return mk_reply_bytes(r, 200, NULL, mk_str_from(text));
}

/* Paths below /turn are turned to what the request's field To names. */
static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *name)
{
    struct mk_str path = mk_request_path(r), to = mk_request_header(r, MK_STR("To"));

    (void)ctx;
    if (mk_str_has_suffix(path, MK_STR("pass")))
        return MK_VERDICT_PASS;
    if (mk_str_eq(path, MK_STR("/turn/get")))
        return turn(r, mk_request_reroute(r, to));
    if (mk_str_eq(path, MK_STR("/turn/same")))
        return turn(r, mk_request_rewrite(r, to));
    return show(r, name);
}

static const struct mk_plugin shows = {
    MK_PLUGIN("shows", "shows what it is asked"),
    .on_handle = on_handle,
};

static const struct mk_plugin shows_elsewhere = {
    MK_PLUGIN("elsewhere", "the same, of what is no file here"),
    .traits = MK_TRAIT_ELSEWHERE,
    .on_handle = on_handle,
};

/* Routes of all sites show, each by the number of its line; the last of a site of three is elsewhere. */
static void open_site(const struct row *rows)
{
    static char names[3][2] = {"0", "1", "2"};

    fixture_open(&fix, rows);
    for (size_t s = 0; s < fix.plan.snapshot.nsites; s++) {
        struct mk_site *site = &fix.plan.snapshot.sites[s];

        for (size_t i = 0; i < site->nroutes; i++) {
            site->routes[i].who.plugin = i == 2 ? &shows_elsewhere : &shows;
            site->routes[i].data = names[i];
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    dir_make(fix.dir);
    file_write(fix.dir, "a.txt", "hello", 5);
    file_write(fix.dir, "other.txt", "other", 5);
    file_write(fix.dir, "shown/pass", "a file", 6);
    file_write(fix.dir, "error.txt", "page", 4);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dir_remove(fix.dir);
    return 0;
}

/* ---- rows ---- */

/* clang-format off */
#define ROUTE(pattern) {"HANDLERS", "Match", pattern " echo", 0}
#define SET(key, value) {"HOST", key, value, 0}
#define PAGE(status, path) {"ERROR_PAGES", status, path, 0}
/* clang-format on */

struct routed {
    const char *sentence;
    struct row rows[5];
    const char *method, *target, *fields;
    bool is_secure;
    unsigned status;
    const char *line, *body; /* part of the fields, all of the body; NULL: any */
};

static void check_all(const struct routed *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct routed *a = &all[i];
        struct mk_question q = heard_question(a->target);
        struct heard h;

        open_site(a->rows);
        q.method = mk_str_from(a->method);
        q.fields = mk_str_from(a->fields);
        q.is_secure = a->is_secure;
        heard_talk(&fix, &q, &h);
        if (h.error != 0 || h.status != a->status || (a->line && !strstr(h.fields, a->line)) ||
            (a->body && strcmp(h.body, a->body) != 0))
            fail_msg("%s: error %d, status %u\n%s\n%s", a->sentence, h.error, h.status, h.fields,
                     h.body);
        heard_free(&h);
        fixture_close(&fix);
    }
}

static void handlers_come_before_files_in_their_order(void **state)
{
    static const struct routed all[] = {
        /* clang-format off */
        {"no handler's path", {ROUTE("^/shown")}, "GET", "/a.txt", "", false, 200, NULL, "hello"},
        {"a handler's path", {ROUTE("^/shown")}, "GET", "/shown/x?a=b", "", false, 200, NULL, "0 GET /shown/x?a=b"},
        {"a file of that path", {ROUTE("^/a")}, "GET", "/a.txt", "", false, 200, NULL, "0 GET /a.txt"},
        {"the first of two", {ROUTE("^/sho"), ROUTE("^/shown")}, "GET", "/shown", "", false, 200, NULL, "0 GET /shown"},
        {"the one that matches", {ROUTE("^/other"), ROUTE("^/shown")}, "GET", "/shown", "", false, 200, NULL, "1 GET /shown"},
        {"all pass", {ROUTE("^/shown"), ROUTE("pass$")}, "GET", "/shown/pass", "", false, 200, NULL, "a file"},
        {"all pass and there is no file", {ROUTE("^/shown")}, "GET", "/shown/no/pass", "", false, 404, NULL, NULL},
        {"the decoded path is matched", {ROUTE("^/shown")}, "GET", "/sh%6fwn", "", false, 200, NULL, "0 GET /shown"},
        {"dot segments are removed before", {ROUTE("^/shown")}, "GET", "/a/../shown", "", false, 200, NULL, "0 GET /shown"},
        {"a method that files do not know", {ROUTE("^/shown")}, "DELETE", "/shown", "", false, 200, NULL, "0 DELETE /shown"},
        /* clang-format on */
    };

    (void)state;
    check_all(all, MK_ARRAY_LEN(all));
}

static void targets_that_are_no_path_are_refused(void **state)
{
    static const struct routed all[] = {
        /* clang-format off */
        {"above the root", {ROUTE(".")}, "GET", "/../x", "", false, 403, NULL, NULL},
        {"above the root by escapes", {ROUTE(".")}, "GET", "/%2e%2e/x", "", false, 403, NULL, NULL},
        {"an escape that is none", {ROUTE(".")}, "GET", "/%zz", "", false, 400, NULL, NULL},
        {"a NUL", {ROUTE(".")}, "GET", "/%00", "", false, 400, NULL, NULL},
        {"the server itself (RFC 9110 section 9.3.7)", {ROUTE(".")}, "OPTIONS", "*", "", false, 204, "Allow: GET, HEAD, OPTIONS\r\n", ""},
        /* clang-format on */
    };

    (void)state;
    check_all(all, MK_ARRAY_LEN(all));
}

static void a_site_that_redirects_sends_path_and_query(void **state)
{
    static const struct routed all[] = {
        /* clang-format off */
        {"a URL with a slash at its end", {SET("Redirect", "https://b/")}, "GET", "/x/y?q=1", "", false, 301, "Location: https://b/x/y?q=1\r\n", NULL},
        {"the path as it was sent", {SET("Redirect", "https://b/")}, "GET", "/%41%20b", "", false, 301, "Location: https://b/%41%20b\r\n", NULL},
        {"a query that is empty", {SET("Redirect", "https://b/")}, "GET", "/x?", "", false, 301, "Location: https://b/x?\r\n", NULL},
        {"a URL without one", {SET("Redirect", "https://b/moved 308")}, "GET", "/x?q=1", "", false, 308, "Location: https://b/moved\r\n", NULL},
        {"slashes in front do not name a host", {SET("Redirect", "/ 302")}, "GET", "//evil/x", "", false, 302, "Location: /evil/x\r\n", NULL},
        {"before all handlers", {SET("Redirect", "https://b/"), ROUTE("^/shown")}, "GET", "/shown", "", false, 301, "Location: https://b/shown\r\n", NULL},
        {"a form", {SET("Redirect", "https://b/ 307")}, "POST", "/x", "", false, 307, "Location: https://b/x\r\n", NULL},
        {"paths above the root all the same", {SET("Redirect", "https://b/")}, "GET", "/../x", "", false, 403, NULL, NULL},
        /* clang-format on */
    };

    (void)state;
    check_all(all, MK_ARRAY_LEN(all));
}

/* A redirect to where its client is already would go in circles. */
static void a_redirect_ends_where_it_leads(void **state)
{
    static const struct routed all[] = {
        /* clang-format off */
        {"in the clear", {SET("Redirect", "https://b/")}, "GET", "/a.txt", "Host: b\r\n", false, 301, NULL, NULL},
        {"there", {SET("Redirect", "https://b/")}, "GET", "/a.txt", "Host: b\r\n", true, 200, NULL, "hello"},
        {"there, in other letters", {SET("Redirect", "HTTPS://B/")}, "GET", "/a.txt", "Host: b\r\n", true, 200, NULL, "hello"},
        {"there, with the port written", {SET("Redirect", "https://b/")}, "GET", "/a.txt", "Host: b:443\r\n", true, 200, NULL, "hello"},
        {"there, with the port in the URL", {SET("Redirect", "https://b:443/")}, "GET", "/a.txt", "Host: b\r\n", true, 200, NULL, "hello"},
        {"there, at a URL without a path", {SET("Redirect", "https://b")}, "GET", "/a.txt", "Host: b\r\n", true, 200, NULL, "hello"},
        {"another port", {SET("Redirect", "https://b:8443/")}, "GET", "/a.txt", "Host: b\r\n", true, 301, NULL, NULL},
        {"at another port", {SET("Redirect", "https://b/")}, "GET", "/a.txt", "Host: b:8443\r\n", true, 301, NULL, NULL},
        {"another host", {SET("Redirect", "https://b/")}, "GET", "/a.txt", "Host: a\r\n", true, 301, NULL, NULL},
        {"a longer host", {SET("Redirect", "https://b/")}, "GET", "/a.txt", "Host: bb\r\n", true, 301, NULL, NULL},
        {"a URL in the clear", {SET("Redirect", "http://b/")}, "GET", "/a.txt", "Host: b\r\n", true, 301, NULL, NULL},
        {"a URL that is only a path", {SET("Redirect", "/to")}, "GET", "/a.txt", "Host: b\r\n", true, 301, NULL, NULL},
        /* clang-format on */
    };

    (void)state;
    check_all(all, MK_ARRAY_LEN(all));
}

static void a_path_without_its_slash_is_redirected(void **state)
{
    static const struct routed all[] = {
        /* clang-format off */
        {"a handler's folder", {SET("SlashRedirect", "on"), ROUTE("^/dav/")}, "GET", "/dav?a=b", "", false, 301, "Location: /dav/?a=b\r\n", NULL},
        {"in other letters", {SET("SlashRedirect", "on"), ROUTE("^/dav/")}, "HEAD", "/DAV", "", false, 301, "Location: /DAV/\r\n", NULL},
        {"where the site does not want it", {ROUTE("^/dav/")}, "GET", "/dav", "", false, 404, NULL, NULL},
        {"a method that is not sent again", {SET("SlashRedirect", "on"), ROUTE("^/dav/")}, "PUT", "/dav", "", false, 405, NULL, NULL},
        {"with its slash", {SET("SlashRedirect", "on"), ROUTE("^/dav/")}, "GET", "/dav/", "", false, 200, NULL, "0 GET /dav/"},
        {"a longer name", {SET("SlashRedirect", "on"), ROUTE("^/dav/")}, "GET", "/dave", "", false, 404, NULL, NULL},
        /* clang-format on */
    };

    (void)state;
    check_all(all, MK_ARRAY_LEN(all));
}

/* clang-format off */
#define TWO_SITES SET("ServerName", "a"), ROUTE("^/x"), {"HOST", "ServerName", "b *.c", 1}, {"HOST", "Redirect", "/second", 1}
/* clang-format on */

static void a_host_chooses_the_site(void **state)
{
    static const struct routed all[] = {
        /* clang-format off */
        {"the first", {TWO_SITES}, "GET", "/x", "Host: a\r\n", false, 200, NULL, "0 GET /x"},
        {"the second", {TWO_SITES}, "GET", "/x", "Host: b\r\n", false, 301, "Location: /second\r\n", NULL},
        {"in other letters, with a port", {TWO_SITES}, "GET", "/x", "Host: B:80\r\n", false, 301, NULL, NULL},
        {"a name that a wildcard covers", {TWO_SITES}, "GET", "/x", "Host: d.c\r\n", false, 301, NULL, NULL},
        {"a name of nobody", {TWO_SITES}, "GET", "/x", "Host: e\r\n", false, 200, NULL, "0 GET /x"},
        {"the server itself", {TWO_SITES}, "OPTIONS", "*", "Host: b\r\n", false, 204, NULL, NULL},
        /* clang-format on */
    };

    (void)state;
    check_all(all, MK_ARRAY_LEN(all));
}

static void handlers_make_error_pages(void **state)
{
    static const struct routed all[] = {
        /* clang-format off */
        {"a page of a handler", {PAGE("404", "shown/404"), ROUTE("^/shown")}, "GET", "/none?a=b", "", false, 404, NULL, "0 GET /shown/404"},
        {"for HEAD", {PAGE("404", "shown/404"), ROUTE("^/shown")}, "HEAD", "/none", "", false, 404, "Content-Length: 17\r\n", ""},
        {"a page that all pass on", {PAGE("404", "shown/pass"), ROUTE("^/shown")}, "GET", "/none", "", false, 404, NULL, NULL},
        {"a page that is a file", {PAGE("404", "error.txt"), ROUTE("^/shown")}, "GET", "/none", "", false, 404, NULL, "page"},
        {"a page of what is elsewhere", {PAGE("404", "third/404"), ROUTE("^/x"), ROUTE("^/y"), ROUTE("^/third")}, "GET", "/none", "", false, 404, "Content-Type: text/html", NULL},
        {"a page for another status", {PAGE("404", "shown/404"), ROUTE("^/shown")}, "GET", "/../x", "", false, 403, "Content-Type: text/html", NULL},
        /* clang-format on */
    };

    (void)state;
    check_all(all, MK_ARRAY_LEN(all));
}

static void handlers_turn_requests_to_other_paths(void **state)
{
#define TURNS                                                                                      \
    {                                                                                              \
        ROUTE("^/(turn|shown)")                                                                    \
    }
    static const struct routed all[] = {
        /* clang-format off */
        {"another path, as for GET", TURNS, "POST", "/turn/get?a=b", "To: /shown/x?c=d\r\n", false, 200, NULL, "0 GET /shown/x?c=d"},
        {"HEAD stays HEAD", TURNS, "HEAD", "/turn/get", "To: /shown/x\r\n", false, 200, "Content-Length: 15\r\n", ""},
        {"the old query is gone", TURNS, "GET", "/turn/get?a=b", "To: /shown/x\r\n", false, 200, NULL, "0 GET /shown/x"},
        {"a query that is empty", TURNS, "GET", "/turn/get?a=b", "To: /shown/x?\r\n", false, 200, NULL, "0 GET /shown/x?"},
        {"a path with escapes", TURNS, "GET", "/turn/get", "To: /sh%6fwn/%41\r\n", false, 200, NULL, "0 GET /shown/A"},
        {"a file", TURNS, "POST", "/turn/get", "To: /a.txt\r\n", false, 200, NULL, "hello"},
        {"its own method", TURNS, "POST", "/turn/same?a=b", "To: /shown/x?c=d\r\n", false, 200, NULL, "0 POST /shown/x?c=d"},
        {"its own method, without a query", TURNS, "PUT", "/turn/same?a=b", "To: /shown/x\r\n", false, 200, NULL, "0 PUT /shown/x"},
        {"a file by its own method", TURNS, "POST", "/turn/same", "To: /a.txt\r\n", false, 405, NULL, NULL},
        {"one after the other", TURNS, "POST", "/turn/same", "To: /turn/get\r\n", false, 200, NULL, "error limit"},
        {"above the root", TURNS, "GET", "/turn/get", "To: /../x\r\n", false, 200, NULL, "error access"},
        {"no path", TURNS, "GET", "/turn/get", "To: x\r\n", false, 200, NULL, "error bad"},
        {"nothing", TURNS, "GET", "/turn/same", "To:\r\n", false, 200, NULL, "error bad"},
        /* clang-format on */
    };

    (void)state;
    check_all(all, MK_ARRAY_LEN(all));
}

/* The longest target that a client may send is the longest that a handler may turn to. */
static void targets_of_turns_are_bounded(void **state)
{
    static char field[MK_LIMIT_TARGET + 64];
    static const struct row rows[] = {ROUTE("^/turn/get$"), {NULL, NULL, NULL, 0}};

    (void)state;
    for (int above = 0; above <= 1; above++) {
        int len = sprintf(field, "To: /a.txt?");
        size_t query = MK_LIMIT_TARGET - strlen("/a.txt?") + (size_t)above;
        struct mk_question q = heard_question("/turn/get");
        struct heard h;

        memset(field + len, 'q', query);
        memcpy(field + len + query, "\r\n", sizeof("\r\n"));
        q.fields = mk_str_from(field);
        open_site(rows);
        heard_talk(&fix, &q, &h);
        assert_int_equal(h.status, 200);
        assert_string_equal(h.body, above ? "error limit" : "hello");
        heard_free(&h);
        fixture_close(&fix);
    }
}

static enum mk_verdict answer_and_turn(struct mk_request *r, const struct mk_context *ctx,
                                       void *data)
{
    (void)ctx, (void)data;
    (void)mk_reply_bytes(r, 200, NULL, MK_STR("mine"));
    assert_int_equal(mk_request_reroute(r, MK_STR("/a.txt")), MK_E_EXISTS);
    mk_reply_abort(r);
    assert_int_equal(mk_request_rewrite(r, MK_STR("/a.txt")), MK_E_PEER);
    return MK_VERDICT_DONE;
}

static void what_was_answered_turns_no_more(void **state)
{
    static const struct mk_plugin late = {
        MK_PLUGIN("late", "turns what it has answered"),
        .on_handle = answer_and_turn,
    };
    static const struct row rows[] = {ROUTE("^/shown"), {NULL, NULL, NULL, 0}};
    struct mk_question q = heard_question("/shown");
    struct heard h;

    (void)state;
    open_site(rows);
    fixture_handle(&fix, &late, NULL);
    heard_talk(&fix, &q, &h);
    assert_int_equal(h.error, MK_E_BAD);
    assert_string_equal(h.body, "");
    heard_free(&h);
    fixture_close(&fix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_come_before_files_in_their_order),
        cmocka_unit_test(targets_that_are_no_path_are_refused),
        cmocka_unit_test(a_site_that_redirects_sends_path_and_query),
        cmocka_unit_test(a_redirect_ends_where_it_leads),
        cmocka_unit_test(a_path_without_its_slash_is_redirected),
        cmocka_unit_test(a_host_chooses_the_site),
        cmocka_unit_test(handlers_make_error_pages),
        cmocka_unit_test(handlers_turn_requests_to_other_paths),
        cmocka_unit_test(targets_of_turns_are_bounded),
        cmocka_unit_test(what_was_answered_turns_no_more),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
