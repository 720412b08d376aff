/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_INPUT_H
#define MK_DUDA_INPUT_H

#include "service/route.h"

/**
 * Check the table of a route's inputs, and give it to the route. Control thread.
 * @param plain  the pattern without types
 * @return 0; -1, with the sentence of mk_duda_refuse
 */
int mk_duda_route_describe(struct mk_duda_route *route, const char *methods, const char *plain,
                           const struct mk_duda_described *described);

/** Read the inputs of a request before its call-back. @return false: they are wrong, and the request was answered. */
bool mk_duda_inputs_check(struct mk_duda_request *rq);

#endif
