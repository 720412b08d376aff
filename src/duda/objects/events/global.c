/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/events/global.h"

#include "objects/objects.h"
#include "service/service.h"

/* The end of values, of keys that have one. */
struct ending {
    struct ending *next;
    pthread_key_t key;
    void (*end)(void *value);
};

/* The service's globals lie in its own memory, chained. */
struct globals {
    struct mk_list list;
    struct ending *endings;
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

/* The C library calls end at the end of a thread. */
static bool make_key(struct mk_duda_service *s, pthread_key_t *key, void (*end)(void *value))
{
    struct ending *ending = end ? mk_duda_alloc(s, sizeof(*ending)) : NULL;

    if ((end && !ending) || pthread_key_create(key, end) != 0)
        return false;
    if (ending) {
        *ending = (struct ending){globals_of(s)->endings, *key, end};
        globals_of(s)->endings = ending;
    }
    return true;
}

static void add(struct mk_duda_service *s, duda_global_t *g, void *(*callback)(void *), void *arg,
                void (*end)(void *value))
{
    if (!s || !g || !mk_duda_is_set_up(s, "global->init") || is_known(globals_of(s), g))
        return;
    if (!make_key(s, &g->key, end)) {
        (void)mk_duda_refuse(s, "global->init(): no more keys for threads");
        s->state = MK_DUDA_SKIPPED;
        return;
    }
    g->callback = callback;
    g->data = arg;
    mk_list_add(&g->_head, &globals_of(s)->list);
}

void mk_duda_global_init(struct web_service *ws, duda_global_t *g, void *(*callback)(void *),
                         void *arg)
{
    add(ws ? mk_duda_service_of(ws) : NULL, g, callback, arg, NULL);
}

static void init(duda_global_t *g, void *(*callback)(void *), void *arg)
{
    add(mk_duda_here()->service, g, callback, arg, NULL);
}

static void init_with_end(duda_global_t *g, void *(*callback)(void *), void *arg,
                          void (*end)(void *value))
{
    add(mk_duda_here()->service, g, callback, arg, end);
}

/* Key 0 is somebody's: of the C library's users, the first to ask for one. */
static bool has_key(const duda_global_t *g)
{
    return g->_head.next;
}

static int set(duda_global_t g, const void *value)
{
    return has_key(&g) && pthread_setspecific(g.key, value) == 0 ? 0 : -1;
}

static void *get(duda_global_t g)
{
    return has_key(&g) ? pthread_getspecific(g.key) : NULL;
}

const struct duda_api_global mk_duda_global = {
    .init = init,
    .set = set,
    .get = get,
    .init_with_end = init_with_end,
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

/* After the end of the worker's thread there are no values of it any more. */
static void worker_stop(struct mk_duda_service *s, struct mk_duda_worker *w)
{
    (void)w;
    for (const struct ending *e = globals_of(s)->endings; e; e = e->next) {
        void *value = pthread_getspecific(e->key);

        (void)pthread_setspecific(e->key, NULL);
        if (value)
            e->end(value);
    }
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
    .worker_stop = worker_stop,
    .exit = exit_of,
};
