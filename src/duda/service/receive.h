/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_RECEIVE_H
#define MK_DUDA_SERVICE_RECEIVE_H

#include "service/request.h"

/* Bodies that the service takes as they arrive: form->receive() the parts of a form, request->read() one part of any type. */

struct mk_duda_receiver;

/** @return whether it may begin: the body was not read, nobody takes it, and there is no answer */
bool mk_duda_may_receive(const struct mk_duda_request *rq, const struct duda_receiver *with);
/** @return 0; MK_E_UNSUPPORTED: it is another type, MK_E_BAD: its boundary is malformed, MK_E_NOMEM */
int mk_duda_receive_form(struct mk_duda_request *rq, const struct duda_receiver *with,
                         void *arg) MK_MUST_USE;
/** @return 0, or MK_E_NOMEM */
int mk_duda_receive_body(struct mk_duda_request *rq, const struct duda_receiver *with,
                         void *arg) MK_MUST_USE;

/** Take what has come. In the hook. @return its verdict */
enum mk_verdict mk_duda_receive(struct mk_duda_request *rq);

/** Go on after DUDA_FORM_LATER. @return false: it does not wait */
bool mk_duda_receive_go_on(struct mk_duda_request *rq);

/** Bytes of the body so far. */
uint64_t mk_duda_received(const struct mk_duda_receiver *v);

#endif
