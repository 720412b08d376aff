/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_SESSION_H
#define MK_DUDA_OBJECTS_SESSION_H

#include <stdbool.h>

struct mk_duda_request;
struct mk_duda_service;
struct session_id;

/** Was session->init() called? */
bool mk_duda_has_sessions(const struct mk_duda_service *s);

/** Has the request a session that lives? */
bool mk_duda_session_is_there(struct mk_duda_request *rq);
/** @param id  out: its identity @return false: the request has no session that lives */
bool mk_duda_session_identity(struct mk_duda_request *rq, struct session_id *id);
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

/* ---- who has logged in ---- */

/** Remember that a value of this name is a log-in: a session gets a new identity with it. In duda_main(). @return 0; -1 without memory */
int mk_duda_session_add_log_in(struct mk_duda_service *s, const char *name);

/** Have moved() called for each request that gives a client its first session. In duda_main(). */
void mk_duda_session_on_first(struct mk_duda_service *s, void (*moved)(struct mk_duda_request *rq));

#endif
