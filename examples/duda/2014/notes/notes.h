/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NOTES_H
#define NOTES_H

#include "webservice.h"

/* As was usual: each file that includes this defines them, and -fcommon makes them one. */
char last_note[128];
int notes_count;
pthread_mutex_t notes_lock;

void store_note(const char *text);
void page_add(duda_request_t *dr);
void page_last(duda_request_t *dr);

#endif
