/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_LOAD_H
#define MK_DUDA_SERVICE_LOAD_H

#include "host/settings.h"

/**
 * Load a service and call its duda_main(). Control thread.
 * @param why  out: the reason of an error
 * @return a service in state READY or SKIPPED, with one reference; NULL: the start is refused, *error < 0.
 */
struct mk_duda_service *mk_duda_load(const struct mk_context *ctx, const struct mk_duda_plan *plan,
                                     const struct mk_duda_spec *spec, int *error, char *why,
                                     size_t size);

/** Is it what this says, and its file what it was? Then a reload keeps it. */
bool mk_duda_is_same(const struct mk_duda_service *s, const struct mk_duda_plan *plan,
                     const struct mk_duda_spec *spec);

/** A worker is about to serve with it, on that worker. @return 0; -1: s->why. */
int mk_duda_seat_take(struct mk_duda_service *s, struct mk_duda_worker *w);
/** It does not any more. */
void mk_duda_seat_leave(struct mk_duda_service *s, struct mk_duda_worker *w);

void mk_duda_fill_bag(struct duda_api_objects *o);

/** All parts, in the order of their rows. */
extern const struct mk_duda_part *const mk_duda_parts[MK_DUDA_PARTS];

#endif
