/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include "base/heap.h"

#include <math.h>

/* JSON read: src/web/json_tree.c, json_reader.c and json_body.c on src/kit/json/read.c. */

#define NUMBER_OF(list) (sizeof(list) / sizeof((list)[0]))

static struct mk_str str(const char *text)
{
    return (struct mk_str){text, strlen(text)};
}

/* ---- texts, each as a tree and in tokens, whole and cut at every byte ---- */

struct text {
    const char *text;
    const char *written; /* the tree; NULL: the same; refused ones have none */
    const char *why;
};

static const struct text accepted[] = {
    {"null", NULL, "RFC 8259 section 3: any value is a text"},
    {" \t\r\ntrue \t\r\n", "true", "section 2: blanks"},
    {"false", NULL, "section 3"},
    {"0", NULL, "section 6"},
    {"-0", NULL, "section 6: the sign of zero stays"},
    {"-12.50e+10", NULL, "section 6: a number stays as it is written"},
    {"1E-2", NULL, "section 6"},
    {"1e999", NULL, "section 6: right by its grammar, and no double"},
    {"123456789012345678901234567890", NULL, "section 6: so is this"},
    {"\"\"", NULL, "section 7"},
    {"\"\\\"\\\\\\/\"", "\"\\\"\\\\/\"", "section 7: escapes of two characters"},
    {"\"\\b\\f\\n\\r\\t\"", "\"\\u0008\\u000C\\u000A\\u000D\\u0009\"", "section 7"},
    {"\"\\u0041\\u00e9\\u20AC\"", "\"A\xc3\xa9\xe2\x82\xac\"", "section 7: escapes of six"},
    {"\"\\ud83d\\uDE00\"", "\"\xf0\x9f\x98\x80\"", "section 7: a pair is one character"},
    {"\"a\\u0000b\"", NULL, "section 7: U+0000 is one too"},
    {"\"\x7f\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
     "\"\\u007F\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", "section 8.1: UTF-8"},
    {"[]", NULL, "section 5"},
    {" [ 1 , [ ] , \"a\" ] ", "[1,[],\"a\"]", "section 5"},
    {"{}", NULL, "section 4"},
    {"{\"a\" : { \"b\":[{}] } , \"\":null}", "{\"a\":{\"b\":[{}]},\"\":null}", "section 4"},
    {"{\"a\":1,\"A\":2}", NULL, "section 4: names are compared as they are"},
    {"[{\"a\":1},{\"a\":2}]", NULL, "section 4: of different objects"},
};

static const struct text refused[] = {
    {"", NULL, "RFC 8259 section 2: no value"},
    {" ", NULL, "section 2"},
    {"1 2", NULL, "section 2: two values"},
    {"[]]", NULL, "section 2"},
    {"null\v", NULL, "section 2: no blank"},
    {"NULL", NULL, "section 3: lower case"},
    {"nul", NULL, "section 3"},
    {"truefalse", NULL, "section 3"},
    {"NaN", NULL, "section 6: no number"},
    {"-Infinity", NULL, "section 6"},
    {"01", NULL, "section 6: a leading zero"},
    {"-01", NULL, "section 6"},
    {"[00]", NULL, "section 6"},
    {"+1", NULL, "section 6"},
    {"1.", NULL, "section 6"},
    {".5", NULL, "section 6"},
    {"1e", NULL, "section 6"},
    {"1e+", NULL, "section 6"},
    {"-", NULL, "section 6"},
    {"1-", NULL, "section 6"},
    {"0x10", NULL, "section 6"},
    {"[1,]", NULL, "section 5: a comma too many"},
    {"[,1]", NULL, "section 5"},
    {"[1 2]", NULL, "section 5"},
    {"[1", NULL, "section 5: it does not end"},
    {"[1}", NULL, "section 5"},
    {"{\"a\":1,}", NULL, "section 4: a comma too many"},
    {"{,}", NULL, "section 4"},
    {"{\"a\"}", NULL, "section 4"},
    {"{\"a\":}", NULL, "section 4"},
    {"{\"a\":1", NULL, "section 4"},
    {"{\"a\" 1}", NULL, "section 4"},
    {"{a:1}", NULL, "section 4"},
    {"{1:1}", NULL, "section 4"},
    {"{\"a\":1]", NULL, "section 4"},
    {"'a'", NULL, "section 7: other quotes"},
    {"\"a", NULL, "section 7: it does not end"},
    {"\"\\", NULL, "section 7"},
    {"\"\\u12\"", NULL, "section 7"},
    {"\"\\u12g4\"", NULL, "section 7"},
    {"\"\\x41\"", NULL, "section 7"},
    {"\"\n\"", NULL, "section 7: a control character"},
    {"\"\x1f\"", NULL, "section 7"},
    {"\xef\xbb\xbf[]", NULL, "section 8.1: a byte order mark"},
    {"\"\xff\"", NULL, "section 8.1: no UTF-8"},
    {"\"\xc0\xaf\"", NULL, "section 8.1: too long a form (RFC 3629 section 3)"},
    {"\"\xe0\x80\xaf\"", NULL, "section 8.1"},
    {"\"\xed\xa0\x80\"", NULL, "section 8.1: a surrogate"},
    {"\"\xf4\x90\x80\x80\"", NULL, "section 8.1: above U+10FFFF"},
    {"\"\xe2\x82\"", NULL, "section 8.1: it breaks off"},
    {"\"\x80\"", NULL, "section 8.1"},
    {"\"\\ud800\"", NULL, "section 8.2: half a pair"},
    {"\"\\ud800x\"", NULL, "section 8.2"},
    {"\"\\ud800\\u0041\"", NULL, "section 8.2"},
    {"\"\\udc00\"", NULL, "section 8.2"},
};

