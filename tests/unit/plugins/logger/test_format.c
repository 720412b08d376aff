/* SPDX-License-Identifier: Apache-2.0 */
#include "logger_test.h"

#include "format.h"
#include "gather.h"
#include "held.h"

#include "../template_of.h"

static const struct mk_request_facts usual_facts = {
    .size = sizeof(struct mk_request_facts),
    .method = MK_STR_INIT("GET"),
    .target = MK_STR_INIT("/a%20b?x=1"),
    .path = MK_STR_INIT("/a b"),
    .query = MK_STR_INIT("x=1"),
    .host = MK_STR_INIT("example.org:8080"),
    .protocol = MK_STR_INIT("HTTP/1.1"),
    .minor = 1,
    .status = 200,
    .body_sent = 1234,
    .body_received = 56,
    .whole = true,
    .site_name = "example.org",
};

static struct logger_entry usual(void)
{
    return (struct logger_entry){
        .facts = &usual_facts,
        .peer = MK_STR("192.0.2.7"),
        .time = MK_STR("[21/Nov/2026:10:00:00 +0000]"),
        .duration_ms = 1520,
    };
}

static int compile_text(struct logger_format *f, struct mk_str text, const char **why)
{
    struct mk_template_piece pieces[MK_TEMPLATE_MAX];
    struct mk_template from;

    if (template_read(&from, text, MK_TEMPLATE_PRICES, pieces) < 0) {
        *why = "no template";
        return MK_E_INVALID;
    }
    return logger_format_compile(f, &from, why);
}

static const struct logger_format *compile(const char *text)
{
    static struct logger_format f;
    const char *why = "";

    if (compile_text(&f, mk_str_from(text), &why) < 0)
        fail_msg("%s: %s", text, why);
    return &f;
}

static void assert_line(const char *format, const struct logger_entry *e, const char *expected)
{
    char room[LOGGER_LINE_MAX];
    struct logger_text t = {.at = room, .end = room + sizeof(room)};

    logger_format_line(compile(format), e, &t);
    assert_false(t.full);
    assert_true(t.at > room && t.at[-1] == '\n');
    assert_text(format, room, (size_t)(t.at - room) - 1, expected);
}

/* In two parts: without what is not known before a tunnel has ended, and then with it. */
static void assert_parts(const char *format, const struct logger_entry *early,
                         const struct logger_entry *late, const char *known, const char *whole)
{
    char room[2][LOGGER_LINE_MAX];
    struct logger_text t = {.at = room[0], .end = room[0] + sizeof(room[0])};
    struct logger_gaps gaps;
    struct mk_str first;

    logger_format_early(compile(format), early, &t, &gaps);
    first = (struct mk_str){room[0], (size_t)(t.at - room[0])};
    assert_text(format, first.p, first.len, known);
    t = (struct logger_text){.at = room[1], .end = room[1] + sizeof(room[1])};
    logger_format_late(first, gaps.all, gaps.count, late, &t);
    assert_text(format, room[1], (size_t)(t.at - room[1]), whole);
}

static void writes_a_line_in_two_parts(void **state)
{
    const struct mk_request_facts facts = {
        .body_sent = 7, .body_received = 9, .whole = true, .size = sizeof(facts)};
    struct logger_entry early = usual(), late = {.facts = &facts,
                                                 .time = MK_STR("[later]"),
                                                 .wall_ms = 1795255200045,
                                                 .day = MK_STR("2026-11-21T10:00:00"),
                                                 .zone = MK_STR("Z"),
                                                 .duration_ms = 61500};

    (void)state;
    early.headers[0] = MK_STR("x");
    assert_parts("common", &early, &late, "192.0.2.7 - -  \"GET /a%20b?x=1 HTTP/1.1\" 200 \n",
                 "192.0.2.7 - - [later] \"GET /a%20b?x=1 HTTP/1.1\" 200 7\n");
    assert_parts("'%B%b %{received}B %T|%{ms}T|%D %X'", &early, &late, "  || \n",
                 "77 9 61|61500|61500000 -\n");
    assert_parts("'%{iso}t %{sec}t %{msec}t %{msec_frac}t'", &early, &late, "   \n",
                 "2026-11-21T10:00:00.045Z 1795255200 1795255200045 045\n");
    assert_parts("'%s %m %U %q %h %{X}i'", &early, &late, "200 GET /a b ?x=1 192.0.2.7 x\n",
                 "200 GET /a b ?x=1 192.0.2.7 x\n");
    assert_parts("json timestamp status bytes whole", &early, &late,
                 "{\"timestamp\":,\"status\":200,\"bytes\":,\"whole\":}\n",
                 "{\"timestamp\":\"2026-11-21T10:00:00.045Z\",\"status\":200,\"bytes\":7,"
                 "\"whole\":true}\n");
}

