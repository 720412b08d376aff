/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/redis_url.h"

#include "kit/pure/hex.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char plain[] = "redis://", secure[] = "rediss://";

/* @return what is behind the scheme; NULL: it is another one */
static const char *behind_scheme(const char *text)
{
    if (strncmp(text, plain, sizeof(plain) - 1) == 0)
        return text + sizeof(plain) - 1;
    return strncmp(text, secure, sizeof(secure) - 1) == 0 ? text + sizeof(secure) - 1 : NULL;
}

bool redis_url_is(const char *text)
{
    return behind_scheme(text) != NULL;
}

struct part {
    const char *p;
    size_t len;
};

static const char *find(struct part s, char c)
{
    return s.len > 0 ? memchr(s.p, c, s.len) : NULL;
}

/* Take what stands before a character off the front, and the character. @return false: it is not there */
static bool cut(struct part *s, char c, struct part *front)
{
    const char *at = find(*s, c);

    if (!at)
        return false;
    *front = (struct part){s->p, (size_t)(at - s->p)};
    s->len -= front->len + 1;
    s->p = at + 1;
    return true;
}

/* @return -1: it is too long, or has a malformed %XX or NUL */
static int decode(char *dst, size_t size, struct part s)
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

/* @return -1: it is none up to max */
static long number_of(struct part s, long max)
{
    long n = 0;

    if (s.len == 0 || s.len > 5)
        return -1;
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return -1;
        n = n * 10 + (s.p[i] - '0');
    }
    return n <= max ? n : -1;
}

static const char *read_owner(struct redis_url *url, struct part owner)
{
    struct part user = {NULL, 0};

    if (!cut(&owner, ':', &user))
        return "a user has a password: redis://USER:PASSWORD@HOST";
    if (decode(url->user, sizeof(url->user), user) < 0 ||
        decode(url->password, sizeof(url->password), owner) < 0)
        return "users and passwords have at most 127 bytes, with % as %25";
    return owner.len == 0 ? "a password is not empty" : NULL;
}

static bool is_host(struct part host)
{
    if (host.len == 0 || host.len >= REDIS_URL_HOST_MAX)
        return false;
    for (size_t i = 0; i < host.len; i++) {
        if (host.p[i] <= ' ' || host.p[i] > '~' || strchr("/@?#%[]\\", host.p[i]))
            return false;
    }
    return true;
}

static const char *read_place(struct redis_url *url, struct part place)
{
    struct part host = place, port = {NULL, 0};
    bool has_port = false;

    if (place.len > 0 && place.p[0] == '[') {
        place.p++;
        place.len--;
        if (!cut(&place, ']', &host) || (place.len > 0 && place.p[0] != ':'))
            return "an IPv6 address stands in brackets";
        has_port = place.len > 0;
        port = (struct part){place.p + 1, has_port ? place.len - 1 : 0};
    } else if (cut(&place, ':', &host)) {
        has_port = true;
        port = place;
    }
    if (!is_host(host))
        return "it names no host";
    memcpy(url->host, host.p, host.len);
    if (has_port && number_of(port, 65535) < 1)
        return "a port is a number up to 65535";
    if (has_port)
        url->port = (unsigned)number_of(port, 65535);
    return NULL;
}

static const char *read_options(struct redis_url *url, struct part options)
{
    static const char key[] = "ca=/";

    if (!url->is_secure || options.len < sizeof(key) - 1 ||
        memcmp(options.p, key, sizeof(key) - 1) != 0)
        return "behind ? may be ca= with an absolute path, of rediss://";
    options.p += sizeof(key) - 2;
    options.len -= sizeof(key) - 2;
    return decode(url->ca, sizeof(url->ca), options) < 0 ? "its path is malformed or too long"
                                                         : NULL;
}

static const char *read_db(struct redis_url *url, struct part db)
{
    const long n = db.len > 0 ? number_of(db, REDIS_URL_DB_MAX) : 0;

    if (n < 0)
        return "a database is a number";
    url->db = (unsigned)n;
    return NULL;
}

const char *redis_url_read(struct redis_url *url, const char *text)
{
    const char *begin = behind_scheme(text), *why = NULL;
    struct part rest, front, place = {NULL, 0}, owner = {NULL, 0};

    memset(url, 0, sizeof(*url));
    url->port = REDIS_URL_PORT_USUAL;
    if (!begin)
        return "it begins with redis:// or rediss://";
    url->is_secure = begin - text == sizeof(secure) - 1;
    rest = (struct part){begin, strlen(begin)};
    if (cut(&rest, '?', &front)) {
        why = read_options(url, rest);
        rest = front;
    }
    if (!cut(&rest, '/', &place)) {
        place = rest;
        rest.len = 0;
    }
    if (!why && cut(&place, '@', &owner))
        why = read_owner(url, owner);
    if (!why)
        why = read_place(url, place);
    return why ? why : read_db(url, rest);
}
