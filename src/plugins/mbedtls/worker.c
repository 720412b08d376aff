/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"
#include "rng.h"

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { CROWD = 32 }; /* connections, half a MB of buffers and more */

static void free_faces(struct mbed_face *faces, size_t count)
{
    for (size_t i = 0; faces && i < count; i++)
        mbed_face_fini(&faces[i]);
    free(faces);
}

static void free_worker(struct mbed_worker *w)
{
    free_faces(w->fronts, w->local.live->nsites);
    free_faces(w->backs, w->local.live->nbackends);
    mbedtls_ctr_drbg_free(&w->rng);
    tls_local_fini(&w->local);
    free(w);
}

static int make_faces(struct mbed_worker *w)
{
    int err = 0;

    w->fronts = calloc(w->local.live->nsites + 1, sizeof(*w->fronts));
    w->backs = calloc(w->local.live->nbackends + 1, sizeof(*w->backs));
    if (!w->fronts || !w->backs)
        return MK_E_NOMEM;
    for (size_t i = 0; i < w->local.live->nsites && err == 0; i++)
        err = mbed_face_of_front(&w->fronts[i], w, w->local.live->sites[i].object);
    return err;
}

struct mbed_worker *mbed_worker_new(struct mk_worker *worker, struct tls_live *live)
{
    /* Not zeroed: pages of its buffers that no byte has passed cost nothing. */
    struct mbed_worker *w = malloc(sizeof(*w));

    if (!w)
        return NULL;
    w->refs = w->peak = 1;
    w->local.in = w->in;
    w->local.in_size = sizeof(w->in);
    w->local.out = w->out;
    w->local.out_size = sizeof(w->out);
    tls_local_init(&w->local, &mbed_link_engine, worker, live);
    w->fronts = w->backs = NULL;
    if (mbed_rng_init(&w->rng) == 0 && make_faces(w) == 0)
        return w;
    free_worker(w);
    return NULL;
}

void mbed_worker_ref(struct mbed_worker *w)
{
    w->refs++;
    w->peak = w->refs > w->peak ? w->refs : w->peak;
}

/* The C library keeps what a crowd's buffers took, unless it is asked. When half of them have left is rarely enough. */
static void give_back(struct mbed_worker *w)
{
    if (w->peak < CROWD || w->refs > w->peak / 2)
        return;
    w->peak = w->refs;
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

void mbed_worker_put(struct mbed_worker *w)
{
    if (--w->refs == 0)
        free_worker(w);
    else
        give_back(w);
}
