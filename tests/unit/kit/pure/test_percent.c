/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/percent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define EXPECT(text, kept, wanted)                                                                 \
    do {                                                                                           \
        char got[200];                                                                             \
        size_t len = percent_encode(got, (struct mk_str){text, sizeof(text) - 1}, kept);           \
                                                                                                   \
        assert_int_equal(len, sizeof(wanted) - 1);                                                 \
        assert_memory_equal(got, wanted, len);                                                     \
    } while (0)

/* RFC 3986 section 2.3 */
static void unreserved_characters_stay(void **state)
{
    (void)state;
    EXPECT("azAZ09-._~", "", "azAZ09-._~");
    EXPECT("", "", "");
}

/* RFC 3986 section 2.1 */
static void others_become_three_bytes(void **state)
{
    (void)state;
    EXPECT("/?#[]@!$&'()*+,;=:", "", "%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%3A");
    EXPECT("%\r\n\0 \"\\\x7f\xff", "", "%25%0D%0A%00%20%22%5C%7F%FF");
}

/* RFC 3986 section 3.3 */
static void a_path_keeps_its_own(void **state)
{
    (void)state;
    EXPECT("/a:b@c!$&'()*+,;=d", PERCENT_PATH, "/a:b@c!$&'()*+,;=d");
    EXPECT("?#[]%\0", PERCENT_PATH, "%3F%23%5B%5D%25%00");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unreserved_characters_stay),
        cmocka_unit_test(others_become_three_bytes),
        cmocka_unit_test(a_path_keeps_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
