/* SPDX-License-Identifier: Apache-2.0 */
#include "states.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_listed(const struct change *allowed, size_t count, const char *from, const char *to)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(allowed[i].from, from) == 0 && strcmp(allowed[i].to, to) == 0)
            return true;
    }
    return false;
}

static void check_trace(const struct mk_states *states, unsigned from, unsigned to)
{
    char text[256] = "", wanted[128];
    struct mk_log log;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    mk_log_init(&log);
    mk_log_set_fd(&log, fds[1]);
    mk_log_set_levels(&log, MK_LOG_INFO, 1U << states->in, MK_LOG_TRACE);
    mk_states_trace(states, &log, 7, 2, from, to);
    assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
    (void)snprintf(wanted, sizeof(wanted), "level=trace in=%s %s %s=7 request=2 from=%s to=%s\n",
                   mk_log_component_names[states->in], states->what, states->id,
                   mk_states_name(states, from), mk_states_name(states, to));
    assert_non_null(strstr(text, wanted));
    mk_log_fini(&log);
    (void)close(fds[0]);
}

void check_states(const struct mk_states *states, const struct change *allowed, size_t count)
{
    size_t found = 0;

    for (unsigned from = 0; from < states->count; from++) {
        for (unsigned to = 0; to < states->count; to++) {
            bool listed =
                is_listed(allowed, count, mk_states_name(states, from), mk_states_name(states, to));

            if (mk_states_allow(states, from, to) != listed)
                fail_msg("%s: %s after %s", states->what, mk_states_name(states, to),
                         mk_states_name(states, from));
            if (!listed)
                continue;
            found++;
            check_trace(states, from, to);
        }
        assert_false(mk_states_allow(states, from, states->count));
    }
    assert_int_equal(found, count); /* no name of the list is unknown */
}
