/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TEXT_CHOICE_H
#define KIT_TEXT_CHOICE_H

#include <monkey/types.h>

/* The form of an answer that a client chooses, by its query or by Accept. */

/** @return the value of a parameter of a query, as sent; {NULL, 0}: it has none of that name. */
struct mk_str text_parameter(struct mk_str query, struct mk_str name);

/**
 * The weight of a type that Accept names (RFC 9110 section 12.5.1): of the last element that does, without regard to its
 * other parameters. Wildcards name nothing.
 * @return thousandths; 0: the type is not named, or unwanted
 */
int text_weight(struct mk_str accept, struct mk_str type);

#endif
