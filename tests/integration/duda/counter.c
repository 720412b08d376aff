/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_package.h"

/* A package with a state of its own: each service has another. */

struct duda_api_counter {
    int (*next)(void);
};

static int count;

static int next(void)
{
    return ++count;
}

static struct duda_api_counter api = {next};

duda_package_t *duda_package_main()
{
    duda_package_t *package = mem->alloc_z(sizeof(*package));

    package->name = "counter";
    package->version = "1";
    package->api = &api;
    return package;
}
