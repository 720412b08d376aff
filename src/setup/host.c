/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/host.h"

#include "base/code.h"
#include "base/str.h"
#include "core/fd.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct mk_str prefix = MK_STR_INIT("program:");

MK_AT_START const char *mk_host_name_of(const char *path)
{
    return mk_str_has_prefix(mk_str_from(path), prefix) ? path + prefix.len : NULL;
}

/* Readers ask for a regular file; their place in it is its beginning. */
MK_AT_START static int open_bytes(const char *text)
{
    size_t len = strlen(text);
    int fd = memfd_create("monkey", MFD_CLOEXEC);

    if (fd >= 0 && pwrite(fd, text, len, 0) != (ssize_t)len) {
        mk_fd_close(&fd);
        return MK_E_NOMEM;
    }
    return fd < 0 ? mk_error_from_errno(errno) : fd;
}

MK_AT_START int mk_host_open_text(const struct mk_host *host, const char *path)
{
    const char *name = mk_host_name_of(path);

    for (size_t i = 0; MK_HOST_HAS(host, ntexts) && i < host->ntexts; i++) {
        const struct mk_host_text *t = &host->texts[i];

        if (t->name && t->text && strcmp(t->name, name) == 0)
            return open_bytes(t->text);
    }
    return MK_E_NOENT;
}
