/* SPDX-License-Identifier: Apache-2.0 */
#include "yard/yard.h"

#include "kit/counted/counted.h"
#include "kit/intake/uploads.h"

#include <monkey/server.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* A list of what has a name. Only the control thread looks into it. */
struct named {
    struct named *next;
    void *thing;
    char name[];
};

struct yard {
    struct counted refs;
    struct mk_server *server;
    struct named *spawners, *pools;
    int null_fd;
    unsigned ncrews;
    struct crew crews[];
};

struct yard *cgi_yard_new(struct mk_server *server)
{
    unsigned ncrews = mk_server_workers(server);
    struct yard *yard = calloc(1, sizeof(*yard) + ncrews * sizeof(struct crew));

    if (!yard)
        return NULL;
    yard->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (yard->null_fd < 0) {
        free(yard);
        return NULL;
    }
    counted_init(&yard->refs, 1);
    yard->server = server;
    yard->ncrews = ncrews;
    return yard;
}

struct yard *cgi_yard_get(struct yard *yard)
{
    counted_get(&yard->refs);
    return yard;
}

static void free_all(struct named *list, void (*free_thing)(void *thing))
{
    while (list) {
        struct named *next = list->next;

        free_thing(list->thing);
        free(list);
        list = next;
    }
}

static void put_spawner(void *thing)
{
    cgi_spawner_put(thing);
}

static void free_pool(void *thing)
{
    struct pool *pool = thing;

    uploads_free(pool->uploads);
    cgi_pool_free(pool);
}

void cgi_yard_put(struct yard *yard)
{
    if (!yard || !counted_put(&yard->refs))
        return;
    free_all(yard->spawners, put_spawner);
    free_all(yard->pools, free_pool);
    (void)close(yard->null_fd);
    free(yard);
}

struct crew *cgi_yard_crew(struct yard *yard, struct mk_worker *w)
{
    struct crew *crew = &yard->crews[mk_worker_index(w)];

    crew->worker = w;
    return crew;
}

int cgi_yard_null(const struct yard *yard)
{
    return yard->null_fd;
}

static struct named *find(struct named *list, const char *name)
{
    while (list && strcmp(list->name, name) != 0)
        list = list->next;
    return list;
}

static struct named *add(struct named **list, const char *name)
{
    size_t len = strlen(name) + 1;
    struct named *n = calloc(1, sizeof(*n) + len);

    if (!n)
        return NULL;
    memcpy(n->name, name, len);
    n->next = *list;
    *list = n;
    return n;
}

static void drop_first(struct named **list)
{
    struct named *n = *list;

    *list = n->next;
    free(n);
}

struct spawner *cgi_yard_spawner(struct yard *yard, const char *name)
{
    struct named *n = find(yard->spawners, name);

    if (!n) {
        n = add(&yard->spawners, name);
        if (!n)
            return NULL;
        n->thing = cgi_spawner_new(yard->server, name);
        if (!n->thing) {
            drop_first(&yard->spawners);
            return NULL;
        }
    }
    return cgi_spawner_get(n->thing);
}

static unsigned count_waiting(void *of)
{
    return cgi_pool_waiting(of);
}

static struct pool *new_pool(void)
{
    struct pool *pool = cgi_pool_new();

    if (pool)
        pool->uploads = uploads_new(count_waiting, pool);
    if (pool && !pool->uploads) {
        cgi_pool_free(pool);
        return NULL;
    }
    return pool;
}

struct pool *cgi_yard_pool(struct yard *yard, const char *name)
{
    struct named *n = find(yard->pools, name);

    if (!n) {
        n = add(&yard->pools, name);
        if (!n)
            return NULL;
        n->thing = new_pool();
        if (!n->thing) {
            drop_first(&yard->pools);
            return NULL;
        }
    }
    return n->thing;
}
