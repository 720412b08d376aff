/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOGGER_TEXT_H
#define LOGGER_TEXT_H

#include <monkey/types.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * Writing a line into a bounded room. What a peer sent is escaped byte by byte and clipped, so that it
 * can neither end a line nor a quoted text, nor fill the room:
 *
 *   text   printable ASCII stays; `"`, `\`, control bytes and all above 0x7e become \xHH
 *   JSON   the same bytes become \u00HH, so that every byte string is valid JSON (RFC 8259 section 7)
 *
 * A field longer than its limit ends in `...` at a whole byte or escape.
 */
struct logger_text {
    char *at, *end; /* where the next byte goes, and behind the last that may be written */
    bool full;      /* something did not fit */
};

enum logger_style { LOGGER_TEXT, LOGGER_JSON };

/** Bytes as they are, all of them or none. */
void logger_put(struct logger_text *t, struct mk_str s);
/** As many of them as fit. */
void logger_put_part(struct logger_text *t, struct mk_str s);

/**
 * Bytes of a peer.
 * @param max  at most so many bytes are written, and three for the mark of a clipped field
 */
void logger_put_escaped(struct logger_text *t, struct mk_str s, size_t max,
                        enum logger_style style);

void logger_put_uint(struct logger_text *t, uint64_t value);

enum { LOGGER_CUT = 4 }; /* bytes of the end of a line that is cut */
/** End a line that did not fit, by `...`. @param t  has room for LOGGER_CUT bytes behind its end */
void logger_put_cut(struct logger_text *t);

#endif