/* RFC 9110 sections 7.8 and 9.3.6 */
static void knows_what_begins_a_tunnel(void **state)
{
    static const struct {
        struct mk_str method;
        unsigned status;
        bool is_tunnel;
    } rows[] = {
        {MK_STR_INIT("GET"), 101, true},      {MK_STR_INIT("GET"), 200, false},
        {MK_STR_INIT("CONNECT"), 200, true},  {MK_STR_INIT("CONNECT"), 204, true},
        {MK_STR_INIT("CONNECT"), 407, false}, {MK_STR_INIT("CONNECTS"), 200, false},
        {MK_STR_INIT("OPTIONS"), 200, false}, {{NULL, 0}, 400, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct mk_request_facts facts = {.method = rows[i].method, .status = rows[i].status};

        assert_int_equal(logger_held_is_for(&facts), rows[i].is_tunnel);
    }
}

/* The second part may have less room than it needs: what fits is whole, and nothing is written behind the end. */
static void a_second_part_is_bounded(void **state)
{
    struct logger_entry e = usual();
    char early[LOGGER_LINE_MAX], whole[LOGGER_LINE_MAX], room[LOGGER_LINE_MAX];
    struct logger_text t = {.at = early, .end = early + sizeof(early)};
    struct logger_gaps gaps;
    size_t len;

    (void)state;
    logger_format_early(compile("'%B %s %{ms}T end'"), &e, &t, &gaps);
    len = (size_t)(t.at - early);
    t = (struct logger_text){.at = whole, .end = whole + sizeof(whole)};
    logger_format_late((struct mk_str){early, len}, gaps.all, gaps.count, &e, &t);
    assert_false(t.full);
    for (size_t size = 0; size < (size_t)(t.at - whole); size++) {
        struct logger_text some = {.at = room, .end = room + size};

        memset(room, '#', sizeof(room));
        logger_format_late((struct mk_str){early, len}, gaps.all, gaps.count, &e, &some);
        assert_true(some.full);
        assert_memory_equal(room, whole, (size_t)(some.at - room));
        assert_int_equal(room[size], '#');
    }
}

static void writes_what_is_known_of_tls(void **state)
{
    struct logger_entry e = usual();

    (void)state;
    e.subject = MK_STR("CN=a\"b\n,O=c");
    e.tls_version = MK_STR("TLSv1.3");
    e.tls_cipher = MK_STR("TLS_AES_128_GCM_SHA256");
    assert_line("'%{SSL_PROTOCOL}x %{SSL_CIPHER}x \"%{SSL_CLIENT_S_DN}x\"'", &e,
                "TLSv1.3 TLS_AES_128_GCM_SHA256 \"CN=a\\x22b\\x0A,O=c\"");
}

static void writes_the_named_formats(void **state)
{
    struct logger_entry e = usual();

    (void)state;
    assert_line("common", &e,
                "192.0.2.7 - - [21/Nov/2026:10:00:00 +0000] \"GET /a%20b?x=1 HTTP/1.1\" 200 1234");
    e.user = MK_STR("ada");
    e.headers[0] = MK_STR("http://a.example/");
    e.headers[1] = MK_STR("curl/8 \"x\"");
    assert_line("Combined", &e,
                "192.0.2.7 - ada [21/Nov/2026:10:00:00 +0000] \"GET /a%20b?x=1 HTTP/1.1\" 200 1234 "
                "\"http://a.example/\" \"curl/8 \\x22x\\x22\"");
    e.time = MK_STR("\"2026-11-21T10:00:00Z\"");
    e.headers[0] = (struct mk_str){NULL, 0};
    assert_line("json", &e,
                "{\"time\":\"2026-11-21T10:00:00Z\",\"peer\":\"192.0.2.7\",\"user\":\"ada\","
                "\"method\":\"GET\",\"target\":\"/a%20b?x=1\",\"protocol\":\"HTTP/1.1\","
                "\"host\":\"example.org:8080\",\"site\":\"example.org\",\"status\":200,"
                "\"bytes\":1234,\"duration_ms\":1520,\"referer\":null,"
                "\"agent\":\"curl/8 \\u0022x\\u0022\",\"whole\":true}");
}

static void writes_what_was_refused_before_it_was_understood(void **state)
{
    const struct mk_request_facts facts = {.status = 400, .site_name = ""};
    struct logger_entry e = usual();

    (void)state;
    e.facts = &facts;
    assert_line("common", &e, "192.0.2.7 - - [21/Nov/2026:10:00:00 +0000] \"-\" 400 -");
    e.time = MK_STR("0");
    assert_line("json", &e,
                "{\"time\":0,\"peer\":\"192.0.2.7\",\"user\":null,\"method\":null,"
                "\"target\":null,\"protocol\":null,\"host\":null,\"site\":\"\",\"status\":400,"
                "\"bytes\":0,\"duration_ms\":1520,\"referer\":null,\"agent\":null,"
                "\"whole\":false}");
}

static void writes_custom_formats(void **state)
{
    static const struct {
        const char *format, *line;
    } rows[] = {
        {"'plain'", "plain"},
        {"'%h|%a|%l|%u'", "192.0.2.7|192.0.2.7|-|-"},
        {"'%{SSL_PROTOCOL}x|%{SSL_CIPHER}x'", "-|-"},
        {"'%t'", "[21/Nov/2026:10:00:00 +0000]"},
        {"'%r|%{target}r|%m|%U|%q|%H'",
         "GET /a%20b?x=1 HTTP/1.1|/a%20b?x=1|GET|/a b|?x=1|HTTP/1.1"},
        {"'%V %v'", "example.org:8080 example.org"},
        {"'%s %>s %b %B %{received}B %X'", "200 200 1234 1234 56 -"},
        {"'%T %{s}T %{ms}T %{us}T %D'", "1 1 1520 1520000 1520000"},
        {"'100%% %{Accept}i%{accept}i'", "100% */**/*"},
        {"\"say \\\"%m\\\"\\t.\"", "say \"GET\"\t."},
    };
    struct logger_entry e = usual();

    (void)state;
    e.headers[0] = MK_STR("*/*");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_line(rows[i].format, &e, rows[i].line);
    assert_int_equal(compile("'%{Accept}i%{accept}i'")->nheaders, 1);
}

static void refuses_formats_that_are_none(void **state)
{
    static const char *const rows[] = {
        "",
        "commun",
        "'",
        "''",
        "'abc",
        "'%'",
        "'%z'",
        "json x",
        "json =%h",
        "json a=h",
        "json a=%",
        "json a=%%",
        "json a=%hh",
        "json a\"b=%h",
        "json a=%z",
        "json %h",
        "'%{Name'",
        "'%{}i'",
        "'%{}n'",
        "'%n'",
        "'%{x}t'",
        "'%i'",
        "'%{x}h'",
        "'a\nb'",
        "'%{ms}'",
        "'$hosts'",
        "$host",
        "'%$host'",
        "json$host",
        "json a$host",
        "json $hosts",
        "json a=$host%h",
        "json a=$host$path",
        "json a=b$host",
        "json =$host",
        "json ${NAME}",
        "json a=$$",
        "'$host",
        "'$host\"",
    };
    struct logger_format f;
    const char *why;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (compile_text(&f, mk_str_from(rows[i]), &why) == 0)
            fail_msg("%s was taken", rows[i]);
        assert_non_null(why);
    }
}

