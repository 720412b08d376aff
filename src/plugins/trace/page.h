/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_PAGE_H
#define TRACE_PAGE_H

#include <monkey/types.h>

#include <stdbool.h>

/* The id of a request on an error page: in place of `$request_id`, or below the server's own text. A mk_filter_fn. */

struct trace_page {
    struct mk_str id;
    size_t seen;     /* bytes of the page before the present ones */
    size_t held;     /* bytes of the mark that may have begun; they are not written */
    bool is_other;   /* it does not begin as the server's own pages do */
    bool is_written; /* the mark was there, or the end is written */
};

/** @param arg  a struct trace_page, zeroed but for id, whose characters mean nothing in HTML */
int trace_page_filter(void *arg, const char *in, size_t *in_len, char *out, size_t *out_len,
                      bool last);

#endif
