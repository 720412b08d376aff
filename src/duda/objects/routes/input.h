/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_INPUT_H
#define MK_DUDA_INPUT_H

#include "service/route.h"

/** What gives a route the table of its inputs: struct mk_duda_described. Control thread. */
int mk_duda_route_describe(struct mk_duda_route *route, const char *methods, const char *plain,
                           const struct mk_duda_described *described);

#endif
