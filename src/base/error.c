/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/types.h>

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
