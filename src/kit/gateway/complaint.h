/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_GATEWAY_COMPLAINT_H
#define KIT_GATEWAY_COMPLAINT_H

#include <monkey/types.h>

#include <stdbool.h>

/*
 * What a script or an application writes to its standard error, as lines for the error log: bytes that are not printable escaped, long lines
 * cut, and not more of them than anybody would read.
 */

enum {
    GATEWAY_COMPLAINT_LINE = 400, /* bytes of a line, escapes counted */
    GATEWAY_COMPLAINT_LINES = 32, /* of one answer; the next is "..." and the last */
};

struct gateway_complaint {
    unsigned lines, len;
    bool cut; /* the rest of the line is not kept */
    char text[GATEWAY_COMPLAINT_LINE + 1];
};

/** Add bytes. @param line  called for each line that is complete, with a terminated text */
void gateway_complaint_add(struct gateway_complaint *c, const char *bytes, size_t len,
                           void (*line)(void *arg, const char *text), void *arg);
/** No more will come: a line without an end is one too. */
void gateway_complaint_end(struct gateway_complaint *c, void (*line)(void *arg, const char *text),
                           void *arg);

/** Write bytes so that they stay one line, in quotes or not. @return the length, at most room - 1; terminated. */
size_t gateway_complaint_escape(char *dst, size_t room, struct mk_str bytes);

#endif
