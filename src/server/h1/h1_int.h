/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_H1_INT_H
#define MK_SERVER_H1_H1_INT_H

#include "server/h1/h1.h"
#include "server/h1/job.h"
#include "server/worker/worker.h"

/* Between h1.c (the steps) and h1_timeout.c. */

/** What is in force now; a request keeps its own in its view. */
static inline const struct mk_server_settings *mk_h1_settings(const struct mk_conn *c)
{
    return &c->worker->view->snapshot->set;
}

/** Is a request under way? */
static inline bool mk_h1_has_request(const struct mk_conn *c)
{
    return c->job && c->job->request.view;
}

/* h1_offer.c: connections whose clients may choose another protocol */

enum mk_choice {
    MK_CHOICE_MORE, /* the bytes so far may become either */
    MK_CHOICE_HTTP,
    MK_CHOICE_PROTOCOL,
    MK_CHOICE_NONE, /* neither that nor HTTP is spoken here */
};

/** What the bytes in its job tell, or its transport. */
enum mk_choice mk_h1_judge_offer(const struct mk_conn *c);
/** @return false: no memory, or its plugin cannot; it is to be closed. */
bool mk_h1_begin_protocol(struct mk_conn *c) MK_MUST_USE;

/** The state in which a connection waits for its first byte, once its peer is known. */
enum mk_h1_state mk_h1_first_state(const struct mk_conn *c);

#endif
