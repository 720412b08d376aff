/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_EXCHANGE_H
#define MK_DUDA_SERVICE_EXCHANGE_H

#include "service/request.h"

struct mk_duda_match;

/** A request begins, of a service below level 3 or of its map. @param match  where it goes */
enum mk_verdict mk_duda_begin(struct mk_request *r, struct mk_duda_service *s,
                              const struct mk_duda_match *match);

/** The hook is called again: go on with the request. @return false: it has not begun */
bool mk_duda_go_on(struct mk_request *r, enum mk_verdict *verdict);

/** The function of each route of level 3, an mk_handle_fn. @param arg  the route */
enum mk_verdict mk_duda_on_route(struct mk_request *r, void *arg);

/** Likewise for those that are called before the body has come. */
enum mk_verdict mk_duda_on_early_route(struct mk_request *r, void *arg);

/** The session of a request has come: call the service. @param is_there  false: it cannot be had, and the client gets 503 */
void mk_duda_fetched(struct mk_duda_request *rq, bool is_there);

/**
 * The end of a request that has no struct mk_request any more: its end call-back, and its memory. Of a client that has left
 * it is not valid any more when the service learns of it.
 */
void mk_duda_request_over(struct mk_duda_request *rq);

#endif
