/* SPDX-License-Identifier: Apache-2.0 */
#include "server/worker/ask.h"

#include "server/worker/worker.h"

void mk_ask_init(struct mk_ask *ask, void (*fn)(struct mk_post *post))
{
    ask->post.fn = fn;
}

void mk_ask(struct mk_worker *w, struct mk_ask *ask)
{
    if (!atomic_exchange(&ask->is_asked, true))
        mk_loop_post(&w->loop, &ask->post);
}

void mk_ask_begin(struct mk_ask *ask)
{
    atomic_store(&ask->is_asked, false);
}
