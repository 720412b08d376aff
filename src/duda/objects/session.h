/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_SESSION_H
#define MK_DUDA_OBJECTS_SESSION_H

#include <stdbool.h>

struct mk_duda_request;
struct mk_duda_service;
struct mk_duda_session_id;

/** Was session->init() called? */
bool mk_duda_has_sessions(const struct mk_duda_service *s);

/** Has the request a session that lives? */
bool mk_duda_session_is_there(struct mk_duda_request *rq);
/** @param id  out: its identity @return false: the request has no session that lives */
bool mk_duda_session_identity(struct mk_duda_request *rq, struct mk_duda_session_id *id);
/** @return random text for signatures that lasts as long as the sessions; NULL: they are on another machine. */
const char *mk_duda_session_secret(const struct mk_duda_request *rq);

/* ---- cookies of the server's own ---- */

/** The name of such a cookie, of this service alone on its site. In duda_main(). @return lives as long as the service; NULL without memory */
char *mk_duda_session_cookie_key(struct mk_duda_service *s, const char *key);
/** That name as the browser of this request has it. */
const char *mk_duda_session_key_for(const struct mk_duda_request *rq, const char *key);
/** Is a cookie of this request bound to the host? */
bool mk_duda_session_is_for_host(const struct mk_duda_request *rq);
/** Add a cookie to the answer. @param key  of mk_duda_session_key_for @param expires  0: with the browser @return 0, -1 */
int mk_duda_session_send_cookie(struct mk_duda_request *rq, const char *key, const char *value,
                                int expires);

/** What a request has to do about a session on another machine. */
enum mk_duda_session_step {
    MK_DUDA_SESSION_DONE,  /* nothing more */
    MK_DUDA_SESSION_LATER, /* wait */
    MK_DUDA_SESSION_FAILED /* refuse the request: it cannot be reached */
};

/** Before the call-back of a request: have its session there. mk_duda_fetched() follows LATER, unless the request ends. */
enum mk_duda_session_step mk_duda_session_fetch(struct mk_duda_request *rq);
/** Before its answer leaves: have its changes there. mk_duda_answer_release() follows LATER likewise. */
enum mk_duda_session_step mk_duda_session_commit(struct mk_duda_request *rq);
/** The request is over. */
void mk_duda_session_leave(struct mk_duda_request *rq);

#endif
