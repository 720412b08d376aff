/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "base/str.h"
#include "core/fd.h"
#include "server/run/server_int.h"
#include "setup/host.h"

#include <monkey/events.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Unix sockets that not everybody may connect to. */

enum { GROUP_NAME = 64, GROUP_BUFFER = 4096, OWNER_ALONE = 0600, GROUP_TOO = 0660 };

static int find_group(const char *name, gid_t *gid)
{
    char buffer[GROUP_BUFFER];
    struct group group, *found = NULL;
    uint64_t number;

    if (getgrnam_r(name, &group, buffer, sizeof(buffer), &found) == 0 && found)
        *gid = found->gr_gid;
    else if (mk_str_to_u64(mk_str_from(name), UINT32_MAX - 1, &number) == 0)
        *gid = (gid_t)number;
    else
        return MK_E_NOENT;
    return 0;
}

static int bind_file(const struct mk_addr *addr, mode_t mode, uid_t owner, gid_t group)
{
    const char *path = addr->un.sun_path;
    int fd = mk_fd_bind_file(addr, mode), err;

    /* Only a mode for others too can have lost something to the umask. */
    if (fd < 0 || ((mode == OWNER_ALONE || chmod(path, mode) == 0) &&
                   ((owner == (uid_t)-1 && group == (gid_t)-1) || lchown(path, owner, group) == 0)))
        return fd;
    err = errno;
    (void)unlink(path);
    mk_fd_close(&fd);
    errno = err;
    return mk_error_from_errno(err);
}

MK_AT_START int mk_socket_bind(const char *name, uid_t owner, gid_t group)
{
    const char *colon = strchr(name, ':');
    char who[GROUP_NAME];
    struct mk_addr addr;
    int err = 0;

    errno = EINVAL;
    if (!colon || (size_t)(colon - name) >= sizeof(who) ||
        mk_addr_parse(mk_str_from(colon + 1), &addr) < 0 || addr.sa.sa_family != AF_UNIX)
        return MK_E_BAD;
    (void)snprintf(who, sizeof(who), "%.*s", (int)(colon - name), name);
    if (who[0] && strcmp(who, ".") != 0)
        err = find_group(who, &group);
    return err < 0 ? err : bind_file(&addr, who[0] ? GROUP_TOO : OWNER_ALONE, owner, group);
}

MK_AT_START int mk_server_bind_socket(struct mk_server *server, const char *name)
{
    const struct mk_host *host = server->shared.host;
    int fd = mk_socket_bind(name, (uid_t)-1, (gid_t)-1), flags;

    if (fd != MK_E_ACCESS || !MK_HOST_HAS(host, bind_socket))
        return fd;
    fd = host->bind_socket(host->arg, name);
    flags = fd >= 0 ? fcntl(fd, F_GETFL) : -1;
    if (flags >= 0)
        (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    return fd == MK_E_UNSUPPORTED ? MK_E_ACCESS : fd;
}
