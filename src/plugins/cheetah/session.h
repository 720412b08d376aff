/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHEETAH_SESSION_H
#define CHEETAH_SESSION_H

#include <stdbool.h>

/*
 * One user of the shell: a line comes in, its reply goes out whole, and only then the next line is looked
 * at. A user that does not read his reply waits for himself only.
 *
 * A session lives on one worker, from which all of this is called. It knows no configuration.
 */

enum {
    SESSION_IDLE_MS = 10 * 60 * 1000, /* without a byte either way; not for a terminal */
    SESSION_GATHER_MS = 5 * 1000,     /* for all workers to answer */
    SESSION_GATHER_LOOK_MS = 100,     /* how often to look, should nobody tell */
    SESSION_RELOAD_MS = 60 * 1000,    /* for a reload to end */
    SESSION_RELOAD_LOOK_MS = 20,
};

struct mk_worker;
struct session;

/** The sessions of a shell. */
struct session_list {
    struct session *first;
    unsigned count;
};

/**
 * Begin a session, whose list outlives it.
 * @param in   non-blocking descriptor to read; taken, also on failure
 * @param out  another one to write to, which makes it a session with a prompt; taken too. -1: in is a
 *             socket for both
 * @return 0, MK_E_NOMEM, or MK_E_INVALID: in cannot be waited for.
 */
int cheetah_session_begin(struct session_list *list, struct mk_worker *w, int in, int out);

/** End all, without a word. */
void cheetah_session_end_all(struct session_list *list);

#endif
