/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/global.h"

#include "objects/objects.h"
#include "service/service.h"

/* The service's globals lie in its own memory, chained. */
struct globals {
    struct mk_list list;
};

static struct globals *globals_of(const struct mk_duda_service *s)
{
    return mk_duda_state(s, MK_DUDA_PART_GLOBAL);
}

static bool is_known(struct globals *globals, const duda_global_t *g)
{
    struct mk_list *at;

    mk_list_foreach(at, &globals->list)
    {
        if (at == &g->_head)
            return true;
    }
    return false;
}

void mk_duda_global_init(struct web_service *ws, duda_global_t *g, void *(*callback)(void *),
                         void *arg)
{
    struct mk_duda_service *s = ws ? mk_duda_service_of(ws) : NULL;

    if (!s || !g || !mk_duda_is_set_up(s, "global->init") || is_known(globals_of(s), g))
        return;
    if (pthread_key_create(&g->key, NULL) != 0) {
        (void)mk_duda_refuse(s, "global->init(): no more keys for threads");
        s->state = MK_DUDA_SKIPPED;
        return;
    }
    g->callback = callback;
    g->data = arg;
    mk_list_add(&g->_head, &globals_of(s)->list);
}

static void init(duda_global_t *g, void *(*callback)(void *), void *arg)
{
    struct mk_duda_service *s = mk_duda_here()->service;

    mk_duda_global_init(s ? &s->ws : NULL, g, callback, arg);
}

static int set(duda_global_t g, const void *value)
{
    return pthread_setspecific(g.key, value) == 0 ? 0 : -1;
}

static void *get(duda_global_t g)
{
    return pthread_getspecific(g.key);
}

const struct duda_api_global mk_duda_global = {
    .init = init,
    .set = set,
    .get = get,
};

void mk_duda_global_begin(struct mk_duda_service *s)
{
    struct mk_list *at;

    mk_list_foreach(at, &globals_of(s)->list)
    {
        const duda_global_t *g = mk_list_entry(at, duda_global_t, _head);

        (void)pthread_setspecific(g->key, g->callback ? g->callback(g->data) : NULL);
    }
}

static int load(struct mk_duda_service *s)
{
    mk_list_init(&globals_of(s)->list);
    return 0;
}

static int worker_start(struct mk_duda_service *s, struct mk_duda_worker *w)
{
    (void)w;
    mk_duda_global_begin(s);
    return 0;
}

/* Threads of its own outlive it, and their keys must not become those of others. */
static void exit_of(struct mk_duda_service *s)
{
    struct mk_list *at;

    if (s->is_outlived)
        return;
    mk_list_foreach(at, &globals_of(s)->list)
    {
        (void)pthread_key_delete(mk_list_entry(at, duda_global_t, _head)->key);
    }
}

const struct mk_duda_part mk_duda_global_part = {
    .service_size = sizeof(struct globals),
    .load = load,
    .worker_start = worker_start,
    .exit = exit_of,
};
