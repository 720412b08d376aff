/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include "kit/pure/hex.h"

/* @return the digit of a lower-case hexadecimal number; -1: it is none. */
static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool are_digits(struct mk_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (digit(text.p[i]) < 0)
            return false;
    }
    return true;
}

static bool is_zero(struct mk_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] != '0')
            return false;
    }
    return true;
}

static unsigned byte_at(const char *p)
{
    return (unsigned)(digit(p[0]) * 16 + digit(p[1]));
}

int trace_context_read(struct trace_context *c, struct mk_str value)
{
    enum { TRACE_AT = 3, SPAN_AT = 36, FLAGS_AT = 53 };
    const struct mk_str version = {value.p, 2}, trace = {value.p + TRACE_AT, sizeof(c->trace)},
                        span = {value.p + SPAN_AT, sizeof(c->span)},
                        flags = {value.p + FLAGS_AT, 2};

    if (value.len < TRACE_PARENT_TEXT || value.len > TRACE_PARENT_MAX)
        return MK_E_BAD;
    if (value.p[TRACE_AT - 1] != '-' || value.p[SPAN_AT - 1] != '-' || value.p[FLAGS_AT - 1] != '-')
        return MK_E_BAD;
    if (!are_digits(version) || !are_digits(trace) || !are_digits(span) || !are_digits(flags))
        return MK_E_BAD;
    if (byte_at(version.p) == 0xff || is_zero(trace) || is_zero(span))
        return MK_E_BAD;
    if (value.len > TRACE_PARENT_TEXT && (is_zero(version) || value.p[TRACE_PARENT_TEXT] != '-'))
        return MK_E_BAD;
    memcpy(c->trace, trace.p, trace.len);
    memcpy(c->span, span.p, span.len);
    c->flags = (uint8_t)(byte_at(flags.p) & TRACE_SAMPLED);
    return 0;
}

size_t trace_context_write(char dst[TRACE_PARENT_TEXT], const struct trace_context *c)
{
    char *at = dst;

    memcpy(at, "00-", 3);
    at += 3;
    memcpy(at, c->trace, sizeof(c->trace));
    at += sizeof(c->trace);
    *at++ = '-';
    memcpy(at, c->span, sizeof(c->span));
    at += sizeof(c->span);
    *at++ = '-';
    hex_write(at, &c->flags, 1);
    return TRACE_PARENT_TEXT;
}

bool trace_is_name(struct mk_str id)
{
    for (size_t i = 0; i < id.len; i++) {
        const char c = id.p[i], lower = (char)(c | 0x20);

        if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') &&
            (c == '\0' || !strchr("-._~+/=:@", c)))
            return false;
    }
    return id.len > 0 && id.len <= TRACE_NAME_MAX;
}
