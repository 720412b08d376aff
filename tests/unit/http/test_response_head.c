/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include "base/limits.h"
#include "base/str.h"

#include <monkey/response.h>

#include <stdlib.h>

/*
 * Every row runs whole, cut in two at each byte, and one byte at a time, each time at the edge of an
 * inaccessible page and at a new address for every call. The verdict and all values must be the same.
 */

#define HTTP MK_RESPONSE_HTTP
#define CGI MK_RESPONSE_CGI

enum { ROOM = 65536, USUAL_MAX = 32768 };

static struct guard areas[2];

static int open_areas(void **state)
{
    (void)state;
    areas[0] = guard_open(ROOM);
    areas[1] = guard_open(ROOM);
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
static ssize_t feed(struct mk_response_head *h, enum mk_response_kind kind, struct mk_str in,
                    size_t len, size_t max)
{
    static unsigned turn;

    return mk_response_parse(h, kind, guard_put(&areas[turn++ % 2], in.p, len), len, max);
}

/** What the contract promises of two parses of the same bytes. */
static void assert_same(struct mk_response_head a, struct mk_response_head b, struct mk_str in,
                        size_t cut)
{
    a.line = b.line = a.scanned = b.scanned = 0;
    /* both were zeroed with their padding: NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-*) */
    if (memcmp(&a, &b, sizeof(a)) != 0)
        fail_msg("cut at %zu changes the result of: %s", cut, show(in));
}

/** The whole, then in two, then byte by byte. */
static ssize_t parse_limited(struct mk_response_head *h, enum mk_response_kind kind,
                             struct mk_str in, size_t max)
{
    struct mk_response_head other;
    ssize_t ret, again = MK_E_AGAIN;

    memset(h, 0, sizeof(*h));
    ret = feed(h, kind, in, in.len, max);
    for (size_t cut = 0; cut < in.len; cut++) {
        memset(&other, 0, sizeof(other));
        again = feed(&other, kind, in, cut, max);
        if (again == MK_E_AGAIN)
            again = feed(&other, kind, in, in.len, max);
        if (again != ret)
            fail_msg("cut at %zu gives %zd, not %zd: %s", cut, again, ret, show(in));
        if (ret != MK_E_AGAIN)
            assert_same(*h, other, in, cut);
    }
    memset(&other, 0, sizeof(other));
    again = MK_E_AGAIN;
    for (size_t len = 0; len <= in.len && again == MK_E_AGAIN; len++)
        again = feed(&other, kind, in, len, max);
    assert_int_equal(again, ret);
    if (ret != MK_E_AGAIN)
        assert_same(*h, other, in, SIZE_MAX);
    return ret;
}

static ssize_t parse(struct mk_response_head *h, enum mk_response_kind kind, struct mk_str in)
{
    return parse_limited(h, kind, in, USUAL_MAX);
}

/* ---- heads that are refused ---- */

struct refusal {
    const char *sentence, *rfc;
    enum mk_response_kind kind;
    struct mk_str in;
    const char *why;
};

#define OK "HTTP/1.1 200 OK\r\n"
#define NO_STATUS_LINE "no status line of HTTP/1"
#define BAD_LINE "status line is not version SP status SP reason"
#define BAD_STATUS "status is not a number from 100 to 599"
#define LINE_END "line does not end in CR LF"
#define CONTROL "control byte in the head"
#define FOLDED "folded field line"
#define COLON "blank before the colon of a field"
#define NAME "field name is not a token"
#define LENGTH_BAD "Content-Length is not a number"
#define DIFFER "Content-Lengths that differ"
#define UNKNOWN "transfer coding not implemented"
#define BODYLESS "a body in a response that has none"
#define CGI_STATUS "Status is not a number from 100 to 599"
#define REPEATED "a CGI field is repeated"

static const struct refusal refusals[] = {
    /* the status line */
    {"a TLS alert is refused at its first byte", "RFC 9112 4", HTTP, MK_STR_INIT("\x15"),
     NO_STATUS_LINE},
    {"an empty line first", "RFC 9112 2.2", HTTP, MK_STR_INIT("\r\n" OK), NO_STATUS_LINE},
    {"a blank first", "RFC 9112 4", HTTP, MK_STR_INIT(" " OK), NO_STATUS_LINE},
    {"fields without status line", "RFC 9112 4", HTTP, MK_STR_INIT("Status: 200\r\n\r\n"),
     NO_STATUS_LINE},
    {"a version in lower case", "RFC 9112 2.3", HTTP, MK_STR_INIT("http/1.1 200 OK\r\n"),
     NO_STATUS_LINE},
    {"HTTP/2", "RFC 9110 6.2", HTTP, MK_STR_INIT("HTTP/2.0 200 OK\r\n"), NO_STATUS_LINE},
    {"HTTP/0.9", "RFC 9110 6.2", HTTP, MK_STR_INIT("HTTP/0.9 200 OK\r\n"), NO_STATUS_LINE},
    {"another protocol", "RFC 9112 2.3", HTTP, MK_STR_INIT("ICY 200 OK\r\n"), NO_STATUS_LINE},
    {"a version alone", "RFC 9112 4", HTTP, MK_STR_INIT("HTTP/1.1\r\n"), BAD_LINE},
    {"a minor version that is no digit", "RFC 9112 2.3", HTTP, MK_STR_INIT("HTTP/1.x 200 OK\r\n"),
     BAD_LINE},
    {"a version of two digits", "RFC 9112 2.3", HTTP, MK_STR_INIT("HTTP/1.10 200 OK\r\n"),
     BAD_LINE},
    {"a tab behind the version", "RFC 9112 4", HTTP, MK_STR_INIT("HTTP/1.1\t200 OK\r\n"), BAD_LINE},
    {"two blanks behind the version", "RFC 9112 4", HTTP, MK_STR_INIT("HTTP/1.1  200 OK\r\n"),
     BAD_STATUS},
    {"a status of two digits", "RFC 9112 4", HTTP, MK_STR_INIT("HTTP/1.1 20 OK\r\n"), BAD_STATUS},
    {"a status of two digits alone", "RFC 9112 4", HTTP, MK_STR_INIT("HTTP/1.1 20\r\n"), BAD_LINE},
    {"a status of four digits", "RFC 9112 4", HTTP, MK_STR_INIT("HTTP/1.1 2000 OK\r\n"),
     BAD_STATUS},
    {"a status that is no number", "RFC 9112 4", HTTP, MK_STR_INIT("HTTP/1.1 2x0 OK\r\n"),
     BAD_STATUS},
    {"a signed status", "RFC 9112 4", HTTP, MK_STR_INIT("HTTP/1.1 +20 OK\r\n"), BAD_STATUS},
    {"a status below 100", "RFC 9110 15", HTTP, MK_STR_INIT("HTTP/1.1 099 OK\r\n"), BAD_STATUS},
    {"a status above 599", "RFC 9110 15", HTTP, MK_STR_INIT("HTTP/1.1 600 OK\r\n"), BAD_STATUS},
    {"a tab behind the status", "RFC 9112 4", HTTP, MK_STR_INIT("HTTP/1.1 200\tOK\r\n"),
     BAD_STATUS},
    {"a control byte in the reason", "RFC 9112 4", HTTP, MK_STR_INIT("HTTP/1.1 200 O\x01K\r\n"),
     CONTROL},
    {"a bare LF behind the reason", "RFC 9112 2.2", HTTP, MK_STR_INIT("HTTP/1.1 200 OK\n\n"),
     LINE_END},
    {"a bare CR behind the reason", "RFC 9112 2.2", HTTP, MK_STR_INIT("HTTP/1.1 200 OK\rA: b\r\n"),
     LINE_END},
    /* field lines */
    {"a bare LF behind a field", "RFC 9112 2.2", HTTP, MK_STR_INIT(OK "A: b\n\r\n"), LINE_END},
    {"a bare LF as empty line", "RFC 9112 2.2", HTTP, MK_STR_INIT(OK "A: b\r\n\n"), LINE_END},
    {"a bare CR in a value", "RFC 9112 2.2", HTTP, MK_STR_INIT(OK "A: b\rc\r\n\r\n"), LINE_END},
    {"two CR at the end", "RFC 9112 2.2", HTTP, MK_STR_INIT(OK "A: b\r\r\n\r\n"), LINE_END},
    {"NUL in a value", "RFC 9110 5.5", HTTP, MK_STR_INIT(OK "A: b\0c\r\n\r\n"), CONTROL},
    {"NUL in a name", "RFC 9110 5.1", HTTP, MK_STR_INIT(OK "A\0b: c\r\n\r\n"), CONTROL},
    {"DEL in a value", "RFC 9110 5.5", HTTP, MK_STR_INIT(OK "A: \x7f\r\n\r\n"), CONTROL},
    {"a folded field", "RFC 9112 5.2", HTTP, MK_STR_INIT(OK "A: b\r\n c\r\n\r\n"), FOLDED},
    {"a field folded by a tab", "RFC 9112 5.2", HTTP, MK_STR_INIT(OK "A: b\r\n\tc: d\r\n\r\n"),
     FOLDED},
    {"a blank before the first field", "RFC 9112 2.2", HTTP, MK_STR_INIT(OK " A: b\r\n\r\n"),
     FOLDED},
    {"a blank before a colon", "RFC 9112 5.1", HTTP, MK_STR_INIT(OK "A : b\r\n\r\n"), COLON},
    {"a tab before a colon", "RFC 9112 5.1", HTTP, MK_STR_INIT(OK "A\t: b\r\n\r\n"), COLON},
    {"a name without colon", "RFC 9112 5", HTTP, MK_STR_INIT(OK "Abc\r\n\r\n"), NAME},
    {"no name", "RFC 9112 5", HTTP, MK_STR_INIT(OK ": b\r\n\r\n"), NAME},
    {"a byte above 0x7f in a name", "RFC 9110 5.1", HTTP, MK_STR_INIT(OK "\xc3\x84: b\r\n\r\n"),
     NAME},
    {"a name in parentheses", "RFC 9110 5.1", HTTP, MK_STR_INIT(OK "(a): b\r\n\r\n"), NAME},
    /* framing */
    {"an empty length", "RFC 9110 8.6", HTTP, MK_STR_INIT(OK "Content-Length:\r\n\r\n"),
     LENGTH_BAD},
    {"a length of commas", "RFC 9110 8.6", HTTP, MK_STR_INIT(OK "Content-Length: ,,\r\n\r\n"),
     LENGTH_BAD},
    {"a negative length", "RFC 9110 8.6", HTTP, MK_STR_INIT(OK "Content-Length: -1\r\n\r\n"),
     LENGTH_BAD},
    {"a signed length", "RFC 9110 8.6", HTTP, MK_STR_INIT(OK "Content-Length: +1\r\n\r\n"),
     LENGTH_BAD},
    {"a hexadecimal length", "RFC 9110 8.6", HTTP, MK_STR_INIT(OK "Content-Length: 0x10\r\n\r\n"),
     LENGTH_BAD},
    {"a length of two words", "RFC 9110 8.6", HTTP, MK_STR_INIT(OK "Content-Length: 1 1\r\n\r\n"),
     LENGTH_BAD},
    {"a length that would wrap", "RFC 9110 8.6", HTTP,
     MK_STR_INIT(OK "Content-Length: 9223372036854775808\r\n\r\n"), LENGTH_BAD},
    {"two lengths that differ", "RFC 9112 6.3", HTTP,
     MK_STR_INIT(OK "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), DIFFER},
    {"a list of lengths that differ", "RFC 9112 6.3", HTTP,
     MK_STR_INIT(OK "Content-Length: 1, 2\r\n\r\n"), DIFFER},
    {"a length and chunked", "RFC 9112 6.3", HTTP,
     MK_STR_INIT(OK "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
     "Content-Length together with Transfer-Encoding"},
    {"chunked and a length", "RFC 9112 6.3", HTTP,
     MK_STR_INIT(OK "transfer-encoding: chunked\r\ncontent-length: 1\r\n\r\n"),
     "Content-Length together with Transfer-Encoding"},
    {"another coding", "RFC 9112 6.1", HTTP,
     MK_STR_INIT(OK "Transfer-Encoding: gzip, chunked\r\n\r\n"), UNKNOWN},
    {"chunked is not the last coding", "RFC 9112 6.1", HTTP,
     MK_STR_INIT(OK "Transfer-Encoding: chunked, gzip\r\n\r\n"), UNKNOWN},
    {"nearly chunked", "RFC 9112 6.1", HTTP, MK_STR_INIT(OK "Transfer-Encoding: xchunked\r\n\r\n"),
     UNKNOWN},
    {"identity, which is no coding any more", "RFC 9112 7", HTTP,
     MK_STR_INIT(OK "Transfer-Encoding: identity\r\n\r\n"), UNKNOWN},
    {"chunked twice", "RFC 9112 6.1", HTTP,
     MK_STR_INIT(OK "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
     "chunked is repeated"},
    {"no coding", "RFC 9112 6.1", HTTP, MK_STR_INIT(OK "Transfer-Encoding: ,\r\n\r\n"),
     "Transfer-Encoding without a coding"},
    {"a coding in HTTP/1.0", "RFC 9112 6.1", HTTP,
     MK_STR_INIT("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
     "Transfer-Encoding in an HTTP/1.0 response"},
    {"a length with 101", "RFC 9110 8.6", HTTP,
     MK_STR_INIT("HTTP/1.1 101 Switching Protocols\r\nContent-Length: 5\r\n\r\n"), BODYLESS},
    /* CGI */
    {"CGI: no field", "RFC 3875 6.3", CGI, MK_STR_INIT("\n"), "a CGI response without fields"},
    {"CGI: a status line", "RFC 3875 6.2", CGI, MK_STR_INIT(OK "A: b\r\n\r\n"), NAME},
    {"CGI: text that is no field", "RFC 3875 6.3", CGI, MK_STR_INIT("Hello\n"), NAME},
    {"CGI: a status without number", "RFC 3875 6.3.3", CGI, MK_STR_INIT("Status: OK\n\n"),
     CGI_STATUS},
    {"CGI: an empty status", "RFC 3875 6.3.3", CGI, MK_STR_INIT("Status:\n\n"), CGI_STATUS},
    {"CGI: a status above 599", "RFC 9110 15", CGI, MK_STR_INIT("Status: 999 No\n\n"), CGI_STATUS},
    {"CGI: two Status", "RFC 3875 6.3", CGI, MK_STR_INIT("Status: 200\nStatus: 200\n\n"), REPEATED},
    {"CGI: two Location", "RFC 3875 6.3", CGI, MK_STR_INIT("Location: /a\nlocation: /b\n\n"),
     REPEATED},
    {"CGI: two Content-Type", "RFC 3875 6.3", CGI,
     MK_STR_INIT("Content-Type: a/b\nContent-Type: a/b\n\n"), REPEATED},
    {"CGI: a transfer coding", "RFC 3875 6.3.4", CGI,
     MK_STR_INIT("Content-Type: a/b\nTransfer-Encoding: chunked\n\n"),
     "Transfer-Encoding in a CGI response"},
    {"CGI: lengths that differ", "RFC 9112 6.3", CGI,
     MK_STR_INIT("Content-Length: 1\nContent-Length: 2\n\n"), DIFFER},
    {"CGI: a bare CR in a value", "RFC 9112 2.2", CGI, MK_STR_INIT("A: b\rc\n\n"), LINE_END},
    {"CGI: a folded field", "RFC 9112 5.2", CGI, MK_STR_INIT("A: b\n c\n\n"), FOLDED},
    {"CGI: a blank before a colon", "RFC 3875 6.3", CGI, MK_STR_INIT("A : b\n\n"), COLON},
    {"CGI: NUL in a value", "RFC 9110 5.5", CGI, MK_STR_INIT("A: b\0\n\n"), CONTROL},
};

static void refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *row = &refusals[i];
        struct mk_response_head h;
        ssize_t ret = parse(&h, row->kind, row->in);

        if (ret != MK_E_BAD || !h.why || strcmp(h.why, row->why) != 0)
            fail_msg("%s (%s): gave %zd, %s", row->sentence, row->rfc, ret, h.why ? h.why : "-");
    }
}

/* ---- heads that are accepted ---- */

struct acceptance {
    const char *sentence, *rfc;
    enum mk_response_kind kind;
    struct mk_str in;
    unsigned status, minor;
    const char *reason;
    int64_t length;
    const char *flags; /* c chunked, k keep_alive, u upgrade */
    size_t rest;       /* bytes behind the head */
};

static const struct acceptance acceptances[] = {
    {"an empty 200", "RFC 9112 4", HTTP, MK_STR_INIT(OK "\r\n"), 200, 1, "OK", -1, "k", 0},
    {"a body follows", "RFC 9112 6", HTTP, MK_STR_INIT(OK "Content-Length: 5\r\n\r\nhello"), 200, 1,
     "OK", 5, "k", 5},
    {"a reason of words", "RFC 9112 4", HTTP, MK_STR_INIT("HTTP/1.1 404 Not  there\t\xe9\r\n\r\n"),
     404, 1, "Not  there\t\xe9", -1, "k", 0},
    {"an empty reason", "RFC 9112 4", HTTP, MK_STR_INIT("HTTP/1.1 200 \r\n\r\n"), 200, 1, "", -1,
     "k", 0},
    {"no blank for no reason", "RFC 9112 4", HTTP, MK_STR_INIT("HTTP/1.1 200\r\n\r\n"), 200, 1, "",
     -1, "k", 0},
    {"the lowest status", "RFC 9110 15", HTTP, MK_STR_INIT("HTTP/1.1 100 Continue\r\n\r\n"), 100, 1,
     "Continue", -1, "k", 0},
    {"the highest status", "RFC 9110 15", HTTP, MK_STR_INIT("HTTP/1.1 599 x\r\n\r\n"), 599, 1, "x",
     -1, "k", 0},
    {"HTTP/1.0 closes", "RFC 9112 9.3", HTTP, MK_STR_INIT("HTTP/1.0 200 OK\r\n\r\n"), 200, 0, "OK",
     -1, "", 0},
    {"HTTP/1.0 that keeps", "RFC 9112 9.3", HTTP,
     MK_STR_INIT("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n"), 200, 0, "OK", -1, "k", 0},
    {"a later minor version", "RFC 9110 6.2", HTTP, MK_STR_INIT("HTTP/1.7 200 OK\r\n\r\n"), 200, 1,
     "OK", -1, "k", 0},
    {"Connection: close", "RFC 9112 9.3", HTTP, MK_STR_INIT(OK "Connection: close\r\n\r\n"), 200, 1,
     "OK", -1, "", 0},
    {"close wins", "RFC 9112 9.3", HTTP,
     MK_STR_INIT(OK "connection: keep-alive\r\nConnection: x, Close\r\n\r\n"), 200, 1, "OK", -1, "",
     0},
    {"chunked", "RFC 9112 7.1", HTTP, MK_STR_INIT(OK "Transfer-Encoding: Chunked\r\n\r\n0\r\n"),
     200, 1, "OK", -1, "ck", 3},
    {"a length of nothing", "RFC 9110 8.6", HTTP, MK_STR_INIT(OK "Content-Length: 0\r\n\r\n"), 200,
     1, "OK", 0, "k", 0},
    {"the greatest length", "RFC 9110 8.6", HTTP,
     MK_STR_INIT(OK "Content-Length: 9223372036854775807\r\n\r\n"), 200, 1, "OK", INT64_MAX, "k",
     0},
    {"two equal lengths", "RFC 9110 8.6", HTTP,
     MK_STR_INIT(OK "Content-Length: 7\r\nContent-Length: 07\r\n\r\n"), 200, 1, "OK", 7, "k", 0},
    {"a list of equal lengths", "RFC 9110 8.6", HTTP,
     MK_STR_INIT(OK "Content-Length: 42, 42\r\n\r\n"), 200, 1, "OK", 42, "k", 0},
    {"204 with a length of nothing", "RFC 9110 8.6", HTTP,
     MK_STR_INIT("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n"), 204, 1, "No Content", 0,
     "k", 0},
    {"204 with chunks, which are not looked for", "RFC 9112 6.3", HTTP,
     MK_STR_INIT("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n"), 204, 1,
     "No Content", -1, "", 0},
    {"204 with a length", "RFC 9112 6.3", HTTP,
     MK_STR_INIT("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"), 204, 1, "No Content", -1,
     "", 0},
    {"304 with the length of the 200", "RFC 9110 8.6", HTTP,
     MK_STR_INIT("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"), 304, 1, "Not Modified",
     9, "k", 0},
    {"an upgrade", "RFC 9110 7.8", HTTP,
     MK_STR_INIT("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
     101, 1, "Switching", -1, "ku", 0},
    {"101 without Connection", "RFC 9110 7.8", HTTP,
     MK_STR_INIT("HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n"), 101, 1, "Switching", -1,
     "k", 0},
    {"101 without Upgrade", "RFC 9110 7.8", HTTP,
     MK_STR_INIT("HTTP/1.1 101 Switching\r\nConnection: upgrade\r\n\r\n"), 101, 1, "Switching", -1,
     "k", 0},
    {"an offer to upgrade", "RFC 9110 7.8", HTTP,
     MK_STR_INIT(OK "Connection: upgrade\r\nUpgrade: h2c\r\n\r\n"), 200, 1, "OK", -1, "k", 0},
    {"Status means nothing in HTTP", "RFC 9112 4", HTTP, MK_STR_INIT(OK "Status: x\r\n\r\n"), 200,
     1, "OK", -1, "k", 0},
    {"repeated fields in HTTP", "RFC 9110 5.3", HTTP,
     MK_STR_INIT(OK "Content-Type: a/b\r\nContent-Type: a/b\r\n\r\n"), 200, 1, "OK", -1, "k", 0},
    {"bytes above 0x7f in a value", "RFC 9110 5.5", HTTP, MK_STR_INIT(OK "A: \xc3\x84\r\n\r\n"),
     200, 1, "OK", -1, "k", 0},
    {"empty values", "RFC 9112 5", HTTP, MK_STR_INIT(OK "A:\r\nB: \t \r\n\r\n"), 200, 1, "OK", -1,
     "k", 0},
    /* CGI */
    {"CGI: a document", "RFC 3875 6.2.1", CGI, MK_STR_INIT("Content-Type: text/plain\n\nHello"),
     200, 0, "", -1, "", 5},
    {"CGI: CR LF", "RFC 3875 7.2", CGI, MK_STR_INIT("Content-Type: text/plain\r\n\r\nHello"), 200,
     0, "", -1, "", 5},
    {"CGI: both line ends", "RFC 3875 7.2", CGI, MK_STR_INIT("A: b\r\nC: d\n\r\n\n"), 200, 0, "",
     -1, "", 1},
    {"CGI: a status", "RFC 3875 6.3.3", CGI, MK_STR_INIT("Status: 404 Not Found\n\n"), 404, 0,
     "Not Found", -1, "", 0},
    {"CGI: a status without reason", "RFC 3875 6.3.3", CGI, MK_STR_INIT("status:  503 \n\n"), 503,
     0, "", -1, "", 0},
    {"CGI: a redirect", "RFC 3875 6.2.3", CGI, MK_STR_INIT("Location: http://a/\n\n"), 302, 0, "",
     -1, "", 0},
    {"CGI: a redirect with a status", "RFC 3875 6.2.4", CGI,
     MK_STR_INIT("Location: http://a/\nStatus: 301 Moved\n\n"), 301, 0, "Moved", -1, "", 0},
    {"CGI: a length", "RFC 3875 6.3", CGI, MK_STR_INIT("A: b\nContent-Length: 3\n\nabc"), 200, 0,
     "", 3, "", 3},
    {"CGI: Connection is not the script's", "RFC 3875 6.3.4", CGI,
     MK_STR_INIT("A: b\nConnection: keep-alive\n\n"), 200, 0, "", -1, "", 0},
};

static bool has_flag(const struct acceptance *row, char flag)
{
    return strchr(row->flags, flag) != NULL;
}

static void accepts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(acceptances) / sizeof(acceptances[0]); i++) {
        const struct acceptance *row = &acceptances[i];
        struct mk_response_head h;
        ssize_t ret = parse(&h, row->kind, row->in);

        if (ret != (ssize_t)(row->in.len - row->rest))
            fail_msg("%s (%s): gave %zd, %s", row->sentence, row->rfc, ret, h.why ? h.why : "-");
        if (h.status != row->status || h.minor != row->minor || h.content_length != row->length ||
            !mk_str_eq((struct mk_str){row->in.p + h.reason_off, h.reason_len},
                       mk_str_from(row->reason)))
            fail_msg("%s (%s): status %u, minor %u, length %lld, reason %u+%u", row->sentence,
                     row->rfc, h.status, h.minor, (long long)h.content_length, h.reason_off,
                     h.reason_len);
        if (h.chunked != has_flag(row, 'c') || h.keep_alive != has_flag(row, 'k') ||
            h.upgrade != has_flag(row, 'u'))
            fail_msg("%s (%s): chunked %d, keep_alive %d, upgrade %d", row->sentence, row->rfc,
                     h.chunked, h.keep_alive, h.upgrade);
    }
}

static void waits_for_the_rest(void **state)
{
    static const struct mk_str whole = MK_STR_INIT(OK "A: b\r\n\r\n");

    (void)state;
    for (size_t len = 0; len < whole.len; len++) {
        struct mk_response_head h;

        assert_int_equal(parse(&h, MK_RESPONSE_HTTP, (struct mk_str){whole.p, len}), MK_E_AGAIN);
    }
}

/* ---- its fields ---- */

static void walks_its_fields(void **state)
{
    static const struct {
        enum mk_response_kind kind;
        struct mk_str in;
    } rows[] = {
        {HTTP, MK_STR_INIT(OK "A: one\r\nB:\r\na:\t two \r\n\r\nC: body")},
        {CGI, MK_STR_INIT("A: one\nB:\na:\t two \n\nC: body")},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        static const char *const expected[][2] = {{"A", "one"}, {"B", ""}, {"a", "two"}};
        const char *buf = rows[i].in.p;
        struct mk_response_head h;
        struct mk_str name, value;
        uint32_t at = 0;

        assert_true(parse(&h, rows[i].kind, rows[i].in) > 0);
        assert_int_equal(h.nfields, 3);
        for (size_t f = 0; f < 3; f++) {
            assert_true(mk_response_next(&h, buf, &at, &name, &value));
            assert_true(mk_str_eq(name, mk_str_from(expected[f][0])));
            assert_true(mk_str_eq(value, mk_str_from(expected[f][1])));
        }
        assert_false(mk_response_next(&h, buf, &at, &name, &value));
        assert_false(mk_response_next(&h, buf, &at, &name, &value));
        assert_true(mk_str_eq(mk_response_find(&h, buf, MK_STR("A")), MK_STR("one")));
        assert_true(mk_str_eq(mk_response_find(&h, buf, MK_STR("b")), MK_STR("")));
        assert_non_null(mk_response_find(&h, buf, MK_STR("b")).p);
        assert_null(mk_response_find(&h, buf, MK_STR("C")).p);
    }
}

static void a_head_without_fields_has_none(void **state)
{
    struct mk_response_head h;
    struct mk_str in = MK_STR(OK "\r\n"), name, value;
    uint32_t at = 0;

    (void)state;
    assert_true(parse(&h, MK_RESPONSE_HTTP, in) > 0);
    assert_false(mk_response_next(&h, in.p, &at, &name, &value));
    assert_null(mk_response_find(&h, in.p, MK_STR("a")).p);
}

/* ---- limits ---- */

static void bounds_the_bytes(void **state)
{
    static const struct mk_str in = MK_STR_INIT(OK "A: b\r\n\r\n");
    struct mk_response_head h;

    (void)state;
    assert_int_equal(parse_limited(&h, MK_RESPONSE_HTTP, in, in.len), in.len);
    for (size_t max = 0; max < in.len; max++) {
        assert_int_equal(parse_limited(&h, MK_RESPONSE_HTTP, in, max), MK_E_LIMIT);
        assert_string_equal(h.why, "head too large");
    }
}

static void bounds_the_fields(void **state)
{
    static char text[32 + (MK_LIMIT_RESPONSE_FIELDS + 1) * 5];
    struct mk_response_head h;

    (void)state;
    for (int more = 0; more <= 1; more++) {
        size_t len = strlen(strcpy(text, OK));

        for (int i = 0; i < MK_LIMIT_RESPONSE_FIELDS + more; i++, len += 5)
            memcpy(text + len, "a:b\r\n", 5);
        memcpy(text + len, "\r\n", 2);
        len += 2;
        assert_int_equal(parse(&h, MK_RESPONSE_HTTP, (struct mk_str){text, len}),
                         more ? MK_E_LIMIT : (ssize_t)len);
        assert_int_equal(h.nfields, MK_LIMIT_RESPONSE_FIELDS);
    }
}

/* ---- the work is linear ---- */

static void a_long_line_is_read_once(void **state)
{
    char *text = guard_end(&areas[0], ROOM);
    struct mk_response_head h = {0};

    (void)state;
    memset(text, 'a', ROOM);
    memcpy(text, OK "A: ", strlen(OK "A: "));
    for (size_t len = 0; len <= ROOM; len++) {
        assert_int_equal(mk_response_parse(&h, MK_RESPONSE_HTTP, text, len, SIZE_MAX), MK_E_AGAIN);
        if (len >= sizeof(OK))
            assert_int_equal(h.scanned, len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses),
        cmocka_unit_test(accepts),
        cmocka_unit_test(waits_for_the_rest),
        cmocka_unit_test(walks_its_fields),
        cmocka_unit_test(a_head_without_fields_has_none),
        cmocka_unit_test(bounds_the_bytes),
        cmocka_unit_test(bounds_the_fields),
        cmocka_unit_test(a_long_line_is_read_once),
    };

    return cmocka_run_group_tests(tests, open_areas, close_areas);
}
