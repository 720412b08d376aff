/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_GUARD_H
#define MK_DUDA_OBJECTS_GUARD_H

#include "service/route.h"

#include <stdatomic.h>
#include <stdint.h>

/* The calls of guard, each in a file of its own. */

/** A value of the session that says who has logged in. */
struct mk_duda_log_in {
    const struct mk_duda_log_in *next;
    const char *name;
};

struct mk_duda_guards {
    uint64_t seed;       /* names of requests begin with it; 0: not needed yet */
    atomic_ullong named; /* requests that got a name */
    const char *
        logged_in; /* of guard->csrf(): the value whose change ends tokens, "": none; NULL: not called */
    const char *cookie; /* of guard->csrf(): for clients without a session */
    const struct mk_duda_log_in *log_ins;
};

/** The guards of the service that runs, in its duda_main(); NULL: too late, which is logged. @param call  "guard->rate" */
struct mk_duda_guards *mk_duda_guards_of(struct mk_duda_service **s, const char *call);

/** Is there a store of sessions? Else the start is refused. */
bool mk_duda_guard_has_sessions(struct mk_duda_service *s, const char *call);

/** Remember that a value of this name is a log-in. @return 0; -1 without memory */
int mk_duda_guard_add_log_in(struct mk_duda_service *s, const char *name);
/** Does a guard of the service know a value of this name as a log-in? */
bool mk_duda_guard_is_log_in(const struct mk_duda_service *s, const char *name);

/** @return whether a guard of the service knows a name at all. */
bool mk_duda_guard_has_log_ins(const struct mk_duda_service *s);
/** A session begins: it has the secret of the cookie from now on. */
void mk_duda_guard_move_secret(struct mk_duda_request *rq);

int mk_duda_guard_request_id(void);
const char *mk_duda_guard_id(duda_request_t *dr);
int mk_duda_guard_cors(const struct duda_cors *cors);
int mk_duda_guard_rate(unsigned requests, unsigned seconds);
int mk_duda_guard_login(const char *name, const char *page);
int mk_duda_guard_csrf(const char *name);
const char *mk_duda_guard_token(duda_request_t *dr);

#endif
