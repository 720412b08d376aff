/* SPDX-License-Identifier: Apache-2.0 */
#include "subject.h"

#include <mbedtls/oid.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SUBJECT_MAX = 1024, PARTS_MAX = 32 };

struct text {
    char bytes[SUBJECT_MAX];
    size_t len;
};

static void put(struct text *to, const char *bytes, size_t len)
{
    if (len > sizeof(to->bytes) - to->len)
        len = sizeof(to->bytes) - to->len;
    memcpy(to->bytes + to->len, bytes, len);
    to->len += len;
}

static void put_hex(struct text *to, unsigned char byte)
{
    char hex[4];

    put(to, hex, (size_t)snprintf(hex, sizeof(hex), "\\%02X", byte));
}

/* RFC 2253 section 2.4. What is not printable is written in hex, and so is all that is not ASCII. */
static void put_value(struct text *to, const unsigned char *p, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool is_edge = (i == 0 && (p[i] == ' ' || p[i] == '#')) || (i == len - 1 && p[i] == ' ');

        if (p[i] < 0x20 || p[i] > 0x7e) {
            put_hex(to, p[i]);
            continue;
        }
        if (is_edge || strchr(",+\"\\<>;", p[i]))
            put(to, "\\", 1);
        put(to, (const char *)p + i, 1);
    }
}

static void put_part(struct text *to, const mbedtls_x509_name *part)
{
    const char *kind = NULL;

    if (mbedtls_oid_get_attr_short_name(&part->oid, &kind) != 0)
        kind = "?";
    put(to, kind, strlen(kind));
    put(to, "=", 1);
    put_value(to, part->val.p, part->val.len);
}

char *mbed_subject(const mbedtls_x509_name *name)
{
    const mbedtls_x509_name *parts[PARTS_MAX];
    struct text text = {.len = 0};
    size_t count = 0;

    for (; name && count < PARTS_MAX; name = name->next) {
        if (name->oid.p)
            parts[count++] = name;
    }
    while (count > 0) {
        put_part(&text, parts[--count]);
        if (count > 0)
            put(&text, ",", 1);
    }
    return strndup(text.bytes, text.len);
}
