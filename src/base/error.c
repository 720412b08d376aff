/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/types.h>

#include <errno.h>

const char *mk_error_text(int error)
{
    switch (error) {
#define MK_ERROR_CASE(name, value, text)                                                           \
    case value:                                                                                    \
        return text;
        MK_ERRORS(MK_ERROR_CASE)
#undef MK_ERROR_CASE
    default:
        return error >= 0 ? "no error" : "unknown error";
    }
}

int mk_error_from_errno(int err)
{
    switch (err) {
    case 0:
        return 0;
    case EAGAIN:
        return MK_E_AGAIN;
    case ENOMEM:
    case ENOBUFS:
        return MK_E_NOMEM;
    case EMFILE:
    case ENFILE:
        return MK_E_NOFD;
    case ENOENT:
    case ENOTDIR:
        return MK_E_NOENT;
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP: /* a link where none is followed */
        return MK_E_ACCESS;
    case EADDRINUSE:
    case EBUSY:
        return MK_E_BUSY;
    case ECONNRESET:
    case EPIPE:
    case ECONNABORTED:
        return MK_E_PEER;
    case EEXIST:
        return MK_E_EXISTS;
    default:
        return MK_E_SYS;
    }
}
