/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_CONTEXT_H
#define TRACE_CONTEXT_H

#include <monkey/types.h>

#include <stdbool.h>
#include <stdint.h>

/* The texts of this plugin: traceparent (https://www.w3.org/TR/trace-context/ section 3.2), and ids of requests. Pure. */

enum {
    TRACE_ID_BYTES = 16,
    TRACE_SPAN_BYTES = 8,
    TRACE_PARENT_TEXT = 55, /* 00-TRACE-SPAN-FLAGS */
    TRACE_PARENT_MAX = 512, /* of versions to come, which may be longer */
    TRACE_NAME_MAX = 128,   /* of an id that a proxy gave a request */
};

struct trace_context {
    char trace[2 * TRACE_ID_BYTES],
        span[2 * TRACE_SPAN_BYTES]; /* lower case hexadecimal, not all zero */
    uint8_t flags;
};

enum { TRACE_SAMPLED = 1 };

/**
 * Read the value of one traceparent field. A version other than 00 is read like 00 as far as that goes (section 4.3).
 * @return 0; MK_E_BAD: it is none, and the trace begins anew.
 */
int trace_context_read(struct trace_context *c, struct mk_str value) MK_MUST_USE;
/** The value of a field of version 00. @return TRACE_PARENT_TEXT. */
size_t trace_context_write(char dst[TRACE_PARENT_TEXT], const struct trace_context *c);

/** May an id of this form be believed, logged and passed on? Letters, digits and `-._~+/=:@`, at most TRACE_NAME_MAX. */
bool trace_is_name(struct mk_str id);

#endif
