/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/backends/notes.h"

void backend_notes_begin(struct backend_notes *n, struct mk_request *r, const char *name)
{
    static const char *const names[BACKEND_NOTE_COUNT] = {
        "backend", "backend_address", "backend_connect_ms", "backend_first_ms", "backend_whole_ms"};

    for (int i = 0; i < BACKEND_NOTE_COUNT; i++)
        n->notes[i] = (struct mk_note){.name = names[i], .number = -1, .decimals = 3};
    n->notes[BACKEND_NOTE_NAME].text = mk_str_from(name);
    n->began_us = clock_now_us();
    if (n->list.notes)
        return;
    n->list = (struct mk_notes){.notes = n->notes, .count = BACKEND_NOTE_COUNT};
    (void)!mk_request_add_notes(r, &n->list);
}

/* "192.0.2.1:80", "[2001:db8::1]:80" and "unix:/path" need no question; a name has a letter. */
static bool is_address(const char *text)
{
    return text[0] == '[' || strncmp(text, "unix:", 5) == 0 ||
           text[strspn(text, "0123456789.:")] == '\0';
}

void backend_notes_connect(struct backend_notes *n, struct mk_request *r, const char *address,
                           const struct mk_stream *s)
{
    char text[MK_STREAM_ADDRESS], *copy;
    size_t len;

    backend_notes_time(n, BACKEND_NOTE_CONNECT);
    if (is_address(address)) {
        n->notes[BACKEND_NOTE_ADDRESS].text = mk_str_from(address);
        return;
    }
    len = s ? mk_stream_address(s, text) : 0;
    copy = len > 0 ? mk_request_alloc(r, len) : NULL;
    if (copy)
        n->notes[BACKEND_NOTE_ADDRESS].text = (struct mk_str){memcpy(copy, text, len), len};
}
