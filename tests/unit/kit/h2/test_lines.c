/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kit/h2/lines.h"

#include "failing.h"

#include <stdlib.h>

/* Field lines in blocks, on several connections that keep the last ones together: whoever decodes them gets the same fields. */

enum { CONNECTIONS = 3 };

static struct h2_kept kept;

static struct connection {
    struct h2_session session;
    struct hpack_decoder decoder;
    uint8_t block[4096];
    size_t len;
} connections[CONNECTIONS];

static void open_all(void)
{
    memset(&kept, 0, sizeof(kept));
    memset(connections, 0, sizeof(connections));
    for (int i = 0; i < CONNECTIONS; i++) {
        hpack_encoder_init(&connections[i].session.encoder);
        hpack_decoder_init(&connections[i].decoder);
        connections[i].session.kept = &kept;
    }
}

static void close_all(void)
{
    for (int i = 0; i < CONNECTIONS; i++) {
        hpack_encoder_fini(&connections[i].session.encoder);
        hpack_decoder_fini(&connections[i].decoder);
    }
}

static void encode(struct connection *c, const char *lines)
{
    struct h2_stream st = {.session = &c->session};
    struct h2_head h = {.stream = &st, .begin = c->block};

    h.at = hpack_encode_begin(&c->session.encoder, c->block);
    h2_head_status(&h, 200);
    h2_head_add_lines(&h, mk_str_from(lines));
    c->len = (size_t)(h.at - c->block);
}

/* As lines again, with names as they were written in lower case. */
static void decode(struct connection *c, char *to)
{
    static char room[HPACK_FIELD_MAX];
    size_t at = 0;

    hpack_decoder_begin(&c->decoder);
    while (at < c->len) {
        struct hpack_field f;
        ssize_t n = hpack_decode(&c->decoder, c->block + at, c->len - at, room, &f);

        assert_true(n > 0);
        at += (size_t)n;
        if (!f.name.p || f.name.p[0] == ':')
            continue;
        memcpy(to, f.name.p, f.name.len);
        memcpy(to + f.name.len, ": ", 2);
        memcpy(to + f.name.len + 2, f.value.p, f.value.len);
        to += f.name.len + 2 + f.value.len;
        memcpy(to, "\r\n", 2);
        to += 2;
    }
    *to = '\0';
}

static void pass(struct connection *c, const char *lines)
{
    char got[4096];

    encode(c, lines);
    decode(c, got);
    if (strcmp(got, lines) != 0)
        fail_msg("%s, and not %s", got, lines);
}

#define SITE "server: a server\r\naccept-ranges: bytes\r\n"
#define ONE SITE "etag: \"1\"\r\ncontent-length: 13\r\n"
#define TWO SITE "etag: \"2\"\r\ncontent-length: 1\r\n"

static void test_the_same_lines_are_the_same_bytes(void **state)
{
    uint8_t before[64];
    size_t len;

    (void)state;
    open_all();
    for (int i = 0; i < 4; i++)
        pass(&connections[0], ONE);
    assert_true(connections[0].session.encoder.code.len > 0);
    len = connections[0].len;
    memcpy(before, connections[0].block, len);
    pass(&connections[0], ONE);
    assert_int_equal(connections[0].len, len);
    assert_memory_equal(connections[0].block, before, len);
    close_all();
}

/* One is not the other, where their lengths are the same too. */
static void test_other_lines_are_not_taken_for_them(void **state)
{
    (void)state;
    open_all();
    for (int i = 0; i < 4; i++)
        pass(&connections[0], ONE);
    pass(&connections[1], ONE);
    pass(&connections[1], TWO);
    for (int i = 0; i < 4; i++)
        pass(&connections[1], SITE "etag: \"3\"\r\ncontent-length: 13\r\n");
    pass(&connections[0], ONE);
    close_all();
}

/* RFC 7541 section 4.2: the peer's table is empty then. */
static void test_a_table_that_shrinks(void **state)
{
    (void)state;
    open_all();
    for (int i = 0; i < 4; i++)
        pass(&connections[0], ONE);
    hpack_encoder_resize(&connections[0].session.encoder, 0);
    hpack_encoder_resize(&connections[0].session.encoder, 4096);
    pass(&connections[0], ONE);
    close_all();
}

static void test_lines_that_are_too_many(void **state)
{
    static char lines[H2_KEPT_MAX + 64] = SITE "x: ";

    (void)state;
    open_all();
    memset(lines + strlen(lines), 'x', H2_KEPT_MAX);
    memcpy(lines + H2_KEPT_MAX, "\r\n", 3);
    for (int i = 0; i < 4; i++)
        pass(&connections[0], lines);
    assert_int_equal(kept.number, 0);
    close_all();
}

/* Seeded */
static void test_any_order(void **state)
{
    static const char *const texts[] = {ONE,
                                        TWO,
                                        SITE,
                                        "",
                                        SITE "x: 1\r\n",
                                        SITE "x: 2\r\n",
                                        SITE "set-cookie: a=b\r\n",
                                        SITE "last-modified: Sat, 28 Nov 2026 18:21:51 GMT\r\n"};
    unsigned short seed[3] = {1, 2, 3};

    (void)state;
    open_all();
    for (int i = 0; i < 20000; i++) {
        struct connection *c = &connections[nrand48(seed) % CONNECTIONS];

        if (nrand48(seed) % 100 == 0)
            hpack_encoder_resize(&c->session.encoder, (uint32_t)(nrand48(seed) % 300));
        pass(c, texts[nrand48(seed) % (long)(sizeof(texts) / sizeof(texts[0]))]);
    }
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_lines_are_the_same_bytes),
        cmocka_unit_test(test_other_lines_are_not_taken_for_them),
        cmocka_unit_test(test_a_table_that_shrinks),
        cmocka_unit_test(test_lines_that_are_too_many),
        cmocka_unit_test(test_any_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
