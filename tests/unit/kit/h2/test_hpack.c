/* SPDX-License-Identifier: Apache-2.0 */
#include "../../http/guard.h"

#include "failing.h"
#include "hpack_int.h"

/* Each block ends at an inaccessible page. A text of fields has a line "name: value" for each. */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { BLOCK_MAX = 4096, FIELDS_MAX = 8192 };

static char room[HPACK_FIELD_MAX];

static size_t from_hex(uint8_t *dst, const char *hex)
{
    size_t len = 0;
    unsigned byte;

    for (; *hex; hex += 2) {
        assert_int_equal(sscanf(hex, "%2x", &byte), 1);
        dst[len++] = (uint8_t)byte;
    }
    return len;
}

static size_t add_line(char *text, size_t at, const struct hpack_field *f)
{
    int len = snprintf(text + at, FIELDS_MAX - at, "%.*s: %.*s\n", (int)f->name.len, f->name.p,
                       (int)f->value.len, f->value.p);

    assert_true(len > 0 && (size_t)len < FIELDS_MAX - at);
    return at + (size_t)len;
}

static void check_field(const struct hpack_field *f)
{
    assert_true(f->id <= HPACK_STATIC);
    if (f->id) {
        assert_int_equal(hpack_statics[f->id].first, f->id);
        assert_int_equal(hpack_static_find(f->name), f->id);
    }
}

/* @return 0, or the error of the first field that has one; MK_E_AGAIN: the block is not all there. */
static int decode(struct hpack_decoder *d, const struct guard *g, const uint8_t *bytes, size_t len,
                  char *text)
{
    const uint8_t *at = (const uint8_t *)guard_put(g, bytes, len), *const end = at + len;
    size_t out = 0;

    hpack_decoder_begin(d);
    text[0] = '\0';
    while (at < end) {
        struct hpack_field f;
        ssize_t n = hpack_decode(d, at, (size_t)(end - at), room, &f);

        if (n <= 0)
            return n < 0 ? (int)n : MK_E_AGAIN;
        assert_true(n <= end - at);
        at += n;
        if (!f.name.p)
            continue;
        check_field(&f);
        out = add_line(text, out, &f);
    }
    return 0;
}

static void check_table(const struct hpack_table *t)
{
    size_t size = 0;

    for (unsigned age = 1; age <= t->count; age++) {
        struct hpack_field f;

        hpack_table_read(t, hpack_table_at(t, age), &f);
        size += hpack_field_size(&f);
    }
    assert_int_equal(t->size, size);
    assert_true(size <= t->max);
    assert_true(hpack_table_held(t) <= HPACK_TABLE_SIZE + 128 * sizeof(struct hpack_entry));
}

/* ---- RFC 7541 appendix C ---- */

#define REQUEST_1 ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n"
#define REQUEST_2 REQUEST_1 "cache-control: no-cache\n"
#define REQUEST_3                                                                                  \
    ":method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\n"              \
    "custom-key: custom-value\n"
#define RESPONSE(status, second)                                                                   \
    ":status: " status "\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:" second            \
    " GMT\nlocation: https://www.example.com\n"
#define RESPONSE_3                                                                                 \
    RESPONSE("200", "22")                                                                          \
    "content-encoding: gzip\nset-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; "          \
    "version=1\n"

static const struct example {
    const char *section;
    uint32_t max; /* of the table */
    struct {
        const char *hex, *fields;
        uint32_t size; /* of the table then */
    } blocks[3];
} examples[] = {
    {"C.2.1",
     4096,
     {{"400a637573746f6d2d6b65790d637573746f6d2d686561646572", "custom-key: custom-header\n", 55}}},
    {"C.2.2", 4096, {{"040c2f73616d706c652f70617468", ":path: /sample/path\n", 0}}},
    {"C.2.3", 4096, {{"100870617373776f726406736563726574", "password: secret\n", 0}}},
    {"C.2.4", 4096, {{"82", ":method: GET\n", 0}}},
    {"C.3",
     4096,
     {{"828684410f7777772e6578616d706c652e636f6d", REQUEST_1, 57},
      {"828684be58086e6f2d6361636865", REQUEST_2, 110},
      {"828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565", REQUEST_3, 164}}},
    {"C.4",
     4096,
     {{"828684418cf1e3c2e5f23a6ba0ab90f4ff", REQUEST_1, 57},
      {"828684be5886a8eb10649cbf", REQUEST_2, 110},
      {"828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf", REQUEST_3, 164}}},
    {"C.5",
     256,
     {{"4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d54"
       "6e1768747470733a2f2f7777772e6578616d706c652e636f6d",
       RESPONSE("302", "21"), 222},
      {"4803333037c1c0bf", RESPONSE("307", "21"), 222},
      {"88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f"
       "3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076"
       "657273696f6e3d31",
       RESPONSE_3, 215}}},
    {"C.6",
     256,
     {{"488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f"
       "0b97c8e9ae82ae43d3",
       RESPONSE("302", "21"), 222},
      {"4883640effc1c0bf", RESPONSE("307", "21"), 222},
      {"88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335df"
       "dfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
       RESPONSE_3, 215}}},
};