/* Tokens as a text: a letter for each kind, and what it says. */
struct tokens {
    char text[512];
    size_t len;
    int result;
};

static void note(struct tokens *to, const struct mk_json_reader *r, int kind)
{
    to->text[to->len++] = "-ntfds[{k)"[kind];
    if (kind == MK_JSON_STRING || kind == MK_JSON_KEY || kind == MK_JSON_NUMBER) {
        memcpy(to->text + to->len, r->text.p, r->text.len);
        to->len += r->text.len;
    }
}

/* Pieces of step bytes after a first one, in memory of their own. */
static void read_tokens(struct tokens *to, struct mk_str text, size_t first, size_t step)
{
    struct mk_json_reader r;
    char room[64], *piece = NULL;
    size_t at = 0, next = first;

    *to = (struct tokens){.result = MK_E_AGAIN};
    mk_json_reader_begin(&r, NULL, room, sizeof(room));
    while (to->result == MK_E_AGAIN) {
        const size_t len = next < text.len - at ? next : text.len - at;

        free(piece);
        piece = malloc(len ? len : 1);
        memcpy(piece, text.p + at, len);
        at += len;
        next = step;
        mk_json_reader_feed(&r, (struct mk_str){piece, len}, at == text.len);
        while ((to->result = mk_json_reader_next(&r)) > 0)
            note(to, &r, to->result);
    }
    assert_int_equal(mk_json_reader_next(&r), to->result);
    assert_true(r.offset <= text.len && (r.error == 0) == (to->result == 0) &&
                (r.reason != NULL) == (to->result < 0));
    free(piece);
}

static void is_same_in_pieces(struct mk_str text, int result)
{
    struct tokens whole, cut;

    read_tokens(&whole, text, text.len, 1);
    assert_int_equal(whole.result, result);
    for (size_t first = 0; first <= text.len; first++) {
        read_tokens(&cut, text, first, first % 2 ? text.len : 1);
        assert_int_equal(cut.result, result);
        if (result == 0) {
            assert_int_equal(cut.len, whole.len);
            assert_memory_equal(cut.text, whole.text, whole.len);
        }
    }
}

static void is_written(const struct mk_json_value *root, const char *text)
{
    char room[8192];
    struct mk_json j;

    mk_json_begin(&j, room, sizeof(room), NULL, NULL);
    mk_json_tree(&j, root);
    assert_int_equal(mk_json_end(&j), 0);
    room[j.len] = '\0';
    assert_string_equal(room, text);
}

static void right_texts_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUMBER_OF(accepted); i++) {
        const struct mk_json_value *root;

        assert_int_equal(mk_json_read(str(accepted[i].text), NULL, &root, NULL), 0);
        is_written(root, accepted[i].written ? accepted[i].written : accepted[i].text);
        mk_json_free(root);
        is_same_in_pieces(str(accepted[i].text), 0);
    }
}

