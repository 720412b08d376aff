/* SPDX-License-Identifier: Apache-2.0 */
#include "http/method.h"

#include "base/str.h"

static const struct {
    unsigned char len;
    char text[8];
} names[MK_METHOD_COUNT] = {
#define MK_METHOD_ROW(name) [MK_METHOD_##name] = {sizeof(#name) - 1, #name},
    MK_METHODS(MK_METHOD_ROW)
#undef MK_METHOD_ROW
};

struct mk_str mk_method_name(enum mk_method method)
{
    return (struct mk_str){names[method].text, names[method].len};
}

enum mk_method mk_method_from(struct mk_str token)
{
    for (int i = MK_METHOD_OTHER + 1; i < MK_METHOD_COUNT; i++) {
        if (token.len == names[i].len && memcmp(token.p, names[i].text, token.len) == 0)
            return (enum mk_method)i;
    }
    return MK_METHOD_OTHER;
}
