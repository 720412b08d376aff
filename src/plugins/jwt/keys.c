/* SPDX-License-Identifier: Apache-2.0 */
#include "claims.h"
#include "keys.h"
#include "signature.h"

#include "kit/pure/base64.h"
#include "kit/text/words.h"

#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES_MAX = 4, ID_MAX = 255 };

struct key {
    enum algorithm algorithm;
    struct mk_str id;     /* owned; p NULL: none */
    struct mk_str secret; /* owned: of HS256 */
    EVP_PKEY *pkey;       /* of the others */
};

struct keys {
    struct key items[KEYS_MAX];
    size_t count;
};

static void key_fini(struct key *key)
{
    if (key->secret.p)
        explicit_bzero((char *)(uintptr_t)key->secret.p, key->secret.len);
    free((char *)(uintptr_t)key->secret.p);
    free((char *)(uintptr_t)key->id.p);
    EVP_PKEY_free(key->pkey);
}

void jwt_keys_free(struct keys *keys)
{
    if (!keys)
        return;
    for (size_t i = 0; i < keys->count; i++)
        key_fini(&keys->items[i]);
    free(keys);
}

static struct mk_str copy(struct mk_str text)
{
    char *bytes = malloc(text.len + 1);

    if (!bytes)
        return (struct mk_str){NULL, 0};
    memcpy(bytes, text.p, text.len);
    bytes[text.len] = '\0';
    return (struct mk_str){bytes, text.len};
}

/* ---- one secret, one public key ---- */

struct keys *jwt_keys_of_secret(struct mk_str text, const char **why)
{
    struct keys *keys = calloc(1, sizeof(*keys));

    while (text.len > 0 && (text.p[text.len - 1] == '\n' || text.p[text.len - 1] == '\r'))
        text.len--;
    *why = text.len < SECRET_MIN ? "a secret has at least 32 bytes" : "out of memory";
    if (!keys || text.len < SECRET_MIN) {
        free(keys);
        return NULL;
    }
    keys->items[0] = (struct key){.algorithm = HS256, .secret = copy(text)};
    keys->count = 1;
    if (keys->items[0].secret.p)
        return keys;
    jwt_keys_free(keys);
    return NULL;
}

static struct keys *keys_of_pem(struct mk_str text, const char **why)
{
    struct keys *keys = calloc(1, sizeof(*keys));
    BIO *bio = BIO_new_mem_buf(text.p, (int)text.len);
    EVP_PKEY *pkey = bio ? PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL) : NULL;
    enum algorithm algorithm = pkey ? jwt_signature_algorithm(pkey) : NO_ALGORITHM;

    BIO_free(bio);
    *why = !pkey ? "it has no public key in PEM"
                 : "its key is neither RSA of 2,048 to 8,192 bits nor EC P-256";
    if (!keys || algorithm == NO_ALGORITHM) {
        EVP_PKEY_free(pkey);
        free(keys);
        return NULL;
    }
    keys->items[0] = (struct key){.algorithm = algorithm, .pkey = pkey};
    keys->count = 1;
    return keys;
}

/* ---- a set of keys ---- */

static const struct mk_json_value *member(const struct mk_json_value *object, const char *name)
{
    return mk_json_member(object, mk_str_from(name));
}

static bool member_is(const struct mk_json_value *object, const char *name, const char *wanted)
{
    const struct mk_json_value *value = member(object, name);

    return value && value->kind == MK_JSON_STRING && text_is(value->text, mk_str_from(wanted));
}

/* RFC 7517 sections 4.2 and 4.4: a key for something else is none for signatures. */
static bool is_for(const struct mk_json_value *jwk, enum algorithm algorithm)
{
    return (!member(jwk, "use") || member_is(jwk, "use", "sig")) &&
           (!member(jwk, "alg") || member_is(jwk, "alg", jwt_algorithm_name(algorithm)));
}

/* @param bytes  room for NUMBER_MAX. @return how many; -1: the member is malformed */
static ssize_t bytes_of(const struct mk_json_value *jwk, const char *name, uint8_t *bytes)
{
    const struct mk_json_value *value = member(jwk, name);

    if (!value || value->kind != MK_JSON_STRING || value->text.len > NUMBER_MAX)
        return -1;
    return base64url_decode(bytes, value->text.p, value->text.len);
}

static bool read_secret(const struct mk_json_value *jwk, struct key *key)
{
    uint8_t bytes[NUMBER_MAX + 2];
    ssize_t len = bytes_of(jwk, "k", bytes);

    if (len >= SECRET_MIN)
        key->secret = copy((struct mk_str){(char *)bytes, (size_t)len});
    explicit_bzero(bytes, sizeof(bytes));
    return key->secret.p;
}