/* A format at each of its limits is taken or refused, never overrun. */
static void formats_are_bounded(void **state)
{
    char text[3000];
    struct logger_format f;
    const char *why;

    (void)state;
    for (size_t fields = 1; fields < 200; fields++) {
        size_t len = 0;

        text[len++] = '\'';
        for (size_t i = 0; i < fields; i++)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%%{N%zu}i", i % 20);
        text[len++] = '\'';
        assert_int_equal(compile_text(&f, (struct mk_str){text, len}, &why),
                         fields <= LOGGER_HEADERS_MAX ? 0 : MK_E_INVALID);
    }
    memset(text, 'x', sizeof(text));
    text[0] = '\'';
    for (size_t len = 1000; len < sizeof(text); len++) {
        char last = text[len - 1];

        text[len - 1] = '\'';
        assert_int_equal(compile_text(&f, (struct mk_str){text, len}, &why),
                         len - 2 < LOGGER_FORMAT_MAX ? 0 : MK_E_INVALID);
        text[len - 1] = last;
    }
}

/* Whatever a peer sends, a line of a named format is whole: JSON has no marks to cut. */
static void the_longest_line_fits(void **state)
{
    static const char *const formats[] = {"common", "combined", "json"};
    static char endless[100000];
    struct mk_str s = {endless, sizeof(endless)};
    struct mk_request_facts facts = usual_facts;
    struct logger_entry e = usual();
    char time[] = "\"2026-11-21T10:00:00+00:00\"", room[LOGGER_LINE_MAX];

    (void)state;
    memset(endless, '\n', sizeof(endless));
    facts.method = facts.target = facts.host = e.user = e.headers[0] = e.headers[1] = s;
    memset(endless + sizeof(endless) / 2, 'x', sizeof(endless) / 2);
    endless[sizeof(endless) - 1] = '\0';
    facts.site_name = endless + sizeof(endless) / 2;
    facts.body_sent = UINT64_MAX;
    e.duration_ms = UINT64_MAX;
    e.facts = &facts;
    e.peer = MK_STR("2001:0db8:0000:0000:0000:0000:0000:0001");
    e.time = mk_str_from(time);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct logger_text t = {.at = room, .end = room + sizeof(room) - 4};

        logger_format_line(compile(formats[i]), &e, &t);
        assert_false(t.full);
        assert_ptr_equal(memchr(room, '\n', sizeof(room)), t.at - 1);
    }
}

