/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RESULT_H
#define WR_RESULT_H

#include "machine.h"
#include "run.h"

#include <stdio.h>

#define WR_SCHEMA "wr/1"

/** All that was measured, or was read from a file; what reports are made of. */
struct result {
    struct machine machine;
    char *command; /* one line, borrowed; empty: only watched */
    struct runs runs;
    double began_s; /* of the epoch */
};

typedef void (*result_write_fn)(FILE *to, const struct result *r);

/** Write to a file; the old one stays until the new one is whole. @return 0, or -1 with errno */
int result_save(const char *path, result_write_fn write, const struct result *r);

/** One line for each figure and sample: round,order,target,concurrency,t_ms,metric,value. RFC 4180. */
void result_csv(FILE *to, const struct result *r);

/** The schema is in wr(1). */
void result_json(FILE *to, const struct result *r);

/** A page without outside parts. */
void result_html(FILE *to, const struct result *r);

/** Text between quotes, with them; '<' is escaped too, so that it may stand in a page. Bytes above 127 are Latin-1. */
void json_text(FILE *to, const char *text);

#endif
