/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_SESSION_H
#define MONKEY_WEB_SESSION_H

/*
 * Sessions: what a program knows of a visitor from one request to the next, in its memory. The visitor has a cookie with a random
 * identity of 128 bits, and nothing else; a restart of the program ends all sessions.
 *
 *     static enum mk_verdict log_in(struct mk_request *r, void *sessions)
 *     {
 *         ...                                                      the password is right
 *         if (mk_session_renew(r, sessions) < 0 || mk_session_set(r, sessions, "user", name) < 0)
 *             return mk_reply_error(r, 500, NULL);
 *         return mk_reply_redirect(r, 303, MK_STR("/"));
 *     }
 *
 *     static enum mk_verdict log_out(struct mk_request *r, void *sessions)
 *     {
 *         (void)!mk_session_destroy(r, sessions);
 *         return mk_reply_redirect(r, 303, MK_STR("/"));
 *     }
 *
 *     const char *user = mk_session_get(r, sessions, "user");      NULL: nobody has logged in
 *
 * The first value that is set begins a session, whose identity the server makes: one that a client brings along and that the
 * server does not know is never taken over. The cookie is not for scripts (HttpOnly), not for requests that other sites provoke
 * (SameSite=Lax), and over TLS not for plain connections (Secure); there its name begins with `__Host-`, so that no other host of the
 * domain can set it. It lasts until the browser is closed.
 *
 * A call that begins, renews or ends a session adds a Set-Cookie line to the answer, so it comes before the answer. Answers with such a
 * line are for one visitor: let no cache keep them.
 */

#include <monkey/web/cookie.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_sessions;

enum {
    MK_SESSIONS_MAX = 65536,      /* sessions of one store */
    MK_SESSION_VALUES = 64,       /* values of one session */
    MK_SESSION_VALUE_MAX = 65536, /* bytes of a value and its name */
    MK_SESSION_NAME_MAX = 64      /* bytes of a cookie's name */
};

/** What a store is made of. 0 and NULL are the defaults. */
struct mk_sessions_options {
    size_t size;      /* sizeof(struct mk_sessions_options) */
    const char *name; /* of the cookie, without a prefix; NULL: "session". Copied */
    const char
        *path; /* of the cookie; NULL: "/". With any other its name has no `__Host-`. Copied */
    size_t sessions;             /* at most MK_SESSIONS_MAX, which is the default */
    size_t bytes;                /* of all values and names; 0: 32 MB */
    unsigned idle_s;             /* seconds after its last use when a session ends; 0: a day */
    enum mk_same_site same_site; /* UNSAID: Lax. NONE needs secure */
    bool secure; /* over plain connections, too: behind a proxy that clients reach by TLS */
};

/**
 * Make an empty store. A full one forgets the session that was unused for the longest time; those that have nothing but values whose names
 * begin with `_` go first.
 * @param options  copied; NULL: the defaults
 * @return 0; MK_E_INVALID: name or path is malformed, or SameSite=None is not secure; MK_E_LIMIT: too many sessions, or the name is too
 *         long; MK_E_NOMEM: also without random bytes. Any thread.
 */
MK_API int mk_sessions_new(struct mk_sessions **sessions,
                           const struct mk_sessions_options *options) MK_MUST_USE;
/** Free it, after the server whose requests use it. NULL is allowed. */
MK_API void mk_sessions_free(struct mk_sessions *sessions);
/** @return sessions in it, with those that have ended by their time and that nobody has asked for since. Any thread. */
MK_API size_t mk_sessions_count(struct mk_sessions *sessions);

/** @return a value, terminated, in memory of the request; NULL: there is none, no session, or no memory. */
MK_API const char *mk_session_get(struct mk_request *r, struct mk_sessions *sessions,
                                  const char *name);

/**
 * Set a value, in a new session if there is none. A request that was on its way with an identity that mk_session_renew has
 * replaced changes nothing, and has no error.
 * @param name, value  copied
 * @return 0; MK_E_LIMIT: more than the bounds above; MK_E_EXISTS: the answer has begun, so it cannot have the cookie of a new session;
 *         MK_E_INVALID; MK_E_NOMEM.
 */
MK_API int mk_session_set(struct mk_request *r, struct mk_sessions *sessions, const char *name,
                          const char *value) MK_MUST_USE;

/** Remove a value; a session without values ends. @return 0; MK_E_NOENT: there is none; MK_E_INVALID. */
MK_API int mk_session_remove(struct mk_request *r, struct mk_sessions *sessions, const char *name);

/**
 * Give a session another identity, at each log-in and whenever its user gets more rights: somebody may have planted the old one in the
 * browser, and would be logged in as well. From now on the old one finds no value. Requests that are on their way with it begin no
 * other session for 30 seconds.
 * @return 0: also without a session, or for one that this request has begun; MK_E_EXISTS: the answer has begun; MK_E_INVALID;
 *         MK_E_NOMEM.
 */
MK_API int mk_session_renew(struct mk_request *r, struct mk_sessions *sessions) MK_MUST_USE;

/** End a session under all identities that it had, and remove the cookie. @return 0: also without a session; MK_E_EXISTS: the answer has begun, so
 * the session has ended and the browser still has the cookie; MK_E_INVALID; MK_E_NOMEM, likewise. */
MK_API int mk_session_destroy(struct mk_request *r, struct mk_sessions *sessions);

#ifdef __cplusplus
}
#endif

#endif
