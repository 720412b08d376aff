/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_HEAD_TEXT_H
#define MK_HTTP_HEAD_TEXT_H

#include "base/buf.h"

/* A request head as HTTP/1 text, for requests that come another way and are read by the same parser (h1_head.h). */

/** How fields are known. */
enum mk_head_fields { MK_HEAD_FIELDS_ANY, MK_HEAD_FIELDS_JUDGED };

/**
 * @param known    MK_HEAD_FIELDS_JUDGED: they are right, none of framing, and Host is among them
 * @param fields   field lines with their line ends
 * @param length   of the body; 0: without Content-Length
 * @return 0; MK_E_INVALID: method or target has a blank, a control byte or a byte above 126, or a field is of framing, or no field;
 *         MK_E_LIMIT, MK_E_NOMEM: of the buffer. A Host is added where there is none.
 */
int mk_head_text(struct mk_buf *b, struct mk_str method, struct mk_str target, struct mk_str fields,
                 enum mk_head_fields known, size_t length) MK_MUST_USE;
/**
 * Append a head that is written already.
 * @param text  begins with method and target
 * @return as mk_head_text
 */
int mk_head_text_copy(struct mk_buf *b, struct mk_str method, struct mk_str target,
                      struct mk_str text) MK_MUST_USE;

#endif
