/* SPDX-License-Identifier: Apache-2.0 */
#include "notes.h"

void page_add(duda_request_t *dr)
{
    char *text = qs->get(dr, "text");

    if (!text) {
        response->http_status(dr, 400);
        response->end(dr, NULL);
    }
    store_note(text);
    response->http_status(dr, 201);
    response->end(dr, NULL);
}

void page_last(duda_request_t *dr)
{
    response->http_status(dr, 200);
    pthread_mutex_lock(&notes_lock);
    response->printf(dr, "%d %s\n", notes_count, last_note);
    pthread_mutex_unlock(&notes_lock);
    response->end(dr, NULL);
}
