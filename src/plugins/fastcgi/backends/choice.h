/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASTCGI_CHOICE_H
#define FASTCGI_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/* Which of several servers gets a request. Pure. */

enum { CHOICE_MAX = 64 }; /* servers of one location: as many as a mask has bits */

struct choice {
    unsigned busy,
        max; /* requests that it has, waiting ones included; connections that it takes, > 0 */
    int64_t offline_until_ms; /* 0: it is not known to be broken */
};

/**
 * The one with the least work for its size, of those that are not offline; equals by turns. When all are
 * offline, the one that has been so for longest: waiting for none would help nobody.
 * @param tried  bit i: not choices[i] again
 * @param turn   any number, another one for each request
 * @return its index; -1: all were tried
 */
int fastcgi_choice_make(const struct choice *choices, unsigned count, uint64_t tried,
                        int64_t now_ms, unsigned turn);

#endif
