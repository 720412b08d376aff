/* SPDX-License-Identifier: Apache-2.0 */
#include "local.h"

#include "conn.h"

#include <stdlib.h>

static bool make_option(struct h2_local *local)
{
    if (nghttp2_option_new(&local->option) != 0)
        return false;
    nghttp2_option_set_max_send_header_block_length(local->option, H2_HEAD_MAX);
    nghttp2_option_set_no_auto_window_update(local->option, 1);
    nghttp2_option_set_builtin_recv_extension_type(local->option, NGHTTP2_PRIORITY_UPDATE);
    return true;
}

struct h2_local *h2_local_new(struct mk_worker *worker, const struct h2_settings *set)
{
    struct h2_local *local = malloc(sizeof(*local)); /* its buffers are not touched */

    if (!local)
        return NULL;
    local->worker = worker;
    local->set = *set;
    local->counts = h2_counts_get(set->counts);
    local->row = h2_counts_row(local->counts, worker);
    local->refs = 1;
    local->used = 0;
    local->writing = NULL;
    local->option = NULL;
    local->callbacks = h2_session_callbacks();
    if (local->callbacks && make_option(local))
        return local;
    h2_local_put(local);
    return NULL;
}

void h2_local_put(struct h2_local *local)
{
    if (--local->refs > 0)
        return;
    nghttp2_session_callbacks_del(local->callbacks);
    nghttp2_option_del(local->option);
    h2_counts_put(local->counts);
    free(local);
}
