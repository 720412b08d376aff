/* SPDX-License-Identifier: Apache-2.0 */
#include "hpack_int.h"

/*
 * The static table (RFC 7541 appendix A): entry, first of its name, name, value, policy of the encoder.
 *
 * PLAIN is what differs between messages of a connection. The validators of a file, and other fields that are those of one
 * resource, are AGAIN: pages are seldom asked for twice over a connection, and then their entries would drive the others
 * out; resources that are polled or shared come again soon. So does a date within its second, and is entered at once.
 */
#define STATICS(X)                                                                                 \
    X(1, 1, ":authority", "", ADD)                                                                 \
    X(2, 2, ":method", "GET", ADD)                                                                 \
    X(3, 2, ":method", "POST", ADD)                                                                \
    X(4, 4, ":path", "/", PLAIN)                                                                   \
    X(5, 4, ":path", "/index.html", PLAIN)                                                         \
    X(6, 6, ":scheme", "http", ADD)                                                                \
    X(7, 6, ":scheme", "https", ADD)                                                               \
    X(8, 8, ":status", "200", ADD)                                                                 \
    X(9, 8, ":status", "204", ADD)                                                                 \
    X(10, 8, ":status", "206", ADD)                                                                \
    X(11, 8, ":status", "304", ADD)                                                                \
    X(12, 8, ":status", "400", ADD)                                                                \
    X(13, 8, ":status", "404", ADD)                                                                \
    X(14, 8, ":status", "500", ADD)                                                                \
    X(15, 15, "accept-charset", "", ADD)                                                           \
    X(16, 16, "accept-encoding", "gzip, deflate", ADD)                                             \
    X(17, 17, "accept-language", "", ADD)                                                          \
    X(18, 18, "accept-ranges", "", ADD)                                                            \
    X(19, 19, "accept", "", ADD)                                                                   \
    X(20, 20, "access-control-allow-origin", "", ADD)                                              \
    X(21, 21, "age", "", PLAIN)                                                                    \
    X(22, 22, "allow", "", ADD)                                                                    \
    X(23, 23, "authorization", "", NEVER)                                                          \
    X(24, 24, "cache-control", "", ADD)                                                            \
    X(25, 25, "content-disposition", "", AGAIN)                                                    \
    X(26, 26, "content-encoding", "", ADD)                                                         \
    X(27, 27, "content-language", "", ADD)                                                         \
    X(28, 28, "content-length", "", PLAIN)                                                         \
    X(29, 29, "content-location", "", PLAIN)                                                       \
    X(30, 30, "content-range", "", PLAIN)                                                          \
    X(31, 31, "content-type", "", ADD)                                                             \
    X(32, 32, "cookie", "", COOKIE)                                                                \
    X(33, 33, "date", "", ADD)                                                                     \
    X(34, 34, "etag", "", AGAIN)                                                                   \
    X(35, 35, "expect", "", ADD)                                                                   \
    X(36, 36, "expires", "", AGAIN)                                                                \
    X(37, 37, "from", "", ADD)                                                                     \
    X(38, 38, "host", "", ADD)                                                                     \
    X(39, 39, "if-match", "", PLAIN)                                                               \
    X(40, 40, "if-modified-since", "", AGAIN)                                                      \
    X(41, 41, "if-none-match", "", AGAIN)                                                          \
    X(42, 42, "if-range", "", PLAIN)                                                               \
    X(43, 43, "if-unmodified-since", "", PLAIN)                                                    \
    X(44, 44, "last-modified", "", AGAIN)                                                          \
    X(45, 45, "link", "", AGAIN)                                                                   \
    X(46, 46, "location", "", PLAIN)                                                               \
    X(47, 47, "max-forwards", "", ADD)                                                             \
    X(48, 48, "proxy-authenticate", "", ADD)                                                       \
    X(49, 49, "proxy-authorization", "", NEVER)                                                    \
    X(50, 50, "range", "", PLAIN)                                                                  \
    X(51, 51, "referer", "", ADD)                                                                  \
    X(52, 52, "refresh", "", ADD)                                                                  \
    X(53, 53, "retry-after", "", PLAIN)                                                            \
    X(54, 54, "server", "", ADD)                                                                   \
    X(55, 55, "set-cookie", "", SET_COOKIE)                                                        \
    X(56, 56, "strict-transport-security", "", ADD)                                                \
    X(57, 57, "transfer-encoding", "", ADD)                                                        \
    X(58, 58, "user-agent", "", ADD)                                                               \
    X(59, 59, "vary", "", ADD)                                                                     \
    X(60, 60, "via", "", ADD)                                                                      \
    X(61, 61, "www-authenticate", "", ADD)

#define MEMBER(id, first, name, value, policy)                                                     \
    char name_##id[sizeof(name)], value_##id[sizeof(value)];
#define TEXT(id, first, name, value, policy) name "\0" value "\0"
#define ENTRY(id, first, name, value, policy)                                                      \
    {offsetof(struct texts, name_##id), sizeof(name) - 1, sizeof(value) - 1, first, HPACK_##policy},

/* As they lie one after the other. */
struct texts {
    STATICS(MEMBER)
};

const char hpack_static_texts[] = STATICS(TEXT);
const struct hpack_static hpack_statics[HPACK_STATIC + 1] = {{0}, STATICS(ENTRY)};

_Static_assert(sizeof(hpack_static_texts) == sizeof(struct texts) + 1, "each text has its place");

/* The factor was found by trial: no two names have the same slot. */
#define SLOT_FACTOR UINT32_C(0x3591a6e9)

static const uint8_t slots[128] = {
    60, 54, 25, 0,  0,  0,  45, 0,  28, 19, 0, 0,  0,  0, 0,  0,  52, 0,  0,  40, 0,  0,
    17, 0,  0,  0,  0,  0,  39, 0,  0,  0,  0, 42, 41, 0, 0,  58, 0,  0,  6,  0,  0,  48,
    35, 0,  44, 55, 0,  0,  29, 0,  0,  49, 0, 32, 8,  0, 34, 24, 0,  16, 53, 0,  47, 0,
    0,  27, 0,  0,  56, 20, 43, 0,  33, 0,  0, 0,  0,  0, 23, 38, 0,  51, 2,  21, 0,  0,
    31, 0,  0,  57, 0,  0,  0,  15, 0,  50, 0, 0,  0,  0, 0,  0,  0,  22, 26, 46, 0,  4,
    59, 0,  0,  18, 30, 61, 36, 0,  0,  37, 0, 0,  0,  0, 0,  1,  0,  0,
};

unsigned hpack_static_find(struct mk_str name)
{
    uint32_t key;
    unsigned id;

    if (name.len == 0)
        return 0;
    key = (uint32_t)name.len | (uint32_t)((uint8_t)name.p[0] | HPACK_CASE) << 8 |
          (uint32_t)((uint8_t)name.p[name.len - 1] | HPACK_CASE) << 16;
    id = slots[key * SLOT_FACTOR >> 25];
    if (hpack_statics[id].name_len != name.len)
        return 0;
    return hpack_are_same(name.p, hpack_static_name(id).p, name.len, HPACK_CASE) ? id : 0;
}
