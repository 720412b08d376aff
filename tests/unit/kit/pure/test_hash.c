/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Of the test suite of Fowler, Noll and Vo. */
static void texts_have_their_known_hashes(void **state)
{
    static const struct {
        const char *text;
        uint32_t of_32;
        uint64_t of_64;
    } rows[] = {
        {"", 0x811c9dc5, 0xcbf29ce484222325},
        {"a", 0xe40c292c, 0xaf63dc4c8601ec8c},
        {"foobar", 0xbf9cf968, 0x85944171f73967e8},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(hash_32(HASH_START_32, rows[i].text, strlen(rows[i].text)), rows[i].of_32);
        assert_true(hash_64(HASH_START_64, rows[i].text, strlen(rows[i].text)) == rows[i].of_64);
    }
}

static void pieces_hash_like_the_whole(void **state)
{
    static const char text[] = "\x80 bytes \xff of\0 any kind";
    const size_t len = sizeof(text) - 1;

    (void)state;
    for (size_t cut = 0; cut <= len; cut++) {
        assert_int_equal(hash_32(hash_32(HASH_START_32, text, cut), text + cut, len - cut),
                         hash_32(HASH_START_32, text, len));
        assert_true(hash_64(hash_64(HASH_START_64, text, cut), text + cut, len - cut) ==
                    hash_64(HASH_START_64, text, len));
    }
}

/* Of MurmurHash3: fmix32 and fmix64. */
static void finalizers_are_those_of_murmur(void **state)
{
    (void)state;
    assert_int_equal(hash_mix_32(0), 0);
    assert_int_equal(hash_mix_32(1), 0x514e28b7);
    assert_true(hash_mix_64(0) == 0);
    assert_true(hash_mix_64(1) == 0xb456bcfc34c2cb2c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_their_known_hashes),
        cmocka_unit_test(pieces_hash_like_the_whole),
        cmocka_unit_test(finalizers_are_those_of_murmur),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
