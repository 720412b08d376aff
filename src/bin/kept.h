/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_KEPT_H
#define MK_BIN_KEPT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Listening sockets that the keeper has copies of, so that clients wait in their queues while one server has died and the
 * next is not there. The server passes them all, and then says that it serves on them.
 */

enum { MK_KEPT_MAX = 4096 };

struct mk_kept {
    int *fds; /* the first `settled` are those of the server that serves, the others came since */
    size_t count, room, settled;
    bool closed; /* the server stops */
};

/**
 * Close a descriptor that came from the server, without waiting: a socket of theirs may have SO_LINGER, with which closing waits until
 * its peer has taken all bytes.
 */
void mk_kept_drop(int fd);

/** Add one that came; it is taken. @return false: it was closed, because it is none, or too many, or the server stops. */
bool mk_kept_add(struct mk_kept *kept, int fd);

/** The server serves on those that came: they replace the settled ones, also when none came: it has none of its own. */
void mk_kept_settle(struct mk_kept *kept);

/** Close those that came and were not settled: their reload failed, or their server died. */
void mk_kept_forget(struct mk_kept *kept);

/** Close all, and keep none from now on. */
void mk_kept_close(struct mk_kept *kept);

#endif
