/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fd.h"
#include "base/code.h"
#include "server/worker/worker.h"
#include "setup/host.h"

#include <monkey/events.h>

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Helper programs. A server that has threads and connections does not fork itself: posix_spawn leaves it no moment with
 * two of everything, and what a helper does is a matter of its own.
 */

enum { DEPARTURE_MS = 5000, DEPARTURE_STEP_MS = 1 };

/* "USER:PROGRAM". @return false: it is neither. */
static bool take_apart(const char *name, const char *fallback, char user[MK_HELPER_USER],
                       const char **program)
{
    const char *colon = strchr(name, ':');
    size_t len = colon ? (size_t)(colon - name) : 0;

    if (!colon || colon[1] != '/' || len >= MK_HELPER_USER)
        return false;
    memcpy(user, name, len);
    user[len] = '\0';
    if (len == 0 && fallback && strlen(fallback) < MK_HELPER_USER)
        memcpy(user, fallback, strlen(fallback) + 1);
    *program = colon + 1;
    return true;
}

/* All signals as they are at first: our threads block them. @return 0 or an errno. */
static int set_signals(posix_spawnattr_t *how)
{
    sigset_t none, all;
    int err;

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGKILL);
    (void)sigdelset(&all, SIGSTOP);
    err = posix_spawnattr_setsigmask(how, &none);
    if (err == 0)
        err = posix_spawnattr_setsigdefault(how, &all);
    if (err == 0)
        err = posix_spawnattr_setflags(how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return err;
}

static int start_program(pid_t *pid, const char *program, char *user, int sock)
{
    char first[] = "helper";
    char *const words[] = {first, user, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    int err;

    if (posix_spawn_file_actions_init(&files) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&how) != 0) {
        (void)posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    err = posix_spawn_file_actions_adddup2(&files, sock, STDIN_FILENO);
    if (err == 0)
        err = set_signals(&how);
    if (err == 0)
        err = posix_spawn(pid, program, &files, &how, words, environ);
    (void)posix_spawnattr_destroy(&how);
    (void)posix_spawn_file_actions_destroy(&files);
    return err;
}

/*
 * Helpers leave the process that was started at once, so that nobody has to wait for their end. What does not leave is no
 * helper, and must not keep whoever starts it waiting.
 */
static int await_departure(pid_t pid)
{
    const struct timespec pause = {.tv_nsec = DEPARTURE_STEP_MS * 1000000L};
    pid_t ended = 0;
    int status = 0;

    for (int i = 0; ended == 0 && i < DEPARTURE_MS / DEPARTURE_STEP_MS; i++) {
        if (i > 0)
            (void)nanosleep(&pause, NULL);
        ended = waitpid(pid, &status, WNOHANG);
    }
    if (ended == 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        return MK_E_TIMEOUT;
    }
    return ended == pid && status != 0 ? MK_E_SYS : 0;
}

MK_AT_START int mk_helper_spawn(const char *name, const char *user)
{
    char account[MK_HELPER_USER];
    const char *program;
    int ends[2], err;
    pid_t pid;

    if (!take_apart(name, user, account, &program))
        return MK_E_INVALID;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return mk_error_from_errno(errno);
    err = start_program(&pid, program, account, ends[1]);
    mk_fd_close(&ends[1]);
    err = err == 0 ? await_departure(pid) : mk_error_from_errno(err);
    if (err == 0)
        return ends[0];
    mk_fd_close(&ends[0]);
    return err;
}

MK_AT_START int mk_server_start_helper(struct mk_server *server, const char *name)
{
    const struct mk_host *host = mk_shared_of(server)->host;

    /* A program that was built before there was this member has a smaller struct. */
    if (MK_HOST_HAS(host, start_helper)) {
        int fd = host->start_helper(host->arg, name);

        if (fd != MK_E_UNSUPPORTED)
            return fd;
    }
    return mk_helper_spawn(name, "");
}
