/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_PY_INTAKE_H
#define MK_PY_INTAKE_H

#include "call.h"

/** Decide how the body of a request goes to the application. On the worker, before the call is shared. */
void mk_py_intake_init(struct mk_py_call *c, const struct mk_request *r);

/**
 * Take what has arrived of the body, as far as there is room. On the worker.
 * @return 0; an enum mk_error that ended a body which is gathered: the application will not be called.
 */
int mk_py_intake_take(struct mk_py_call *c, struct mk_request *r);

#endif
