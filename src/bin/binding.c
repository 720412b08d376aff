/* SPDX-License-Identifier: Apache-2.0 */
#include "binding.h"

#include "guarded_open.h"

#include <monkey/server.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* May nobody but root and us change the directory of the socket file? Ports have none. */
static bool has_trusted_dir(const char *address)
{
    char dir[MK_ADDRESS_TEXT];
    size_t len = strlen(address);
    bool trusted = false;
    int fd;

    if (strncmp(address, "unix:/", 6) != 0)
        return true;
    if (len >= sizeof(dir))
        return false;
    memcpy(dir, address, len + 1);
    strrchr(dir, '/')[1] = '\0';
    fd = mk_guarded_open(dir + 5, O_RDONLY | O_DIRECTORY, 0, &trusted);
    if (fd < 0)
        return false;
    close(fd);
    return trusted;
}

int mk_binding_open(const char *address, bool share)
{
    mode_t mask;
    int fd;

    if (!has_trusted_dir(address)) {
        errno = EACCES;
        return -1;
    }
    mask = umask(0111);
    fd = mk_address_bind(address, share);
    umask(mask);
    return fd < 0 ? -1 : fd;
}

/* "GROUP:ADDRESS" */
static const char *address_of(const char *name)
{
    const char *colon = strchr(name, ':');

    return colon ? colon + 1 : name;
}

int mk_binding_open_socket(const char *name, uid_t owner, gid_t group)
{
    mode_t mask;
    int fd;

    if (strncmp(address_of(name), "unix:/", 6) != 0 || !has_trusted_dir(address_of(name))) {
        errno = EACCES;
        return -1;
    }
    mask = umask(0);
    errno = EINVAL; /* a group that is not there has none of its own */
    fd = mk_socket_bind(name, owner, group);
    umask(mask);
    return fd < 0 ? -1 : fd;
}

void mk_binding_remove_stale_socket(const char *name)
{
    mk_binding_remove_stale(address_of(name));
}

void mk_binding_remove_stale(const char *address)
{
    if (has_trusted_dir(address))
        mk_address_remove_stale(address);
}
