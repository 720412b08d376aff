/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TABLE_H
#define WR_TABLE_H

#include "run.h"

#include <stdio.h>

/** The table on a terminal: a head, a row a run, and below what made runs doubtful. */
void table_head(FILE *to);
void table_row(FILE *to, const struct run *r);

/** @param asks  figures that were asked for: WR_FIGURE_COUNT of them. Which of those are missing is said too. */
void table_foot(FILE *to, const struct runs *all, const bool *asks);

/** Every figure of a run that is known, a line each. */
void table_all(FILE *to, const struct run *r);

#endif
