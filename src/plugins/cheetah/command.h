/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHEETAH_COMMAND_H
#define CHEETAH_COMMAND_H

#include "line.h"
#include "reply.h"

struct mk_worker;

/** What a session does after a command. */
enum command_end {
    COMMAND_DONE,
    COMMAND_QUIT,   /* close when the reply is sent */
    COMMAND_GATHER, /* the reply has begun; what cheetah_gather_tell writes completes it */
    COMMAND_RELOAD, /* likewise, and cheetah_reload_tell, when the reload that was asked for has ended */
};

/**
 * Carry a line out, on a worker's thread.
 * @param r  freed or zeroed; out: the reply, complete but for COMMAND_GATHER. Nothing is written for a
 *           line without words
 */
enum command_end cheetah_command_run(struct mk_worker *w, const struct line *line, struct reply *r);

#endif
