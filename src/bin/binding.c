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

void mk_binding_remove_stale(const char *address)
{
    if (has_trusted_dir(address))
        mk_address_remove_stale(address);
}