static void wrong_texts_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUMBER_OF(refused); i++) {
        struct mk_json_fault fault = {.size = sizeof(fault)};
        const struct mk_json_value *root;

        if (mk_json_read(str(refused[i].text), NULL, &root, &fault) != MK_E_BAD)
            fail_msg("%s is accepted: %s", refused[i].text, refused[i].why);
        assert_true(fault.offset <= strlen(refused[i].text) && fault.line > 0 && fault.column > 0);
        assert_non_null(fault.reason);
        is_same_in_pieces(str(refused[i].text), MK_E_BAD);
    }
    /* NUL is no blank, and nothing ends at it */
    is_same_in_pieces((struct mk_str){"1\0", 2}, MK_E_BAD);
    is_same_in_pieces((struct mk_str){"\"a\0b\"", 5}, MK_E_BAD);
    is_same_in_pieces((struct mk_str){"\0", 1}, MK_E_BAD);
}

/* RFC 8259 section 4: readers differ in which one counts. By escapes it is the same name. */
static void a_name_twice_is_refused(void **state)
{
    static const char *const texts[] = {"{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":2,\"\\u0061\":3}",
                                        "[{\"x\":{\"\":1,\"\":2}}]"};
    char many[2000] = "{";
    const struct mk_json_value *root;
    struct mk_json_fault fault = {.size = sizeof(fault)};
    size_t len = 1;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(texts); i++) {
        assert_int_equal(mk_json_read(str(texts[i]), NULL, &root, &fault), MK_E_BAD);
        assert_string_equal(fault.reason, "the object has a name twice");
    }
    for (int i = 0; i < 100; i++)
        len += (size_t)snprintf(many + len, sizeof(many) - len, "\"n%d\":%d,", i, i);
    memcpy(many + len, "\"z\":0}", 7);
    assert_int_equal(mk_json_read(str(many), NULL, &root, NULL), 0);
    is_written(root, many);
    mk_json_free(root);
    memcpy(many + len, "\"n7\":0}", 8);
    assert_int_equal(mk_json_read(str(many), NULL, &root, &fault), MK_E_BAD);
}

static void a_fault_has_a_place(void **state)
{
    struct mk_json_fault fault = {.size = sizeof(fault)};
    const struct mk_json_value *root;

    (void)state;
    assert_int_equal(mk_json_read(MK_STR("[\n  \"\xc3\xa9\", x]"), NULL, &root, &fault), MK_E_BAD);
    assert_int_equal(fault.offset, 10);
    assert_int_equal(fault.line, 2);
    assert_int_equal(fault.column, 8);
    assert_string_equal(fault.reason, "a value is expected");
}

/* ---- bounds ---- */

static int read_within(const char *text, unsigned depth, size_t values, size_t bytes)
{
    const struct mk_json_bounds bounds = {sizeof(bounds), depth, values, bytes};
    const struct mk_json_value *root = NULL;
    const int err = mk_json_read(str(text), &bounds, &root, NULL);

    if (err == 0)
        mk_json_free(root);
    return err;
}

static void trees_have_bounds(void **state)
{
    char deep[2 * MK_JSON_READ_DEPTH + 3];

    (void)state;
    assert_int_equal(read_within("[[1]]", 2, 3, 5), 0);
    assert_int_equal(read_within("[[1]]", 1, 3, 5), MK_E_LIMIT);
    assert_int_equal(read_within("[[1]]", 2, 2, 5), MK_E_LIMIT);
    assert_int_equal(read_within("[[1]]", 2, 3, 4), MK_E_LIMIT);
    memset(deep, '[', MK_JSON_READ_DEPTH);
    memset(deep + MK_JSON_READ_DEPTH, ']', MK_JSON_READ_DEPTH);
    deep[2 * MK_JSON_READ_DEPTH] = '\0';
    assert_int_equal(read_within(deep, 100000, 0, 0), 0);
    assert_int_equal(read_within(deep, 0, 0, 0), MK_E_LIMIT);
    memset(deep, '[', MK_JSON_READ_DEPTH + 1);
    assert_int_equal(read_within(deep, 100000, 0, 0), MK_E_LIMIT);
}

