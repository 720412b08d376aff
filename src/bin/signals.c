/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

static void fill(sigset_t *set)
{
    static const int ours[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, MK_SIGNAL_END_NOW};

    sigemptyset(set);
    for (unsigned i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        sigaddset(set, ours[i]);
}

void mk_signals_block(void)
{
    sigset_t set;

    fill(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

int mk_signals_open(bool children)
{
    sigset_t set;

    fill(&set);
    if (children) {
        /* Whoever started us may have ignored it, and then nobody could be waited for. */
        (void)signal(SIGCHLD, SIG_DFL);
        sigaddset(&set, SIGCHLD);
        sigprocmask(SIG_BLOCK, &set, NULL);
    }
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int mk_signals_next(int fd, unsigned *sender)
{
    struct signalfd_siginfo info;

    if (read(fd, &info, sizeof(info)) != sizeof(info))
        return 0;
    if (sender)
        *sender = info.ssi_pid;
    return (int)info.ssi_signo;
}
