/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_UPGRADE_H
#define MK_DUDA_SERVICE_UPGRADE_H

#include "duda_host.h"

/** Connections that packages have: what they are given as duda_objects_given->host. */
extern const struct duda_host mk_duda_host;

#endif