static void tokens_have_a_room(void **state)
{
    static const struct {
        const char *text;
        size_t needed;
    } cases[] = {{"\"abc\"", 3}, {"\"\xe2\x82\xac\"", 3}, {"\"\\u20ac\"", 3}, {"{\"abcd\":1}", 4}};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(cases); i++) {
        for (size_t size = 0; size <= cases[i].needed; size++) {
            char *room = malloc(size ? size : 1);
            struct mk_json_reader r;
            int kind;

            mk_json_reader_begin(&r, NULL, room, size);
            mk_json_reader_feed(&r, str(cases[i].text), true);
            while ((kind = mk_json_reader_next(&r)) > 0)
                ;
            assert_int_equal(kind, size < cases[i].needed ? MK_E_LIMIT : 0);
            free(room);
        }
    }
}

static void a_piece_too_early_is_an_error(void **state)
{
    struct mk_json_reader r;
    char room[8];

    (void)state;
    mk_json_reader_begin(&r, NULL, room, sizeof(room));
    mk_json_reader_feed(&r, MK_STR("[1,"), false);
    assert_int_equal(mk_json_reader_next(&r), MK_JSON_ARRAY);
    mk_json_reader_feed(&r, MK_STR("2]"), true);
    assert_int_equal(mk_json_reader_next(&r), MK_E_INVALID);
}

/* ---- values ---- */

