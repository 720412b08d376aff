/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/signed.h>

#include <monkey/events.h>

#include "base/heap.h"
#include "base/str.h"
#include "kit/digest/digest.h"
#include "kit/digest/hmac.h"
#include "kit/pure/base64.h"
#include "kit/pure/number.h"
#include "kit/sha2/sha2.h"

#include <limits.h>
#include <stdio.h>

/*
 * A signed text is VALUE.EXPIRES.CODE: base64url, decimal seconds, base64url. The code is of a line that says what it is for
 * and how long the name is, then the name, then VALUE.EXPIRES as they stand in the text: nothing is decoded before the code
 * has been found right, and no two different inputs have the same bytes.
 */

enum {
    CODE = 43,        /* bytes of the text of a code */
    TIME_DIGITS = 19, /* of INT64_MAX */
    BODY = MK_SIGNED_TEXT - CODE - 1,
    PURPOSE = 40,
    TRIED = 8 /* cookies of one name */
};

_Static_assert((MK_SIGNED_VALUE + 2) / 3 * 4 + 1 + TIME_DIGITS <= BODY,
               "the longest value has room");

HMAC_HASH(sha256, 64, SHA256_LEN);

struct key {
    char *bytes;
    size_t len;
};

struct mk_signer {
    size_t nkeys;
    struct key keys[MK_SIGNER_KEYS];
};

/* ---- keys ---- */

static int copy_key(struct key *to, struct mk_str from)
{
    if (!from.p || from.len < MK_SIGNER_KEY_MIN)
        return MK_E_INVALID;
    if (from.len > MK_SIGNER_KEY_MAX)
        return MK_E_LIMIT;
    to->bytes = mk_heap_zalloc(1, from.len);
    if (!to->bytes)
        return MK_E_NOMEM;
    memcpy(to->bytes, from.p, from.len);
    to->len = from.len;
    return 0;
}

int mk_signer_new(struct mk_signer **signer, const struct mk_str *keys, size_t nkeys)
{
    struct mk_signer *s;
    int err = 0;

    if (!signer || !keys || nkeys == 0)
        return MK_E_INVALID;
    if (nkeys > MK_SIGNER_KEYS)
        return MK_E_LIMIT;
    s = mk_heap_zalloc(1, sizeof(*s));
    if (!s)
        return MK_E_NOMEM;
    while (err == 0 && s->nkeys < nkeys) {
        err = copy_key(&s->keys[s->nkeys], keys[s->nkeys]);
        s->nkeys += err == 0;
    }
    if (err == 0)
        *signer = s;
    else
        mk_signer_free(s);
    return err;
}

void mk_signer_free(struct mk_signer *signer)
{
    for (size_t i = 0; signer && i < signer->nkeys; i++) {
        explicit_bzero(signer->keys[i].bytes, signer->keys[i].len);
        mk_heap_free(signer->keys[i].bytes);
    }
    mk_heap_free(signer);
}

/* ---- codes ---- */

/* What is signed. */
struct signed_bytes {
    char bytes[PURPOSE + MK_SIGNED_NAME + BODY];
    size_t len;
};

static void put(struct signed_bytes *s, struct mk_str text)
{
    if (text.len > 0)
        memcpy(s->bytes + s->len, text.p, text.len);
    s->len += text.len;
}

/* @param name, body  within their bounds */
static void set_bytes(struct signed_bytes *s, struct mk_str name, struct mk_str body)
{
    s->len = (size_t)snprintf(s->bytes, PURPOSE, "monkey signed 1 %zu\n", name.len);
    put(s, name);
    put(s, body);
}

static void write_code(char code[CODE + 1], const struct key *key, const struct signed_bytes *s)
{
    uint8_t digest[SHA256_LEN];

    digest_hmac(&hmac_sha256, key->bytes, key->len, s->bytes, s->len, digest);
    (void)base64url_encode(code, digest, sizeof(digest));
}

/* All keys are tried, whichever fits. @return its number; -1: none */
static int find_key(const struct mk_signer *signer, const struct signed_bytes *s, const char *code)
{
    char right[CODE + 1];
    int found = -1;

    for (size_t i = 0; i < signer->nkeys; i++) {
        write_code(right, &signer->keys[i], s);
        if (digest_is_same(right, code, CODE) && found < 0)
            found = (int)i;
    }
    return found;
}

static bool is_name(struct mk_str name)
{
    return name.p && name.len > 0 && name.len <= MK_SIGNED_NAME;
}

/* ---- texts ---- */

ssize_t mk_signed_write(char *dst, size_t size, const struct mk_signer *signer, struct mk_str name,
                        struct mk_str value, int64_t expires)
{
    char text[MK_SIGNED_TEXT + 1];
    struct signed_bytes bytes;
    size_t len;

