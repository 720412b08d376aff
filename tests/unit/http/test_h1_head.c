/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include "http/h1_head.h"

#include <stdlib.h>

/*
 * Every row runs whole, cut in two at each byte, and one byte at a time, each time at the edge
 * of an inaccessible page and at a new address for every call. The verdict and all values must
 * be the same.
 */

static struct guard areas[2];

static int open_areas(void **state)
{
    (void)state;
    areas[0] = guard_open(65536);
    areas[1] = guard_open(65536);
    return 0;
}

static int close_areas(void **state)
{
    (void)state;
    guard_close(&areas[0]);
    guard_close(&areas[1]);
    return 0;
}

/** Parse the first len bytes, at one of two addresses. */
static ssize_t feed(struct mk_h1_head *h, struct mk_str in, size_t len,
                    const struct mk_h1_limits *limits)
{
    static unsigned turn;

    return mk_h1_head_parse(h, guard_put(&areas[turn++ % 2], in.p, len), len, limits);
}

/** What the contract promises of two parses of the same bytes. */
static void assert_same(struct mk_h1_head a, struct mk_h1_head b, struct mk_str in, size_t cut)
{
    a.line = b.line = a.scanned = b.scanned = a.colon = b.colon = a.field = b.field = 0;
    /* both were zeroed with their padding: NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-*) */
    if (memcmp(&a, &b, sizeof(a)) != 0)
        fail_msg("cut at %zu changes the result of: %s", cut, show(in));
}

static ssize_t parse_cut(struct mk_h1_head *h, struct mk_str in, size_t cut,
                         const struct mk_h1_limits *limits)
{
    ssize_t ret;

    memset(h, 0, sizeof(*h));
    ret = feed(h, in, cut, limits);
    return ret == MK_E_AGAIN ? feed(h, in, in.len, limits) : ret;
}

static ssize_t parse_dripped(struct mk_h1_head *h, struct mk_str in,
                             const struct mk_h1_limits *limits)
{
    ssize_t ret = MK_E_AGAIN;

    memset(h, 0, sizeof(*h));
    for (size_t len = 0; len <= in.len && ret == MK_E_AGAIN; len++)
        ret = feed(h, in, len, limits);
    return ret;
}

/** Parse in all ways. @return what the whole gave. */
static ssize_t parse(struct mk_h1_head *h, struct mk_str in, const struct mk_h1_limits *limits)
{
    struct mk_h1_head other;
    ssize_t ret;

    memset(h, 0, sizeof(*h));
    ret = feed(h, in, in.len, limits);
    for (size_t cut = 0; cut < in.len; cut++) {
        ssize_t again = parse_cut(&other, in, cut, limits);

        if (again != ret)
            fail_msg("cut at %zu gives %zd, not %zd: %s", cut, again, ret, show(in));
        if (ret != MK_E_AGAIN)
            assert_same(*h, other, in, cut);
    }
    assert_int_equal(parse_dripped(&other, in, limits), ret);
    if (ret != MK_E_AGAIN)
        assert_same(*h, other, in, SIZE_MAX);
    return ret;
}

static const struct mk_h1_limits usual = {.head = 32768, .target = 8192, .fields = 100};

/* ---- heads that are refused ---- */

struct refusal {
    const char *sentence, *rfc;
    struct mk_str in;
    enum mk_h1_fault fault;
};

#define GET "GET / HTTP/1.1\r\n"
#define HOST "Host: a\r\n"

