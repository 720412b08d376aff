/* SPDX-License-Identifier: Apache-2.0 */
#include "server/answer/misuse.h"

#include "server/answer/reply.h"
#include "server/worker/worker.h"

int mk_misuse_log(struct mk_request *r, const char *why, int err)
{
    if (!r->misused)
        mk_log_peer(mk_worker_log(r->worker), MK_LOG_ERROR, MK_LOG_PLUGIN,
                    "plugin failed conn=%llu status=%u why=\"%s\"", (unsigned long long)r->id,
                    r->status, why);
    r->misused = true;
    r->keep_alive = false;
    if (mk_answering_is_settled(r))
        mk_reply_break(r);
    return err;
}
