/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOGGER_SINK_H
#define LOGGER_SINK_H

#include <monkey/types.h>

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Where lines go: one of a server, whatever configuration is in force.
 *
 * Each worker has a pipe into it. What it writes there are frames of at most PIPE_BUF bytes, which a
 * pipe takes whole or not at all: a worker never waits, and never leaves half a line. One thread empties
 * the pipes into the targets, by splice(2) where these are regular files. Targets that take no more -
 * the disk is full, the reader of a fifo is slow - lose lines, which are counted and reported; they
 * hold up neither workers nor, longer than LOGGER_PATIENCE_MS, each other.
 */

enum {
    LOGGER_FRAME_MAX = 4096,    /* PIPE_BUF: written whole or not at all */
    LOGGER_PIPE_SIZE = 1 << 20, /* asked of the kernel for each worker; less where it refuses */
    LOGGER_PATIENCE_MS = 100,   /* with a fifo that is full, in all of a round */
    LOGGER_RECOVERY_MS =
        1000, /* a target that failed must take lines for so long to be well again */
    LOGGER_REPORT_MS = 10000, /* lost lines are told at most so often */
};

struct logger_sink;
struct logger_pipe;
struct logger_target;
struct logger_rotation;

/** Tells people something, one line; called on the sink's thread, or on the one that calls. */
typedef void (*logger_say_fn)(void *arg, enum mk_log_level level, const char *text);

/** Begins each frame. */
struct logger_frame {
    struct logger_target *target;
    uint32_t bytes; /* of the lines behind it */
    uint32_t lines;
};

/** Start its thread. @return it with one reference, or NULL: without memory, descriptors or threads. */
struct logger_sink *logger_sink_new(logger_say_fn say, void *arg) MK_MUST_USE;
struct logger_sink *logger_sink_get(struct logger_sink *s);
/** The last put empties the pipes, ends the thread and closes all. */
void logger_sink_put(struct logger_sink *s);
/** Wait so long after the first frame before the pipes are emptied; 0: not at all. Any thread. */
void logger_sink_set_wait(struct logger_sink *s, unsigned ms);

/** The target of that name, with a reference; NULL when there is none. */
struct logger_target *logger_target_find(struct logger_sink *s, const char *name) MK_MUST_USE;
/**
 * A new target.
 * @param name      path, for messages and logger_target_find; copied
 * @param fd        taken, on failure too; -1: its lines go to syslog
 * @param priority  for syslog
 * @return it with one reference, or NULL without memory.
 */
struct logger_target *logger_target_new(struct logger_sink *s, const char *name, int fd,
                                        int priority) MK_MUST_USE;
/** Takes lines of a log in place of a file; called on the sink's thread. @param name  the target's */
typedef void (*logger_take_fn)(void *arg, const char *name, const char *lines, size_t len);
/** Its lines go to take from now on. Before any of them. */
void logger_target_give(struct logger_target *t, logger_take_fn take, void *arg);
/** One more reference, for who has one already. */
void logger_target_get(struct logger_sink *s, struct logger_target *t);
/** Its descriptors are closed when what is in the pipes has been written. */
void logger_target_put(struct logger_sink *s, struct logger_target *t);
/** Write to another descriptor from now on; taken. */
void logger_target_reopen(struct logger_sink *s, struct logger_target *t, int fd);
/** Rename its files from the next round on, as said; before that, and for other things than files, nothing. */
void logger_target_rotate(struct logger_sink *s, struct logger_target *t,
                          const struct logger_rotation *rotation);
/** Lines were lost before they came to the pipe. Any thread. */
void logger_target_lost(struct logger_target *t, unsigned lines);

/** The pipe of a worker, made when it is asked for first; NULL without descriptors or memory. Lives as long as the sink. */
struct logger_pipe *logger_sink_pipe(struct logger_sink *s, unsigned worker) MK_MUST_USE;
/**
 * Write a frame. Only the worker's own thread.
 * @param len  of frame and lines, at most LOGGER_FRAME_MAX
 * @return 0, or MK_E_AGAIN: the pipe is full.
 */
int logger_pipe_write(struct logger_pipe *p, const struct logger_frame *frame,
                      size_t len) MK_MUST_USE;

#endif
