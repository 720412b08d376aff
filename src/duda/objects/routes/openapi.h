/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OPENAPI_H
#define MK_DUDA_OPENAPI_H

#include "kit/openapi/openapi.h"
#include "service/route.h"

/** Write a document of OpenAPI 3.1 about routes. @param routes  the first; those that name their methods are in it */
void mk_duda_openapi_write(struct mk_json *j, const struct openapi_about *about,
                           const struct mk_duda_route *routes);

/** The page that makes a form of each operation of "openapi.json" beside it. */
extern const char mk_duda_openapi_page[];

#endif
