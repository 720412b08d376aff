/* SPDX-License-Identifier: Apache-2.0 */
#include "core/states.h"

#include <stdio.h>
#include <string.h>

const char *mk_states_name(const struct mk_states *states, unsigned state)
{
    const char *name = states->names;

    while (state-- > 0)
        name += strlen(name) + 1;
    return name;
}

void mk_states_trace(const struct mk_states *states, struct mk_log *log, uint64_t id, unsigned part,
                     unsigned from, unsigned to)
{
    char request[32] = "";

    if (part > 0)
        (void)snprintf(request, sizeof(request), " request=%u", part);
    mk_log(log, MK_LOG_TRACE, states->in, "%s %s=%llu%s from=%s to=%s", states->what, states->id,
           (unsigned long long)id, request, mk_states_name(states, from),
           mk_states_name(states, to));
}