    if (!dst || !signer || !name.p || name.len == 0 || (!value.p && value.len > 0) || expires <= 0)
        return MK_E_INVALID;
    if (!is_name(name) || value.len > MK_SIGNED_VALUE)
        return MK_E_LIMIT;
    len = value.len > 0 ? base64url_encode(text, value.p, value.len) : 0;
    text[len++] = '.';
    len += number_write(text + len, (uint64_t)expires);
    set_bytes(&bytes, name, (struct mk_str){text, len});
    text[len++] = '.';
    if (len + CODE > size)
        return MK_E_LIMIT;
    write_code(text + len, &signer->keys[0], &bytes);
    memcpy(dst, text, len + CODE);
    return (ssize_t)(len + CODE);
}

/* What a right code covers is as mk_signed_write made it. @return -1: it is not, so somebody else has the key */
static int64_t read_time(struct mk_str text)
{
    int64_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        const int digit = text.p[i] - '0';

        if (digit < 0 || digit > 9 || n > (INT64_MAX - digit) / 10)
            return -1;
        n = n * 10 + digit;
    }
    return text.len > 0 ? n : -1;
}

static ssize_t read_value(char *dst, size_t size, struct mk_str text)
{
    uint8_t value[MK_SIGNED_VALUE + 3];
    ssize_t len;

    if (text.len > base64url_encoded_len(MK_SIGNED_VALUE))
        return MK_E_BAD;
    len = base64url_decode(value, text.p, text.len);
    if (len < 0)
        return MK_E_BAD;
    if ((size_t)len > size)
        return MK_E_LIMIT;
    if (len > 0)
        memcpy(dst, value, (size_t)len);
    return len;
}

/* Behind a right code. */
static ssize_t read_body(char *dst, size_t size, struct mk_str body, int64_t now)
{
    const char *dot = memchr(body.p, '.', body.len);
    int64_t expires;

    if (!dot)
        return MK_E_BAD;
    expires = read_time(mk_str_skip(body, (size_t)(dot - body.p) + 1));
    if (expires < 0)
        return MK_E_BAD;
    return now < expires ? read_value(dst, size, (struct mk_str){body.p, (size_t)(dot - body.p)})
                         : MK_E_TIMEOUT;
}

ssize_t mk_signed_read(char *dst, size_t size, const struct mk_signer *signer, struct mk_str name,
                       struct mk_str text, int64_t now, unsigned *key)
{
    struct signed_bytes bytes;
    struct mk_str body;
    int found;

    if (!dst || !signer || !name.p || name.len == 0)
        return MK_E_INVALID;
    if (!is_name(name) || !text.p || text.len < CODE + 1 || text.len > BODY + 1 + CODE)
        return MK_E_BAD;
    body = (struct mk_str){text.p, text.len - CODE - 1};
    if (text.p[body.len] != '.')
        return MK_E_BAD;
    set_bytes(&bytes, name, body);
    found = find_key(signer, &bytes, text.p + body.len + 1);
    if (found < 0)
        return MK_E_BAD;
    if (key)
        *key = (unsigned)found;
    return read_body(dst, size, body, now);
}

/* ---- cookies ---- */

static int64_t now_of(const struct mk_request *r)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};

    mk_request_facts(r, &facts);
    return mk_worker_wall_s(facts.worker);
}

int mk_reply_signed_cookie(struct mk_reply *p, const struct mk_signer *signer,
                           const struct mk_cookie *cookie, int64_t valid_s)
{
    struct mk_cookie c = {.size = sizeof(c)};
    char text[MK_SIGNED_TEXT];
    ssize_t len;
    int64_t now;

    if (!p || !cookie || valid_s <= 0)
        return MK_E_INVALID;
    memcpy(&c, cookie, cookie->size < sizeof(c) ? cookie->size : sizeof(c));
    now = now_of(p->r);
    len = mk_signed_write(text, sizeof(text), signer, c.name, c.value,
                          valid_s < INT64_MAX - now ? now + valid_s : INT64_MAX);
    if (len < 0)
        return (int)len;
    c.size = sizeof(c);
    c.value = (struct mk_str){text, (size_t)len};
    return mk_reply_cookie(p, &c);
}

ssize_t mk_signed_cookie(const struct mk_request *r, const struct mk_signer *signer,
                         struct mk_str wanted, char *dst, size_t size, unsigned *key)
{
    ssize_t result = MK_E_NOENT;
    struct mk_str field, rest, name, value;
    unsigned tried = 0;
    uint32_t at = 0;

    if (!r || !signer || !dst || !wanted.p)
        return MK_E_INVALID;
    while (mk_request_next_header(r, &at, &field, &rest)) {
        if (!mk_str_ieq(field, MK_STR("Cookie")))
            continue;
        while (tried < TRIED && mk_cookie_next(&rest, &name, &value)) {
            ssize_t len;

            if (!mk_str_eq(name, wanted))
                continue;
            tried++;
            len = mk_signed_read(dst, size, signer, name, value, now_of(r), key);
            if (len >= 0 || len == MK_E_LIMIT)
                return len;
            result = result == MK_E_TIMEOUT ? result : len;
        }
    }
    return result;
}
