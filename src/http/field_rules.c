/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/field.h>

#include "base/invariant.h"
#include "base/str.h"

enum {
    MESSAGE = MK_RULE_MESSAGE | MK_RULE_HOP | MK_RULE_NO_TRAILER | MK_RULE_NOT_FIXED,
    HOP = MK_RULE_HOP | MK_RULE_NO_TRAILER | MK_RULE_NOT_FIXED,
    PROXY = MK_RULE_HOP | MK_RULE_NO_TRAILER, /* for the proxy that is asked */
    MOMENT = MK_RULE_NO_TRAILER | MK_RULE_NOT_FIXED,
    EARLY = MK_RULE_NO_TRAILER,
};

/* By length, so that few are compared; characters rather than pointers, which would be relocated. */
static const struct rule {
    uint8_t rules;
    uint8_t len;
    char name[26];
} table[] = {
#define ROW(rules, name)                                                                           \
    {                                                                                              \
        rules, sizeof(name) - 1, name                                                              \
    }
    ROW(MESSAGE, "TE"),
    ROW(EARLY, "Age"),
    ROW(MOMENT, "Date"),
    ROW(EARLY, "Host"),
    ROW(EARLY, "Vary"),
    ROW(EARLY, "Range"),
    ROW(EARLY, "Cookie"),
    ROW(EARLY, "Expect"),
    ROW(EARLY, "Pragma"),
    ROW(EARLY, "Expires"),
    ROW(HOP, "Trailer"),
    ROW(MESSAGE, "Upgrade"),
    ROW(EARLY, "If-Match"),
    ROW(EARLY, "If-Range"),
    ROW(EARLY, "Location"),
    ROW(MESSAGE, "Connection"),
    ROW(MESSAGE, "Keep-Alive"),
    ROW(EARLY, "Set-Cookie"),
    ROW(EARLY, "Retry-After"),
    ROW(EARLY, "Content-Type"),
    ROW(EARLY, "Max-Forwards"),
    ROW(EARLY, "Authorization"),
    ROW(EARLY, "Cache-Control"),
    ROW(MOMENT, "Content-Range"),
    ROW(EARLY, "If-None-Match"),
    ROW(MESSAGE, "Content-Length"),
    ROW(MESSAGE, "HTTP2-Settings"),
    ROW(EARLY, "Content-Encoding"),
    ROW(MESSAGE, "Proxy-Connection"),
    ROW(EARLY, "WWW-Authenticate"),
    ROW(EARLY, "If-Modified-Since"),
    ROW(MESSAGE, "Transfer-Encoding"),
    ROW(PROXY, "Proxy-Authenticate"),
    ROW(EARLY, "If-Unmodified-Since"),
    ROW(PROXY, "Proxy-Authorization"),
    ROW(PROXY, "Proxy-Authentication-Info"),
#undef ROW
};

/* Of each length, the first row; from the next one on the following length. */
static const uint8_t rows_of[] = {0,  0,  0,  1,  2,  5,  6,  9,  12, 15, 15, 18, 19, 21,
                                  25, 27, 27, 30, 32, 33, 35, 35, 35, 35, 35, 35, 36};

_Static_assert(sizeof(rows_of) == sizeof(((struct rule *)0)->name) + 1, "a length too few");

/* Applications read both X_Name and X-Name as one variable. */
static char folded(char c)
{
    return c == '_' ? '-' : mk_char_lower(c);
}

static bool is_of(struct mk_str name, const struct rule *rule)
{
    for (size_t i = 0; i < name.len; i++) {
        if (folded(name.p[i]) != mk_char_lower(rule->name[i]))
            return false;
    }
    return true;
}

unsigned mk_field_rules(struct mk_str name)
{
    if (name.len + 1 >= sizeof(rows_of))
        return 0;
    for (unsigned i = rows_of[name.len]; i < rows_of[name.len + 1]; i++) {
        if (memcmp(name.p, table[i].name, name.len) == 0 || is_of(name, &table[i]))
            return table[i].rules;
    }
    return 0;
}
