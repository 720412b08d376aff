/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"
#include "pipe.h"

#include <stdlib.h>

struct openssl_worker *openssl_worker_new(struct mk_worker *worker, struct tls_live *live)
{
    /* Not zeroed: pages of its buffers that no byte has passed cost nothing. */
    struct openssl_worker *w = malloc(sizeof(*w));

    if (!w)
        return NULL;
    w->method = openssl_pipe_method();
    if (!w->method) {
        free(w);
        return NULL;
    }
    w->refs = 1;
    w->has_no_kernel = false;
    w->local.in = w->in;
    w->local.in_size = sizeof(w->in);
    w->local.out = w->out;
    w->local.out_size = sizeof(w->out);
    tls_local_init(&w->local, &openssl_link_engine, worker, live);
    return w;
}

void openssl_worker_put(struct openssl_worker *w)
{
    if (--w->refs > 0)
        return;
    tls_local_fini(&w->local);
    BIO_meth_free(w->method);
    free(w);
}
