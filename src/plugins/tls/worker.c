/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"
#include "pipe.h"

#include <stdlib.h>

struct tls_worker *tls_worker_new(struct mk_worker *worker, struct tls_live *live)
{
    /* Not zeroed: pages of its buffers that no byte has passed cost nothing. */
    struct tls_worker *w = malloc(sizeof(*w));

    if (!w)
        return NULL;
    w->method = pipe_method();
    if (!w->method) {
        free(w);
        return NULL;
    }
    w->refs = 1;
    w->worker = worker;
    w->live = tls_live_ref(live);
    w->logged_s[0] = w->logged_s[1] = -1;
    w->has_no_kernel = false;
    w->used = 0;
    return w;
}

void tls_worker_put(struct tls_worker *w)
{
    if (--w->refs > 0)
        return;
    tls_live_put(w->live);
    BIO_meth_free(w->method);
    free(w);
}
