/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_SESSION_REMOTE_H
#define MK_DUDA_OBJECTS_SESSION_REMOTE_H

#include "objects/session/session.h"
#include "kit/sessions/sessions.h"
#include "service/session_steps.h"

/*
 * The sessions of a service in Redis, for several servers. No worker waits: a session is fetched before the call-back of its
 * request, which sees that view of it, and an answer leaves after Redis has what the call-back changed. Commands are those of
 * the package redis.
 */

struct mk_duda_request;
struct mk_duda_session_remote;
struct mk_duda_session_view;

/** In duda_main(). @return lives as long as the service; NULL: no package, no such server, or no memory: logged */
struct mk_duda_session_remote *mk_duda_session_remote_open(struct mk_duda_service *s,
                                                           const char *url);

/** Fetch the session of an identity. mk_duda_fetched() follows a result of MK_DUDA_SESSION_LATER, unless the request ends. */
enum mk_duda_session_step mk_duda_session_view_fetch(const struct mk_duda_session_remote *remote,
                                                     struct mk_duda_request *rq, const char *id);
/** Send what was changed. mk_duda_answer_release() follows a result of MK_DUDA_SESSION_LATER likewise. */
enum mk_duda_session_step mk_duda_session_view_commit(struct mk_duda_session_view *view);
/** The request ends. */
void mk_duda_session_view_leave(struct mk_duda_session_view *view);

/* ---- as of kit/sessions/sessions.h; of a request without a view there is nothing ---- */

enum session_fit mk_duda_session_view_fit(struct mk_duda_session_view *view, const char *name,
                                          const char *value, int64_t now, bool *is_replaced);
/** Give the session of the request, or a new one, another identity. @return 0, -1 */
int mk_duda_session_view_begin(const struct mk_duda_session_remote *remote,
                               struct mk_duda_request *rq, struct session_id *id);
int mk_duda_session_view_put(struct mk_duda_session_view *view, const char *name, const char *value,
                             int64_t expires, int64_t now);
char *mk_duda_session_view_get(struct mk_duda_session_view *view, const char *name, int64_t now);
bool mk_duda_session_view_has(struct mk_duda_session_view *view, const char *name, int64_t now);
int mk_duda_session_view_remove(struct mk_duda_session_view *view, const char *name, int64_t now);

/* ---- a worker, for objects/session/session.c ---- */

/** The views of a service on one worker. */
struct mk_duda_session_views {
    struct mk_duda_session_view *first;
};
/** The service ends there: answers that are awaited do not come. */
void mk_duda_session_views_end(struct mk_duda_session_views *views);

#endif
