/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_INTAKE_INTAKE_H
#define KIT_INTAKE_INTAKE_H

#include "kit/intake/arrival.h"

#include <monkey/plugin.h>
#include <monkey/upstream.h>

/*
 * The body of a request on its way to something scarce: a process, a connection. It is taken in before that is asked for,
 * as far as the mode says, so that a slow client holds nothing but its own connection and some memory; and is given again
 * from its first byte, what was gathered before what still comes.
 */

/** RequestBuffering */
enum intake_mode {
    INTAKE_AUTO, /* gathered until it is whole or arrives fast (arrival.h), then streamed */
    INTAKE_ON,   /* gathered until it is whole */
    INTAKE_OFF,  /* streamed */
};

/** For a row of settings: the words of the modes. */
extern const char *const intake_modes[];

struct intake {
    struct mk_worker *worker;
    struct mk_spool *spool; /* what was gathered, until more than that is given; NULL: nothing */
    const char *spool_dir;  /* borrowed from the settings */
    int spool_errno; /* of the last write to it, which failed; 0: none did, or not by the system */
    struct mk_str
        rest; /* what follows it, where the spool could take no more; in the request's memory */
    struct arrival arrival;
    size_t beside;     /* bytes of memory that its owner holds for the request */
    uint64_t at;       /* bytes given */
    int64_t length;    /* of the body; -1: not known, or not yet */
    uint8_t mode;      /* enum intake_mode */
    bool needs_length; /* auto gathers what has none */
    bool announced;    /* where it needs a length: there is a body, if only an empty one */
    bool may_pass;     /* enough was gathered */
    bool is_gathered;  /* all of it is in the spool */
    bool owes;         /* the client: some of it has not come */
    bool ended;        /* its end was given */
};

/**
 * What the request announces. Nothing is read.
 * @param facts         of the request
 * @param needs_length  it must be known before the first byte is given (RFC 3875 section 4.1.2): auto gathers a chunked
 *                      body whole
 */
void intake_init(struct intake *i, const struct mk_request *r, const struct mk_request_facts *facts,
                 enum intake_mode mode, bool needs_length);

/**
 * Gather. In a hook. A request without a body, and one whose body came with its head, cost nothing.
 * @param dir  of temporary files, for what is more than 64 KB
 * @return PASS: what the body is for may be asked for, then it can be read; LATER, CLOSE: to be returned, after LATER call
 *         again; DONE: it cannot be had, and is answered: 400, 413, 500 or 503. A body of auto that the directory cannot
 *         take is logged, and passes.
 */
enum mk_verdict intake_gather(struct intake *i, struct mk_request *r, const char *dir);

/** @return as mk_request_read; MK_E_SYS: the temporary file cannot be read. */
ssize_t intake_read(struct intake *i, struct mk_request *r, char *dst, size_t len) MK_MUST_USE;

/** Is all that was given still there? */
bool intake_can_rewind(const struct intake *i);
/** Give it again from its first byte. */
void intake_rewind(struct intake *i);

/** Report the memory of the body and so many bytes beside it (mk_request_hold), from now on. */
void intake_hold(struct intake *i, struct mk_request *r, size_t beside);

/** Zeroed ones are allowed. */
void intake_fini(struct intake *i);

#endif
