/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include "base/heap.h"

#include <unistd.h>

/* Queries and forms: src/web/query.c, multipart.c, form.c. */

/* ---- pairs ---- */

static enum mk_verdict show_query(struct mk_request *r, void *arg)
{
    struct mk_str name, value;
    char text[256] = "";
    int len = 0, got;
    size_t at = 0;

    (void)arg;
    while ((got = mk_query_next(r, &at, &name, &value)) != 0)
        len += got > 0
                   ? snprintf(text + len, sizeof(text) - (size_t)len, "[%s|%s]", name.p, value.p)
                   : snprintf(text + len, sizeof(text) - (size_t)len, "[%d]", got);
    got = mk_query_value(r, MK_STR("a b"), &value);
    len += snprintf(text + len, sizeof(text) - (size_t)len, "%d%s", got, got > 0 ? value.p : "");
    return mk_reply_bytes(r, 200, NULL, (struct mk_str){text, (size_t)len});
}

static void queries_are_decoded(void **state)
{
    static const struct {
        const char *target, *shown;
    } cases[] = {
        {"/", "0"},
        {"/?", "0"},
        {"/?a+b=1", "[a b|1]1"
                    "1"},
        {"/?a%20b=%c3%a9&c", "[a b|\xc3\xa9][c|]1\xc3\xa9"},
        {"/?&&a=b=c&", "[a|b=c]0"},
        {"/?=x", "[|x]0"},
        {"/?a=%zz&a%20b=%2&b=%00&c=1", "[-2][-2][-2][c|1]-2"},
        {"/?a%20=1&a=2&a%20bc=3", "[a |1][a|2][a bc|3]0"},
    };
    struct mk_server *server = web_serve_one("GET", "/", show_query, NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        web_expect(server, cases[i].target, 200, cases[i].shown);
    mk_server_free(server);
}

static enum mk_verdict show_number(struct mk_request *r, void *arg)
{
    int64_t number = 20;
    const int got = mk_query_int(r, MK_STR("n"), &number);
    char text[64];
    const int len = snprintf(text, sizeof(text), "%d %lld", got, (long long)number);

    (void)arg;
    return mk_reply_bytes(r, 200, NULL, (struct mk_str){text, (size_t)len});
}

static void numbers_are_read_whole(void **state)
{
    static const struct {
        const char *target, *shown;
    } cases[] = {
        {"/", "0 20"},
        {"/?m=1", "0 20"},
        {"/?m=1&n=-7&n=8", "1 -7"},
        {"/?n=%2B1%30", "1 10"},
        {"/?n=9223372036854775807", "1 9223372036854775807"},
        {"/?n=9223372036854775808", "-2 20"},
        {"/?n", "-2 20"},
        {"/?n=", "-2 20"},
        {"/?n=+1", "-2 20"}, /* a blank */
        {"/?n=1x", "-2 20"},
        {"/?n=%zz", "-2 20"},
        {"/?n=0000000000000000000000000000000000000000000000000000000000000001", "1 1"},
        {"/?n=00000000000000000000000000000000000000000000000000000000000000001", "-2 20"},
    };
    struct mk_server *server = web_serve_one("GET", "/", show_number, NULL);
    int64_t number = 5;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        web_expect(server, cases[i].target, 200, cases[i].shown);
    mk_server_free(server);
    assert_int_equal(mk_text_int(MK_STR("20"), &number), 0);
    assert_int_equal(number, 20);
    assert_int_equal(mk_text_int(MK_STR("20\n"), &number), MK_E_BAD);
    assert_int_equal(number, 20);
}

/* ---- parts ---- */

static char seen[1024];
static size_t nseen;

static void note(const char *mark, struct mk_str text)
{
    nseen += (size_t)snprintf(seen + nseen, sizeof(seen) - nseen, "%s%.*s", mark,
                              text.p ? (int)text.len : 1, text.p ? text.p : "-");
}

static int on_part(void *arg, const struct mk_part *part)
{
    (void)arg;
    note("<", part->name);
    note("|", part->filename);
    note("|", part->type);
    note(">", MK_STR(""));
    return 0;
}

static int on_data(void *arg, struct mk_str bytes)
{
    (void)arg;
    assert_true(bytes.len > 0);
    note("", bytes);
    return 0;
}

static int on_end(void *arg)
{
    (void)arg;
    note("$", MK_STR(""));
    return 0;
}

static const struct mk_multipart_calls calls = {sizeof(calls), on_part, on_data, on_end};

static int parse(const char *body, size_t step)
{
    const size_t len = strlen(body);
    struct mk_multipart *m;
    int err = mk_multipart_new(&m, MK_STR("multipart/form-data; boundary=bb"), &calls, NULL);

    assert_int_equal(err, 0);
    nseen = 0;
    seen[0] = '\0';
    for (size_t at = 0; at < len && err == 0; at += step)
        err = mk_multipart_feed(m, body + at, len - at < step ? len - at : step);
    if (err == 0)
        err = mk_multipart_end(m);
    mk_multipart_free(m);
    return err;
}

#define HEAD "Content-Disposition: form-data; name=\"a\"\r\n"
#define PART HEAD "\r\n"

static const struct {
    const char *body;
    int result;
    const char *seen;
} bodies[] = {
    {"--bb\r\n" PART "x\r\n--bb--\r\n", 0, "<a|-|->x$"},
    {"--bb\r\n" PART "x\r\n--bb--", 0, "<a|-|->x$"},
    {"--bb--", 0, ""},
    {"--bb\r\n" PART "\r\n--bb--", 0, "<a|-|->$"},
    {"--bb\r\n" PART "--bb--", 0, "<a|-|->$"},
    {"preamble\r\n--bb \t\r\n" PART "x\r\n--bb--epilogue", 0, "<a|-|->x$"},
    {"--bb\r\n" PART "--b\r\n--bb--", 0, "<a|-|->--b$"},
    {"--bb\r\n" PART "\r\r\n\r\n-\r\n--b\r\r\n--bb--", 0, "<a|-|->\r\r\n\r\n-\r\n--b\r$"},
    {"--bb\r\n" PART "x\n--bb--\n\r\n--bb--", 0, "<a|-|->x\n--bb--\n$"},
    {"--bb\r\n" PART "1\r\n--bb\r\n" PART "2\r\n--bb--", 0, "<a|-|->1$<a|-|->2$"},
    {"--bb\r\ncontent-disposition:FORM-DATA;name=a ; filename=\"b \\\"%22%41\\c\"\r\nContent-Type: "
     "x/y;z\r\n\r\nx\r\n--bb--",
     0, "<a|b \"\"%41\\c|x/y;z>x$"},
    {"--bb\r\nContent-Disposition: form-data; name=\"a\"; filename=\"\"; "
     "filename*=u''x\r\n\r\n\r\n--bb--",
     0, "<a||->$"},
    {"--bb\r\n" HEAD "Content-Transfer-Encoding: binary\r\nX-Other: y\r\n\r\nx\r\n--bb--", 0,
     "<a|-|->x$"},
    {"", MK_E_BAD, NULL},
    {"--bb\r\n" PART "x", MK_E_BAD, NULL},
    {"--bb\r\n" PART "x\r\n--bb", MK_E_BAD, NULL},
    {"--bb\r\n" PART "x\r\n--bb-", MK_E_BAD, NULL},
    {"--bb\r\n" PART "x\r\n--bbc\r\n--bb--", MK_E_BAD, NULL},
    {"--bb\n" PART "x\r\n--bb--", MK_E_BAD, NULL},
    {"--bb\rx" PART "x\r\n--bb--", MK_E_BAD, NULL},
    {"--bb -\r\n" PART "x\r\n--bb--", MK_E_BAD, NULL},
    {"--bb-\r\n" PART "x\r\n--bb--", MK_E_BAD, NULL},
    {"--bb\r\n\r\nx\r\n--bb--", MK_E_BAD, NULL},
    {"--bb\r\nX: y\r\n\r\nx\r\n--bb--", MK_E_BAD, NULL},
    {"--bb\r\n" HEAD HEAD "\r\nx\r\n--bb--", MK_E_BAD, NULL},
    {"--bb\r\n" HEAD " folded\r\n\r\nx\r\n--bb--", MK_E_BAD, NULL},
    {"--bb\r\n" HEAD "X y\r\n\r\nx\r\n--bb--", MK_E_BAD, NULL},
    {"--bb\r\n" HEAD "X : y\r\n\r\nx\r\n--bb--", MK_E_BAD, NULL},
    {"--bb\r\n" HEAD "X: y\nZ: z\r\n\r\nx\r\n--bb--", MK_E_BAD, NULL},
    {"--bb\r\n" HEAD "Content-Transfer-Encoding: base64\r\n\r\nx\r\n--bb--", MK_E_BAD, NULL},
    {"--bb\r\n" HEAD "Content-Type: a/b\r\nContent-Type: a/b\r\n\r\nx\r\n--bb--", MK_E_BAD, NULL},
    {"--bb\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\nx\r\n--bb--", MK_E_BAD, NULL},
    {"--bb\r\nContent-Disposition: form-data; name=\"\"\r\n\r\nx\r\n--bb--", MK_E_BAD, NULL},
    {"--bb\r\nContent-Disposition: form-data; name=\"a\"; name=\"b\"\r\n\r\nx\r\n--bb--", MK_E_BAD,
     NULL},
    {"--bb\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--bb--", MK_E_BAD, NULL},
    {"--bb\r\nContent-Disposition: form-data; filename=\"a\"\r\n\r\nx\r\n--bb--", MK_E_BAD, NULL},
};

static void parts_are_found_however_they_are_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        const size_t len = strlen(bodies[i].body);

        for (size_t step = 1; step <= len + 1; step++) {
            int err = parse(bodies[i].body, step);

            if (err != bodies[i].result)
                fail_msg("%s: %d", bodies[i].body, err);
            if (bodies[i].seen)
                assert_string_equal(seen, bodies[i].seen);
        }
    }
}

