/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_METHOD_H
#define MK_HTTP_METHOD_H

#include <monkey/types.h>

/* Request methods: RFC 9110 section 9, PATCH of RFC 5789. Methods are case-sensitive. */
#define MK_METHODS(X)                                                                              \
    X(GET)                                                                                         \
    X(HEAD)                                                                                        \
    X(POST)                                                                                        \
    X(PUT)                                                                                         \
    X(DELETE)                                                                                      \
    X(OPTIONS)                                                                                     \
    X(PATCH)                                                                                       \
    X(TRACE)                                                                                       \
    X(CONNECT)

enum mk_method {
    MK_METHOD_OTHER, /* a valid token that we do not know: answered 501 */
#define MK_METHOD_ENUM(name) MK_METHOD_##name,
    MK_METHODS(MK_METHOD_ENUM)
#undef MK_METHOD_ENUM
        MK_METHOD_COUNT
};

/** @return MK_METHOD_OTHER for anything not in the table. */
enum mk_method mk_method_from(struct mk_str token);
/** @return its name; empty for MK_METHOD_OTHER. */
struct mk_str mk_method_name(enum mk_method method);

#endif
