/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>

#include "base/code.h"
#include "core/fd.h"

#include <errno.h>
#include <sys/socket.h>

MK_AT_START const char *mk_address_canonical(const char *text, char dst[MK_ADDRESS_TEXT])
{
    struct mk_addr addr;

    _Static_assert((int)MK_ADDRESS_TEXT == (int)MK_ADDR_TEXT, "room for the same text");
    if (mk_addr_parse(mk_str_from(text), &addr) < 0)
        return text;
    (void)mk_addr_format(&addr, dst);
    return dst;
}

static bool has_text(const struct mk_addr *addr)
{
    int family = addr->sa.sa_family;

    return family == AF_INET || family == AF_INET6 ||
           (family == AF_UNIX && addr->len > offsetof(struct sockaddr_un, sun_path) &&
            addr->un.sun_path[0] != '\0');
}

MK_AT_START int mk_address_of(int fd, char dst[MK_ADDRESS_TEXT])
{
    struct mk_addr addr = {.len = sizeof(addr.un)};

    dst[0] = '\0';
    if (getsockname(fd, &addr.sa, &addr.len) < 0 || !has_text(&addr))
        return MK_E_INVALID;
    (void)mk_addr_format(&addr, dst);
    return 0;
}

MK_AT_START int mk_address_bind(const char *text, bool share)
{
    struct mk_addr addr;

    if (mk_addr_parse(mk_str_from(text), &addr) < 0) {
        errno = EINVAL;
        return MK_E_BAD;
    }
    return mk_fd_bind(&addr, share);
}

MK_AT_START void mk_address_remove_stale(const char *text)
{
    struct mk_addr addr;

    if (mk_addr_parse(mk_str_from(text), &addr) == 0)
        (void)mk_fd_remove_stale(&addr);
}