static int count_piece(void *arg, struct mk_str bytes)
{
    unsigned *pieces = arg;

    (void)bytes;
    ++*pieces;
    return 0;
}

static int count_part(void *arg, const struct mk_part *part)
{
    (void)arg;
    (void)part;
    return 0;
}

/* Each piece may cost a call of the system: a file of line ends alone was given byte by byte. */
static void content_comes_in_whole_pieces(void **state)
{
    static const struct mk_multipart_calls counting = {sizeof(counting), count_part, count_piece,
                                                       on_end};
    static const char *const contents[] = {"\r", "\r\n", "\r\n--b", "\r\n-"};
    enum { LEN = 4096, FEEDS = 8 };
    char block[LEN];

    (void)state;
    for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
        const size_t len = strlen(contents[i]);
        unsigned pieces = 0;
        struct mk_multipart *m;

        for (size_t at = 0; at < LEN; at++)
            block[at] = contents[i][at % len];
        assert_int_equal(
            mk_multipart_new(&m, MK_STR("multipart/form-data; boundary=bb"), &counting, &pieces),
            0);
        assert_int_equal(mk_multipart_feed(m, "--bb\r\n" PART, strlen("--bb\r\n" PART)), 0);
        for (int n = 0; n < FEEDS; n++)
            assert_int_equal(mk_multipart_feed(m, block, LEN), 0);
        nseen = 0;
        assert_int_equal(mk_multipart_feed(m, "\r\n--bb--", 8), 0);
        assert_int_equal(mk_multipart_end(m), 0);
        mk_multipart_free(m);
        assert_in_range(pieces, FEEDS, 2 * FEEDS + 1);
    }
}

