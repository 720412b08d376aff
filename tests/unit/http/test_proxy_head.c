/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "guard.h"

#include "http/proxy_head.h"

/* Each header is read whole, in every beginning of it, and before an inaccessible page. */

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define V4_PREFIX "\0\0\0\0\0\0\0\0\0\0\xff\xff"
#define V4_ADDRESSES "\xc0\0\x02\x07\x7f\0\0\x01\x12\x34\0\x50"
#define V6_SOURCE "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"
#define BYTES(text) text, sizeof(text) - 1

struct row {
    const char *sentence, *bytes;
    size_t len;
    ssize_t result; /* MK_E_BAD, or bytes of the header */
    const char *ip; /* NULL: no source */
    uint16_t port;
};

static const struct row rows[] = {
    {"v1, TCP4", BYTES("PROXY TCP4 192.0.2.7 127.0.0.1 4660 80\r\n"), 40,
     V4_PREFIX "\xc0\0\x02\x07", 4660},
    {"v1, TCP6", BYTES("PROXY TCP6 2001:db8::1 ::1 1 65535\r\n"), 36, V6_SOURCE, 1},
    {"v1, bytes of the connection follow",
     BYTES("PROXY TCP4 192.0.2.7 127.0.0.1 4660 80\r\nGET / H"), 40, V4_PREFIX "\xc0\0\x02\x07",
     4660},
    {"v1, UNKNOWN", BYTES("PROXY UNKNOWN\r\n"), 15, NULL, 0},
    {"v1, UNKNOWN with what follows it", BYTES("PROXY UNKNOWN ffff::1 x y z\r\n"), 29, NULL, 0},
    {"v1, no family", BYTES("PROXY \r\n"), MK_E_BAD, NULL, 0},
    {"v1, another family", BYTES("PROXY UDP4 192.0.2.7 127.0.0.1 1 2\r\n"), MK_E_BAD, NULL, 0},
    {"v1, family too long", BYTES("PROXY TCP4TCP4TCP4 1.2.3.4 1.2.3.4 1 2\r\n"), MK_E_BAD, NULL, 0},
    {"v1, an address of the other family", BYTES("PROXY TCP4 2001:db8::1 ::1 1 2\r\n"), MK_E_BAD,
     NULL, 0},
    {"v1, an address that is none", BYTES("PROXY TCP4 192.0.2.256 127.0.0.1 1 2\r\n"), MK_E_BAD,
     NULL, 0},
    {"v1, an address that is too long",
     BYTES("PROXY TCP6 0000:0000:0000:0000:0000:0000:0000:0000:0000:0 ::1 1 2\r\n"), MK_E_BAD, NULL,
     0},
    {"v1, no ports", BYTES("PROXY TCP4 192.0.2.7 127.0.0.1\r\n"), MK_E_BAD, NULL, 0},
    {"v1, a port too large", BYTES("PROXY TCP4 192.0.2.7 127.0.0.1 65536 80\r\n"), MK_E_BAD, NULL,
     0},
    {"v1, a negative port", BYTES("PROXY TCP4 192.0.2.7 127.0.0.1 -1 80\r\n"), MK_E_BAD, NULL, 0},
    {"v1, one word too many", BYTES("PROXY TCP4 192.0.2.7 127.0.0.1 1 2 3\r\n"), MK_E_BAD, NULL, 0},
    {"v1, a bare LF", BYTES("PROXY TCP4 192.0.2.7 127.0.0.1 1 2\n"), MK_E_BAD, NULL, 0},
    {"v1, in lower case", BYTES("proxy TCP4 192.0.2.7 127.0.0.1 1 2\r\n"), MK_E_BAD, NULL, 0},
    {"v1, a NUL in an address", BYTES("PROXY TCP4 192.0.2.7\0 127.0.0.1 1 2\r\n"), MK_E_BAD, NULL,
     0},
    {"v1, a NUL behind the family", BYTES("PROXY TCP4\0 192.0.2.7 127.0.0.1 1 2\r\n"), MK_E_BAD,
     NULL, 0},
    {"v1, two spaces", BYTES("PROXY TCP4  192.0.2.7 127.0.0.1 1 2\r\n"), MK_E_BAD, NULL, 0},
    {"v1, a tab", BYTES("PROXY TCP4\t192.0.2.7 127.0.0.1 1 2\r\n"), MK_E_BAD, NULL, 0},
    {"v1, a space at the end", BYTES("PROXY TCP4 192.0.2.7 127.0.0.1 1 2 \r\n"), MK_E_BAD, NULL, 0},
    {"v1, a port with a zero before it", BYTES("PROXY TCP4 192.0.2.7 127.0.0.1 01 2\r\n"), MK_E_BAD,
     NULL, 0},
    {"v1, port 0", BYTES("PROXY TCP4 192.0.2.7 127.0.0.1 0 2\r\n"), 36, V4_PREFIX "\xc0\0\x02\x07",
     0},
    {"v2, TCP over IPv4", BYTES(SIGNATURE "\x21\x11\0\x0c" V4_ADDRESSES), 28,
     V4_PREFIX "\xc0\0\x02\x07", 0x1234},
    {"v2, with what may follow the addresses",
     BYTES(SIGNATURE "\x21\x11\0\x10" V4_ADDRESSES "\x04\0\x01x"
                     "GET"),
     32, V4_PREFIX "\xc0\0\x02\x07", 0x1234},
    {"v2, TCP over IPv6", BYTES(SIGNATURE "\x21\x21\0\x24" V6_SOURCE V6_SOURCE "\xff\xff\0\x50"),
     52, V6_SOURCE, 0xffff},
    {"v2, addresses cut off",
     BYTES(SIGNATURE "\x21\x11\0\x0b"
                     "\xc0\0\x02\x07\x7f\0\0\x01\x12\x34\0"),
     MK_E_BAD, NULL, 0},
    {"v2, IPv6 with room for IPv4", BYTES(SIGNATURE "\x21\x21\0\x0c" V4_ADDRESSES), MK_E_BAD, NULL,
     0},
    {"v2, LOCAL", BYTES(SIGNATURE "\x20\0\0\0"), 16, NULL, 0},
    {"v2, LOCAL with addresses that do not count", BYTES(SIGNATURE "\x20\x11\0\x0c" V4_ADDRESSES),
     28, NULL, 0},
    {"v2, UDP: the connection's own address counts", BYTES(SIGNATURE "\x21\x12\0\x0c" V4_ADDRESSES),
     28, NULL, 0},
    {"v2, another version", BYTES(SIGNATURE "\x31\x11\0\x0c" V4_ADDRESSES), MK_E_BAD, NULL, 0},
    {"v2, another command", BYTES(SIGNATURE "\x22\x11\0\x0c" V4_ADDRESSES), MK_E_BAD, NULL, 0},
    {"v2, longer than we skip", BYTES(SIGNATURE "\x21\x11\x08\x01"), MK_E_BAD, NULL, 0},
    {"v2, a signature that ends otherwise", BYTES("\r\n\r\n\0\r\nQUIT\r"), MK_E_BAD, NULL, 0},
    {"a request", BYTES("GET / HTTP/1.1\r\n"), MK_E_BAD, NULL, 0},
    {"a TLS record", BYTES("\x16\x03\x01\x02\0"), MK_E_BAD, NULL, 0},
};

