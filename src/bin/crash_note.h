/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_CRASH_NOTE_H
#define MK_BIN_CRASH_NOTE_H

#include <stddef.h>

/*
 * What a server that crashes still says: its keeper reads it after the end. It lies in memory that both share, because the
 * writer can rely on nothing, and the reader believes nothing.
 */

enum { MK_CRASH_TEXT = 1024 };

struct mk_crash_note;

/** In the keeper, before the server is forked. @return NULL: without memory there are no notes. */
struct mk_crash_note *mk_crash_note_new(void);

/** In the keeper, before each fork: nothing was noted. */
void mk_crash_note_clear(struct mk_crash_note *note);

/** In the server: write there what a fatal signal interrupts. The signal ends the process afterwards, as without this. */
void mk_crash_note_watch(struct mk_crash_note *note);

/** Give the calling thread, which must be the program's first, a stack for handlers of signals: one that has overflowed has no room. */
void mk_crash_stack(void);

/** In the keeper, after the server's end. @param text  out: printable, empty when there is nothing */
void mk_crash_note_read(const struct mk_crash_note *note, char text[MK_CRASH_TEXT]);

#endif
