/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_DASHBOARD_H
#define MK_DUDA_OBJECTS_DASHBOARD_H

#include "objects/objects.h"

/** Serve a page about the service at a path. @return 0; -1: the path has no slash at its beginning, or has a colon. */
int mk_duda_dashboard_add(char *uri, struct web_service *ws);

#endif
