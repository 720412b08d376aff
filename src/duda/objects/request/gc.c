/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"
#include "service/request.h"

#include <stdlib.h>

static int add(duda_request_t *dr, void *block)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "gc->add");

    return rq && (!block || mk_duda_request_gc(rq, free, block) == 0) ? 0 : -1;
}

static int call(duda_request_t *dr, void (*end)(void *arg), void *arg)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "gc->call");

    return rq && end ? mk_duda_request_gc(rq, end, arg) : -1;
}

const struct duda_api_gc mk_duda_gc = {.add = add, .call = call};
