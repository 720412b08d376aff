/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/report.h"

#include <stdarg.h>
#include <stdio.h>

void tls_fault(struct tls_report *r, const char *fmt, ...)
{
    char text[sizeof(r->why)];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (r->setup)
        mk_setup_fault(r->setup, r->at, "%s", text);
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
    mk_setup_warn(r->setup, r->at, "%s", text);
}
