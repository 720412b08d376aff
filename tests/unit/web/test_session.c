/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include "base/heap.h"

#include "failing.h"

#include <sys/random.h>

static thread_local bool is_without_random;

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) -- the names that the linker's --wrap gives */
ssize_t __real_getrandom(void *p, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *p, size_t size, unsigned flags);

ssize_t __wrap_getrandom(void *p, size_t size, unsigned flags)
{
    return is_without_random ? -1 : __real_getrandom(p, size, flags);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

/* ---- a program with sessions ---- */

static enum mk_verdict say(struct mk_request *r, int result)
{
    const char *text = mk_request_printf(r, "%d", result);

    return mk_reply_bytes(r, 200, "text/plain", mk_str_from(text));
}

static const char *value_of(struct mk_request *r, const char *name)
{
    const struct mk_str value = mk_path_value(r, mk_str_from(name));

    return mk_request_printf(r, "%.*s", (int)value.len, value.p);
}

static enum mk_verdict get(struct mk_request *r, void *sessions)
{
    const char *value = mk_session_get(r, sessions, value_of(r, "name"));

    return mk_reply_bytes(r, 200, "text/plain", mk_str_from(value ? value : "nothing"));
}

static enum mk_verdict set(struct mk_request *r, void *sessions)
{
    return say(r, mk_session_set(r, sessions, value_of(r, "name"), value_of(r, "value")));
}

static enum mk_verdict drop(struct mk_request *r, void *sessions)
{
    return say(r, mk_session_remove(r, sessions, value_of(r, "name")));
}

static enum mk_verdict renew(struct mk_request *r, void *sessions)
{
    return say(r, mk_session_renew(r, sessions));
}

/* Whatever the order is, and however often: there is one new identity. */
static enum mk_verdict log_in(struct mk_request *r, void *sessions)
{
    int err = mk_session_renew(r, sessions);

    err = err < 0 ? err : mk_session_set(r, sessions, "user", value_of(r, "name"));
    err = err < 0 ? err : mk_session_renew(r, sessions);
    return say(r, err);
}

static enum mk_verdict destroy(struct mk_request *r, void *sessions)
{
    return say(r, mk_session_destroy(r, sessions));
}

static enum mk_verdict begin_late(struct mk_request *r, void *sessions)
{
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    assert_int_equal(mk_reply_end(&p, 0), 0);
    assert_int_equal(mk_session_set(r, sessions, "a", "1"), MK_E_EXISTS);
    assert_int_equal(mk_session_renew(r, sessions), 0); /* there is none */
    assert_int_equal(mk_sessions_count(sessions), 0);
    return MK_VERDICT_DONE;
}

/* Each allocation on the way fails once: no session is left that the browser does not know. */
static enum mk_verdict begin_poorly(struct mk_request *r, void *sessions)
{
    static const char name[] = "a";
    unsigned failures = 0;
    int err = MK_E_NOMEM;

    for (unsigned n = 1; err < 0 && n < 20; n++) {
        fails_in = n;
        err = mk_session_set(r, sessions, name, "1");
        fails_in = 0;
        failures += err < 0;
        assert_true(err == 0 || err == MK_E_NOMEM);
        assert_int_equal(mk_sessions_count(sessions), err == 0 ? 1 : 0);
    }
    assert_true(failures >= 2);
    assert_string_equal(mk_session_get(r, sessions, name), "1");
    return say(r, err);
}

/* What is of the request is refused, too. */
static enum mk_verdict begin_without_room(struct mk_request *r, void *sessions)
{
    int err = MK_E_NOMEM;

    for (long n = 0; err < 0 && n < 20; n++) {
        mk_heap_fail_after(n);
        err = mk_session_set(r, sessions, "a", "1");
        mk_heap_fail_after(-1);
        assert_true(err == 0 || err == MK_E_NOMEM);
    }
    is_without_random = true;
    assert_int_equal(mk_session_destroy(r, sessions), 0);
    assert_int_equal(mk_session_set(r, sessions, "a", "1"), MK_E_NOMEM);
    is_without_random = false;
    assert_int_equal(mk_sessions_count(sessions), 0);
    return say(r, err);
}

struct scene {
    struct mk_sessions *sessions;
    struct mk_server *server;
};

static struct scene open_scene(const struct mk_sessions_options *options)
{
    static const struct {
        const char *pattern;
        mk_handle_fn fn;
    } routes[] = {
        {"/get/:name", get},   {"/set/:name/:value", set}, {"/drop/:name", drop},
        {"/renew", renew},     {"/in/:name", log_in},      {"/out", destroy},
        {"/late", begin_late}, {"/poor", begin_poorly},    {"/room", begin_without_room},
    };
    struct mk_config *config = web_config();
    struct scene scene;

    assert_int_equal(mk_sessions_new(&scene.sessions, options), 0);
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
        assert_int_equal(
            mk_config_handle(config, NULL, routes[i].pattern, routes[i].fn, scene.sessions), 0);
    scene.server = web_serve(config);
    return scene;
}

static void close_scene(struct scene *scene)
{
    mk_server_free(scene->server);
    mk_sessions_free(scene->sessions);
}

static struct mk_answer *ask(const struct scene *scene, const char *target, const char *cookies,
                             bool is_secure)
{
    char fields[2048] = "";
    struct mk_question question = {
        .size = sizeof(question), .target = mk_str_from(target), .is_secure = is_secure};
    struct mk_answer *answer;

    if (cookies)
        (void)snprintf(fields, sizeof(fields), "Cookie: %s\r\n", cookies);
    question.fields = mk_str_from(fields);
    assert_int_equal(mk_server_ask_wait(scene->server, &question, &answer), 0);
    assert_int_equal(answer->error, 0);
    return answer;
}

/* A cookie as the browser sends it, "session=HEX". */
struct cookie {
    char text[128];
};

/* @return that of the answer, which has one such line; text "" : it has none */
static struct cookie cookie_of(const struct mk_answer *answer)
{
    static const struct mk_str line = MK_STR_INIT("Set-Cookie: ");
    const char *at = memmem(answer->fields.p, answer->fields.len, line.p, line.len), *end;
    struct cookie cookie = {""};

    if (!at)
        return cookie;
    at += line.len;
    end = answer->fields.p + answer->fields.len;
    assert_null(memmem(at, (size_t)(end - at), line.p, line.len));
    for (size_t n = 0; at + n < end && at[n] != ';' && n < sizeof(cookie.text) - 1; n++)
        cookie.text[n] = at[n];
    return cookie;
}

/* Ask, and compare the body. @return the cookie of the answer */
static struct cookie expect(const struct scene *scene, const char *target, const char *cookies,
                            const char *body)
{
    struct mk_answer *answer = ask(scene, target, cookies, false);
    const struct cookie cookie = cookie_of(answer);

    web_is(answer, 200, body);
    return cookie;
}

static bool has_attributes(const struct mk_answer *answer, const char *attributes)
{
    char line[256];

    (void)snprintf(line, sizeof(line), "Set-Cookie: %s; %s", cookie_of(answer).text, attributes);
    return web_has_line(answer, line);
}

/* ---- tests ---- */

static void the_first_value_begins_a_session(void **state)
{
    struct scene scene = open_scene(NULL);
    struct mk_answer *answer = ask(&scene, "/set/a/1", NULL, false);
    const struct cookie cookie = cookie_of(answer);

    (void)state;
    assert_memory_equal(cookie.text, "session=", 8);
    assert_int_equal(strspn(cookie.text + 8, "0123456789abcdef"), 32);
    assert_int_equal(strlen(cookie.text), 40);
    assert_true(has_attributes(answer, "Path=/; SameSite=Lax; HttpOnly"));
    web_is(answer, 200, "0");
    assert_string_equal(expect(&scene, "/get/a", cookie.text, "1").text, "");
    assert_string_equal(expect(&scene, "/set/b/2", cookie.text, "0").text, "");
    assert_string_equal(expect(&scene, "/set/a/3", cookie.text, "0").text, "");
    (void)expect(&scene, "/get/a", cookie.text, "3");
    (void)expect(&scene, "/get/b", cookie.text, "2");
    (void)expect(&scene, "/get/c", cookie.text, "nothing");
    (void)expect(&scene, "/get/a", NULL, "nothing");
    assert_int_equal(mk_sessions_count(scene.sessions), 1);
    close_scene(&scene);
}

/* RFC 6265bis section 4.1.3.2: no other host of the domain, and no plain connection, can set a cookie of this name. */
static void over_tls_the_cookie_is_of_the_host(void **state)
{
    struct scene scene = open_scene(NULL);
    struct mk_answer *answer = ask(&scene, "/set/a/1", NULL, true);
    const struct cookie cookie = cookie_of(answer);
    const struct cookie plain = expect(&scene, "/set/a/2", NULL, "0");

    (void)state;
    assert_memory_equal(cookie.text, "__Host-session=", 15);
    assert_true(has_attributes(answer, "Path=/; SameSite=Lax; Secure; HttpOnly"));
    web_is(answer, 200, "0");
    web_is(ask(&scene, "/get/a", cookie.text, true), 200, "1");
    web_is(ask(&scene, "/get/a", cookie.text, false), 200, "nothing");
    web_is(ask(&scene, "/get/a", cookie.text + 7, true), 200, "nothing");
    web_is(ask(&scene, "/get/a", plain.text, true), 200, "nothing");
    close_scene(&scene);
}

static void behind_a_proxy_it_is_so_too(void **state)
{
    const struct mk_sessions_options options = {
        .size = sizeof(options), .secure = true, .same_site = MK_SAME_SITE_STRICT};
    const struct mk_sessions_options below = {
        .size = sizeof(below), .secure = true, .path = "/app", .name = "app"};
    struct scene scene = open_scene(&options);
    struct mk_answer *answer = ask(&scene, "/set/a/1", NULL, false);

    (void)state;
    assert_memory_equal(cookie_of(answer).text, "__Host-session=", 15);
    assert_true(has_attributes(answer, "Path=/; SameSite=Strict; Secure; HttpOnly"));
    web_is(answer, 200, "0");
    close_scene(&scene);
    scene = open_scene(&below);
    answer = ask(&scene, "/set/a/1", NULL, false);
    assert_memory_equal(cookie_of(answer).text, "app=", 4);
    assert_true(has_attributes(answer, "Path=/app; SameSite=Lax; Secure; HttpOnly"));
    web_is(answer, 200, "0");
    close_scene(&scene);
}

static void an_identity_of_the_client_is_never_taken_over(void **state)
{
    static const char *const forged[] = {
        "session=0123456789abcdef0123456789abcdef",     "session=",
        "session=0123456789abcdef0123456789abcde",      "session=0123456789abcdef0123456789abcdef0",
        "session=0123456789ABCDEF0123456789ABCDEF",     "session",
        "session=\"0123456789abcdef0123456789abcdef\"",
    };
    struct scene scene = open_scene(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
        struct cookie cookie;

        (void)expect(&scene, "/get/a", forged[i], "nothing");
        assert_string_equal(expect(&scene, "/renew", forged[i], "0").text, "");
        assert_string_equal(expect(&scene, "/out", forged[i], "0").text, "");
        (void)expect(&scene, "/drop/a", forged[i], "-6"); /* MK_E_NOENT */
        cookie = expect(&scene, "/set/a/1", forged[i], "0");
        assert_int_equal(strlen(cookie.text), 40);
        assert_string_not_equal(cookie.text, forged[i]);
        (void)expect(&scene, "/get/a", forged[i], "nothing");
    }
    close_scene(&scene);
}

/* Session fixation: somebody has planted an identity of a session of their own. */
static void who_planted_the_identity_is_not_logged_in(void **state)
{
    struct scene scene = open_scene(NULL);
    const struct cookie planted = expect(&scene, "/set/cart/1", NULL, "0");
    const struct cookie own = expect(&scene, "/in/ann", planted.text, "0");

    (void)state;
    assert_int_equal(strlen(own.text), 40);
    assert_string_not_equal(own.text, planted.text);
    (void)expect(&scene, "/get/user", own.text, "ann");
    (void)expect(&scene, "/get/cart", own.text, "1");
    (void)expect(&scene, "/get/user", planted.text, "nothing");
    (void)expect(&scene, "/get/cart", planted.text, "nothing");
    /* a late request takes the browser's new cookie away from nobody, and changes nothing */
    assert_string_equal(expect(&scene, "/set/cart/2", planted.text, "0").text, "");
    assert_string_equal(expect(&scene, "/set/user/eve", planted.text, "0").text, "");
    (void)expect(&scene, "/get/cart", own.text, "1");
    (void)expect(&scene, "/get/user", own.text, "ann");
    close_scene(&scene);
}

static void two_log_ins_at_once_are_two_identities(void **state)
{
    struct scene scene = open_scene(NULL);
    const struct cookie old = expect(&scene, "/set/cart/1", NULL, "0");
    const struct cookie one = expect(&scene, "/in/ann", old.text, "0");
    const struct cookie other = expect(&scene, "/in/ann", old.text, "0");

    (void)state;
    assert_string_not_equal(one.text, other.text);
    (void)expect(&scene, "/get/user", one.text, "ann");
    (void)expect(&scene, "/get/user", other.text, "ann");
    (void)expect(&scene, "/out", one.text, "0");
    (void)expect(&scene, "/get/user", one.text, "nothing");
    (void)expect(&scene, "/get/user", other.text, "nothing");
    assert_int_equal(mk_sessions_count(scene.sessions), 0);
    close_scene(&scene);
}

static void a_log_out_ends_the_session_and_its_cookie(void **state)
{
    struct scene scene = open_scene(NULL);
    const struct cookie old = expect(&scene, "/set/cart/1", NULL, "0");
    const struct cookie cookie = expect(&scene, "/in/ann", old.text, "0");
    struct mk_answer *answer = ask(&scene, "/out", cookie.text, false);

    (void)state;
    assert_true(
        web_has_line(answer, "Set-Cookie: session=; Path=/; Max-Age=0; SameSite=Lax; HttpOnly"));
    web_is(answer, 200, "0");
    (void)expect(&scene, "/get/user", cookie.text, "nothing");
    (void)expect(&scene, "/get/cart", old.text, "nothing");
    assert_int_equal(mk_sessions_count(scene.sessions), 0);
    close_scene(&scene);
}

static void a_session_without_values_ends(void **state)
{
    struct scene scene = open_scene(NULL);
    const struct cookie cookie = expect(&scene, "/set/a/1", NULL, "0");

    (void)state;
    (void)expect(&scene, "/set/b/1", cookie.text, "0");
    assert_string_equal(expect(&scene, "/drop/a", cookie.text, "0").text, "");
    (void)expect(&scene, "/drop/a", cookie.text, "-6"); /* MK_E_NOENT */
    assert_string_equal(expect(&scene, "/drop/b", cookie.text, "0").text, "session=");
    assert_int_equal(mk_sessions_count(scene.sessions), 0);
    close_scene(&scene);
}

/* Another host of the domain can set cookies of the same name, and the order in which browsers send them is not the server's. */
static void the_known_one_of_several_cookies_counts(void **state)
{
    struct scene scene = open_scene(NULL);
    const struct cookie cookie = expect(&scene, "/set/a/1", NULL, "0");
    const struct cookie renewed = expect(&scene, "/in/ann", cookie.text, "0");
    char cookies[1024];

    (void)state;
    (void)snprintf(cookies, sizeof(cookies),
                   "session=x; other=1; session=0123456789abcdef0123456789abcdef; %s; %s",
                   cookie.text, renewed.text);
    (void)expect(&scene, "/get/user", cookies, "ann");
    (void)snprintf(cookies, sizeof(cookies), "%s; %s", renewed.text, cookie.text);
    (void)expect(&scene, "/get/user", cookies, "ann");
    cookies[0] = '\0';
    for (int i = 0; i < 8; i++)
        (void)strcat(cookies, "session=x; ");
    (void)strcat(cookies, renewed.text);
    (void)expect(&scene, "/get/user", cookies, "nothing");
    (void)expect(&scene, "/get/user", cookies + strlen("session=x; "), "ann");
    close_scene(&scene);
}

static void the_session_unused_longest_makes_room(void **state)
{
    const struct mk_sessions_options options = {.size = sizeof(options), .sessions = 3};
    struct scene scene = open_scene(&options);
    struct cookie cookies[4];

    (void)state;
    for (int i = 0; i < 3; i++)
        cookies[i] = expect(&scene, "/set/a/1", NULL, "0");
    (void)expect(&scene, "/get/a", cookies[0].text, "1");
    cookies[3] = expect(&scene, "/set/a/1", NULL, "0");
    assert_int_equal(mk_sessions_count(scene.sessions), 3);
    (void)expect(&scene, "/get/a", cookies[0].text, "1");
    (void)expect(&scene, "/get/a", cookies[1].text, "nothing");
    (void)expect(&scene, "/get/a", cookies[3].text, "1");
    close_scene(&scene);
}

static void values_are_bounded(void **state)
{
    struct scene scene = open_scene(NULL);
    const struct cookie cookie = expect(&scene, "/set/a/1", NULL, "0");
    char target[64];

    (void)state;
    for (int i = 1; i <= MK_SESSION_VALUES; i++) {
        (void)snprintf(target, sizeof(target), "/set/n%d/1", i);
        (void)expect(&scene, target, cookie.text, i < MK_SESSION_VALUES ? "0" : "-3");
    }
    (void)expect(&scene, "/set/a/2", cookie.text, "0");
    close_scene(&scene);
}

static void a_session_comes_before_the_answer(void **state)
{
    struct scene scene = open_scene(NULL);

    (void)state;
    web_is(ask(&scene, "/late", NULL, false), 200, "");
    close_scene(&scene);
}

static void without_memory_nothing_is_left(void **state)
{
    struct scene scene = open_scene(NULL);

    (void)state;
    assert_int_equal(strlen(expect(&scene, "/poor", NULL, "0").text), 40);
    (void)mk_sessions_count(scene.sessions);
    close_scene(&scene);
    scene = open_scene(NULL);
    web_is(ask(&scene, "/room", NULL, false), 200, "0");
    close_scene(&scene);
}

static void without_memory_there_is_no_store(void **state)
{
    const struct mk_sessions_options options = {.size = sizeof(options), .path = "/app"};
    const long live = mk_heap_live();
    struct mk_sessions *sessions;

    (void)state;
    for (long n = 0; n < 2; n++) {
        mk_heap_fail_after(n);
        assert_int_equal(mk_sessions_new(&sessions, &options), MK_E_NOMEM);
        mk_heap_fail_after(-1);
    }
    fails_in = 1;
    assert_int_equal(mk_sessions_new(&sessions, &options), MK_E_NOMEM);
    is_without_random = true;
    assert_int_equal(mk_sessions_new(&sessions, &options), MK_E_NOMEM);
    is_without_random = false;
    assert_int_equal(mk_heap_live(), live);
}

static void what_browsers_would_ignore_is_refused(void **state)
{
    static const struct {
        struct mk_sessions_options options;
        int result;
        const char *why;
    } rows[] = {
        {{.name = ""}, MK_E_INVALID, "an empty name"},
        {{.name = "a b"}, MK_E_INVALID, "no token"},
        {{.name = "__Host-a"}, MK_E_INVALID, "a prefix"},
        {{.name = "123456789012345678901234567890123456789012345678901234567890abcd"}, 0, "64"},
        {{.name = "123456789012345678901234567890123456789012345678901234567890abcde"},
         MK_E_LIMIT,
         "65 bytes"},
        {{.path = "app"}, MK_E_INVALID, "no path"},
        {{.path = ""}, MK_E_INVALID, "an empty path"},
        {{.path = "/a;b"}, MK_E_INVALID, "the end of the path"},
        {{.same_site = MK_SAME_SITE_NONE}, MK_E_INVALID, "SameSite=None, not secure"},
        {{.same_site = MK_SAME_SITE_NONE, .secure = true}, 0, "SameSite=None, secure"},
        {{.same_site = (enum mk_same_site)9}, MK_E_INVALID, "no SameSite"},
        {{.sessions = MK_SESSIONS_MAX + 1}, MK_E_LIMIT, "too many"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_sessions_options options = rows[i].options;
        struct mk_sessions *sessions = NULL;

        options.size = sizeof(options);
        if (mk_sessions_new(&sessions, &options) != rows[i].result)
            fail_msg("%s", rows[i].why);
        mk_sessions_free(sessions);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_value_begins_a_session),
        cmocka_unit_test(over_tls_the_cookie_is_of_the_host),
        cmocka_unit_test(behind_a_proxy_it_is_so_too),
        cmocka_unit_test(an_identity_of_the_client_is_never_taken_over),
        cmocka_unit_test(who_planted_the_identity_is_not_logged_in),
        cmocka_unit_test(two_log_ins_at_once_are_two_identities),
        cmocka_unit_test(a_log_out_ends_the_session_and_its_cookie),
        cmocka_unit_test(a_session_without_values_ends),
        cmocka_unit_test(the_known_one_of_several_cookies_counts),
        cmocka_unit_test(the_session_unused_longest_makes_room),
        cmocka_unit_test(values_are_bounded),
        cmocka_unit_test(a_session_comes_before_the_answer),
        cmocka_unit_test(without_memory_nothing_is_left),
        cmocka_unit_test(without_memory_there_is_no_store),
        cmocka_unit_test(what_browsers_would_ignore_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
