/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/plain/backtrace.h"
#include "objects/objects.h"

/* The first implementation left it unset; a service that calls it must not end the server. */
static void debug_trace(void)
{
}

const struct duda_api_debug mk_duda_debug = {
    .trace = debug_trace,
    .stacktrace = mk_duda_backtrace,
};