static void writes_members_of_choice(void **state)
{
    static const struct mk_note backend = {.name = "backend", .text = MK_STR_INIT("db\"1")};
    static const struct mk_note whole = {.name = "w", .number = 12050, .decimals = 3};
    static const struct mk_note count = {.name = "n", .number = 7};
    struct logger_entry e = usual();

    (void)state;
    assert_line("json status path bytes_received", &e,
                "{\"status\":200,\"path\":\"/a b\",\"bytes_received\":56}");
    assert_line("JSON  query  ua=%{User-Agent}i request bytes peer", &e,
                "{\"query\":\"x=1\",\"ua\":null,\"request\":\"GET /a%20b?x=1 HTTP/1.1\","
                "\"bytes\":1234,\"peer\":\"192.0.2.7\"}");
    e.wall_ms = 1795255200045;
    e.day = MK_STR("2026-11-21T10:00:00");
    e.zone = MK_STR("+00:00");
    assert_line("json timestamp time_ms s=%{sec}t f=%{msec_frac}t", &e,
                "{\"timestamp\":\"2026-11-21T10:00:00.045+00:00\",\"time_ms\":1795255200045,"
                "\"s\":1795255200,\"f\":045}");
    e.notes[0] = &backend;
    e.notes[1] = &whole;
    e.notes[2] = &count;
    assert_line("json backend backend_whole_ms n=%{n}n", &e,
                "{\"backend\":\"db\\u00221\",\"backend_whole_ms\":12.050,\"n\":7}");
    assert_line("'%{iso}t %{backend}n %{w}n %{none}n'",
                &(struct logger_entry){.facts = e.facts,
                                       .notes = {&backend, &whole},
                                       .wall_ms = 9,
                                       .day = e.day,
                                       .zone = e.zone},
                "2026-11-21T10:00:00.009+00:00 db\\x221 12.050 -");
}

