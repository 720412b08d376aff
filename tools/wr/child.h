/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CHILD_H
#define WR_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CHILD_TEXT_SIZE = 256 * 1024 };

/** A program that we started, in a process group of its own, and the end of what it says. */
struct child {
    pid_t pid;
    int out; /* descriptor to read from; -1 at its end */
    bool is_over;
    int status; /* of waitpid(2), once it is over */
    char *text; /* owned; CHILD_TEXT_SIZE bytes with the NUL */
    size_t len;
};

/** Start with no input. @return 0, or -1 with errno; child_fini() in any case */
int child_start(struct child *c, char *const *argv);

/**
 * See whether it is over and read what is there; never waits. Once it is over, text is whole.
 * @param shown  also to our error output
 */
void child_turn(struct child *c, bool shown);

/** Ask its group to end, insist after three seconds, and wait for it and for orphans of the group that are our children. */
void child_stop(struct child *c, int signal);

void child_fini(struct child *c);

#endif
