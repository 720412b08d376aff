/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASTCGI_COMPLAINT_H
#define FASTCGI_COMPLAINT_H

#include <monkey/request.h>

/*
 * STDERR of an application, line by line into the error log. Escaped, clipped, and so many lines a request: an
 * application that floods harms nobody but itself.
 */

enum {
    COMPLAINT_LINE = 256, /* bytes of a line; what is longer goes on in the next one */
    COMPLAINT_LINES = 32, /* of one request */
};

struct complaint {
    char *line; /* in the request's memory; NULL: nothing was said */
    size_t len;
    unsigned lines;
};

/** More of it. */
void complaint_add(struct complaint *c, struct mk_request *r, const char *server,
                   struct mk_str bytes);
/** What has no line end yet is a line. */
void complaint_end(struct complaint *c, const struct mk_request *r, const char *server);

/** Escape for a quoted text of a log line. @param dst  room for 4 * text.len + 1 bytes. @return dst, terminated */
char *complaint_escape(char *dst, struct mk_str text);

#endif