/* Of the environment the pieces have the name here. */
static void writes_variables(void **state)
{
    struct logger_entry e = usual();

    (void)state;
    e.variables[0] = MK_STR("a.test");
    e.variables[1] = MK_STR("5\"\r\n");
    assert_line("'$host|$remote_port|$host'", &e, "a.test|5\\x22\\x0D\\x0A|a.test");
    assert_int_equal(compile("'$host$remote_port$host'")->nvariables, 2);
    assert_line("\"$host costs $5, $$host\"", &e, "a.test costs $5, $host");
    assert_line("'$host'", &(struct logger_entry){.facts = e.facts}, "-");
    assert_line("json $host status p=$remote_port", &e,
                "{\"host\":\"a.test\",\"status\":200,\"p\":\"5\\u0022\\u000D\\u000A\"}");
    assert_line("json $host", &(struct logger_entry){.facts = e.facts}, "{\"host\":null}");
    assert_line("'${A_B} %s ${C}'", &e, "A_B 200 C");
    assert_line("json node=${A_B} status", &e, "{\"node\":\"A_B\",\"status\":200}");
}

static void values_of_the_environment_are_text(void **state)
{
    static const struct mk_template_piece pieces[] = {
        {MK_STR_INIT("json a="), MK_VARIABLE_TEXT},
        {MK_STR_INIT("%h\"\\\n\xff"), MK_VARIABLE_ENVIRONMENT},
    };
    const struct mk_template from = {pieces, 2};
    struct logger_entry e = usual();
    static struct logger_format f;
    char room[LOGGER_LINE_MAX];
    struct logger_text t = {.at = room, .end = room + sizeof(room)};
    const char *why;

    (void)state;
    assert_int_equal(logger_format_compile(&f, &from, &why), 0);
    logger_format_line(&f, &e, &t);
    assert_text("json", room, (size_t)(t.at - room),
                "{\"a\":\"%h\\u0022\\u005C\\u000A\\u00FF\"}\n");
}

/* Of a value that does not fit, too. */
static void values_of_the_environment_are_bounded(void **state)
{
    static char value[LOGGER_FORMAT_MAX + 2];
    static struct logger_format f;

    (void)state;
    memset(value, 'x', sizeof(value));
    for (size_t len = 1; len < sizeof(value); len++) {
        const struct mk_template_piece pieces[] = {
            {MK_STR("json a="), MK_VARIABLE_TEXT},
            {{value, len}, MK_VARIABLE_ENVIRONMENT},
        };
        const struct mk_template from = {pieces, 2};
        const char *why;

        assert_int_equal(logger_format_compile(&f, &from, &why),
                         len + strlen("{\"a\":\"\"}\n") <= LOGGER_FORMAT_MAX ? 0 : MK_E_INVALID);
    }
}

static void notes_are_bounded(void **state)
{
    char text[500] = "'";
    struct logger_format f;
    const char *why;

    (void)state;
    for (unsigned i = 1; i <= LOGGER_NOTES_MAX + 2; i++) {
        size_t len = strlen(text);

        (void)snprintf(text + len, sizeof(text) - len, "%%{n%u}n%%{n1}n", i);
        len = strlen(text);
        text[len] = '\'';
        assert_int_equal(compile_text(&f, (struct mk_str){text, len + 1}, &why),
                         i <= LOGGER_NOTES_MAX ? 0 : MK_E_INVALID);
        text[len] = '\0';
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_a_line_in_two_parts),
        cmocka_unit_test(knows_what_begins_a_tunnel),
        cmocka_unit_test(a_second_part_is_bounded),
        cmocka_unit_test(writes_what_is_known_of_tls),
        cmocka_unit_test(writes_the_named_formats),
        cmocka_unit_test(writes_what_was_refused_before_it_was_understood),
        cmocka_unit_test(writes_custom_formats),
        cmocka_unit_test(refuses_formats_that_are_none),
        cmocka_unit_test(formats_are_bounded),
        cmocka_unit_test(the_longest_line_fits),
        cmocka_unit_test(writes_members_of_choice),
        cmocka_unit_test(writes_variables),
        cmocka_unit_test(values_of_the_environment_are_text),
        cmocka_unit_test(values_of_the_environment_are_bounded),
        cmocka_unit_test(notes_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
