/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOGGER_GATHER_H
#define LOGGER_GATHER_H

#include "sink.h"
#include "text.h"

/*
 * The lines of one worker on their way to its pipe: a buffer for each target that it has lines for,
 * which becomes one frame. Only the worker's own thread.
 */

enum { LOGGER_LINE_MAX = LOGGER_FRAME_MAX - (int)sizeof(struct logger_frame) };

struct logger_buffer {
    struct logger_buffer *next; /* of those that wait */
    bool waits;                 /* for the next flush */
    struct logger_frame frame;
    char lines[LOGGER_LINE_MAX]; /* right behind the frame */
};

struct logger_gather {
    struct logger_pipe *pipe;
    struct logger_buffer *waiting; /* for a flush: got lines since the last */
    size_t nbuffers;
    struct logger_buffer *buffers[]; /* NULL: no line yet */
};

/** Writes a line with its line end into the room given; sets t->full when it does not fit. */
typedef void (*logger_line_fn)(const void *arg, struct logger_text *t);

/** @return it, for so many targets; NULL without memory. */
struct logger_gather *logger_gather_new(struct logger_pipe *pipe, size_t ntargets) MK_MUST_USE;
/** Writes what it holds; lines that find no room in the pipe are counted as lost. */
void logger_gather_free(struct logger_gather *g);

/**
 * Add a line for a target. Whole frames go to the pipe by themselves. A line longer than
 * LOGGER_LINE_MAX is cut there and ends in `...`; one without room or memory is counted as lost.
 * @param index  of the target, below ntargets
 */
void logger_gather_line(struct logger_gather *g, size_t index, struct logger_target *target,
                        logger_line_fn write, const void *arg);

/** Write all that was gathered. @return 0, or MK_E_AGAIN: the pipe has no room for some. */
int logger_gather_flush(struct logger_gather *g);

/** Is there something to flush? */
static inline bool logger_gather_waits(const struct logger_gather *g)
{
    return g->waiting != NULL;
}

#endif
