/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_ANSWER_H
#define WR_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

/** Where a server is asked whether it is there. */
struct place {
    char host[256], port[8], path[1024];
    bool is_tls;     /* then a connection is answer enough */
    char server[64]; /* what the answer said of its server; empty: nothing yet */
};

/** The first http:// or https:// among the words. @return false: there is none, or it is no such place */
bool place_of_words(char *const *words, struct place *p);

/** @return the status, 100 to 599, of bytes that begin an answer of HTTP/1; 0: they do not. RFC 9112 section 4. */
int answer_status(const char *bytes, size_t len);

/** The Server field of an answer's head, cut to size; empty: there is none. RFC 9110 section 10.2.4. */
void answer_server(const char *head, char *server, size_t size);

/** Ask once, for at most half a second. @return whether there was an answer, and not of an error of the server */
bool place_answers(struct place *p);

#endif
