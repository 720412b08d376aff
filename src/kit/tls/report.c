/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/report.h"

#include <stdarg.h>
#include <stdio.h>

/* The line of the key that a sentence begins with; else the section's. */
static const struct mk_origin *place_of(const struct tls_report *r, const char *text)
{
    char key[32];
    size_t len = strcspn(text, ":");

    if (len >= sizeof(key))
        len = 0;
    memcpy(key, text, len);
    key[len] = '\0';
    return mk_setup_place(r->setup, r->settings, key);
}

void tls_fault(struct tls_report *r, const char *fmt, ...)
{
    char text[sizeof(r->why)];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (r->setup)
        mk_setup_fault(r->setup, place_of(r, text), "%s", text);
    if (!r->has_fault)
        memcpy(r->why, text, sizeof(text));
    r->has_fault = true;
}

void tls_warn(struct tls_report *r, const char *fmt, ...)
{
    char text[sizeof(r->why)];
    va_list args;

    if (!r->setup)
        return;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    mk_setup_warn(r->setup, place_of(r, text), "%s", text);
}