static void test_examples_of_the_rfc_are_decoded(void **state)
{
    struct guard g = guard_open(BLOCK_MAX);
    char text[FIELDS_MAX];

    (void)state;
    for (size_t i = 0; i < COUNT(examples); i++) {
        struct hpack_decoder d;

        hpack_decoder_init(&d);
        d.table.max = examples[i].max;
        for (size_t k = 0; k < 3 && examples[i].blocks[k].hex; k++) {
            uint8_t block[BLOCK_MAX];
            size_t len = from_hex(block, examples[i].blocks[k].hex);

            assert_int_equal(decode(&d, &g, block, len, text), 0);
            assert_string_equal(text, examples[i].blocks[k].fields);
            assert_int_equal(d.table.size, examples[i].blocks[k].size);
            check_table(&d.table);
        }
        hpack_decoder_fini(&d);
    }
    guard_close(&g);
}

/* Append the fields of a text to a block. */
static uint8_t *encode(struct hpack_encoder *e, uint8_t *dst, const char *fields)
{
    dst = hpack_encode_begin(e, dst);
    while (*fields) {
        const char *colon = strchr(fields + 1, ':'), *line = strchr(fields, '\n');
        const struct mk_str name = {fields, (size_t)(colon - fields)};
        const struct mk_str value = {colon + 2, (size_t)(line - colon) - 2};
        const uint8_t *begin = dst;

        dst = hpack_encode(e, dst, name, value);
        assert_true((size_t)(dst - begin) <= hpack_encoded_max(name.len, value.len));
        fields = line + 1;
    }
    return dst;
}

static void test_fields_of_the_examples_are_encoded(void **state)
{
    struct guard g = guard_open(BLOCK_MAX);
    char text[FIELDS_MAX];

    (void)state;
    for (size_t i = 0; i < COUNT(examples); i++) {
        struct hpack_encoder e;
        struct hpack_decoder d;

        hpack_encoder_init(&e);
        hpack_decoder_init(&d);
        hpack_encoder_resize(&e, examples[i].max);
        for (size_t k = 0; k < 3 && examples[i].blocks[k].hex; k++) {
            uint8_t block[BLOCK_MAX];
            size_t len = (size_t)(encode(&e, block, examples[i].blocks[k].fields) - block);

            assert_int_equal(decode(&d, &g, block, len, text), 0);
            assert_string_equal(text, examples[i].blocks[k].fields);
            assert_int_equal(d.table.size, e.table.size);
            check_table(&e.table);
        }
        hpack_encoder_fini(&e);
        hpack_decoder_fini(&d);
    }
    guard_close(&g);
}

/* ---- decoding ---- */

