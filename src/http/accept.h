/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_ACCEPT_H
#define MK_HTTP_ACCEPT_H

#include <monkey/types.h>

/**
 * How much a client wants a content coding: RFC 9110 section 12.5.3.
 * @param accept  value of Accept-Encoding; {NULL, 0} when absent: only "identity" is wanted
 * @param coding  "br", "gzip" (x-gzip counts), "zstd", "identity"
 * @return weight in thousandths; 0: not acceptable. An exact name wins over `*`; identity is 1
 *         when not mentioned and not excluded by `*;q=0`. Malformed members count as absent.
 */
unsigned mk_accept_encoding(struct mk_str accept, struct mk_str coding);

/** Read the weight of a member, "0.5", in thousandths: RFC 9110 section 12.4.2. @return -1: malformed. */
int mk_accept_weight(struct mk_str s);

#endif
