/* SPDX-License-Identifier: Apache-2.0 */
#include "data/crew/crew.h"

#include <stdlib.h>

void crew_init(struct crew_place *place)
{
    (void)pthread_mutex_init(&place->lock, NULL); /* cannot fail on Linux */
    atomic_init(&place->crew, NULL);
}

void crew_fini(struct crew_place *place, void (*end)(void *seat))
{
    struct crew *crew = atomic_load(&place->crew);

    for (unsigned i = 0; crew && i < crew->n; i++) {
        if (crew->seats[i])
            end(crew->seats[i]);
    }
    if (crew)
        mk_server_handle_put(crew->server);
    free(crew);
    (void)pthread_mutex_destroy(&place->lock);
}

static struct crew *new_crew(struct mk_server *server)
{
    struct crew *crew;
    unsigned n = 0;

    while (mk_server_worker(server, n))
        n++;
    crew = calloc(1, sizeof(*crew) + n * sizeof(void *));
    if (!crew)
        return NULL;
    crew->server = mk_server_handle(server);
    crew->n = n;
    if (crew->server)
        return crew;
    free(crew);
    return NULL;
}

static struct crew *made_crew(struct crew_place *place, struct mk_server *server)
{
    struct crew *crew = atomic_load(&place->crew);

    if (crew)
        return crew;
    (void)pthread_mutex_lock(&place->lock);
    crew = atomic_load(&place->crew);
    if (!crew) {
        crew = new_crew(server);
        atomic_store(&place->crew, crew);
    }
    (void)pthread_mutex_unlock(&place->lock);
    return crew;
}

int crew_seat(struct crew_place *place, struct mk_worker *w, void ***seat)
{
    struct crew *crew = made_crew(place, mk_worker_server(w));

    if (!crew)
        return MK_E_NOMEM;
    if (!mk_server_handle_is_of(crew->server, mk_worker_server(w)))
        return MK_E_INVALID;
    *seat = &crew->seats[mk_worker_index(w)];
    return 0;
}