static void test_blocks_that_are_wrong_are_refused(void **state)
{
    static const struct {
        const char *what, *hex;
        int result;
    } rows[] = {
        {"nothing", "", 0},
        {"index 0 (section 6.1)", "80", MK_E_BAD},
        {"an index that no table has (section 2.3.3)", "be", MK_E_BAD},
        {"an index far outside", "ffffff7f", MK_E_BAD},
        {"a name that no table has", "7e0161", MK_E_BAD},
        {"a name that no table has, not entered", "0f2f0161", MK_E_BAD},
        {"a name that no table has, before its value", "7e", MK_E_BAD},
        {"the last of the static table", "bd", 0},
        {"a number of five octets after the prefix (section 5.1)", "ff8080808000", MK_E_BAD},
        {"a number of four", "ff80808000", MK_E_BAD},
        {"zeros that lengthen a number", "3f808000", 0},
        {"a number above the largest", "00ffffffff7f", MK_E_BAD},
        {"a number without end", "ff80", MK_E_AGAIN},
        {"a name of the limit", "007f81ff03", MK_E_AGAIN},
        {"a name above the limit by one", "007f82ff0300", MK_E_LIMIT},
        {"a value of the limit", "0001617f81ff03", MK_E_AGAIN},
        {"a value above the limit by one", "0001617f82ff0300", MK_E_LIMIT},
        {"a name with bad padding (section 5.2)", "00811e00", MK_E_BAD},
        {"a value with EOS", "00016184ffffffff", MK_E_BAD},
        {"bad padding in what is not all there", "00821e", MK_E_AGAIN},
        {"no name", "00", MK_E_AGAIN},
        {"half a name", "000261", MK_E_AGAIN},
        {"no value", "000161", MK_E_AGAIN},
        {"half a value", "0001610262", MK_E_AGAIN},
        {"empty texts", "400000", 0},
        {"one size (section 4.2)", "2082", 0},
        {"two sizes", "203fe11f82", 0},
        {"three sizes", "20202082", MK_E_BAD},
        {"a size after a field", "8220", MK_E_BAD},
        {"half a size", "3fe1", MK_E_AGAIN},
        {"the largest size (section 6.3)", "3fe11f", 0},
        {"a size above it", "3fe21f", MK_E_BAD},
    };
    struct guard g = guard_open(BLOCK_MAX);
    char text[FIELDS_MAX];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hpack_decoder d;
        uint8_t block[BLOCK_MAX];
        size_t len = from_hex(block, rows[i].hex);
        int result;

        hpack_decoder_init(&d);
        result = decode(&d, &g, block, len, text);
        if (result != rows[i].result)
            fail_msg("%s: %d", rows[i].what, result);
        hpack_decoder_fini(&d);
    }
    guard_close(&g);
}

/* A field with all of its bytes, after each of its beginnings was refused without a trace. */
static ssize_t decode_at_last(struct hpack_decoder *d, const struct guard *g, const uint8_t *bytes,
                              size_t len, struct hpack_field *f)
{
    const uint32_t inserted = d->table.inserted, size = d->table.size;

    for (size_t have = 0; have <= len; have++) {
        ssize_t n = hpack_decode(d, (uint8_t *)guard_put(g, bytes, have), have, room, f);

        if (n != 0)
            return n;
        assert_int_equal(d->table.inserted, inserted);
        assert_int_equal(d->table.size, size);
    }
    return 0;
}

static void test_blocks_may_be_split_anywhere(void **state)
{
    struct guard g = guard_open(BLOCK_MAX);

    (void)state;
    for (size_t i = 0; i < COUNT(examples); i++) {
        struct hpack_decoder d;

        hpack_decoder_init(&d);
        d.table.max = examples[i].max;
        for (size_t k = 0; k < 3 && examples[i].blocks[k].hex; k++) {
            uint8_t block[BLOCK_MAX];
            size_t len = from_hex(block, examples[i].blocks[k].hex), at = 0, out = 0;
            char text[FIELDS_MAX];

            hpack_decoder_begin(&d);
            while (at < len) {
                struct hpack_field f;
                ssize_t n = decode_at_last(&d, &g, block + at, len - at, &f);

                assert_true(n > 0);
                at += (size_t)n;
                out = add_line(text, out, &f);
            }
            assert_string_equal(text, examples[i].blocks[k].fields);
        }
        hpack_decoder_fini(&d);
    }
    guard_close(&g);
}

/* A literal of a name "a" and a value of so many bytes. */
static size_t put_large(uint8_t *block, size_t len)
{
    static const uint8_t begin[] = {0x00, 0x01, 'a', 0x7f};
    size_t rest = len - 0x7f, at = sizeof(begin);

    memcpy(block, begin, sizeof(begin));
    for (; rest >= 0x80; rest >>= 7)
        block[at++] = (uint8_t)(0x80 | rest);
    block[at++] = (uint8_t)rest;
    memset(block + at, 'v', len);
    return at + len;
}

static void test_a_field_is_as_large_as_the_limit(void **state)
{
    uint8_t *block = malloc(HPACK_FIELD_MAX + 16);
    struct hpack_decoder d;
    struct hpack_field f;
    size_t len;

    (void)state;
    assert_non_null(block);
    hpack_decoder_init(&d);
    len = put_large(block, HPACK_FIELD_MAX - 1);
    assert_int_equal(hpack_decode(&d, block, len, room, &f), len);
    assert_int_equal(f.value.len, HPACK_FIELD_MAX - 1);
    assert_int_equal(hpack_decode(&d, block, len - 1, room, &f), 0);
    len = put_large(block, HPACK_FIELD_MAX);
    assert_int_equal(hpack_decode(&d, block, len, room, &f), MK_E_LIMIT);
    hpack_decoder_fini(&d);
    free(block);
}

