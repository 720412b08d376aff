/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/guard.h"

#include "objects/objects.h"
#include "objects/session.h"

#include <string.h>

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

int mk_duda_guard_add_log_in(struct mk_duda_service *s, const char *name)
{
    struct mk_duda_guards *guards = mk_duda_state(s, MK_DUDA_PART_GUARD);
    struct mk_duda_log_in *added;

    if (mk_duda_guard_is_log_in(s, name))
        return 0;
    added = mk_duda_alloc(s, sizeof(*added));
    if (!added)
        return -1;
    *added = (struct mk_duda_log_in){guards->log_ins, name};
    guards->log_ins = added;
    return 0;
}

bool mk_duda_guard_is_log_in(const struct mk_duda_service *s, const char *name)
{
    const struct mk_duda_guards *guards = mk_duda_state(s, MK_DUDA_PART_GUARD);

    for (const struct mk_duda_log_in *log_in = guards->log_ins; log_in; log_in = log_in->next) {
        if (strcmp(log_in->name, name) == 0)
            return true;
    }
    return false;
}

bool mk_duda_guard_has_log_ins(const struct mk_duda_service *s)
{
    const struct mk_duda_guards *guards = mk_duda_state(s, MK_DUDA_PART_GUARD);

    return guards->log_ins != NULL;
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
