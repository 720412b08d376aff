/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_REQUEST_PUMP_H
#define MK_SERVER_REQUEST_PUMP_H

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/types.h>

/*
 * Verdicts of whatever moves an answer towards its peer: how the connection goes on. They are words of
 * their own, since none of the waits is an error.
 */
enum mk_pump {
    MK_PUMP_DONE, /* all bytes are out or gathered */
    /* waits */
    MK_PUMP_READER, /* the peer takes no more bytes now */
    MK_PUMP_TURN,   /* the turn's budget is used up: run again soon */
    MK_PUMP_SOURCE, /* a source has no bytes now */
    /* between a source and what sends it */
    MK_PUMP_COPY, /* bytes cannot be moved unread: read them and send the copy */
    /* ends */
    MK_PUMP_TRUNCATED, /* a file became shorter than its head promised */
    MK_PUMP_CUT,       /* the connection is broken */
    MK_PUMP_NO_MEMORY,
    MK_PUMP_BROKEN, /* a source failed */
};

/** Can no further byte of the answer be sent? */
static inline bool mk_pump_has_failed(enum mk_pump verdict)
{
    return verdict >= MK_PUMP_TRUNCATED;
}

/** What the end or the error of a source comes to: a plugin may give any error, and none of them is a wait. */
static inline enum mk_pump mk_pump_of_source(ssize_t err)
{
    switch (err) {
    case 0:
        return MK_PUMP_DONE;
    case MK_E_PEER:
        return MK_PUMP_CUT;
    case MK_E_NOMEM:
        return MK_PUMP_NO_MEMORY;
    default:
        return MK_PUMP_BROKEN;
    }
}

/** What the error of a transport comes to. @param err  negative */
static inline enum mk_pump mk_pump_of_send(ssize_t err)
{
    return err == MK_E_AGAIN ? MK_PUMP_READER : mk_pump_of_source(err);
}

#endif
