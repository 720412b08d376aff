/* SPDX-License-Identifier: Apache-2.0 */
#include "local.h"

#include <stdlib.h>

struct http2_local *http2_local_new(struct mk_worker *worker, const struct http2_settings *set)
{
    struct http2_local *local = malloc(sizeof(*local)); /* its buffers are not touched */

    if (!local)
        return NULL;
    local->worker = worker;
    local->set = *set;
    local->counts = http2_counts_get(set->counts);
    local->row = http2_counts_row(local->counts, worker);
    local->refs = 1;
    h2_desk_init(&local->desk, worker);
    local->spare = (struct h2_text){.p = NULL};
    local->writing = NULL;
    return local;
}

void http2_local_put(struct http2_local *local)
{
    if (--local->refs > 0)
        return;
    http2_counts_put(local->counts);
    h2_text_free(&local->spare);
    free(local);
}
