/* SPDX-License-Identifier: Apache-2.0 */
#include "../../http/guard.h"

#include "hpack_int.h"

#include <stdlib.h>

/* Each block ends at an inaccessible page. A text of fields has a line "name: value" for each. */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { BLOCK_MAX = 4096, FIELDS_MAX = 8192 };

static char room[HPACK_FIELD_MAX];
static int fails_in; /* allocations; 0: none fails */

/* The linker's names. NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails_in > 0 && --fails_in == 0 ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails_in > 0 && --fails_in == 0 ? NULL : __real_realloc(old, size);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_of_the_rfc_are_decoded),
        cmocka_unit_test(test_fields_of_the_examples_are_encoded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
