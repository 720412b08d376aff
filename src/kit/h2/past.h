/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_PAST_H
#define KIT_H2_PAST_H

#include "kit/h2/frame.h"

#include <stdbool.h>

/*
 * Streams that have ended, of which frames may still come: their peer may not know of a reset yet, but must know of an end that
 * it has seen (RFC 9113 section 5.1).
 */

enum {
    H2_PAST_RESETS = 128, /* streams that we reset: what their peers had sent by then is skipped */
    H2_PAST_ENDS = 32,    /* streams that ended otherwise */
};

struct h2_past {
    uint32_t resets[H2_PAST_RESETS], ends[H2_PAST_ENDS];
    uint8_t nresets, nends; /* modulo their numbers */
    bool has_forgotten;     /* more were reset than are kept */
};

/** A stream has ended. @param is_ours  we reset it while its peer could still send. */
void h2_past_add(struct h2_past *p, uint32_t id, bool is_ours);
/** A DATA or HEADERS frame came for a stream that was begun and is no more. @return the error of the connection; H2_E_NO_ERROR: the frame is skipped. */
enum h2_error h2_past_judge(const struct h2_past *p, uint32_t id, bool is_data);

#endif
