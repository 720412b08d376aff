/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/guards/guard.h"

#include "objects/objects.h"
#include "objects/session/session.h"

struct mk_duda_guards *mk_duda_guards_of(struct mk_duda_service **s, const char *call)
{
    *s = mk_duda_here()->service;
    return *s && mk_duda_is_set_up(*s, call) ? mk_duda_state(*s, MK_DUDA_PART_GUARD) : NULL;
}

bool mk_duda_guard_has_sessions(struct mk_duda_service *s, const char *call)
{
    if (!mk_duda_has_sessions(s))
        (void)mk_duda_refuse(s, "%s(): session->init() is needed before", call);
    return mk_duda_has_sessions(s);
}

const struct duda_api_guard mk_duda_guard = {
    .request_id = mk_duda_guard_request_id,
    .id = mk_duda_guard_id,
    .cors = mk_duda_guard_cors,
    .rate = mk_duda_guard_rate,
    .login = mk_duda_guard_login,
    .csrf = mk_duda_guard_csrf,
    .token = mk_duda_guard_token,
};

const struct mk_duda_part mk_duda_guard_part = {.service_size = sizeof(struct mk_duda_guards)};
