/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_LIB_EXPLAIN_PRINT_H
#define MK_LIB_EXPLAIN_PRINT_H

#include "base/buf.h"
#include "server/explain/explain.h"

/** What was asked: printable ASCII. */
struct mk_explain_asked {
    const char *method, *url, *from;
};

/** Append the explanation for people, a step a line. Errors stay in the buffer. */
void mk_explain_print(struct mk_buf *out, const struct mk_explain *e,
                      const struct mk_explain_asked *asked);

/** The same as one object of JSON. */
void mk_explain_print_json(struct mk_buf *out, const struct mk_explain *e,
                           const struct mk_explain_asked *asked);

#endif
