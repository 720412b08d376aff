/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_KEEPER_WIRE_H
#define MK_BIN_KEEPER_WIRE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the server and its keeper say to each other over a SOCK_SEQPACKET pair: a request is one
 * packet, and so is its answer, in the order asked. Both come from the same executable.
 */

#define MK_KEEPER_OPS(X)                                                                           \
    X(BIND, 1)      /* name: an address; a bound socket comes back */                              \
    X(OPEN_READ, 2) /* name: a path; a descriptor comes back */                                    \
    X(OPEN_LOG, 3)  /* the same, for appending, created when missing */                            \
    X(RELOAD, 4)    /* read the configuration again: new names may be allowed */                   \
    X(READY, 5)     /* the server serves what its configuration says */                            \
    X(HELPER, 6)    /* name: USER:PROGRAM; a socket to the program comes back */                   \
    X(SOCKET, 7) /* name: GROUP:unix:/path; a bound socket comes back, its file is the server's */

enum mk_keeper_op {
#define MK_KEEPER_OP_ENUM(name, value) MK_KEEPER_##name = (value),
    MK_KEEPER_OPS(MK_KEEPER_OP_ENUM)
#undef MK_KEEPER_OP_ENUM
};

enum {
    MK_KEEPER_SHARE = 1,     /* BIND: with SO_REUSEPORT */
    MK_KEEPER_DIRECTORY = 2, /* OPEN_READ: the path is that of a directory */
};

struct mk_keeper_request {
    uint32_t op;
    uint32_t flags;
    uint32_t number;     /* comes back in the answer */
    char name[PATH_MAX]; /* only as much as needed is sent, with its NUL */
};

struct mk_keeper_answer {
    uint32_t number;
    int32_t result;       /* 0, a descriptor may be attached; else an enum mk_error */
    int32_t system_error; /* errno */
};

#define MK_KEEPER_HEAD_BYTES offsetof(struct mk_keeper_request, name)

#endif