static bool read_public(const struct mk_json_value *jwk, const char *first, const char *second,
                        struct key *key)
{
    uint8_t a[NUMBER_MAX + 2], b[NUMBER_MAX + 2];
    ssize_t na = bytes_of(jwk, first, a), nb = bytes_of(jwk, second, b);

    if (na > 0 && nb > 0)
        key->pkey = key->algorithm == RS256 ? jwt_signature_rsa(a, (size_t)na, b, (size_t)nb)
                                            : jwt_signature_p256(a, (size_t)na, b, (size_t)nb);
    return key->pkey;
}

static bool read_id(const struct mk_json_value *jwk, struct key *key)
{
    const struct mk_json_value *id = member(jwk, "kid");

    if (!id)
        return true;
    if (id->text.len > ID_MAX || !jwt_text_is_plain(id))
        return false;
    key->id = copy(id->text);
    return key->id.p;
}

/* @return false: it is malformed */
static bool read_key(const struct mk_json_value *jwk, struct key *key)
{
    if (key->algorithm == HS256 && !read_secret(jwk, key))
        return false;
    if (key->algorithm == RS256 && !read_public(jwk, "n", "e", key))
        return false;
    if (key->algorithm == ES256 && !read_public(jwk, "x", "y", key))
        return false;
    return read_id(jwk, key);
}

static enum algorithm algorithm_of_key(const struct mk_json_value *jwk)
{
    enum algorithm algorithm = NO_ALGORITHM;

    if (member_is(jwk, "kty", "oct"))
        algorithm = HS256;
    else if (member_is(jwk, "kty", "RSA"))
        algorithm = RS256;
    else if (member_is(jwk, "kty", "EC") && member_is(jwk, "crv", "P-256"))
        algorithm = ES256;
    return algorithm != NO_ALGORITHM && is_for(jwk, algorithm) ? algorithm : NO_ALGORITHM;
}

static const char *take_set(const struct mk_json_value *root, struct keys *keys)
{
    const struct mk_json_value *set = member(root, "keys");

    if (!set || set->kind != MK_JSON_ARRAY)
        return "it is no JWK Set";
    for (const struct mk_json_value *jwk = set->first; jwk; jwk = jwk->next) {
        enum algorithm algorithm = algorithm_of_key(jwk);

        if (algorithm == NO_ALGORITHM)
            continue;
        if (keys->count == KEYS_MAX)
            return "it has more than 32 keys";
        keys->items[keys->count++] = (struct key){.algorithm = algorithm};
        if (!read_key(jwk, &keys->items[keys->count - 1]))
            return "one of its keys is malformed or too weak";
    }
    return keys->count > 0 ? NULL : "it has no key of HS256, RS256 or ES256";
}

static const char *read_set(struct mk_str text, struct keys *keys)
{
    const struct mk_json_value *root;
    const char *why;
    const int err = mk_json_read(text, NULL, &root, NULL);

    if (err < 0)
        return err == MK_E_NOMEM ? "out of memory" : "it is no JWK Set";
    why = take_set(root, keys);
    mk_json_free(root);
    return why;
}

static struct keys *keys_of_set(struct mk_str text, const char **why)
{
    struct keys *keys = calloc(1, sizeof(*keys));

    *why = keys ? read_set(text, keys) : "out of memory";
    if (!*why)
        return keys;
    jwt_keys_free(keys);
    return NULL;
}

struct keys *jwt_keys_read(struct mk_str text, const char **why)
{
    text = text_trim(text);
    return text.len > 0 && text.p[0] == '{' ? keys_of_set(text, why) : keys_of_pem(text, why);
}

/* ---- verification ---- */

static bool is_meant(const struct key *key, enum algorithm algorithm, struct mk_str id)
{
    return key->algorithm == algorithm && (!id.p || !key->id.p || text_is(id, key->id));
}

bool jwt_keys_verify(const struct keys *keys, enum algorithm algorithm, struct mk_str id,
                     struct mk_str text, struct mk_str signature)
{
    size_t tries = 0;

    for (size_t i = 0; i < keys->count && tries < TRIES_MAX; i++) {
        const struct key *key = &keys->items[i];

        if (!is_meant(key, algorithm, id))
            continue;
        tries++;
        if (algorithm == HS256 ? jwt_signature_matches_secret(key->secret, text, signature)
                               : jwt_signature_matches(key->pkey, algorithm, text, signature))
            return true;
    }
    return false;
}