static void test_texts_are_borrowed_where_they_are(void **state)
{
    static const uint8_t block[] = "\x40\x01n\x01v\xbe\x82\x0f\x2f\x81\x1f";
    struct hpack_decoder d;
    struct hpack_field f;

    (void)state;
    hpack_decoder_init(&d);
    assert_int_equal(hpack_decode(&d, block, 11, room, &f), 5);
    assert_ptr_equal(f.name.p, block + 2);
    assert_ptr_equal(f.value.p, block + 4);
    assert_int_equal(hpack_decode(&d, block + 5, 6, room, &f), 1);
    assert_ptr_equal(f.name.p, d.table.text);
    assert_ptr_equal(f.value.p, d.table.text + 1);
    assert_int_equal(hpack_decode(&d, block + 6, 5, room, &f), 1);
    assert_ptr_equal(f.name.p, hpack_static_name(2).p);
    assert_int_equal(f.id, 2);
    assert_int_equal(hpack_decode(&d, block + 7, 4, room, &f), 4);
    assert_ptr_equal(f.name.p, d.table.text);
    assert_ptr_equal(f.value.p, room + f.name.len);
    assert_int_equal(f.value.len, 1);
    hpack_decoder_fini(&d);
}

/* RFC 7541 section 4.4. */
static void test_an_entry_may_drive_out_the_one_that_has_its_name(void **state)
{
    struct guard g = guard_open(BLOCK_MAX);
    struct hpack_decoder d;
    uint8_t block[BLOCK_MAX];
    char text[FIELDS_MAX];

    (void)state;
    hpack_decoder_init(&d);
    /* of 64 bytes a table of 40 has room for one entry */
    assert_int_equal(decode(&d, &g, block,
                            from_hex(block, "3f2140036162630578787878787e0579797979"
                                            "79be"),
                            text),
                     0);
    assert_string_equal(text, "abc: xxxxx\nabc: yyyyy\nabc: yyyyy\n");
    assert_int_equal(d.table.count, 1);
    check_table(&d.table);
    hpack_decoder_fini(&d);
    guard_close(&g);
}

/* RFC 7541 sections 4.3 and 4.4. */
static void test_entries_are_evicted(void **state)
{
    static const struct {
        const char *what, *hex;
        unsigned count;
        uint32_t size;
    } rows[] = {
        {"three of 34 bytes", "400161016140016201624001630163", 3, 102},
        {"the same size again", "3fe11f", 3, 102},
        {"a size for two", "3f26", 2, 68},
        {"a third", "4001640164", 2, 68},
        {"larger than the table",
         "400165"
         "28656565656565656565656565656565656565656565656565656565656565"
         "65656565656565656565",
         0, 0},
        {"one", "4001660166", 1, 34},
        {"no room", "20", 0, 0},
        {"one that no table has room for", "4001660166", 0, 0},
    };
    struct guard g = guard_open(BLOCK_MAX);
    struct hpack_decoder d;
    uint8_t block[BLOCK_MAX];
    char text[FIELDS_MAX];

    (void)state;
    hpack_decoder_init(&d);
    assert_int_equal(hpack_table_held(&d.table), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (decode(&d, &g, block, from_hex(block, rows[i].hex), text) != 0)
            fail_msg("%s", rows[i].what);
        assert_int_equal(d.table.count, rows[i].count);
        assert_int_equal(d.table.size, rows[i].size);
        check_table(&d.table);
    }
    hpack_decoder_fini(&d);
    guard_close(&g);
}

static void test_a_table_without_memory_ends_the_connection(void **state)
{
    static const uint8_t block[] = "\x40\x01n\x01v";
    struct hpack_decoder d;
    struct hpack_field f;

    (void)state;
    for (int n = 1; n <= 2; n++) {
        hpack_decoder_init(&d);
        fails_in = n;
        assert_int_equal(hpack_decode(&d, block, 5, room, &f), MK_E_NOMEM);
        assert_int_equal(fails_in, 0);
        assert_int_equal(hpack_decode(&d, block, 5, room, &f), 5);
        check_table(&d.table);
        hpack_decoder_fini(&d);
    }
}

/* ---- the static table ---- */