static void numbers_are_what_they_say(void **state)
{
    static const struct {
        const char *text;
        int err_int, err_double;
        int64_t n;
        double d;
    } cases[] = {
        {"0", 0, 0, 0, 0},
        {"-0", 0, 0, 0, -0.0},
        {"9223372036854775807", 0, 0, INT64_MAX, 0x1p63},
        {"-9223372036854775808", 0, 0, INT64_MIN, -0x1p63},
        {"9223372036854775808", MK_E_LIMIT, 0, 0, 0x1p63},
        {"-9223372036854775809", MK_E_LIMIT, 0, 0, -0x1p63},
        {"1e3", 0, 0, 1000, 1000},
        {"-10.0", 0, 0, -10, -10},
        {"0.5", MK_E_BAD, 0, 0, 0.5},
        {"1e17", 0, 0, 100000000000000000, 1e17},
        {"9007199254740993.0", 0, 0, 9007199254740993, 9007199254740992},
        {"-9007199254740993000e-3", 0, 0, -9007199254740993, -9007199254740992},
        {"92233720368547758.07e2", 0, 0, INT64_MAX, 0x1p63},
        {"92233720368547758.08E+2", MK_E_LIMIT, 0, 0, 0x1p63},
        {"-92233720368547758.08E+2", 0, 0, INT64_MIN, -0x1p63},
        {"0.000000000000000000000000000012e30", 0, 0, 12, 12},
        {"0e999999999", 0, 0, 0, 0},
        {"0.0e-999999999", 0, 0, 0, 0},
        {"99999999999999999999999e-22", MK_E_BAD, 0, 0, 10},
        {"0.99999999999999999999", MK_E_BAD, 0, 0, 1},
        {"9007199254740993.5", MK_E_BAD, 0, 0, 9007199254740994},
        {"1e99999999999999999999", MK_E_LIMIT, MK_E_LIMIT, 0, 0},
        {"1e-99999999999999999999", MK_E_BAD, 0, 0, 0},
        {"1e999", MK_E_LIMIT, MK_E_LIMIT, 0, 0},
        {"-1e999", MK_E_LIMIT, MK_E_LIMIT, 0, 0},
        {"1e-999", MK_E_BAD, 0, 0, 0},
        {"0.1", MK_E_BAD, 0, 0, 0.1},
        {"2.2250738585072011e-308", MK_E_BAD, 0, 0, 2.2250738585072011e-308},
        {"\"1\"", MK_E_BAD, MK_E_BAD, 0, 0},
        {"[1]", MK_E_BAD, MK_E_BAD, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(cases); i++) {
        const struct mk_json_value *root;
        int64_t n = 0;
        double d = 0;

        assert_int_equal(mk_json_read(str(cases[i].text), NULL, &root, NULL), 0);
        assert_int_equal(mk_json_int64(root, &n), cases[i].err_int);
        assert_int_equal(mk_json_double(root, &d), cases[i].err_double);
        assert_true(n == cases[i].n);
        assert_true(d == cases[i].d && signbit(d) == signbit(cases[i].d));
        mk_json_free(root);
    }
    assert_int_equal(mk_json_int64(NULL, &(int64_t){0}), MK_E_BAD);
    assert_int_equal(mk_json_double(NULL, &(double){0}), MK_E_BAD);
}

/* Between two doubles the last of 1000 digits decides. */
static void long_numbers_are_rounded_by_all_digits(void **state)
{
    char text[1200] = "9007199254740993.";
    const struct mk_json_value *root;
    double d;

    (void)state;
    memset(text + 17, '0', 1000);
    for (int last = 0; last <= 1; last++) {
        text[1016] = (char)('0' + last);
        text[1017] = '\0';
        assert_int_equal(mk_json_read(str(text), NULL, &root, NULL), 0);
        assert_int_equal(mk_json_double(root, &d), 0);
        assert_true(d == (last ? 9007199254740994.0 : 9007199254740992.0));
        mk_json_free(root);
    }
}

static void members_are_found(void **state)
{
    const struct mk_json_value *root, *list;

    (void)state;
    assert_int_equal(
        mk_json_read(MK_STR("{\"a\":[1,\"x\\u0000y\",null],\"\":true}"), NULL, &root, NULL), 0);
    list = mk_json_member(root, MK_STR("a"));
    assert_int_equal(list->kind, MK_JSON_ARRAY);
    assert_int_equal(list->count, 3);
    assert_ptr_equal(list->parent, root);
    assert_int_equal(list->first->next->text.len, 3);
    assert_memory_equal(list->first->next->text.p, "x\0y", 3);
    assert_int_equal(mk_json_member(root, MK_STR(""))->kind, MK_JSON_TRUE);
    assert_null(mk_json_member(root, MK_STR("A")));
    assert_null(mk_json_member(list, MK_STR("a")));
    assert_null(mk_json_member(NULL, MK_STR("a")));
    is_written(list, "[1,\"x\\u0000y\",null]");
    is_written(NULL, "null");
    mk_json_free(root);
    mk_json_free(NULL);
}

/* ---- memory ---- */

static void failing_allocations_are_errors(void **state)
{
    char text[20000] = "[{";
    const struct mk_json_value *root;
    size_t len = 2;
    long n = 0;
    int err;

    (void)state;
    for (int i = 0; i < 1100; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "\"n%d\":%d,", i, i);
    memcpy(text + len, "\"z\":0}]", 8);
    do {
        mk_heap_fail_after(n);
        err = mk_json_read(str(text), NULL, &root, NULL);
        mk_heap_fail_after(-1);
        assert_true(err == 0 || err == MK_E_NOMEM);
        n++;
    } while (err < 0 && n < 100);
    assert_in_range(n, 4, 99);
    is_written(mk_json_member(root->first, MK_STR("n1099")), "1099");
    mk_json_free(root);
}

/* ---- bodies ---- */

static enum mk_verdict echo(struct mk_request *r, void *arg)
{
    const struct mk_json_bounds bounds = {.size = sizeof(bounds), .bytes = 40, .values = 5};
    const struct mk_json_value *root, *again;
    struct mk_json_fault fault = {.size = sizeof(fault)};
    struct mk_json j;
    int err = mk_request_json(r, &bounds, &root, &fault);

    (void)arg;
    if (err < 0)
        return mk_reply_json_refusal(r, err, &fault);
    assert_int_equal(mk_request_json(r, &bounds, &again, NULL), 0);
    assert_ptr_equal(root, again);
    mk_json_begin_reply(&j, r, 1000);
    mk_json_tree(&j, root);
    return mk_reply_json(r, 200, &j);
}

static void bodies_are_read(void **state)
{
    static const struct {
        const char *fields, *body;
        unsigned status;
        const char *answer; /* NULL: any */
    } cases[] = {
        {"Content-Type: application/json\r\n", " [1, 2]", 200, "[1,2]"},
        {"Content-Type: Application/Problem+JSON; charset=utf-8\r\n", "{}", 200, "{}"},
        {"Content-Type: text/plain\r\n", "{}", 415, NULL},
        {"", "{}", 415, NULL},
        {"Content-Type: application/json\r\nContent-Encoding: gzip\r\n", "{}", 415, NULL},
        {"Content-Type: application/json\r\n", NULL, 400, NULL},
        {"Content-Type: application/json\r\n", "[1,\n}", 400,
         "{\"status\":400,\"title\":\"The body is not the JSON that is expected\",\"detail\":"
         "\"line 2, column 1: a value is expected\",\"line\":2,\"column\":1}"},
        {"Content-Type: application/json\r\n", "[1,2,3,4,5]", 413, NULL},
        {"Content-Type: application/json\r\n", "\"a text that is longer than forty bytes are\"",
         413, "{\"status\":413,\"title\":\"The body is too large\"}"},
    };
    struct mk_server *server = web_serve_one("POST", "/", echo, NULL);

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(cases); i++)
        web_is(web_ask(server, "POST", "/", cases[i].fields, cases[i].body), cases[i].status,
               cases[i].answer);
    mk_server_free(server);
}