static void assert_source(const struct row *row, const struct mk_proxy_head *h)
{
    if (h->has_source != (row->ip != NULL))
        fail_msg("%s: %s source", row->sentence, h->has_source ? "a" : "no");
    if (!row->ip)
        return;
    if (memcmp(h->source_ip, row->ip, sizeof(h->source_ip)) != 0 || h->source_port != row->port)
        fail_msg("%s: another source", row->sentence);
}

static void reads_headers(void **state)
{
    struct guard area = guard_open(256);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        struct mk_proxy_head h;
        ssize_t got = mk_proxy_head_parse(&h, guard_put(&area, row->bytes, row->len), row->len);

        if (got != row->result)
            fail_msg("%s: %zd", row->sentence, got);
        if (got > 0)
            assert_source(row, &h);
    }
    guard_close(&area);
}

/* The verdict on a beginning is "more" until it is final, and then stays. */
static void asks_for_more_until_it_knows(void **state)
{
    struct guard area = guard_open(256);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        ssize_t got = MK_E_AGAIN;

        for (size_t len = 0; len <= row->len; len++) {
            struct mk_proxy_head h;
            ssize_t next = mk_proxy_head_parse(&h, guard_put(&area, row->bytes, len), len);

            if (got != MK_E_AGAIN && next != got)
                fail_msg("%s: %zd after %zu bytes, then %zd", row->sentence, got, len - 1, next);
            got = next;
        }
        if (got != row->result)
            fail_msg("%s: %zd", row->sentence, got);
    }
    guard_close(&area);
}

static void a_line_without_an_end_is_refused(void **state)
{
    struct guard area = guard_open(256);
    struct mk_proxy_head h;
    char line[MK_PROXY_V1_MAX];

    (void)state;
    memset(line, ' ', sizeof(line));
    memcpy(line, "PROXY TCP4", 10);
    assert_int_equal(
        mk_proxy_head_parse(&h, guard_put(&area, line, sizeof(line) - 1), sizeof(line) - 1),
        MK_E_AGAIN);
    assert_int_equal(mk_proxy_head_parse(&h, guard_put(&area, line, sizeof(line)), sizeof(line)),
                     MK_E_BAD);
    guard_close(&area);
}

static void the_longest_header_is_read(void **state)
{
    enum { LEN = 16 + MK_LIMIT_PROXY_HEAD };
    struct guard area = guard_open(LEN);
    struct mk_proxy_head h;
    char header[LEN] = SIGNATURE "\x21\x11\x08\0" V4_ADDRESSES;

    (void)state;
    assert_int_equal(mk_proxy_head_parse(&h, guard_put(&area, header, LEN - 1), LEN - 1),
                     MK_E_AGAIN);
    assert_int_equal(mk_proxy_head_parse(&h, guard_put(&area, header, LEN), LEN), LEN);
    assert_true(h.has_source);
    guard_close(&area);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_headers),
        cmocka_unit_test(asks_for_more_until_it_knows),
        cmocka_unit_test(a_line_without_an_end_is_refused),
        cmocka_unit_test(the_longest_header_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
