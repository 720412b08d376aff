/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CGI_WIRE_H
#define CGI_WIRE_H

#include <stdint.h>

/*
 * How the plugin and its spawner monkey-palm speak. Both come from the same build.
 *
 * The spawner's standard input is a SOCK_SEQPACKET socket. A packet of one byte on it brings one descriptor: the line of a
 * script, one end of another such pair. On the line comes one packet, the order, with the script's three standard
 * descriptors; back go reports. When the server shuts its sending half down, or closes its end, the script's process group
 * is ended: SIGTERM, and SIGKILL two seconds later; one that was not started yet is not started. When the spawner closes the
 * line the group is gone; if the order was not read, which is told as a reset, there was none. When the server closes the
 * socket, everything is ended, and the spawner with it.
 */

enum {
    PALM_ORDER_MAX = 128 << 10, /* bytes of an order */
    PALM_ARGUMENTS_MAX = 4,
    PALM_VARIABLES_MAX = 512,
    PALM_GRACE_MS = 2000, /* from SIGTERM to SIGKILL */
};

/* Limits of a script's processes, as for setrlimit(2); 0: as they are. */
#define PALM_LIMITS(X)                                                                             \
    X(MEMORY, RLIMIT_AS)                                                                           \
    X(CPU_S, RLIMIT_CPU)                                                                           \
    X(FILES, RLIMIT_NOFILE)                                                                        \
    X(PROCESSES, RLIMIT_NPROC)

enum palm_limit {
#define PALM_LIMIT_ENUM(name, resource) PALM_##name,
    PALM_LIMITS(PALM_LIMIT_ENUM)
#undef PALM_LIMIT_ENUM
        PALM_LIMIT_COUNT
};

/* Followed by terminated texts: directory, program, arguments from the zeroth on, variables as NAME=VALUE. */
struct palm_order {
    uint32_t narguments, nvariables;
    uint64_t limits[PALM_LIMIT_COUNT];
    uint64_t flags; /* of enum palm_flag */
};

enum palm_flag {
    PALM_NEW_PRIVILEGES =
        1, /* programs with set-user-id, set-group-id or capabilities give the script theirs */
};

enum palm_report_kind {
    PALM_FAILED, /* it could not be started; value: errno */
    PALM_EXITED, /* value: exit code */
    PALM_KILLED, /* value: signal */
};

struct palm_report {
    uint32_t kind;
    int32_t value;
};

#endif
