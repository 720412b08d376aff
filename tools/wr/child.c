/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 3000, TURN_MS = 20, CANNOT_START = 127 };

static _Noreturn void become(char *const *argv, int out)
{
    sigset_t none;
    int null = open("/dev/null", O_RDONLY);

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)dup2(null, 0);
    (void)dup2(out, 1);
    (void)dup2(out, 2);
    (void)execvp(argv[0], argv);
    (void)dprintf(2, "%s: %s\n", argv[0], strerror(errno));
    _exit(CANNOT_START);
}

int child_start(struct child *c, char *const *argv)
{
    int fds[2];

    *c = (struct child){.out = -1, .text = malloc(CHILD_TEXT_SIZE)};
    if (!c->text || pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    c->text[0] = '\0';
    c->out = fds[0];
    (void)fcntl(fds[1], F_SETFL, 0); /* the program expects it to block */
    c->pid = fork();
    if (c->pid == 0)
        become(argv, fds[1]);
    (void)close(fds[1]);
    return c->pid < 0 ? -1 : 0;
}

/* The end is what counts: half of what is there makes room. */
static void make_room(struct child *c)
{
    if (c->len < CHILD_TEXT_SIZE - 1)
        return;
    c->len = CHILD_TEXT_SIZE / 2;
    memmove(c->text, c->text + CHILD_TEXT_SIZE - 1 - c->len, c->len);
}

static void read_all(struct child *c, bool shown)
{
    ssize_t got = 0;

    while (c->out >= 0) {
        make_room(c);
        got = read(c->out, c->text + c->len, CHILD_TEXT_SIZE - 1 - c->len);
        if (got <= 0)
            break;
        if (shown)
            (void)!write(2, c->text + c->len, (size_t)got);
        c->len += (size_t)got;
    }
    if (c->text)
        c->text[c->len] = '\0';
    if (c->out >= 0 && (got == 0 || errno != EAGAIN)) {
        (void)close(c->out);
        c->out = -1;
    }
}

/* Once it is over, all that it said is there to be read: in this order its last words are not missed. */
void child_turn(struct child *c, bool shown)
{
    if (c->pid > 0 && !c->is_over)
        c->is_over = waitpid(c->pid, &c->status, WNOHANG) == c->pid;
    read_all(c, shown);
}

/* Members of its group that have become our children; others wait for theirs. */
static void bury_group(pid_t group)
{
    pid_t pid;

    do
        pid = waitpid(-group, NULL, 0);
    while (pid > 0 || (pid < 0 && errno == EINTR));
}

void child_stop(struct child *c, int signal)
{
    if (c->pid <= 0)
        return;
    for (int waited = 0; !c->is_over; waited += TURN_MS) {
        if (waited == 0)
            (void)kill(-c->pid, signal);
        if (waited >= PATIENCE_MS)
            (void)kill(-c->pid, SIGKILL);
        child_turn(c, false);
        if (!c->is_over)
            (void)poll(NULL, 0, TURN_MS);
    }
    (void)kill(-c->pid, SIGKILL); /* what it left behind */
    bury_group(c->pid);
    child_turn(c, false);
}

void child_fini(struct child *c)
{
    if (c->out >= 0)
        (void)close(c->out);
    free(c->text);
    c->out = -1;
    c->text = NULL;
}
