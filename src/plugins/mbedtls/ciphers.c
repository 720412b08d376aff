/* SPDX-License-Identifier: Apache-2.0 */
#include "ciphers.h"

#include <mbedtls/ssl_ciphersuites.h>

static const struct row {
    const char *name;
    int number;
    bool needs_dh;
} rows[] = {
    {"ECDHE-ECDSA-AES128-GCM-SHA256", MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, false},
    {"ECDHE-RSA-AES128-GCM-SHA256", MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, false},
    {"ECDHE-ECDSA-AES256-GCM-SHA384", MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, false},
    {"ECDHE-RSA-AES256-GCM-SHA384", MBEDTLS_TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, false},
    {"ECDHE-ECDSA-CHACHA20-POLY1305", MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, false},
    {"ECDHE-RSA-CHACHA20-POLY1305", MBEDTLS_TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, false},
    {"ECDHE-ECDSA-AES128-CCM", MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_CCM, false},
    {"ECDHE-ECDSA-AES256-CCM", MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_CCM, false},
    {"DHE-RSA-AES128-GCM-SHA256", MBEDTLS_TLS_DHE_RSA_WITH_AES_128_GCM_SHA256, true},
    {"DHE-RSA-AES256-GCM-SHA384", MBEDTLS_TLS_DHE_RSA_WITH_AES_256_GCM_SHA384, true},
    {"DHE-RSA-CHACHA20-POLY1305", MBEDTLS_TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256, true},
};

enum { NROWS = sizeof(rows) / sizeof(rows[0]) };

_Static_assert((int)NROWS <= (int)MBED_CIPHERS_MAX, "room for each once");

static const struct row *find(struct mk_str name)
{
    for (const struct row *row = rows; row < rows + NROWS; row++) {
        if (strlen(row->name) == name.len && memcmp(row->name, name.p, name.len) == 0)
            return row;
    }
    return NULL;
}

/* A library may have been built without one of them, and a list may say one twice. */
static bool is_wanted(const int *to, size_t count, const struct row *row, bool with_dh)
{
    for (size_t i = 0; i < count; i++) {
        if (to[i] == row->number)
            return false;
    }
    return (with_dh || !row->needs_dh) && mbedtls_ssl_ciphersuite_from_id(row->number);
}

int mbed_ciphers_parse(int to[MBED_CIPHERS_MAX + 1], const char *list, bool with_dh,
                       struct mk_str *unknown)
{
    static const char between[] = ": ,\t";
    size_t count = 0;

    for (list += strspn(list, between); *list; list += strspn(list, between)) {
        const struct mk_str word = {list, strcspn(list, between)};
        const struct row *row = find(word);

        *unknown = word;
        if (!row)
            return MK_E_INVALID;
        if (is_wanted(to, count, row, with_dh))
            to[count++] = row->number; /* each once, so there is room */
        list += word.len;
    }
    to[count] = 0;
    return count > 0 ? 0 : MK_E_NOENT;
}

const char *mbed_cipher_name(int number)
{
    for (const struct row *row = rows; row < rows + NROWS; row++) {
        if (row->number == number)
            return row->name;
    }
    return NULL;
}
