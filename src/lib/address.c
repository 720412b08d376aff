/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>

#include "base/code.h"
#include "core/fd.h"

#include <errno.h>

MK_AT_START const char *mk_address_canonical(const char *text, char dst[MK_ADDRESS_TEXT])
{
    struct mk_addr addr;

    _Static_assert((int)MK_ADDRESS_TEXT == (int)MK_ADDR_TEXT, "room for the same text");
    if (mk_addr_parse(mk_str_from(text), &addr) < 0)
        return text;
    (void)mk_addr_format(&addr, dst);
    return dst;
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
        mk_fd_remove_stale(&addr);
}
