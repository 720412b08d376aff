/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_BACKENDS_NOTES_H
#define KIT_BACKENDS_NOTES_H

#include "kit/clock/clock.h"

#include <monkey/notes.h>
#include <monkey/stream.h>

/*
 * What a request's log line says of its backend, as notes (<monkey/notes.h>): of the attempt that was made last.
 *
 *     backend             its name
 *     backend_address     of the connection: of a name that has several, or that moves, it is one
 *     backend_connect_ms  until a connection was there; a kept one takes no time
 *     backend_first_ms    until the first byte of an answer
 *     backend_whole_ms    until its end
 */

enum backend_note {
    BACKEND_NOTE_NAME,
    BACKEND_NOTE_ADDRESS,
    BACKEND_NOTE_CONNECT,
    BACKEND_NOTE_FIRST,
    BACKEND_NOTE_WHOLE,
    BACKEND_NOTE_COUNT,
};

/** Part of an object that lives as long as the request; zeroed at first. */
struct backend_notes {
    struct mk_note notes[BACKEND_NOTE_COUNT];
    struct mk_notes list;
    int64_t began_us;
};

/** An attempt begins. Without memory for them there are no notes. @param name  terminated, lives as long as the request */
void backend_notes_begin(struct backend_notes *n, struct mk_request *r, const char *name);

/**
 * A connection is there.
 * @param address  of the backend as it was written, lives as long as the request; the kernel is asked where it has a name
 * @param s        to the backend; NULL: it is not known
 */
void backend_notes_connect(struct backend_notes *n, struct mk_request *r, const char *address,
                           const struct mk_stream *s);

/** Something of the attempt has happened. */
static inline void backend_notes_time(struct backend_notes *n, enum backend_note which)
{
    n->notes[which].number = clock_now_us() - n->began_us;
}

#endif
