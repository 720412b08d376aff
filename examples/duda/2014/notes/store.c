/* SPDX-License-Identifier: Apache-2.0 */
#include "notes.h"

void store_note(const char *text)
{
    pthread_mutex_lock(&notes_lock);
    snprintf(last_note, sizeof(last_note), "%s", text);
    notes_count++;
    pthread_mutex_unlock(&notes_lock);
}
