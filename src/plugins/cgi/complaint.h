/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CGI_COMPLAINT_H
#define CGI_COMPLAINT_H

#include <monkey/types.h>

#include <stdbool.h>

/*
 * What a script writes to its standard error, as lines for the error log: bytes that are not printable escaped, long lines
 * cut, and not more of them than anybody would read.
 */

enum {
    COMPLAINT_LINE = 400,  /* bytes of a line, escapes counted */
    COMPLAINT_LINES = 100, /* of one script; the next is "..." and the last */
};

struct complaint {
    unsigned lines, len;
    bool cut; /* the rest of the line is not kept */
    char text[COMPLAINT_LINE + 1];
};

/** Add bytes. @param line  called for each line that is complete, with a terminated text */
void cgi_complaint_add(struct complaint *c, const char *bytes, size_t len,
                       void (*line)(void *arg, const char *text), void *arg);
/** No more will come: a line without an end is one too. */
void cgi_complaint_end(struct complaint *c, void (*line)(void *arg, const char *text), void *arg);

/** Write bytes so that they stay one line, in quotes or not. @return the length, at most room - 1; terminated. */
size_t cgi_complaint_escape(char *dst, size_t room, struct mk_str bytes);

#endif
