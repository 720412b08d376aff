/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon.h"

#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The old process: its exit code is how the start went. */
static void wait_for_start(int ready, pid_t pid)
{
    char byte;
    ssize_t len;
    int status;

    do {
        len = read(ready, &byte, 1);
    } while (len < 0 && errno == EINTR);
    if (len == 1)
        _exit(0);
    if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) != 0)
        _exit(WEXITSTATUS(status));
    _exit(1);
}

int mk_daemon_start(struct mk_daemon *daemon)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    close(ends[pid == 0 ? 0 : 1]);
    if (pid > 0)
        wait_for_start(ends[0], pid);
    *daemon = (struct mk_daemon){.on = true, .ready = ends[1]};
    (void)setsid();
    return chdir("/");
}

void mk_daemon_detach(const struct mk_daemon *daemon)
{
    int null;

    if (!daemon->on)
        return;
    mk_report_to_syslog();
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return;
    for (int fd = 0; fd <= 2; fd++)
        (void)dup2(null, fd);
    close(null);
}

void mk_daemon_ready(struct mk_daemon *daemon)
{
    if (daemon->ready >= 0 && write(daemon->ready, "", 1) < 0)
        mk_report("the parent process exited");
    mk_daemon_leave(daemon);
}

void mk_daemon_leave(struct mk_daemon *daemon)
{
    if (daemon->ready >= 0)
        close(daemon->ready);
    daemon->ready = -1;
}
