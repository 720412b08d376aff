/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REDIS_OBJECT_H
#define MK_DUDA_REDIS_OBJECT_H

/* The object with all of its calls, and the objects that it calls. */
#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3
#include "duda_api.h"

#include "packages/redis/redis.h"

#endif
