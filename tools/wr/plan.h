/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PLAN_H
#define WR_PLAN_H

#include "options.h"
#include "result.h"

/**
 * All runs that the options ask for: rounds, in each the servers in an order that moves on by one, for each the steps.
 * What was measured is in the result when it fails or is interrupted too.
 * @return the exit status of wr; a reason was printed when it is not 0
 */
int plan_execute(const struct options *o, struct result *r);

#endif