static enum mk_verdict keep_tree(struct mk_request *r, void *arg)
{
    const struct mk_json_value *root;
    struct mk_str body;

    (void)arg;
    if (mk_request_json(r, NULL, &root, NULL) < 0)
        return mk_reply_error(r, 400, NULL);
    assert_int_equal(mk_request_body(r, 1 << 20, &body), 0); /* forgets nothing of the tree */
    return mk_reply_error(r, 403, NULL);
}

static struct mk_answer *ask_with_memory(const char *memory, const struct mk_question *q)
{
    struct mk_config *config = web_config();
    struct mk_server *server;
    struct mk_answer *answer;

    assert_int_equal(mk_config_set(config, "SERVER", "MaxMemory", memory, "test"), 0);
    assert_int_equal(mk_config_handle(config, "POST", "/", keep_tree, NULL), 0);
    server = web_serve(config);
    assert_int_equal(mk_server_ask_wait(server, q, &answer), 0);
    mk_server_free(server);
    return answer;
}

/* 20 KB of text are a tree of 1 MB. */
static void a_tree_counts_for_max_memory(void **state)
{
    static char text[20002];
    const struct mk_question q = {.size = sizeof(q),
                                  .method = MK_STR("POST"),
                                  .target = MK_STR("/"),
                                  .fields = MK_STR("Content-Type: application/json\r\n"),
                                  .body = {text, sizeof(text) - 1}};
    struct mk_answer *answer;

    (void)state;
    memset(text, ',', sizeof(text));
    for (size_t i = 1; i < sizeof(text); i += 2)
        text[i] = '1';
    text[0] = '[';
    text[sizeof(text) - 2] = ']';
    answer = ask_with_memory("500K", &q);
    assert_int_equal(answer->error, MK_E_NOMEM);
    mk_answer_free(answer);
    answer = ask_with_memory("5M", &q);
    assert_int_equal(answer->error, 0);
    assert_int_equal(answer->status, 403);
    mk_answer_free(answer);
}

/* RFC 9457 section 3, and RFC 9110 section 12.5.1. */
static void problems_are_for_who_accepts_them(void **state)
{
    static const struct {
        const char *accept;
        bool is_problem;
    } cases[] = {
        {"", true},
        {"Accept: */*\r\n", true},
        {"Accept: application/json\r\n", true},
        {"Accept: application/problem+json, text/html;q=0.5\r\n", true},
        {"Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n", false},
        {"Accept: text/html\r\n", false},
        {"Accept: image/png\r\n", false},
    };
    struct mk_server *server = web_serve_one("POST", "/", echo, NULL);

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(cases); i++) {
        struct mk_answer *got = web_ask(server, "POST", "/", cases[i].accept, "x");

        assert_int_equal(web_has_line(got, "Content-Type: application/problem+json"),
                         cases[i].is_problem);
        assert_true(web_has_line(got, "Vary: Accept"));
        web_is(got, 415, NULL);
    }
    mk_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_texts_are_read),
        cmocka_unit_test(wrong_texts_are_refused),
        cmocka_unit_test(a_name_twice_is_refused),
        cmocka_unit_test(a_fault_has_a_place),
        cmocka_unit_test(trees_have_bounds),
        cmocka_unit_test(tokens_have_a_room),
        cmocka_unit_test(a_piece_too_early_is_an_error),
        cmocka_unit_test(numbers_are_what_they_say),
        cmocka_unit_test(long_numbers_are_rounded_by_all_digits),
        cmocka_unit_test(members_are_found),
        cmocka_unit_test(failing_allocations_are_errors),
        cmocka_unit_test(bodies_are_read),
        cmocka_unit_test(a_tree_counts_for_max_memory),
        cmocka_unit_test(problems_are_for_who_accepts_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