static void test_names_of_the_static_table_are_found_in_any_case(void **state)
{
    (void)state;
    for (unsigned id = 1; id <= HPACK_STATIC; id++) {
        const struct mk_str name = hpack_static_name(id);
        char other[64];

        assert_int_equal(hpack_static_find(name), hpack_statics[id].first);
        assert_int_equal(hpack_static_match(hpack_statics[id].first, hpack_static_value(id)), id);
        for (size_t i = 0; i < name.len; i++) {
            memcpy(other, name.p, name.len);
            if (other[i] >= 'a' && other[i] <= 'z')
                other[i] = (char)(other[i] - 'a' + 'A');
            assert_int_equal(hpack_static_find((struct mk_str){other, name.len}),
                             hpack_statics[id].first);
            other[i] ^= 1;
            assert_int_equal(hpack_static_find((struct mk_str){other, name.len}), 0);
        }
        assert_int_equal(hpack_static_find((struct mk_str){name.p, name.len - 1}), 0);
    }
    assert_int_equal(hpack_static_find(MK_STR("")), 0);
    assert_int_equal(hpack_static_find(MK_STR("x-powered-by")), 0);
}

/* ---- encoding ---- */

struct pair {
    struct hpack_encoder e;
    struct hpack_decoder d;
    struct guard g;
};

static void open_pair(struct pair *p)
{
    hpack_encoder_init(&p->e);
    hpack_decoder_init(&p->d);
    p->g = guard_open(2 * BLOCK_MAX);
}

static void close_pair(struct pair *p)
{
    hpack_encoder_fini(&p->e);
    hpack_decoder_fini(&p->d);
    guard_close(&p->g);
}

/* Fields come back, in lower case, and both tables are the same. @return the first byte of the block. */
static unsigned pass(struct pair *p, const char *fields, const char *lower)
{
    uint8_t block[2 * BLOCK_MAX];
    size_t len = (size_t)(encode(&p->e, block, fields) - block);
    char text[FIELDS_MAX];

    assert_int_equal(decode(&p->d, &p->g, block, len, text), 0);
    assert_string_equal(text, lower);
    assert_int_equal(p->d.table.size, p->e.table.size);
    assert_int_equal(p->d.table.count, p->e.table.count);
    check_table(&p->e.table);
    check_table(&p->d.table);
    return len > 0 ? block[0] : 0;
}

