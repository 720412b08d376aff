/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_DTHREAD_H
#define MK_DUDA_OBJECTS_DTHREAD_H

#include "objects/objects.h"

#include <stdbool.h>

enum { MK_DUDA_DTHREADS_MAX = 1024 }; /* of one thread of the system; each has a stack */

/** Free the dthreads and channels of the calling thread, which has left all of them. What stands on their stacks is forgotten. */
void mk_duda_dthread_forget(void);

#endif
