/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include "call.h"

void mk_py_pool_init(struct mk_py_pool *p)
{
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->ready, NULL);
}

/* The first one that waits, under the lock. */
static struct mk_py_call *take_first(struct mk_py_pool *p)
{
    struct mk_py_call *c = p->first;

    if (!c)
        return NULL;
    p->first = c->next;
    if (!p->first)
        p->last = NULL;
    p->nwaiting--;
    return c;
}

void mk_py_pool_fini(struct mk_py_pool *p)
{
    struct mk_py_call *c;

    while ((c = take_first(p)))
        mk_py_call_put(c);
    (void)pthread_cond_destroy(&p->ready);
    (void)pthread_mutex_destroy(&p->lock);
}

bool mk_py_pool_add(struct mk_py_pool *p, struct mk_py_call *c)
{
    bool is_added;

    (void)pthread_mutex_lock(&p->lock);
    is_added = !p->is_closed && p->nwaiting < p->max_waiting;
    if (is_added) {
        mk_py_call_ref(c);
        c->next = NULL;
        if (p->last)
            p->last->next = c;
        else
            p->first = c;
        p->last = c;
        p->nwaiting++;
    }
    (void)pthread_mutex_unlock(&p->lock);
    if (is_added)
        (void)pthread_cond_signal(&p->ready);
    return is_added;
}

struct mk_py_call *mk_py_pool_take(struct mk_py_pool *p)
{
    struct mk_py_call *c;

    (void)pthread_mutex_lock(&p->lock);
    while (!p->first && !p->is_closed)
        (void)pthread_cond_wait(&p->ready, &p->lock);
    c = p->is_closed ? NULL : take_first(p);
    (void)pthread_mutex_unlock(&p->lock);
    return c;
}

void mk_py_pool_close(struct mk_py_pool *p)
{
    (void)pthread_mutex_lock(&p->lock);
    p->is_closed = true;
    (void)pthread_mutex_unlock(&p->lock);
    (void)pthread_cond_broadcast(&p->ready);
}
