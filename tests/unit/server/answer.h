/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SERVER_ANSWER_H
#define TESTS_SERVER_ANSWER_H

#include "loopback.h"

#include "server/h1/job.h"

/* A site whose handler is the test's: what it answers, rightly and wrongly, and what its client sees of it. */

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define OLD "GET / HTTP/1.0\r\n\r\n"
#define HEAD "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
#define NAMED "Date: DDDDDDDDDDDDDDDDDDDDDDDDDDDDD\r\nServer: Monkey\r\n"
#define OK "HTTP/1.1 200 OK\r\n" NAMED
#define CHUNKED "Transfer-Encoding: chunked\r\n"
#define CLOSE "Connection: close\r\n"
#define PAGE "Content-Type: text/html; charset=utf-8\r\nContent-Length: *\r\n"
#define FAILED "HTTP/1.1 500 Internal Server Error\r\n" NAMED PAGE CLOSE "\r\n*"
#define STR(text) MK_STR(text)

struct answer {
    const char *sentence;
    enum mk_verdict (*handle)(struct mk_request *r);
    const char *in, *out; /* a star stands for the rest of a line */
    bool closes;
};

/** It has a file "hello", and a "large" one of 200,000 bytes. */
extern struct fixture answer_site;

/** Before and after all tests of a program. */
int answer_set_up(void **state);
int answer_tear_down(void **state);

/** A connection, not open yet, that asks what this answer is for. */
void answer_begin(struct loopback *lb, const struct answer *answer);
/** For handlers: a head and nothing else; a negative length is unknown. @return the handler's verdict. */
enum mk_verdict answer_head(struct mk_request *r, unsigned status, int64_t length);

#endif
