/* SPDX-License-Identifier: Apache-2.0 */
#include "data/redis/url.h"

#include "data/remote/take.h"

#include "kit/pure/hex.h"
#include "kit/pure/number.h"

#include <string.h>

static const char scheme[] = "redis";

bool redis_url_is(const char *text)
{
    struct mk_str s = mk_str_from(text);
    bool is_secure;

    return remote_scheme_take(&s, scheme, &is_secure);
}

/* @return -1: it is too long, or has a malformed %XX or NUL */
static int decode(char *dst, size_t size, struct mk_str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++, n++) {
        int byte = (unsigned char)s.p[i];

        if (n + 1 >= size)
            return -1;
        if (byte == '%') {
            const int high = s.len - i > 2 ? hex_value(s.p[i + 1]) : -1;
            const int low = s.len - i > 2 ? hex_value(s.p[i + 2]) : -1;

            if (high < 0 || low < 0 || high + low == 0)
                return -1;
            byte = high * 16 + low;
            i += 2;
        }
        dst[n] = (char)byte;
    }
    dst[n] = '\0';
    return 0;
}

static const char *read_owner(struct redis_url *url, struct mk_str owner)
{
    const struct mk_str password = remote_cut(&owner, ':');

    if (!password.p)
        return "a user has a password: redis://USER:PASSWORD@HOST";
    if (decode(url->user, sizeof(url->user), owner) < 0 ||
        decode(url->password, sizeof(url->password), password) < 0)
        return "users and passwords have at most 127 bytes, with % as %25";
    return password.len == 0 ? "a password is not empty" : NULL;
}

static const char *read_db(struct redis_url *url, struct mk_str db)
{
    const bool is_first = db.len == 0 || (db.len == 1 && db.p[0] == '0');

    url->db = is_first ? 0 : number_of(db, REDIS_URL_DB_MAX);
    return is_first || url->db > 0 ? NULL : "a database is a number";
}

const char *redis_url_read(struct redis_url *url, const char *text)
{
    struct mk_str owner = {NULL, 0}, place = mk_str_from(text), options, db, behind;
    const char *why = NULL;

    memset(url, 0, sizeof(*url));
    if (!remote_scheme_take(&place, scheme, &url->place.is_secure))
        return "it begins with redis:// or rediss://";
    options = remote_cut(&place, '?');
    db = remote_cut(&place, '/');
    behind = remote_cut(&place, '@');
    if (behind.p) {
        owner = place;
        place = behind;
    }
    if (owner.p)
        why = read_owner(url, owner);
    if (!why)
        why = remote_place_read_host(&url->place, place, REDIS_URL_PORT_USUAL);
    if (!why)
        why = remote_place_read_options(&url->place, options);
    return why ? why : read_db(url, db);
}
