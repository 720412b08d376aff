/* SPDX-License-Identifier: Apache-2.0 */
#include "data_test.h"
#include "failing_memory.h"

#include <monkey/redis.h>

/* What a client of Redis may be made of. None is connected. */

static const struct mk_redis_options usual = {.size = sizeof(usual),
                                              .url = "redis://user:secret@127.0.0.1:1/2"};

static int made(const struct mk_redis_options *options, const char **why)
{
    struct mk_redis *redis = NULL;
    const int err = mk_redis_new(&redis, options, why);

    assert_true((err == 0) == (redis != NULL));
    mk_redis_free(redis);
    return err;
}

static void options_have_bounds(void **state)
{
    static const struct {
        struct mk_redis_options more;
        int result;
    } rows[] = {
        {{.timeout_ms = 1}, 0},
        {{.timeout_ms = 3600000}, 0},
        {{.timeout_ms = 3600001}, MK_E_INVALID},
        {{.timeout_ms = (unsigned)-1}, MK_E_INVALID},
        {{.connections = 16}, 0},
        {{.connections = 17}, MK_E_INVALID},
        {{.commands = 65536}, 0},
        {{.commands = 65537}, MK_E_INVALID},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct mk_redis_options o = rows[i].more;
        const char *why = NULL;

        o.size = usual.size;
        o.url = usual.url;
        assert_int_equal(made(&o, &why), rows[i].result);
        assert_int_equal(why != NULL, rows[i].result < 0);
    }
    assert_int_equal(made(NULL, NULL), MK_E_INVALID);
}

static int make_usual(void)
{
    return made(&usual, NULL);
}

static void missing_memory_is_no_invalid_option(void **state)
{
    (void)state;
    assert_true(allocations_of(make_usual) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_have_bounds),
        cmocka_unit_test(missing_memory_is_no_invalid_option),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
