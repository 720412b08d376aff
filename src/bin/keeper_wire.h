/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_KEEPER_WIRE_H
#define MK_BIN_KEEPER_WIRE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * What the server and its keeper say to each other over a SOCK_SEQPACKET pair: a request is one
 * packet, and so is its answer, in the order asked. Both come from the same executable.
 */

#define MK_KEEPER_OPS(X)                                                                           \
    X(BIND, 1)      /* name: an address; a bound socket comes back */                              \
    X(OPEN_READ, 2) /* name: a path; a descriptor comes back */                                    \
    X(OPEN_LOG, 3)  /* the same, for appending, created when missing */                            \
    X(RELOAD, 4)    /* read the configuration again: new names may be allowed */                   \
    X(READY, 5)     /* the server serves; name: why the reload failed, empty when it did not */    \
    X(HELPER, 6)    /* name: USER:PROGRAM; a socket to the program comes back */                   \
    X(SOCKET, 7) /* name: GROUP:unix:/path; a bound socket comes back, its file is the server's */ \
    X(KEEP, 8)   /* a listening socket comes along, to be kept for the next server after READY */  \
    X(STOPS, 9)  /* the server stops by itself: no socket is to be kept, no other server started */

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

/** Let a descriptor go along with a packet. @param room  zeroed, of CMSG_SPACE(sizeof(int)) bytes, aligned as a struct cmsghdr */
void mk_keeper_attach(struct msghdr *msg, void *room, int fd);

#define MK_KEEPER_HEAD_BYTES offsetof(struct mk_keeper_request, name)

#endif
