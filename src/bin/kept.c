/* SPDX-License-Identifier: Apache-2.0 */
#include "kept.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_listening(int fd)
{
    int value = 0;
    socklen_t len = sizeof(value);

    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &len) == 0 && value == 1;
}

static bool make_room(struct mk_kept *kept)
{
    size_t room = kept->room ? kept->room * 2 : 16;
    int *fds;

    if (kept->count < kept->room)
        return true;
    fds = kept->count < MK_KEPT_MAX ? realloc(kept->fds, room * sizeof(*fds)) : NULL;
    if (!fds)
        return false;
    kept->fds = fds;
    kept->room = room;
    return true;
}

void mk_kept_drop(int fd)
{
    const struct linger at_once = {0};

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(fd);
}

bool mk_kept_add(struct mk_kept *kept, int fd)
{
    if (fd < 0)
        return false;
    if (kept->closed || !is_listening(fd) || !make_room(kept)) {
        mk_kept_drop(fd);
        return false;
    }
    kept->fds[kept->count++] = fd;
    return true;
}

static void close_some(const struct mk_kept *kept, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        mk_kept_drop(kept->fds[i]); /* which may have become another kind of socket since */
}

void mk_kept_settle(struct mk_kept *kept)
{
    close_some(kept, 0, kept->settled);
    kept->count -= kept->settled;
    if (kept->count > 0)
        memmove(kept->fds, kept->fds + kept->settled, kept->count * sizeof(*kept->fds));
    kept->settled = kept->count;
}

void mk_kept_forget(struct mk_kept *kept)
{
    close_some(kept, kept->settled, kept->count);
    kept->count = kept->settled;
}

void mk_kept_close(struct mk_kept *kept)
{
    close_some(kept, 0, kept->count);
    free(kept->fds);
    *kept = (struct mk_kept){.closed = true};
}
