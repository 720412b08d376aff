/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_ANSWER_PIPE_H
#define MK_SERVER_ANSWER_PIPE_H

#include "server/request/pump.h"

struct mk_pipe;
struct mk_request;

/*
 * A pipe or a stream socket whose bytes are the body of an answer: watched on the worker's loop, read only
 * when the client takes what was read, so that a slow client makes the writer wait.
 */

/**
 * @param fd   taken, on failure too
 * @param max  bytes to be given; UINT64_MAX: all until its end
 * @return 0; MK_E_NOMEM; MK_E_INVALID: fd cannot be watched, like a regular file.
 */
int mk_pipe_open(struct mk_pipe **pipe, struct mk_request *r, int fd, uint64_t max) MK_MUST_USE;
/** NULL is allowed. */
void mk_pipe_close(struct mk_pipe *p);

/** As mk_produce_fn: MK_E_EOF when it ended too early. */
ssize_t mk_pipe_read(struct mk_pipe *p, char *dst, size_t len) MK_MUST_USE;

/** Can its bytes be moved to the client without being read? */
bool mk_pipe_can_splice(const struct mk_pipe *p);

/**
 * Move them.
 * @param len  at most so many
 * @param moved  out: bytes; 0: the end, or len is 0
 * @return DONE, READER, SOURCE, COPY, CUT, BROKEN: also when it ended too early.
 */
enum mk_pump mk_pipe_splice(struct mk_pipe *p, size_t len, size_t *moved) MK_MUST_USE;

/** Does it have bytes now, as far as is known without reading? */
bool mk_pipe_has_bytes(const struct mk_pipe *p);

#endif
