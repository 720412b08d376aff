/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPRESS_TYPES_H
#define COMPRESS_TYPES_H

#include <monkey/settings.h>

/** Can this be an item of Types: `text/html`, any of `text`, as in `text/` and a star, `*+json` (any type with this suffix: RFC 6838 section 4.2.8), `*`? */
bool compress_types_is_pattern(struct mk_str pattern);

/**
 * Is a media type one of those?
 * @param type  value of Content-Type (RFC 9110 section 8.3); parameters do not matter
 */
bool compress_types_have(const struct mk_words *types, struct mk_str type);

#endif
