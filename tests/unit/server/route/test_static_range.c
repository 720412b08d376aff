/* SPDX-License-Identifier: Apache-2.0 */
#include "heard.h"

#include "base/limits.h"

/* Parts of files (RFC 9110 section 14). Which ranges a field asks for is for test_range.c. */

enum { SIZE = 1000 };

static struct fixture fix;

static int set_up(void **state)
{
    (void)state;
    dir_make(fix.dir);
    file_write(fix.dir, "a.txt", NULL, SIZE);
    file_write(fix.dir, "empty.txt", NULL, 0);
    fixture_open(&fix, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_close(&fix);
    dir_remove(fix.dir);
    return 0;
}

static void a_range_gets_its_bytes(void **state)
{
    static const struct {
        const char *sentence, *target, *fields;
        unsigned status;
        const char *line; /* NULL: no Content-Range */
        size_t first, len;
    } rows[] = {
        {"the first byte", "/a.txt", "Range: bytes=0-0\r\n", 206,
         "Content-Range: bytes 0-0/1000\r\n", 0, 1},
        {"the last bytes", "/a.txt", "Range: bytes=-10\r\n", 206,
         "Content-Range: bytes 990-999/1000\r\n", 990, 10},
        {"more than there is", "/a.txt", "Range: bytes=500-5000\r\n", 206,
         "Content-Range: bytes 500-999/1000\r\n", 500, 500},
        {"another unit", "/a.txt", "Range: lines=0-0\r\n", 200, NULL, 0, SIZE},
        {"a version that is not there", "/a.txt", "Range: bytes=0-0\r\nIf-Range: \"x\"\r\n", 200,
         NULL, 0, SIZE},
        {"behind the end", "/a.txt", "Range: bytes=1000-\r\n", 416,
         "Content-Range: bytes */1000\r\n", 0, SIZE_MAX},
        {"of nothing", "/empty.txt", "Range: bytes=0-\r\n", 416, "Content-Range: bytes */0\r\n", 0,
         SIZE_MAX},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct heard h;

        heard_get(&fix, rows[i].target, rows[i].fields, &h);
        if (h.error != 0 || h.status != rows[i].status ||
            (rows[i].line ? !strstr(h.fields, rows[i].line)
                          : strstr(h.fields, "Content-Range") != NULL))
            fail_msg("%s: error %d, status %u\n%s", rows[i].sentence, h.error, h.status, h.fields);
        if (rows[i].len != SIZE_MAX)
            assert_int_equal(h.body_len, rows[i].len);
        for (size_t k = 0; rows[i].len != SIZE_MAX && k < h.body_len; k++)
            assert_int_equal(h.body[k], file_byte(rows[i].first + k));
        heard_free(&h);
    }
}

/* "bytes=0-0,10-10,..." */
static void ask_for(unsigned count, struct heard *h)
{
    char field[512] = "Range: bytes=";
    size_t len = strlen(field);

    for (unsigned i = 0; i < count; i++)
        len += (size_t)snprintf(field + len, sizeof(field) - len, "%s%u-%u", i ? "," : "", i * 10,
                                i * 10);
    (void)snprintf(field + len, sizeof(field) - len, "\r\n");
    heard_get(&fix, "/a.txt", field, h);
    assert_int_equal(h->error, 0);
}

static unsigned count_parts(const struct heard *h)
{
    unsigned count = 0;

    for (const char *at = h->body; (at = strstr(at, "Content-Range: bytes ")); at++)
        count++;
    return count;
}

static void several_ranges_are_parts(void **state)
{
    char expected[64];
    struct heard h;

    (void)state;
    ask_for(3, &h);
    assert_int_equal(h.status, 206);
    assert_non_null(strstr(h.fields, "Content-Type: multipart/byteranges; boundary="));
    assert_int_equal(count_parts(&h), 3);
    (void)snprintf(expected, sizeof(expected), "Content-Range: bytes 10-10/1000\r\n\r\n%c\r\n--",
                   file_byte(10));
    assert_non_null(strstr(h.body, expected));
    assert_memory_equal(h.body + h.body_len - 4, "--\r\n", 4);
    heard_free(&h);
}

/* Above the bound the whole file is cheaper than its parts. */
static void parts_are_bounded(void **state)
{
    struct heard h;

    (void)state;
    ask_for(MK_LIMIT_RANGES, &h);
    assert_int_equal(h.status, 206);
    assert_int_equal(count_parts(&h), MK_LIMIT_RANGES);
    heard_free(&h);
    ask_for(MK_LIMIT_RANGES + 1, &h);
    assert_int_equal(h.status, 200);
    assert_int_equal(h.body_len, SIZE);
    heard_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_gets_its_bytes),
        cmocka_unit_test(several_ranges_are_parts),
        cmocka_unit_test(parts_are_bounded),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
