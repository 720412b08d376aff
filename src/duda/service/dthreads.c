/* SPDX-License-Identifier: Apache-2.0 */
#include "service/dthreads.h"

_Thread_local unsigned mk_duda_ndthreads;