static void the_type_names_the_boundary(void **state)
{
    static const struct {
        const char *type;
        int result;
    } cases[] = {
        {"multipart/form-data; boundary=x", 0},
        {"Multipart/Form-Data;charset=utf-8 ; BOUNDARY=\"a b\"", 0},
        {"multipart/form-data; boundary=----WebKitFormBoundaryAaB03x", 0},
        {"multipart/form-data", MK_E_BAD},
        {"multipart/form-data; boundary=", MK_E_BAD},
        {"multipart/form-data; boundary=\"\"", MK_E_BAD},
        {"multipart/form-data; boundary=\"a \"", MK_E_BAD},
        {"multipart/form-data; boundary=a; boundary=a", MK_E_BAD},
        {"multipart/form-data; boundary=a\"", MK_E_BAD},
        {"multipart/form-data; boundary=\"a", MK_E_BAD},
        {"multipart/form-data; boundary=a b", MK_E_BAD},
        {"multipart/form-data; "
         "boundary=12345678901234567890123456789012345678901234567890123456789012345678901",
         MK_E_BAD},
        {"multipart/form-datax; boundary=x", MK_E_UNSUPPORTED},
        {"multipart/mixed; boundary=x", MK_E_UNSUPPORTED},
        {"", MK_E_UNSUPPORTED},
        {NULL, MK_E_UNSUPPORTED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mk_multipart *m = NULL;
        int err = mk_multipart_new(&m, mk_str_from(cases[i].type), &calls, NULL);

        if (err != cases[i].result)
            fail_msg("%s: %d", cases[i].type, err);
        mk_multipart_free(m);
    }
}

static void heads_of_parts_are_bounded(void **state)
{
    static char body[8192];
    int len = snprintf(body, sizeof(body), "--bb\r\n%sX: ", HEAD);

    (void)state;
    memset(body + len, 'x', MK_MULTIPART_HEAD);
    assert_int_equal(parse(body, 100), MK_E_LIMIT);
}

/* ---- forms ---- */

static struct mk_form_limits limits;

static void append(char *text, size_t size, const struct mk_form_field *field)
{
    char bytes[64] = "";
    size_t len = strlen(text);

    if (field->fd >= 0)
        assert_true(pread(field->fd, bytes, 8, 0) >= 0);
    else
        snprintf(bytes, sizeof(bytes), "%s", field->value.p);
    snprintf(text + len, size - len, "[%s%s%s=%s %u]", field->name.p, field->filename.p ? "@" : "",
             field->filename.p ? field->filename.p : "", bytes, (unsigned)field->length);
}

static enum mk_verdict show_form(struct mk_request *r, void *arg)
{
    const struct mk_form_field *field;
    struct mk_form *form;
    char text[512] = "";
    int err = mk_form_read(r, &limits, &form);

    (void)arg;
    if (err < 0)
        return mk_reply_refusal(r, err);
    for (unsigned i = 0; (field = mk_form_field(form, i)) != NULL; i++)
        append(text, sizeof(text), field);
    assert_null(mk_form_value(form, MK_STR("none")).p);
    assert_null(mk_form_file(form, MK_STR("none")));
    if (mk_form_value(form, MK_STR("v")).p)
        strcat(text, mk_form_value(form, MK_STR("v")).p);
    if (mk_form_file(form, MK_STR("f")))
        strcat(text, mk_form_file(form, MK_STR("f"))->filename.p);
    return mk_reply_bytes(r, 200, NULL, mk_str_from(text));
}

#define URLENCODED "Content-Type: application/x-www-form-urlencoded; charset=utf-8\r\n"
#define MULTIPART "Content-Type: multipart/form-data; boundary=bb\r\n"
#define FILE_PART "--bb\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n\"\r\n\r\n"
#define VALUE_PART "--bb\r\nContent-Disposition: form-data; name=\"v\"\r\n\r\n"

static void ask(struct mk_server *server, const char *type, const char *body, unsigned status,
                const char *shown)
{
    web_is(web_ask(server, "POST", "/", type, body), status, shown);
}

static void forms_of_both_types_are_read(void **state)
{
    const long live = mk_heap_live();
    struct mk_server *server;

    (void)state;
    limits = (struct mk_form_limits){
        .size = sizeof(limits), .spool = 4, .file = 20, .memory = 60, .fields = 3};
    server = web_serve_one("POST", "/", show_form, NULL);
    ask(server, URLENCODED, "a=1&v=x+%41", 200, "[a=1 1][v=x A 3]x A");
    ask(server, URLENCODED, NULL, 200, "");
    ask(server, URLENCODED, "a=%", 400, NULL);
    ask(server, URLENCODED, "a&b&c&d", 413, NULL);
    ask(server, URLENCODED, "a=123456789012345678901234567890123456789012345678901234567890", 413,
        NULL);
    ask(server, "Content-Type: text/plain\r\n", "a=1", 415, NULL);
    ask(server, NULL, "a=1", 415, NULL);
    ask(server, MULTIPART, VALUE_PART "1\r\n" FILE_PART "1234\r\n--bb--", 200,
        "[v=1 1][f@n=1234 4]1n");
    ask(server, MULTIPART, FILE_PART "12345\r\n--bb--", 200, "[f@n=12345 5]n");
    ask(server, MULTIPART, FILE_PART "12345678901234567890\r\n--bb--", 200, "[f@n=12345678 20]n");
    ask(server, MULTIPART, FILE_PART "123456789012345678901\r\n--bb--", 413, NULL);
    ask(server, MULTIPART,
        VALUE_PART "123456789012345678901234567890123456789012345678901234567890\r\n--bb--", 413,
        NULL);
    ask(server, MULTIPART, VALUE_PART "1", 400, NULL);
    ask(server, MULTIPART, NULL, 400, NULL);
    limits.dir = "/nonexistent";
    ask(server, MULTIPART, FILE_PART "12345\r\n--bb--", 500, NULL);
    mk_server_free(server);
    assert_int_equal(mk_heap_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_are_decoded),
        cmocka_unit_test(numbers_are_read_whole),
        cmocka_unit_test(parts_are_found_however_they_are_cut),
        cmocka_unit_test(content_comes_in_whole_pieces),
        cmocka_unit_test(the_type_names_the_boundary),
        cmocka_unit_test(heads_of_parts_are_bounded),
        cmocka_unit_test(forms_of_both_types_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
