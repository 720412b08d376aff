/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fd.h"
#include "server/server_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int open_log_file(const struct mk_server *server, const char *path)
{
    enum { FLAGS = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY };
    int fd = open(path, FLAGS, 0640), err;

    if (fd >= 0)
        return fd;
    err = mk_error_from_errno(errno);
    if (err == MK_E_ACCESS && server->host->open_file)
        return server->host->open_file(server->host->arg, path, O_WRONLY | O_APPEND | O_CREAT,
                                       0640);
    return err;
}

int mk_server_open_log(struct mk_server *server, const char *target)
{
    int fd;

    if (strcmp(target, "stderr") == 0)
        fd = STDERR_FILENO;
    else if (strcmp(target, "syslog") == 0)
        fd = -1;
    else {
        fd = open_log_file(server, target);
        if (fd < 0) {
            (void)snprintf(server->why, sizeof(server->why), "ErrorLog: cannot open %s: %s", target,
                           mk_error_text(fd));
            return fd;
        }
    }
    mk_log_set_fd(&server->log, fd);
    return 0;
}

static void reopen_logs_of_plugins(const struct mk_snapshot *s)
{
    for (size_t i = 0; i < s->nplugins; i++) {
        const struct mk_loaded *p = &s->plugins[i];

        if (p->started && p->plugin->reopen)
            p->plugin->reopen(&p->context);
    }
}

int mk_server_reopen_logs(struct mk_server *server)
{
    int err = mk_server_open_log(server, server->snapshot->set.error_log);

    mk_log(&server->log, err < 0 ? MK_LOG_ERROR : MK_LOG_INFO, MK_LOG_SERVER, "%s",
           err < 0 ? server->why : "logs reopened");
    reopen_logs_of_plugins(server->snapshot);
    return err;
}