static void test_fields_are_entered_where_they_may_come_again(void **state)
{
    static const struct {
        const char *field;
        unsigned first[3]; /* byte of the block: once, again, and once more */
    } rows[] = {
        {":method: GET\n", {0x82, 0x82, 0x82}},
        {":path: /\n", {0x84, 0x84, 0x84}},
        {":path: /a\n", {0x04, 0x04, 0x04}},
        {"server: x\n", {0x76, 0xbe, 0xbe}},
        {"date: Mon, 21 Oct 2013 20:13:21 GMT\n", {0x61, 0xbe, 0xbe}},
        {"content-length: 123456789\n", {0x0f, 0x0f, 0x0f}},
        {"etag: \"abcdef\"\n", {0x0f, 0x62, 0xbe}},
        {"last-modified: Mon, 21 Oct 2013 20:13:21 GMT\n", {0x0f, 0x6c, 0xbe}},
        {"x-own: 1\n", {0x40, 0xbe, 0xbe}},
        {"accept-charset: \n", {0x8f, 0x8f, 0x8f}},
        /* RFC 7541 section 7.1.3 */
        {"authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\n", {0x1f, 0x1f, 0x1f}},
        {"proxy-authorization: Basic QWxhZGRpbjpvcGVu\n", {0x1f, 0x1f, 0x1f}},
        {"cookie: 1234567890123456789\n", {0x1f, 0x1f, 0x1f}},
        {"cookie: 12345678901234567890\n", {0x60, 0xbe, 0xbe}},
        {"set-cookie: 1234567890123456789\n", {0x1f, 0x1f, 0x1f}},
        {"set-cookie: 12345678901234567890\n", {0x0f, 0x0f, 0x0f}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct pair p;

        open_pair(&p);
        for (unsigned n = 0; n < 3; n++) {
            unsigned first = pass(&p, rows[i].field, rows[i].field);

            if (first != rows[i].first[n])
                fail_msg("%s: 0x%x at %u", rows[i].field, first, n);
        }
        close_pair(&p);
    }
}

static void test_a_value_that_changes_each_time_is_not_entered(void **state)
{
    struct pair p;

    (void)state;
    open_pair(&p);
    assert_int_equal(pass(&p, "x-id: 1\n", "x-id: 1\n"), 0x40);
    assert_int_equal(pass(&p, "x-id: 2\n", "x-id: 2\n"), 0x0f);
    assert_int_equal(pass(&p, "x-id: 3\n", "x-id: 3\n"), 0x0f);
    assert_int_equal(pass(&p, "x-id: 3\n", "x-id: 3\n"), 0x7e);
    assert_int_equal(pass(&p, "x-id: 3\n", "x-id: 3\n"), 0xbe);
    assert_int_equal(pass(&p, "x-id: 1\n", "x-id: 1\n"), 0xbf);
    close_pair(&p);
}

/* A line is taken if it is what its place had, whole and in the form that the server writes. */
static void test_lines_of_the_last_block_are_known(void **state)
{
    static const struct {
        const char *line;
        bool is_known;
    } rows[] = {
        {"Server: a server\r\n", true},
        {"SERVER: a server\r\nDate: x\r\n", true},
        {"Server: a server\r", false},
        {"Server: a server", false},
        {"Server: a Server\r\n", false},
        {"Server: a server;\r\n", false},
        {"Server:a server\r\nxxxx", false},
        {"Serves: a server\r\n", false},
        {"Server\x1a a server\r\n", false},
        {"Server: a server\n\n", false},
        {"", false},
    };
    uint8_t block[256];
    struct hpack_encoder e;

    (void)state;
    hpack_encoder_init(&e);
    (void)hpack_encode(&e, hpack_encode_begin(&e, block), MK_STR("server"), MK_STR("a server"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_str lines = mk_str_from(rows[i].line);
        uint8_t *end;

        (void)hpack_encode_begin(&e, block);
        end = hpack_encode_line(&e, block, &lines);
        if ((end != NULL) != rows[i].is_known)
            fail_msg("%s", rows[i].line);
        assert_true(!end || (end == block + 1 && block[0] == (0x80 | 62)));
        assert_int_equal(strlen(rows[i].line) - lines.len,
                         end ? strlen("Server: a server\r\n") : 0);
    }
    hpack_encoder_fini(&e);
}

static void test_a_field_is_found_at_another_place_too(void **state)
{
    struct pair p;

    (void)state;
    open_pair(&p);
    pass(&p, "server: x\nvia: y\nx-a: b\n", "server: x\nvia: y\nx-a: b\n");
    assert_int_equal(pass(&p, "x-a: b\nserver: x\n", "x-a: b\nserver: x\n"), 0xbe);
    assert_int_equal(pass(&p, "via: y\nX-A: b\n", "via: y\nx-a: b\n"), 0xbf);
    assert_int_equal(pass(&p, "VIA: y\nvia: z\n", "via: y\nvia: z\n"), 0xbf);
    assert_int_equal(p.e.table.count, 4);
    close_pair(&p);
}

static void test_names_are_written_in_lower_case(void **state)
{
    char name[300], fields[400], lower[400];
    struct pair p;

    (void)state;
    open_pair(&p);
    pass(&p, "Content-TYPE: A/B\nX-Own^~`: C\n", "content-type: A/B\nx-own^~`: C\n");
    pass(&p, "X-OWN~~`: C\nX-Own^^`: C\n", "x-own~~`: C\nx-own^^`: C\n");
    for (size_t len = 1; len < sizeof(name); len++) {
        memset(name, 'N', len);
        snprintf(fields, sizeof(fields), "%.*s: V\n", (int)len, name);
        memset(name, 'n', len);
        snprintf(lower, sizeof(lower), "%.*s: V\n", (int)len, name);
        pass(&p, fields, lower);
    }
    close_pair(&p);
}

static void test_a_large_field_drives_out_no_others(void **state)
{
    static const struct {
        int len; /* of a value whose name has one byte */
        unsigned first;
    } rows[] = {{3072 - 33, 0x40}, {3072 - 32, 0x00}, {3900, 0x00}};
    static char value[3900], fields[4000];

    (void)state;
    memset(value, '&', sizeof(value)); /* its code is no shorter */
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct pair p;

        open_pair(&p);
        snprintf(fields, sizeof(fields), "n: %.*s\n", rows[i].len, value);
        assert_int_equal(pass(&p, fields, fields), rows[i].first);
        close_pair(&p);
    }
}

static void test_lengths_of_codes_take_one_byte_or_more(void **state)
{
    static char value[3000], fields[3100];
    struct pair p;

    (void)state;
    open_pair(&p);
    for (int c = 0; c < 3; c++) {
        memset(value, "0A&"[c], sizeof(value)); /* 5, 6, 8 bits */
        for (int len = 1; len < 400; len++) {
            snprintf(fields, sizeof(fields), "location: %.*s\n", len, value);
            pass(&p, fields, fields);
        }
    }
    close_pair(&p);
}

static void test_all_statuses_are_encoded(void **state)
{
    struct pair p;

    (void)state;
    open_pair(&p);
    for (unsigned status = 100; status <= 999; status++) {
        uint8_t block[8];
        const uint8_t *end = hpack_encode_status(&p.e, block, status);
        char text[FIELDS_MAX], expected[32];

        snprintf(expected, sizeof(expected), ":status: %u\n", status);
        assert_int_equal(decode(&p.d, &p.g, block, (size_t)(end - block), text), 0);
        assert_string_equal(text, expected);
    }
    assert_int_equal(hpack_table_held(&p.e.table) + hpack_table_held(&p.d.table), 0);
    close_pair(&p);
}

/* RFC 7541 section 4.2. */
static void test_changes_of_the_size_are_said_once(void **state)
{
    static const struct {
        const char *what;
        uint32_t sizes[3];
        const char *hex;
    } rows[] = {
        {"the same", {4096, 4096, 4096}, ""},
        {"more than is used", {65536, 65536, 65536}, ""},
        {"less", {100, 100, 100}, "3f45"},
        {"the same as now", {100, 100, 100}, ""},
        {"none, then more", {0, 300, 200}, "203fa901"},
        {"more", {300, 300, 4096}, "3fe11f"},
        {"less, and back", {4000, 50, 4096}, "3f133fe11f"},
    };
    struct pair p;

    (void)state;
    open_pair(&p);
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t block[64], expected[64];
        size_t len = from_hex(expected, rows[i].hex);
        char text[FIELDS_MAX];

        pass(&p, "server: x\nvia: y\n", "server: x\nvia: y\n");
        for (unsigned n = 0; n < 3; n++)
            hpack_encoder_resize(&p.e, rows[i].sizes[n]);
        if ((size_t)(hpack_encode_begin(&p.e, block) - block) != len ||
            memcmp(block, expected, len) != 0)
            fail_msg("%s", rows[i].what);
        assert_int_equal(decode(&p.d, &p.g, block, len, text), 0);
        assert_int_equal(p.d.table.max, p.e.table.max);
        assert_int_equal(p.d.table.size, p.e.table.size);
    }
    close_pair(&p);
}

