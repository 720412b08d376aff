/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CGI_PALM_ORDER_H
#define CGI_PALM_ORDER_H

#include "palm/wire.h"

#include <stdbool.h>
#include <stddef.h>

/* An order, taken apart. Texts are parts of the packet. */
struct order {
    const char *directory, *program;
    char *arguments[PALM_ARGUMENTS_MAX + 1];
    char *variables[PALM_VARIABLES_MAX + 1];
    uint64_t limits[PALM_LIMIT_COUNT];
    uint64_t flags;
};

/** @return false: it is none, and nothing of it is to be believed. */
bool order_parse(struct order *o, char *packet, size_t len);

#endif
