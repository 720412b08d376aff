/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_VIEWERS_H
#define PROXY_VIEWERS_H

#include "entry/settings.h"

/* StatisticsAllow: who may see the page of an entry. */

/** Note a fault for each word that is no network. */
void proxy_viewers_check(struct mk_setup *setup, const struct proxy_settings *set,
                         const struct mk_origin *at);
/** @param peer  address of 16 bytes; NULL: who asks comes through a unix socket */
bool proxy_viewers_has(const struct proxy_settings *set, const uint8_t *peer);

#endif
