/* SPDX-License-Identifier: Apache-2.0 */
#include "palm/launch.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static int set_limits(const struct order *o)
{
    static const int resources[] = {
#define PALM_LIMIT_RESOURCE(name, resource) [PALM_##name] = (resource),
        PALM_LIMITS(PALM_LIMIT_RESOURCE)
#undef PALM_LIMIT_RESOURCE
    };

    for (int i = 0; i < PALM_LIMIT_COUNT; i++) {
        struct rlimit limit;

        if (o->limits[i] == 0)
            continue;
        if (getrlimit(resources[i], &limit) < 0)
            return -1;
        if (limit.rlim_max == RLIM_INFINITY || o->limits[i] < limit.rlim_max)
            limit.rlim_max = (rlim_t)o->limits[i];
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(resources[i], &limit) < 0)
            return -1;
    }
    return 0;
}

/* Everything else is closed when the program is executed. */
static int set_files(const int files[3])
{
    for (int i = 0; i < 3; i++) {
        if (dup2(files[i], i) < 0)
            return -1;
    }
    return 0;
}

static void execute(const struct order *o, const int files[3], const struct rlimit *nfiles)
{
    sigset_t none;

    (void)sigemptyset(&none);
    if (setpgid(0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || set_files(files) < 0 ||
        chdir(o->directory) < 0 || setrlimit(RLIMIT_NOFILE, nfiles) < 0 || set_limits(o) < 0 ||
        sigprocmask(SIG_SETMASK, &none, NULL) < 0)
        return;
    if (!(o->flags & PALM_NEW_PRIVILEGES) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return;
    (void)execve(o->program, o->arguments, o->variables);
}

/*
 * By vfork: the child has our memory until it executes the program, so it costs no copy, and tells what went wrong by a
 * variable. It changes nothing else there, and no other thread is.
 */
pid_t launch(const struct order *o, const int files[3], const struct rlimit *nfiles)
{
    volatile int failure = 0;
    pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */

    if (pid == 0) {
        execute(o, files, nfiles); /* NOLINT(clang-analyzer-unix.Vfork) */
        failure = errno;
        _exit(127); /* reaped with the others; nobody knows it */
    }
    if (pid > 0 && failure != 0) {
        errno = failure;
        return -1;
    }
    return pid;
}