static void test_an_encoder_without_memory_goes_on(void **state)
{
    for (int n = 1; n <= 12; n++) {
        struct pair p;

        (void)state;
        open_pair(&p);
        for (int i = 0; i < 60; i++) {
            char fields[200];
            uint8_t block[BLOCK_MAX];
            char text[FIELDS_MAX];
            size_t len;

            snprintf(fields, sizeof(fields), "x-%d: %0*d\nserver: %d\n", i, i, i, i);
            fails_in = i < 3 || n > 3 ? n : 0;
            len = (size_t)(encode(&p.e, block, fields) - block);
            fails_in = 0;
            assert_int_equal(decode(&p.d, &p.g, block, len, text), 0);
            assert_string_equal(text, fields);
            assert_int_equal(p.d.table.size, p.e.table.size);
            check_table(&p.e.table);
        }
        close_pair(&p);
    }
}

/* ---- both ---- */

static size_t add_random_field(char *text, size_t at)
{
    static const char *const names[] = {
        "server", "date",          "etag",           "cookie", "x-a",  "x-bb",
        "link",   "authorization", "content-length", ":path",  "vary", "x-c-d"};
    char value[400];
    size_t len = (size_t)(rand() % 8 ? rand() % 12 : rand() % (int)sizeof(value));
    const char c = (char)(' ' + rand() % 90);

    for (size_t i = 0; i < len; i++)
        value[i] = (char)(rand() % 2 ? c : '!' + rand() % 3);
    if (rand() % 2 == 0)
        len = len < 2 ? len : 2; /* comes again */
    return at + (size_t)sprintf(text + at, "%s: %.*s\n", names[(size_t)rand() % COUNT(names)],
                                (int)len, value);
}

