/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_SESSION_H
#define MK_DUDA_OBJECTS_SESSION_H

#include <stdbool.h>

struct mk_duda_service;

/** Was session->init() called? */
bool mk_duda_has_sessions(const struct mk_duda_service *s);

#endif