static const struct refusal refusals[] = {
    /* the request line */
    {"a TLS hello is refused at its first byte", "RFC 9112 3.1", MK_STR_INIT("\x16"),
     MK_H1_FAULT_METHOD},
    {"a TLS hello with more bytes", "RFC 9112 3.1", MK_STR_INIT("\x16\x03\x01\x02\x00\x01"),
     MK_H1_FAULT_METHOD},
    {"a method with a byte that is no tchar, before any LF", "RFC 9110 5.6.2", MK_STR_INIT("G(T"),
     MK_H1_FAULT_METHOD},
    {"a method that begins with NUL", "RFC 9110 9.1", MK_STR_INIT("\0GET / HTTP/1.1\r\n"),
     MK_H1_FAULT_METHOD},
    {"a byte above 0x7f in the method", "RFC 9110 5.6.2", MK_STR_INIT("G\xc3\x89T / HTTP/1.1\r\n"),
     MK_H1_FAULT_METHOD},
    {"a blank before the method", "RFC 9112 3", MK_STR_INIT(" GET / HTTP/1.1\r\n"),
     MK_H1_FAULT_METHOD},
    {"a tab behind the method", "RFC 9112 3", MK_STR_INIT("GET\t/ HTTP/1.1\r\n"),
     MK_H1_FAULT_METHOD},
    {"a method alone", "RFC 9112 3", MK_STR_INIT("GET\r\n"), MK_H1_FAULT_LINE},
    {"a method alone before a bare LF", "RFC 9112 2.2", MK_STR_INIT("GET\n"), MK_H1_FAULT_LINE_END},
    {"two empty lines before the request", "RFC 9112 2.2", MK_STR_INIT("\r\n\r\n" GET),
     MK_H1_FAULT_LINE},
    {"an empty line of a bare LF", "RFC 9112 2.2", MK_STR_INIT("\n" GET), MK_H1_FAULT_LINE_END},
    {"a CR without LF before the request", "RFC 9112 2.2", MK_STR_INIT("\rGET / HTTP/1.1\r\n"),
     MK_H1_FAULT_LINE_END},
    {"two blanks behind the method", "RFC 9112 3", MK_STR_INIT("GET  / HTTP/1.1\r\n"),
     MK_H1_FAULT_LINE},
    {"two blanks before the version", "RFC 9112 3", MK_STR_INIT("GET /  HTTP/1.1\r\n"),
     MK_H1_FAULT_LINE},
    {"a blank behind the version", "RFC 9112 3", MK_STR_INIT("GET / HTTP/1.1 \r\n"),
     MK_H1_FAULT_LINE},
    {"a blank in the target", "RFC 9112 3.2", MK_STR_INIT("GET /a b HTTP/1.1\r\n"),
     MK_H1_FAULT_VERSION},
    {"no version, as in HTTP/0.9", "RFC 9112 3", MK_STR_INIT("GET /\r\n"), MK_H1_FAULT_LINE},
    {"a blank but no version", "RFC 9112 3", MK_STR_INIT("GET / \r\n"), MK_H1_FAULT_LINE},
    {"an empty target", "RFC 9112 3.2", MK_STR_INIT("GET  HTTP/1.1\r\n"), MK_H1_FAULT_LINE},
    {"a bare LF behind the version", "RFC 9112 2.2", MK_STR_INIT("GET / HTTP/1.1\nHost: a\r\n\r\n"),
     MK_H1_FAULT_LINE_END},
    {"a bare CR behind the version", "RFC 9112 2.2", MK_STR_INIT("GET / HTTP/1.1\rHost: a\r\n\r\n"),
     MK_H1_FAULT_LINE_END},
    {"a bare LF in the target", "RFC 9112 2.2", MK_STR_INIT("GET /\n"), MK_H1_FAULT_LINE_END},
    {"two CR at the end", "RFC 9112 2.2", MK_STR_INIT("GET / HTTP/1.1\r\r\n"),
     MK_H1_FAULT_LINE_END},
    {"a version in lower case", "RFC 9112 2.3", MK_STR_INIT("GET / http/1.1\r\n"),
     MK_H1_FAULT_VERSION},
    {"a version of two digits", "RFC 9112 2.3", MK_STR_INIT("GET / HTTP/1.10\r\n"),
     MK_H1_FAULT_VERSION},
    {"a version without minor", "RFC 9112 2.3", MK_STR_INIT("GET / HTTP/1\r\n"),
     MK_H1_FAULT_VERSION},
    {"a version with a comma", "RFC 9112 2.3", MK_STR_INIT("GET / HTTP/1,1\r\n"),
     MK_H1_FAULT_VERSION},
    {"a name cut short", "RFC 9112 2.3", MK_STR_INIT("GET / HTT\r\n"), MK_H1_FAULT_VERSION},
    {"another protocol", "RFC 9112 2.3", MK_STR_INIT("OPTIONS / RTSP/1.0\r\n"),
     MK_H1_FAULT_VERSION},
    {"the preface of HTTP/2", "RFC 9110 15.6.6", MK_STR_INIT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
     MK_H1_FAULT_VERSION_MAJOR},
    {"HTTP/0.9 spelt out", "RFC 9110 15.6.6", MK_STR_INIT("GET / HTTP/0.9\r\n"),
     MK_H1_FAULT_VERSION_MAJOR},
    {"HTTP/9.9", "RFC 9110 15.6.6", MK_STR_INIT("GET / HTTP/9.9\r\n"), MK_H1_FAULT_VERSION_MAJOR},
    /* the target */
    {"a target that does not begin with a slash", "RFC 9112 3.2.1",
     MK_STR_INIT("GET index.html HTTP/1.1\r\n"), MK_H1_FAULT_TARGET},
    {"a fragment", "RFC 9112 3.2", MK_STR_INIT("GET /#top HTTP/1.1\r\n"), MK_H1_FAULT_TARGET},
    {"a fragment in the query", "RFC 9112 3.2", MK_STR_INIT("GET /?a#top HTTP/1.1\r\n"),
     MK_H1_FAULT_TARGET},
    {"NUL in the target", "RFC 9112 3.2", MK_STR_INIT("GET /\0 HTTP/1.1\r\n"), MK_H1_FAULT_TARGET},
    {"a tab in the target", "RFC 9112 3.2", MK_STR_INIT("GET /\t HTTP/1.1\r\n"),
     MK_H1_FAULT_TARGET},
    {"a quote in the target", "RFC 3986 2", MK_STR_INIT("GET /\" HTTP/1.1\r\n"),
     MK_H1_FAULT_TARGET},
    {"a backslash in the target", "RFC 3986 2", MK_STR_INIT("GET /\\a HTTP/1.1\r\n"),
     MK_H1_FAULT_TARGET},
    {"a byte above 0x7f in the target", "RFC 3986 2", MK_STR_INIT("GET /\xc3\xa9 HTTP/1.1\r\n"),
     MK_H1_FAULT_TARGET},
    {"DEL in the query", "RFC 3986 2", MK_STR_INIT("GET /?\x7f HTTP/1.1\r\n"), MK_H1_FAULT_TARGET},
    {"an asterisk for GET", "RFC 9112 3.2.4", MK_STR_INIT("GET * HTTP/1.1\r\n"),
     MK_H1_FAULT_TARGET},
    {"an asterisk and more", "RFC 9112 3.2.4", MK_STR_INIT("OPTIONS *a HTTP/1.1\r\n"),
     MK_H1_FAULT_TARGET},
    {"an asterisk with a query", "RFC 9112 3.2.4", MK_STR_INIT("OPTIONS *?a HTTP/1.1\r\n"),
     MK_H1_FAULT_TARGET},
    {"a scheme that is not ours", "RFC 9112 3.2.2", MK_STR_INIT("GET ftp://a/ HTTP/1.1\r\n"),
     MK_H1_FAULT_TARGET},
    {"an absolute form without authority", "RFC 9110 4.2.1",
     MK_STR_INIT("GET http:///a HTTP/1.1\r\n"), MK_H1_FAULT_TARGET},
    {"an absolute form with nothing", "RFC 9110 4.2.1", MK_STR_INIT("GET http:// HTTP/1.1\r\n"),
     MK_H1_FAULT_TARGET},
    {"an absolute form with only a port", "RFC 9110 4.2.1",
     MK_STR_INIT("GET http://:80/ HTTP/1.1\r\n"), MK_H1_FAULT_TARGET},
    {"userinfo in the absolute form", "RFC 9110 4.2.4",
     MK_STR_INIT("GET http://u:p@a/ HTTP/1.1\r\n"), MK_H1_FAULT_TARGET},
    {"a bad port in the absolute form", "RFC 3986 3.2.3",
     MK_STR_INIT("GET http://a:99999/ HTTP/1.1\r\n"), MK_H1_FAULT_TARGET},
    {"an authority for GET", "RFC 9112 3.2.3", MK_STR_INIT("GET a:80 HTTP/1.1\r\n"),
     MK_H1_FAULT_TARGET},
    {"a path for CONNECT", "RFC 9112 3.2.3", MK_STR_INIT("CONNECT / HTTP/1.1\r\n"),
     MK_H1_FAULT_TARGET},
    {"an absolute form for CONNECT", "RFC 9112 3.2.3",
     MK_STR_INIT("CONNECT http://a:80/ HTTP/1.1\r\n"), MK_H1_FAULT_TARGET},
    {"CONNECT without port", "RFC 9110 9.3.6", MK_STR_INIT("CONNECT a HTTP/1.1\r\n"),
     MK_H1_FAULT_TARGET},
    {"CONNECT with an empty port", "RFC 9110 9.3.6", MK_STR_INIT("CONNECT a: HTTP/1.1\r\n"),
     MK_H1_FAULT_TARGET},
    {"CONNECT with a query", "RFC 9112 3.2.3", MK_STR_INIT("CONNECT a:1?b HTTP/1.1\r\n"),
     MK_H1_FAULT_TARGET},
    /* field lines */
    {"a blank before the first field", "RFC 9112 2.2", MK_STR_INIT(GET " Host: a\r\n\r\n"),
     MK_H1_FAULT_FIELD_FOLD},
    {"a folded line", "RFC 9112 5.2", MK_STR_INIT(GET HOST "A: b\r\n c\r\n\r\n"),
     MK_H1_FAULT_FIELD_FOLD},
    {"a line folded with a tab", "RFC 9112 5.2", MK_STR_INIT(GET HOST "A: b\r\n\tc\r\n\r\n"),
     MK_H1_FAULT_FIELD_FOLD},
    {"a blank before the colon", "RFC 9112 5.1", MK_STR_INIT(GET "Host : a\r\n\r\n"),
     MK_H1_FAULT_FIELD_COLON},
    {"a tab before the colon", "RFC 9112 5.1", MK_STR_INIT(GET HOST "Content-Length\t: 3\r\n\r\n"),
     MK_H1_FAULT_FIELD_COLON},
    {"an empty field name", "RFC 9110 5.1", MK_STR_INIT(GET HOST ": b\r\n\r\n"),
     MK_H1_FAULT_FIELD_NAME},
    {"a field without colon", "RFC 9112 5", MK_STR_INIT(GET HOST "Abc\r\n\r\n"),
     MK_H1_FAULT_FIELD_NAME},
    {"a bracket in a field name", "RFC 9110 5.6.2", MK_STR_INIT(GET HOST "A(b): c\r\n\r\n"),
     MK_H1_FAULT_FIELD_NAME},
    {"NUL in a field name", "RFC 9110 5.5", MK_STR_INIT(GET HOST "A\0b: c\r\n\r\n"),
     MK_H1_FAULT_FIELD_NAME},
    {"a CR where a known name has its hyphen", "RFC 9110 5.1",
     MK_STR_INIT(GET HOST "Content\rLength: 5\r\n\r\n"), MK_H1_FAULT_FIELD_NAME},
    {"a byte above 0x7f in a field name", "RFC 9110 5.6.2", MK_STR_INIT(GET HOST "\xe4: c\r\n\r\n"),
     MK_H1_FAULT_FIELD_NAME},
    {"NUL in a value", "RFC 9110 5.5", MK_STR_INIT(GET HOST "A: b\0c\r\n\r\n"),
     MK_H1_FAULT_FIELD_VALUE},
    {"NUL in the value of a known field", "RFC 9110 5.5",
     MK_STR_INIT(GET HOST "Cookie: 123456789\0bc\r\n\r\n"), MK_H1_FAULT_FIELD_VALUE},
    {"a control byte in a value", "RFC 9110 5.5", MK_STR_INIT(GET HOST "A: b\x01\r\n\r\n"),
     MK_H1_FAULT_FIELD_VALUE},
    {"DEL in a long value", "RFC 9110 5.5", MK_STR_INIT(GET HOST "A: abcdefgh\x7fijklmnop\r\n\r\n"),
     MK_H1_FAULT_FIELD_VALUE},
    {"a bare CR in a value", "RFC 9110 5.5", MK_STR_INIT(GET HOST "A: b\rc\r\n\r\n"),
     MK_H1_FAULT_LINE_END},
    {"a bare CR first in a value", "RFC 9110 5.5", MK_STR_INIT(GET HOST "A:\rb\r\n\r\n"),
     MK_H1_FAULT_LINE_END},
    {"a bare LF behind a value", "RFC 9112 2.2", MK_STR_INIT(GET "Host: a\n\r\n"),
     MK_H1_FAULT_LINE_END},
    {"a bare LF behind a name", "RFC 9112 2.2", MK_STR_INIT(GET HOST "Abc\n\r\n"),
     MK_H1_FAULT_LINE_END},
    {"a bare LF for the empty line", "RFC 9112 2.2", MK_STR_INIT(GET HOST "\n"),
     MK_H1_FAULT_LINE_END},
    {"a bare CR for the empty line", "RFC 9112 2.2", MK_STR_INIT(GET HOST "\rA"),
     MK_H1_FAULT_LINE_END},
    /* Host */
    {"no Host", "RFC 9112 3.2", MK_STR_INIT(GET "\r\n"), MK_H1_FAULT_HOST_MISSING},
    {"no Host although the target has an authority", "RFC 9112 3.2",
     MK_STR_INIT("GET http://a/ HTTP/1.1\r\n\r\n"), MK_H1_FAULT_HOST_MISSING},
    {"two Host fields", "RFC 9112 3.2", MK_STR_INIT(GET HOST "host: b\r\n\r\n"),
     MK_H1_FAULT_HOST_REPEATED},
    {"two equal Host fields", "RFC 9112 3.2", MK_STR_INIT(GET HOST HOST "\r\n"),
     MK_H1_FAULT_HOST_REPEATED},
    {"two Host fields in HTTP/1.0", "RFC 9112 3.2",
     MK_STR_INIT("GET / HTTP/1.0\r\n" HOST HOST "\r\n"), MK_H1_FAULT_HOST_REPEATED},
    {"a list in Host", "RFC 9112 3.2", MK_STR_INIT(GET "Host: a, b\r\n\r\n"), MK_H1_FAULT_HOST_BAD},
    {"a blank in Host", "RFC 9112 3.2", MK_STR_INIT(GET "Host: a b\r\n\r\n"), MK_H1_FAULT_HOST_BAD},
    {"userinfo in Host", "RFC 9112 3.2", MK_STR_INIT(GET "Host: u@a\r\n\r\n"),
     MK_H1_FAULT_HOST_BAD},
    {"a path in Host", "RFC 9112 3.2", MK_STR_INIT(GET "Host: a/b\r\n\r\n"), MK_H1_FAULT_HOST_BAD},
    {"a port that is no number", "RFC 9112 3.2", MK_STR_INIT(GET "Host: a:b\r\n\r\n"),
     MK_H1_FAULT_HOST_BAD},
    {"two ports", "RFC 9112 3.2", MK_STR_INIT(GET "Host: a:1:2\r\n\r\n"), MK_H1_FAULT_HOST_BAD},
    {"an open bracket", "RFC 3986 3.2.2", MK_STR_INIT(GET "Host: [::1\r\n\r\n"),
     MK_H1_FAULT_HOST_BAD},
    {"bad Host in HTTP/1.0", "RFC 9112 3.2", MK_STR_INIT("GET / HTTP/1.0\r\nHost: a/b\r\n\r\n"),
     MK_H1_FAULT_HOST_BAD},
    /* Content-Length */
    {"two equal lengths", "RFC 9112 6.3",
     MK_STR_INIT(GET HOST "Content-Length: 5\r\nContent-Length: 5\r\n\r\n"),
     MK_H1_FAULT_LENGTH_REPEATED},
    {"two lengths", "RFC 9112 6.3",
     MK_STR_INIT(GET HOST "Content-Length: 5\r\ncontent-LENGTH: 6\r\n\r\n"),
     MK_H1_FAULT_LENGTH_REPEATED},
    {"a list of equal lengths", "RFC 9110 8.6",
     MK_STR_INIT(GET HOST "Content-Length: 5, 5\r\n\r\n"), MK_H1_FAULT_LENGTH_BAD},
    {"a plus sign", "RFC 9110 8.6", MK_STR_INIT(GET HOST "Content-Length: +5\r\n\r\n"),
     MK_H1_FAULT_LENGTH_BAD},
    {"a minus sign", "RFC 9110 8.6", MK_STR_INIT(GET HOST "Content-Length: -5\r\n\r\n"),
     MK_H1_FAULT_LENGTH_BAD},
    {"hexadecimal", "RFC 9110 8.6", MK_STR_INIT(GET HOST "Content-Length: 0x5\r\n\r\n"),
     MK_H1_FAULT_LENGTH_BAD},
    {"an empty length", "RFC 9110 8.6", MK_STR_INIT(GET HOST "Content-Length: \r\n\r\n"),
     MK_H1_FAULT_LENGTH_BAD},
    {"a blank inside", "RFC 9110 8.6", MK_STR_INIT(GET HOST "Content-Length: 5 5\r\n\r\n"),
     MK_H1_FAULT_LENGTH_BAD},
    {"2 to the 63", "RFC 9110 8.6",
     MK_STR_INIT(GET HOST "Content-Length: 9223372036854775808\r\n\r\n"), MK_H1_FAULT_LENGTH_BAD},
    {"2 to the 64 and 5, which would wrap", "RFC 9110 8.6",
     MK_STR_INIT(GET HOST "Content-Length: 18446744073709551621\r\n\r\n"), MK_H1_FAULT_LENGTH_BAD},
    /* Transfer-Encoding */
    {"a length with chunked", "RFC 9112 6.3",
     MK_STR_INIT(GET HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"),
     MK_H1_FAULT_LENGTH_AND_CODING},
    {"chunked with a length, the other way round", "RFC 9112 6.3",
     MK_STR_INIT(GET HOST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"),
     MK_H1_FAULT_LENGTH_AND_CODING},
    {"a coding we do not know", "RFC 9112 6.1",
     MK_STR_INIT(GET HOST "Transfer-Encoding: gzip\r\n\r\n"), MK_H1_FAULT_CODING_UNKNOWN},
    {"a coding we do not know before chunked", "RFC 9112 6.1",
     MK_STR_INIT(GET HOST "Transfer-Encoding: gzip, chunked\r\n\r\n"), MK_H1_FAULT_CODING_UNKNOWN},
    {"the same over two lines", "RFC 9110 5.3",
     MK_STR_INIT(GET HOST "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"),
     MK_H1_FAULT_CODING_UNKNOWN},
    {"identity, which is no coding any more", "RFC 9112 6.1",
     MK_STR_INIT(GET HOST "Transfer-Encoding: identity\r\n\r\n"), MK_H1_FAULT_CODING_UNKNOWN},
    {"almost chunked", "RFC 9112 6.1", MK_STR_INIT(GET HOST "Transfer-Encoding: xchunked\r\n\r\n"),
     MK_H1_FAULT_CODING_UNKNOWN},
    {"chunked in quotes", "RFC 9112 6.1",
     MK_STR_INIT(GET HOST "Transfer-Encoding: \"chunked\"\r\n\r\n"), MK_H1_FAULT_CODING_UNKNOWN},
    {"chunked with a parameter", "RFC 9112 7.1",
     MK_STR_INIT(GET HOST "Transfer-Encoding: chunked;a=b\r\n\r\n"), MK_H1_FAULT_CODING_UNKNOWN},
    {"chunked not last", "RFC 9112 6.3",
     MK_STR_INIT(GET HOST "Transfer-Encoding: chunked, gzip\r\n\r\n"), MK_H1_FAULT_CODING_ORDER},
    {"chunked not last over two lines", "RFC 9112 6.3",
     MK_STR_INIT(GET HOST "Transfer-Encoding: chunked\r\nA: b\r\nTransfer-Encoding: gzip\r\n\r\n"),
     MK_H1_FAULT_CODING_ORDER},
    {"chunked twice", "RFC 9112 7.1",
     MK_STR_INIT(GET HOST "Transfer-Encoding: chunked, chunked\r\n\r\n"), MK_H1_FAULT_CODING_ORDER},
    {"chunked on two lines", "RFC 9112 7.1",
     MK_STR_INIT(GET HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
     MK_H1_FAULT_CODING_ORDER},
    {"no coding at all", "RFC 9112 6.1", MK_STR_INIT(GET HOST "Transfer-Encoding: \r\n\r\n"),
     MK_H1_FAULT_CODING_ORDER},
    {"only commas", "RFC 9112 6.1", MK_STR_INIT(GET HOST "Transfer-Encoding: , ,\r\n\r\n"),
     MK_H1_FAULT_CODING_ORDER},
    {"chunked in HTTP/1.0", "RFC 9112 6.1",
     MK_STR_INIT("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), MK_H1_FAULT_CODING_OLD},
    /* Expect */
    {"an expectation we do not know", "RFC 9110 10.1.1",
     MK_STR_INIT(GET HOST "Expect: 200-ok\r\n\r\n"), MK_H1_FAULT_EXPECTATION},
    {"a known expectation and another", "RFC 9110 10.1.1",
     MK_STR_INIT(GET HOST "Expect: 100-continue, a=b\r\n\r\n"), MK_H1_FAULT_EXPECTATION},
    {"another on a second line", "RFC 9110 10.1.1",
     MK_STR_INIT(GET HOST "Expect: 100-continue\r\nExpect: a\r\n\r\n"), MK_H1_FAULT_EXPECTATION},
};

static void refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *row = &refusals[i];
        struct mk_h1_head h;
        ssize_t ret = parse(&h, row->in, &usual);

        if (ret != MK_E_BAD || h.fault != row->fault)
            fail_msg("%s (%s): gave %zd, %s", row->sentence, row->rfc, ret,
                     mk_h1_fault_text((enum mk_h1_fault)h.fault));
    }
}

/* ---- heads that are accepted ---- */

struct acceptance {
    const char *sentence, *rfc;
    struct mk_str in;
    const char *meaning; /* as describe() puts it */
};

static const struct acceptance acceptances[] = {
    {"a plain request", "RFC 9112 3", MK_STR_INIT(GET HOST "\r\n"), "GET origin / keep"},
    {"one empty line before it is skipped", "RFC 9112 2.2", MK_STR_INIT("\r\n" GET HOST "\r\n"),
     "GET origin / keep"},
    {"a path and a query", "RFC 9112 3.2.1",
     MK_STR_INIT("GET /a/b.html?c=d&e?f HTTP/1.1\r\n" HOST "\r\n"),
     "GET origin /a/b.html ?c=d&e?f keep"},
    {"an empty query is there", "RFC 3986 3.4", MK_STR_INIT("GET /? HTTP/1.1\r\n" HOST "\r\n"),
     "GET origin / ? keep"},
    {"escapes are left alone", "RFC 3986 2.1", MK_STR_INIT("GET /%zz%00 HTTP/1.1\r\n" HOST "\r\n"),
     "GET origin /%zz%00 keep"},
    {"a method we do not know", "RFC 9110 9.1", MK_STR_INIT("BREW! / HTTP/1.1\r\n" HOST "\r\n"),
     "OTHER origin / keep"},
    {"methods are case-sensitive", "RFC 9110 9.1", MK_STR_INIT("get / HTTP/1.1\r\n" HOST "\r\n"),
     "OTHER origin / keep"},
    {"a method that begins as GET does", "RFC 9110 9.1",
     MK_STR_INIT("GETX / HTTP/1.1\r\n" HOST "\r\n"), "OTHER origin / keep"},
    {"a higher minor version is 1.1", "RFC 9110 2.5", MK_STR_INIT("GET / HTTP/1.2\r\n" HOST "\r\n"),
     "GET origin / keep"},
    {"HTTP/1.0 closes", "RFC 9112 9.3", MK_STR_INIT("GET / HTTP/1.0\r\n\r\n"),
     "GET origin / 1.0 close"},
    {"HTTP/1.0 with Host", "RFC 9112 3.2", MK_STR_INIT("GET / HTTP/1.0\r\n" HOST "\r\n"),
     "GET origin / 1.0 close"},
    {"HTTP/1.0 keeps alive when it asks", "RFC 9112 9.3",
     MK_STR_INIT("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), "GET origin / 1.0 keep"},
    {"the very words that most send", "RFC 9112 9.3",
     MK_STR_INIT("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), "GET origin / 1.0 keep"},
    {"close", "RFC 9112 9.6", MK_STR_INIT(GET HOST "Connection: close\r\n\r\n"),
     "GET origin / close"},
    {"close wins, written last", "RFC 9112 9.3",
     MK_STR_INIT(GET HOST "Connection: keep-alive, Close\r\n\r\n"), "GET origin / close"},
    {"close wins, written first", "RFC 9112 9.3",
     MK_STR_INIT(GET HOST "Connection: close ,\tkeep-alive\r\n\r\n"), "GET origin / close"},
    {"close wins over another line", "RFC 9110 5.3",
     MK_STR_INIT(GET HOST "Connection: keep-alive\r\nConnection: close\r\n\r\n"),
     "GET origin / close"},
    {"other options do not matter", "RFC 9110 7.6.1",
     MK_STR_INIT(GET HOST "Connection: TE, closed\r\n\r\n"), "GET origin / keep"},
    {"an upgrade", "RFC 9110 7.8",
     MK_STR_INIT(GET HOST "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
     "GET origin / keep upgrade"},
    {"an upgrade without its field", "RFC 9110 7.8",
     MK_STR_INIT(GET HOST "Connection: Upgrade\r\n\r\n"), "GET origin / keep"},
    {"an Upgrade field that Connection does not name", "RFC 9110 7.8",
     MK_STR_INIT(GET HOST "Upgrade: websocket\r\n\r\n"), "GET origin / keep"},
    {"HTTP/1.0 cannot upgrade", "RFC 9110 7.8",
     MK_STR_INIT("GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n"),
     "GET origin / 1.0 close"},
    {"a length", "RFC 9110 8.6",
     MK_STR_INIT("POST / HTTP/1.1\r\n" HOST "Content-Length: 0042\r\n\r\n"),
     "POST origin / keep length=42"},
    {"a length of zero is a length", "RFC 9110 8.6",
     MK_STR_INIT("POST / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
     "POST origin / keep length=0"},
    {"the largest length", "RFC 9110 8.6",
     MK_STR_INIT("PUT / HTTP/1.1\r\n" HOST "Content-Length: 9223372036854775807\r\n\r\n"),
     "PUT origin / keep length=9223372036854775807"},
    {"chunked", "RFC 9112 7.1",
     MK_STR_INIT("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: CHUNKED\r\n\r\n"),
     "POST origin / keep chunked"},
    {"chunked among empty members", "RFC 9110 5.6.1.2",
     MK_STR_INIT("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: , chunked ,\r\n\r\n"),
     "POST origin / keep chunked"},
    {"100-continue", "RFC 9110 10.1.1",
     MK_STR_INIT("PUT / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\nContent-Length: 1\r\n\r\n"),
     "PUT origin / keep length=1 expect"},
    {"100-continue in HTTP/1.0 is ignored", "RFC 9110 10.1.1",
     MK_STR_INIT("PUT / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n"), "PUT origin / 1.0 close"},
    {"an absolute form", "RFC 9112 3.2.2",
     MK_STR_INIT("GET http://a.org:80/b?c HTTP/1.1\r\n" HOST "\r\n"),
     "GET absolute /b ?c @a.org:80 keep"},
    {"a scheme in any case", "RFC 3986 3.1", MK_STR_INIT("GET HttpS://a/ HTTP/1.1\r\n" HOST "\r\n"),
     "GET absolute / @a keep"},
    {"an absolute form without path", "RFC 9110 4.2.3",
     MK_STR_INIT("GET http://a HTTP/1.1\r\n" HOST "\r\n"), "GET absolute / @a keep"},
    {"an absolute form with a query only", "RFC 9110 4.2.3",
     MK_STR_INIT("GET http://a?b/c HTTP/1.1\r\n" HOST "\r\n"), "GET absolute / ?b/c @a keep"},
    {"an absolute form with IPv6", "RFC 3986 3.2.2",
     MK_STR_INIT("GET http://[::1]:8080/ HTTP/1.1\r\n" HOST "\r\n"),
     "GET absolute / @[::1]:8080 keep"},
    {"a path that looks like an authority", "RFC 9112 3.2.1",
     MK_STR_INIT("GET //a/b HTTP/1.1\r\n" HOST "\r\n"), "GET origin //a/b keep"},
    {"an asterisk", "RFC 9112 3.2.4", MK_STR_INIT("OPTIONS * HTTP/1.1\r\n" HOST "\r\n"),
     "OPTIONS asterisk * keep"},
    {"CONNECT", "RFC 9112 3.2.3", MK_STR_INIT("CONNECT a.org:443 HTTP/1.1\r\n" HOST "\r\n"),
     "CONNECT authority / @a.org:443 keep"},
    {"an empty Host", "RFC 9112 3.2", MK_STR_INIT(GET "Host:\r\n\r\n"), "GET origin / keep"},
    {"a Host with IPv6 and port", "RFC 3986 3.2.2",
     MK_STR_INIT(GET "Host: [2001:db8::1]:80\r\n\r\n"), "GET origin / keep"},
    {"blanks and tabs around a value", "RFC 9110 5.5",
     MK_STR_INIT(GET "Host: \t a \t \r\nContent-Length:\t7 \r\n\r\n"),
     "GET origin / keep length=7"},
    {"a tab inside a value", "RFC 9110 5.5",
     MK_STR_INIT(GET HOST "A: some words\tand some more\r\n\r\n"), "GET origin / keep"},
    {"bytes above 0x7f in a value", "RFC 9110 5.5",
     MK_STR_INIT(GET HOST "A: caf\xc3\xa9 caf\xc3\xa9\xff\r\n\r\n"), "GET origin / keep"},
    {"what follows the head is left", "RFC 9112 9.3.2", MK_STR_INIT(GET HOST "\r\n\x16GET"),
     "GET origin / keep"},
};

static const char *const form_names[] = {"origin", "absolute", "authority", "asterisk"};

static void describe(char *text, size_t room, const struct mk_h1_head *h, const char *buf)
{
    struct mk_str method = mk_method_name((enum mk_method)h->method);
    struct mk_str path = mk_h1_head_path(h, buf);
    struct mk_str query = mk_piece_str(h->query, buf), at = mk_piece_str(h->authority, buf);
    size_t n = (size_t)snprintf(text, room, "%.*s %s %.*s", method.len ? (int)method.len : 5,
                                method.len ? method.p : "OTHER", form_names[h->form], (int)path.len,
                                path.p);

    if (query.p)
        n += (size_t)snprintf(text + n, room - n, " ?%.*s", (int)query.len, query.p);
    if (at.p)
        n += (size_t)snprintf(text + n, room - n, " @%.*s", (int)at.len, at.p);
    n += (size_t)snprintf(text + n, room - n, "%s %s", h->minor ? "" : " 1.0",
                          h->keep_alive ? "keep" : "close");
    if (h->has_length)
        n += (size_t)snprintf(text + n, room - n, " length=%llu",
                              (unsigned long long)h->content_length);
    snprintf(text + n, room - n, "%s%s%s", h->chunked ? " chunked" : "",
             h->expect_continue ? " expect" : "", h->upgrade ? " upgrade" : "");
}

static void accepts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(acceptances) / sizeof(acceptances[0]); i++) {
        const struct acceptance *row = &acceptances[i];
        struct mk_h1_head h;
        char text[256];
        ssize_t ret = parse(&h, row->in, &usual);

        if (ret <= 0)
            fail_msg("%s (%s): refused, %s", row->sentence, row->rfc,
                     mk_h1_fault_text((enum mk_h1_fault)h.fault));
        assert_memory_equal(row->in.p + ret - 4, "\r\n\r\n", 4);
        describe(text, sizeof(text), &h, row->in.p);
        if (strcmp(text, row->meaning) != 0)
            fail_msg("%s (%s): '%s', not '%s'", row->sentence, row->rfc, text, row->meaning);
    }
}

/* ---- fields ---- */

static const char *const field_names[MK_FIELD_COUNT] = {
#define FIELD_NAME(name, text) text,
    MK_FIELDS(FIELD_NAME)
#undef FIELD_NAME
};

/** Write a name as it is, in capitals, or in both by turns. */
static void recase(char *dst, const char *name, unsigned kind)
{
    for (size_t i = 0; i <= strlen(name); i++) {
        bool capital = kind == 1 || (kind == 2 && i % 2);

        dst[i] = capital && name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 32) : name[i];
    }
}

static const char *valid_value(int id)
{
    if (id == MK_FIELD_EXPECT)
        return "100-continue";
    return id == MK_FIELD_CONTENT_LENGTH ? "77" : "chunked";
}

static void find_field(int id, unsigned kind)
{
    char in[128], name[32];
    struct mk_h1_head h;

    recase(name, field_names[id], kind);
    snprintf(in, sizeof(in), GET "%s%s: %s\r\n\r\n", id == MK_FIELD_HOST ? "" : HOST, name,
             valid_value(id));
    assert_true(parse(&h, mk_str_from(in), &usual) > 0);
    assert_int_equal(h.known[id].len, strlen(valid_value(id)));
    assert_memory_equal(in + h.known[id].off, valid_value(id), h.known[id].len);
    for (int other = 0; other < MK_FIELD_COUNT; other++) {
        if (other != id && other != MK_FIELD_HOST)
            assert_int_equal(h.known[other].off, 0);
    }
}

static void finds_known_fields_in_any_case(void **state)
{
    (void)state;
    for (int id = 0; id < MK_FIELD_COUNT; id++) {
        for (unsigned kind = 0; kind < 3; kind++)
            find_field(id, kind);
    }
}

static void does_not_mistake_names(void **state)
{
    static const char *const names[] = {
        "hos",       "hostt",  "h0st", "content-lengtg", "cookie2",          "user_agent",
        "if-matcH2", "x-host", "a",    "if-ranfe",       "transfer_encoding"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char in[128];
        struct mk_h1_head h;

        snprintf(in, sizeof(in), "GET / HTTP/1.0\r\n%s: abc\r\n\r\n", names[i]);
        assert_true(parse(&h, mk_str_from(in), &usual) > 0);
        for (int id = 0; id < MK_FIELD_COUNT; id++)
            assert_int_equal(h.known[id].off, 0);
    }
}

static void walks_fields_in_order(void **state)
{
    const struct mk_str in =
        MK_STR(GET "Host: a\r\nX: \t1 2\t\r\nEmpty:\r\nCookie: b\r\ncookie: c\r\n\r\n");
    static const char *const expected[][2] = {
        {"Host", "a"}, {"X", "1 2"}, {"Empty", ""}, {"Cookie", "b"}, {"cookie", "c"}};
    struct mk_h1_head h;
    struct mk_str name, value;
    uint32_t at = 0;

    (void)state;
    assert_true(parse(&h, in, &usual) > 0);
    assert_int_equal(h.nfields, 5);
    for (int i = 0; i < 5; i++) {
        assert_true(mk_h1_head_next_field(&h, in.p, &at, &name, &value));
        assert_int_equal(name.len, strlen(expected[i][0]));
        assert_memory_equal(name.p, expected[i][0], name.len);
        assert_int_equal(value.len, strlen(expected[i][1]));
        assert_memory_equal(value.p, expected[i][1], value.len);
    }
    assert_false(mk_h1_head_next_field(&h, in.p, &at, &name, &value));
    assert_int_equal(h.repeated, 1U << MK_FIELD_COOKIE);
    assert_memory_equal(mk_h1_head_field(&h, in.p, MK_FIELD_COOKIE).p, "b", 1);
    assert_memory_equal(mk_h1_head_find(&h, in.p, MK_STR("x")).p, "1 2", 3);
    assert_non_null(mk_h1_head_find(&h, in.p, MK_STR("EMPTY")).p);
    assert_null(mk_h1_head_find(&h, in.p, MK_STR("Absent")).p);
}

static void an_empty_value_is_there(void **state)
{
    const struct mk_str in = MK_STR(GET HOST "Accept-Encoding:\r\nRange: \t\r\n\r\n");
    struct mk_h1_head h;

    (void)state;
    assert_true(parse(&h, in, &usual) > 0);
    assert_non_null(mk_h1_head_field(&h, in.p, MK_FIELD_ACCEPT_ENCODING).p);
    assert_int_equal(mk_h1_head_field(&h, in.p, MK_FIELD_ACCEPT_ENCODING).len, 0);
    assert_non_null(mk_h1_head_field(&h, in.p, MK_FIELD_RANGE).p);
    assert_null(mk_h1_head_field(&h, in.p, MK_FIELD_COOKIE).p);
}

static void method_name_is_there_at_offset_zero(void **state)
{
    const struct mk_str in = MK_STR("BREW / HTTP/1.1\r\n" HOST "\r\n");
    struct mk_h1_head h;

    (void)state;
    assert_true(parse(&h, in, &usual) > 0);
    assert_int_equal(mk_piece_str(h.method_name, in.p).len, 4);
    assert_ptr_equal(mk_piece_str(h.method_name, in.p).p, in.p);
    assert_null(mk_piece_str(h.authority, in.p).p);
}

/* ---- limits ---- */

struct limited {
    const char *sentence;
    struct mk_h1_limits limits;
    struct mk_str in;
    int ret; /* 0: accepted */
    enum mk_h1_fault fault;
};

static const struct limited limited[] = {
    {"a target at its limit",
     {1000, 6, 9},
     MK_STR_INIT("GET /12345 HTTP/1.1\r\n" HOST "\r\n"),
     0,
     0},
    {"a target above its limit",
     {1000, 5, 9},
     MK_STR_INIT("GET /12345 HTTP/1.1\r\n" HOST "\r\n"),
     MK_E_BAD,
     MK_H1_FAULT_TARGET_LONG},
    {"a target above its limit, still arriving",
     {1000, 5, 9},
     MK_STR_INIT("GET /12345"),
     MK_E_BAD,
     MK_H1_FAULT_TARGET_LONG},
    {"a target at its limit, still arriving",
     {1000, 6, 9},
     MK_STR_INIT("GET /12345"),
     MK_E_AGAIN,
     0},
    {"a query counts", {1000, 6, 9}, MK_STR_INIT("GET /1?345"), MK_E_AGAIN, 0},
    {"a query above the limit",
     {1000, 6, 9},
     MK_STR_INIT("GET /1?3456"),
     MK_E_BAD,
     MK_H1_FAULT_TARGET_LONG},
    {"a bad byte behind the limit is not seen",
     {1000, 3, 9},
     MK_STR_INIT("GET /123\x01"),
     MK_E_BAD,
     MK_H1_FAULT_TARGET_LONG},
    {"a head at its limit", {27, 99, 9}, MK_STR_INIT(GET HOST "\r\n"), 0, 0},
    {"a head above its limit",
     {26, 99, 9},
     MK_STR_INIT(GET HOST "\r\n"),
     MK_E_BAD,
     MK_H1_FAULT_HEAD_LONG},
    {"a head that has reached its limit",
     {30, 99, 9},
     MK_STR_INIT(GET "Host: aaaaaaaa"),
     MK_E_BAD,
     MK_H1_FAULT_HEAD_LONG},
    {"a method that has reached the limit",
     {4, 99, 9},
     MK_STR_INIT("ABCD"),
     MK_E_BAD,
     MK_H1_FAULT_HEAD_LONG},
    {"a method below the limit", {5, 99, 9}, MK_STR_INIT("ABCD"), MK_E_AGAIN, 0},
    {"as many fields as may be", {1000, 99, 2}, MK_STR_INIT(GET HOST "A: b\r\n\r\n"), 0, 0},
    {"one field too many",
     {1000, 99, 2},
     MK_STR_INIT(GET HOST "A: b\r\nC: d\r\n\r\n"),
     MK_E_BAD,
     MK_H1_FAULT_FIELDS_MANY},
    {"nothing yet", {1000, 99, 2}, MK_STR_INIT(""), MK_E_AGAIN, 0},
    {"a CR before the request", {1000, 99, 2}, MK_STR_INIT("\r"), MK_E_AGAIN, 0},
    {"all but the last LF", {1000, 99, 2}, MK_STR_INIT(GET HOST "\r"), MK_E_AGAIN, 0},
};

static void holds_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(limited) / sizeof(limited[0]); i++) {
        const struct limited *row = &limited[i];
        struct mk_h1_head h;
        ssize_t ret = parse(&h, row->in, &row->limits);

        if ((ret > 0 ? 0 : ret) != row->ret || h.fault != row->fault)
            fail_msg("%s: gave %zd, %s", row->sentence, ret,
                     mk_h1_fault_text((enum mk_h1_fault)h.fault));
    }
}

/** A megabyte that comes byte by byte must not be looked at again for every byte. */
static void dripping_costs_no_more(void **state)
{
    enum { LEN = 1 << 20 };
    const struct mk_h1_limits limits = {.head = LEN * 2, .target = LEN, .fields = 9};
    char *in = malloc(LEN);
    struct mk_h1_head h = {0};
    size_t start = sizeof(GET "A: ") - 1;

    (void)state;
    memset(in, 'x', LEN);
    memcpy(in, GET "A: ", start);
    for (size_t len = 1; len <= LEN; len++)
        assert_int_equal(mk_h1_head_parse(&h, in, len, &limits), MK_E_AGAIN);
    free(in);
}

static void every_fault_has_a_sentence(void **state)
{
    (void)state;
    for (int i = 0; i < MK_H1_FAULT_COUNT; i++)
        assert_true(strlen(mk_h1_fault_text((enum mk_h1_fault)i)) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses),
        cmocka_unit_test(accepts),
        cmocka_unit_test(finds_known_fields_in_any_case),
        cmocka_unit_test(does_not_mistake_names),
        cmocka_unit_test(walks_fields_in_order),
        cmocka_unit_test(an_empty_value_is_there),
        cmocka_unit_test(method_name_is_there_at_offset_zero),
        cmocka_unit_test(holds_limits),
        cmocka_unit_test(dripping_costs_no_more),
        cmocka_unit_test(every_fault_has_a_sentence),
    };

    return cmocka_run_group_tests(tests, open_areas, close_areas);
}
