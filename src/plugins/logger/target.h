/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOGGER_TARGET_H
#define LOGGER_TARGET_H

#include "rotate.h"
#include "sink.h"

#include <sys/types.h>

/* A target as the sink's thread sees it. */

enum logger_way {
    LOGGER_BY_SPLICE, /* a regular file, at our own offset */
    LOGGER_BY_PWRITE, /* the same on a file system that cannot splice */
    LOGGER_BY_WRITE,  /* fifo, terminal, device */
    LOGGER_BY_SYSLOG,
    LOGGER_BY_PROGRAM, /* a function takes them */
};

struct logger_target {
    struct logger_target *next;
    unsigned refs;                 /* under the sink's lock */
    struct logger_rotation wanted; /* likewise */
    atomic_int next_fd;            /* opened anew, to be used from the next round on; -1: none */
    atomic_uint lost;              /* lines not written since the last report */
    /* the thread's own */
    int fd;
    enum logger_way way;
    int priority;        /* syslog */
    logger_take_fn take; /* BY_PROGRAM */
    void *take_arg;
    off_t at; /* where the next frame of a regular file goes */
    struct logger_rotation rotation;
    time_t midnight;       /* after the file's last line: daily rotation is due then; 0: unknown */
    time_t again;          /* a rotation that failed is tried again; 0: none did */
    int rotate_error;      /* errno of it, to be told; 0: was told */
    bool unused;           /* nobody had it when this round began */
    int patience_ms;       /* left of this round's */
    unsigned failed_round; /* in which it took no more last */
    bool failing;          /* and that was told */
    int64_t recovered_ms;  /* since when it takes lines while it is failing; 0: it does not */
    int64_t reported_ms;   /* when lost lines were told last */
    char name[];
};

/** @return it, without references; NULL without memory; fd is taken, on failure too. */
struct logger_target *logger_target_make(const char *name, int fd, int priority) MK_MUST_USE;
void logger_target_free(struct logger_target *t);

/** Use the descriptor that was opened anew, if there is one. */
void logger_target_renew(struct logger_target *t);

/** A round of the thread begins: its patience is new. */
void logger_target_round(struct logger_target *t);

/**
 * Write the lines of one frame, which stand in the pipe: all of them, or none in the end.
 * @param left  out: bytes of them that are still in the pipe; 0 on success
 * @return 0, or errno: it takes no more.
 */
int logger_target_write(struct logger_target *t, int pipe, size_t bytes, size_t *left) MK_MUST_USE;

#endif
