/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/backends/notes.h"

void backend_notes_begin(struct backend_notes *n, struct mk_request *r, const char *name)
{
    static const char *const names[BACKEND_NOTE_COUNT] = {"backend", "backend_connect_ms",
                                                          "backend_first_ms", "backend_whole_ms"};

    for (int i = 0; i < BACKEND_NOTE_COUNT; i++)
        n->notes[i] = (struct mk_note){.name = names[i], .number = -1, .decimals = 3};
    n->notes[BACKEND_NOTE_NAME].text = mk_str_from(name);
    n->began_us = clock_now_us();
    if (n->list.notes)
        return;
    n->list = (struct mk_notes){.notes = n->notes, .count = BACKEND_NOTE_COUNT};
    (void)!mk_request_add_notes(r, &n->list);
}
