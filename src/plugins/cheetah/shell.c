/* SPDX-License-Identifier: Apache-2.0 */
#include "shell.h"
#include "place.h"
#include "session.h"

#include "kit/counted/counted.h"

#include <monkey/plugin.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    SESSIONS_MAX = 16,
    ACCEPTS_A_TURN = 16,
    PAUSE_MS = 1000, /* when there are no descriptors */
};

struct shell {
    struct counted refs; /* configurations */
    bool is_terminal;
    bool is_default; /* the path was not given */
    struct place place;
    int fd;     /* listens, or standard input; -1: the worker has it */
    int out_fd; /* standard output, likewise */

    /* the first worker's own */
    struct mk_worker *worker;
    unsigned watchers; /* configurations */
    struct mk_io *listener;
    struct session_list sessions;
};

/* ---- on the control thread ---- */

static bool has_plugin(const struct mk_server *server, const char *name)
{
    struct mk_plugin_facts facts = {.size = sizeof(facts)};

    for (unsigned i = 0; mk_server_plugin(server, i, &facts); i++) {
        if (strcmp(facts.name, name) == 0)
            return true;
    }
    return false;
}

static int open_place(const struct mk_context *ctx, struct shell *shell, const char *socket,
                      const char *group)
{
    int err = 0;

    if (shell->is_terminal)
        return cheetah_place_open_terminal(ctx, &shell->fd, &shell->out_fd);
    shell->is_default = socket == NULL;
    shell->place.has_scripts = has_plugin(ctx->server, "cgi");
    if (!cheetah_place_find_group(&shell->place, group)) {
        mk_plugin_why(ctx, "there is no group %s", group);
        return MK_E_NOENT;
    }
    if (socket) /* its length was checked with the configuration */
        (void)snprintf(shell->place.path, sizeof(shell->place.path), "%s", socket);
    else
        err = cheetah_place_choose(ctx, shell->place.path);
    if (err == 0)
        shell->fd = err = cheetah_place_listen(ctx, &shell->place);
    return err < 0 ? err : 0;
}

struct shell *cheetah_shell_open(const struct mk_context *ctx, bool is_terminal, const char *socket,
                                 const char *group, int *err)
{
    struct shell *shell = calloc(1, sizeof(*shell));

    *err = MK_E_NOMEM;
    if (!shell)
        return NULL;
    counted_init(&shell->refs, 1);
    shell->is_terminal = is_terminal;
    shell->fd = -1;
    shell->out_fd = -1;
    *err = open_place(ctx, shell, socket, group);
    if (*err == 0) {
        if (!is_terminal)
            mk_server_log(ctx->server, MK_LOG_INFO, "shell at=%s", shell->place.path);
        return shell;
    }
    free(shell);
    return NULL;
}

bool cheetah_shell_is_at(const struct shell *shell, bool is_terminal, const char *socket)
{
    if (is_terminal || shell->is_terminal)
        return is_terminal == shell->is_terminal;
    if (!socket || shell->is_default)
        return !socket && shell->is_default;
    return strcmp(shell->place.path, socket) == 0;
}

struct shell *cheetah_shell_get(struct shell *shell)
{
    counted_get(&shell->refs);
    return shell;
}

void cheetah_shell_put(struct shell *shell)
{
    if (!counted_put(&shell->refs))
        return;
    if (!shell->is_terminal)
        cheetah_place_remove(&shell->place);
    if (shell->fd >= 0)
        close(shell->fd);
    if (shell->out_fd >= 0)
        close(shell->out_fd);
    free(shell);
}

/* ---- on the first worker ---- */

/* What was sent already is taken: closing over it would be a reset, which hides the sentence. */
static void turn_away(int fd, const char *why)
{
    char unread[4096];

    (void)!recv(fd, unread, sizeof(unread), MSG_DONTWAIT);
    (void)!send(fd, why, strlen(why), MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
}

static void welcome(struct shell *shell, int fd)
{
    const char *refusal = cheetah_place_refusal(&shell->place, fd);

    if (refusal)
        turn_away(fd, refusal);
    else if (shell->sessions.count == SESSIONS_MAX)
        turn_away(fd, "error: there are 16 sessions already\n");
    else
        (void)cheetah_session_begin(&shell->sessions, shell->worker, fd,
                                    -1); /* without memory it is closed */
}

/* Without descriptors nothing is accepted for a while: what waits would be told in every turn. */
static void on_listener(struct mk_io *io, unsigned events, void *arg)
{
    struct shell *shell = arg;
    unsigned wanted = MK_IO_READ;

    (void)events;
    for (unsigned i = 0; i < ACCEPTS_A_TURN; i++) {
        int fd = accept4(mk_io_fd(io), NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0) {
            welcome(shell, fd);
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != ECONNABORTED && errno != EINTR) {
            wanted = 0;
            break;
        }
    }
    if (mk_io_want(io, wanted) < 0 || wanted == 0)
        mk_io_timeout(io, PAUSE_MS);
}

static int begin_to_answer(struct shell *shell, const struct mk_context *ctx)
{
    int fd = shell->fd, out = shell->out_fd, err;

    shell->worker = ctx->worker;
    if (!shell->is_terminal) {
        err = mk_io_open(&shell->listener, ctx->worker, fd, MK_IO_READ, on_listener, shell);
        if (err == 0)
            shell->fd = -1;
        return err;
    }
    shell->fd = shell->out_fd = -1;
    err = cheetah_session_begin(&shell->sessions, ctx->worker, fd, out);
    if (err == MK_E_INVALID)
        mk_plugin_why(ctx, "cannot wait for standard input");
    return err;
}

int cheetah_shell_watch(struct shell *shell, const struct mk_context *ctx)
{
    int err = shell->watchers == 0 ? begin_to_answer(shell, ctx) : 0;

    if (err == 0)
        shell->watchers++;
    return err;
}

void cheetah_shell_leave(struct shell *shell)
{
    if (--shell->watchers > 0)
        return;
    cheetah_session_end_all(&shell->sessions);
    mk_io_close(shell->listener);
    shell->listener = NULL;
}
