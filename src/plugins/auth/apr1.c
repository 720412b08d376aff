/* SPDX-License-Identifier: Apache-2.0 */
#include "apr1.h"

#include "kit/digest/digest.h"
#include "kit/digest/md5.h"

#include <string.h>

#define NAME "$apr1$"

enum {
    NAME_LEN = sizeof(NAME) - 1,
    SALT_MAX = 8,
    HASH_LEN = 22,
    ROUNDS = 1000,
};

static const char letters[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

bool auth_apr1_is_hash(const char *hash)
{
    size_t salt;

    if (strncmp(hash, NAME, NAME_LEN) != 0)
        return false;
    hash += NAME_LEN;
    salt = strcspn(hash, "$");
    return salt > 0 && salt <= SALT_MAX && hash[salt] == '$' &&
           strlen(hash + salt + 1) == HASH_LEN && strspn(hash + salt + 1, letters) == HASH_LEN;
}

/* What is hashed first: the password, the salt, and as many bytes of another hash as the password has. */
static void begin(uint8_t digest[MD5_LEN], const char *password, size_t len, const char *salt,
                  size_t salt_len)
{
    struct md5 m;

    md5_init(&m);
    md5_add(&m, password, len);
    md5_add(&m, salt, salt_len);
    md5_add(&m, password, len);
    md5_end(&m, digest);

    md5_init(&m);
    md5_add(&m, password, len);
    md5_add(&m, NAME, NAME_LEN);
    md5_add(&m, salt, salt_len);
    for (size_t left = len; left > 0; left -= left < MD5_LEN ? left : MD5_LEN)
        md5_add(&m, digest, left < MD5_LEN ? left : MD5_LEN);
    for (size_t bits = len; bits > 0; bits >>= 1)
        md5_add(&m, bits & 1 ? "" : password, 1);
    md5_end(&m, digest);
}

static void add_round(uint8_t digest[MD5_LEN], unsigned n, const char *password, size_t len,
                      const char *salt, size_t salt_len)
{
    bool is_odd = n & 1;
    struct md5 m;

    md5_init(&m);
    md5_add(&m, is_odd ? (const void *)password : digest, is_odd ? len : MD5_LEN);
    if (n % 3)
        md5_add(&m, salt, salt_len);
    if (n % 7)
        md5_add(&m, password, len);
    md5_add(&m, is_odd ? digest : (const void *)password, is_odd ? MD5_LEN : len);
    md5_end(&m, digest);
}

static char *write_bits(char *to, uint32_t bits, int count)
{
    for (; count > 0; count--, bits >>= 6)
        *to++ = letters[bits & 63];
    return to;
}

static void write_hash(char text[HASH_LEN], const uint8_t d[MD5_LEN])
{
    for (int i = 0; i < 5; i++) {
        int last = i < 4 ? i + 12 : 5;

        text = write_bits(text, (uint32_t)d[i] << 16 | (uint32_t)d[i + 6] << 8 | d[last], 4);
    }
    (void)write_bits(text, d[11], 2);
}

bool auth_apr1_matches(const char *hash, const char *password)
{
    const char *salt = hash + NAME_LEN;
    size_t salt_len = strcspn(salt, "$"), len = strlen(password);
    uint8_t digest[MD5_LEN];
    char text[HASH_LEN];

    begin(digest, password, len, salt, salt_len);
    for (unsigned n = 0; n < ROUNDS; n++)
        add_round(digest, n, password, len, salt, salt_len);
    write_hash(text, digest);
    return digest_is_same(text, salt + salt_len + 1, HASH_LEN);
}
