/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_GUARD_H
#define MK_DUDA_OBJECTS_GUARD_H

#include "service/route.h"

#include <stdatomic.h>
#include <stdint.h>

/* The calls of guard, each in a file of its own. */

struct mk_duda_guards {
    uint64_t seed;       /* names of requests begin with it; 0: not needed yet */
    atomic_ullong named; /* requests that got a name */
    const char *
        logged_in; /* of guard->csrf(): the value whose change ends tokens, "": none; NULL: not called */
    const char *cookie; /* of guard->csrf(): for clients without a session */
};

/** The guards of the service that runs, in its duda_main(); NULL: too late, which is logged. @param call  "guard->rate" */
struct mk_duda_guards *mk_duda_guards_of(struct mk_duda_service **s, const char *call);

/** Is there a store of sessions? Else the start is refused. */
bool mk_duda_guard_has_sessions(struct mk_duda_service *s, const char *call);

int mk_duda_guard_request_id(void);
const char *mk_duda_guard_id(duda_request_t *dr);
int mk_duda_guard_cors(const struct duda_cors *cors);
int mk_duda_guard_rate(unsigned requests, unsigned seconds);
int mk_duda_guard_login(const char *name, const char *page);
int mk_duda_guard_csrf(const char *name);
const char *mk_duda_guard_token(duda_request_t *dr);

#endif
