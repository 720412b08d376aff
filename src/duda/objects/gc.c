/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"
#include "service/request.h"

static int add(duda_request_t *dr, void *block)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "gc->add");

    return rq ? mk_duda_request_gc(rq, block) : -1;
}

const struct duda_api_gc mk_duda_gc = {.add = add};