static void test_random_blocks_come_back(void **state)
{
    struct pair p;
    uint32_t inserted;

    (void)state;
    srand(7541);
    open_pair(&p);
    for (int i = 0; i < 10000; i++) {
        char fields[FIELDS_MAX] = "";
        size_t len = 0;

        for (int n = rand() % 9; n > 0; n--)
            len = add_random_field(fields, len);
        for (int n = rand() % 40 ? 0 : rand() % 4; n > 0; n--)
            hpack_encoder_resize(&p.e, (uint32_t)(rand() % 2 ? rand() % 5000 : 4096));
        pass(&p, fields, fields);
    }
    inserted = p.e.table.inserted;
    assert_true(inserted > 5000);
    assert_int_equal(p.d.table.inserted, inserted);
    close_pair(&p);
}

static void test_tables_are_bounded(void **state)
{
    struct pair p;

    (void)state;
    open_pair(&p);
    assert_int_equal(hpack_table_held(&p.e.table), 0);
    for (int i = 0; i < 1000; i++) { /* the most entries, and the longest texts */
        uint8_t block[BLOCK_MAX];
        uint8_t bytes[] = {0x40, 1, (uint8_t)i, 0, 0x40, 0, 1, (uint8_t)i};
        static char large[3000];
        struct hpack_field f;

        assert_int_equal(hpack_decode(&p.d, bytes, 4, room, &f), 4);
        assert_int_equal(hpack_decode(&p.d, bytes + 4, 4, room, &f), 4);
        memset(large, '&', sizeof(large));
        memcpy(large, &i, sizeof(i));
        hpack_encode_begin(&p.e, block);
        hpack_encode(&p.e, block, MK_STR("via"), (struct mk_str){large, 1000U + (unsigned)i});
        check_table(&p.d.table);
        check_table(&p.e.table);
    }
    assert_int_equal(p.d.table.count, 4096 / 33);
    assert_in_range(hpack_table_held(&p.d.table) + hpack_table_held(&p.e.table), 4096, 2 * 5632);
    close_pair(&p);
}

/* What two fields of a block are remembered by may be alike in parts: both enter the table when they come again. */
static void test_fields_that_come_again_enter_the_table(void **state)
{
    uint8_t block[256];

    (void)state;
    for (unsigned seed = 0; seed < 500; seed++) {
        struct hpack_encoder e;
        char tag[32], date[40];
        uint8_t *end = block;

        (void)snprintf(tag, sizeof(tag), "\"%08x-d\"", seed * 2654435761U);
        (void)snprintf(date, sizeof(date), "Sat, 28 Nov 2026 17:%02u:%02u GMT", seed / 60 % 60,
                       seed % 60);
        hpack_encoder_init(&e);
        for (int i = 0; i < 3; i++) {
            end = hpack_encode_begin(&e, block);
            end = hpack_encode(&e, end, MK_STR("etag"), mk_str_from(tag));
            end = hpack_encode(&e, end, MK_STR("last-modified"), mk_str_from(date));
        }
        if (end != block + 2)
            fail_msg("%s and %s take %td bytes", tag, date, end - block);
        hpack_encoder_fini(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_of_the_rfc_are_decoded),
        cmocka_unit_test(test_fields_of_the_examples_are_encoded),
        cmocka_unit_test(test_blocks_that_are_wrong_are_refused),
        cmocka_unit_test(test_blocks_may_be_split_anywhere),
        cmocka_unit_test(test_a_field_is_as_large_as_the_limit),
        cmocka_unit_test(test_texts_are_borrowed_where_they_are),
        cmocka_unit_test(test_an_entry_may_drive_out_the_one_that_has_its_name),
        cmocka_unit_test(test_entries_are_evicted),
        cmocka_unit_test(test_a_table_without_memory_ends_the_connection),
        cmocka_unit_test(test_names_of_the_static_table_are_found_in_any_case),
        cmocka_unit_test(test_fields_are_entered_where_they_may_come_again),
        cmocka_unit_test(test_a_value_that_changes_each_time_is_not_entered),
        cmocka_unit_test(test_lines_of_the_last_block_are_known),
        cmocka_unit_test(test_a_field_is_found_at_another_place_too),
        cmocka_unit_test(test_names_are_written_in_lower_case),
        cmocka_unit_test(test_a_large_field_drives_out_no_others),
        cmocka_unit_test(test_lengths_of_codes_take_one_byte_or_more),
        cmocka_unit_test(test_all_statuses_are_encoded),
        cmocka_unit_test(test_changes_of_the_size_are_said_once),
        cmocka_unit_test(test_an_encoder_without_memory_goes_on),
        cmocka_unit_test(test_random_blocks_come_back),
        cmocka_unit_test(test_tables_are_bounded),
        cmocka_unit_test(test_fields_that_come_again_enter_the_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
