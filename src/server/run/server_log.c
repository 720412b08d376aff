/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fd.h"
#include "server/run/server_int.h"
#include "setup/host.h"

#include "base/code.h"

#include <monkey/events.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { LOG_MODE = 0640 };

int mk_server_refuse(struct mk_server *server, const char *why)
{
    (void)snprintf(server->why, sizeof(server->why), "%s", why);
    mk_log(&server->shared.log, MK_LOG_ERROR, MK_LOG_SERVER, "%s", why);
    return MK_E_INVALID;
}

int mk_server_refuse_inside(struct mk_server *server)
{
    return mk_worker_is_of(server)
               ? mk_server_refuse(server, "a handler may not wait for its own worker")
               : 0;
}

int mk_server_open_file(struct mk_server *server, const char *path, int flags, mode_t mode)
{
    int fd, err;

    if (mk_host_name_of(path))
        return mk_host_open_text(server->shared.host, path);
    fd = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
    if (fd >= 0)
        return fd;
    err = mk_error_from_errno(errno);
    if (err == MK_E_ACCESS && server->shared.host->open_file)
        return server->shared.host->open_file(server->shared.host->arg, path,
                                              flags & ~(O_CLOEXEC | O_NOCTTY), mode);
    return err;
}

MK_AT_START int mk_server_open_log(struct mk_server *server, const char *target)
{
    int fd;

    if (server->shared.log.take)
        return 0;
    if (strcmp(target, "stderr") == 0)
        fd = STDERR_FILENO;
    else if (strcmp(target, "syslog") == 0)
        fd = -1;
    else {
        fd = mk_server_open_file(server, target, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK,
                                 LOG_MODE);
        if (fd < 0) {
            (void)snprintf(server->why, sizeof(server->why), "ErrorLog: cannot open %s: %s", target,
                           fd == MK_E_SYS && errno == ENXIO ? "no process reads this pipe"
                                                            : mk_error_text(fd));
            return fd;
        }
    }
    mk_log_set_fd(&server->shared.log, fd);
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

MK_AT_START int mk_server_reopen_logs(struct mk_server *server)
{
    int err;

    if (!server)
        return MK_E_INVALID;
    err = mk_server_open_log(server, server->snapshot->set.error_log);
    mk_log(&server->shared.log, err < 0 ? MK_LOG_ERROR : MK_LOG_INFO, MK_LOG_SERVER, "%s",
           err < 0 ? server->why : "logs reopened");
    reopen_logs_of_plugins(server->snapshot);
    return err;
}

int mk_server_log_lines(struct mk_server *server, const char *log, const char *lines, size_t len)
{
    const struct mk_host *host = server->shared.host;
    const char *name = mk_host_name_of(log);

    if (!name || !MK_HOST_HAS(host, log_lines))
        return MK_E_UNSUPPORTED;
    if (len > 0)
        host->log_lines(host->arg, name, lines, len);
    return 0;
}
