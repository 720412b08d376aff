/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATUS_CONDITION_H
#define STATUS_CONDITION_H

#include "kit/page/page.h"

#include <monkey/plugin.h>

/*
 * Conditions under which the server is ready, by metrics of plugins:
 *
 *     METRIC [LABEL=VALUE]... [>= NUMBER | <= NUMBER]
 *
 * The sum of all samples of that name with these labels is compared; without a comparison it is to be at least 1.
 */

struct condition {
    struct condition *next;
    const char *text; /* as written */
    struct mk_str name;
    struct {
        struct mk_str name, value;
    } labels[MK_METRIC_LABELS];
    unsigned nlabels;
    bool is_most; /* <= */
    double bound;
};

enum { CONDITIONS_MAX = 32 }; /* of a section */

/** @return a row of a section; NULL: `text` is none, or without memory. @param text  borrowed, terminated */
struct condition *status_condition_read(struct mk_setup *setup, struct mk_str text);

/**
 * Look at the metrics of all plugins. On the worker's thread.
 * @param page  grows by a line for each condition that is not met
 * @return whether all are met.
 */
bool status_conditions_hold(const struct condition *first, struct mk_worker *w, struct page *page);

#endif
