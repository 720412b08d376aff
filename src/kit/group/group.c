/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/group/group.h"

#include <monkey/events.h>
#include <monkey/server.h>

#include <stdlib.h>

struct group_member {
    struct group_member *next, **at; /* of the group on this worker */
    struct group_member *next_of_connection;
    struct group *group;
    void *connection;
};

struct group {
    struct counted refs;
    struct mk_server_handle *server;
    size_t max;
    atomic_size_t waiting, nmembers;
    unsigned nworkers;
    struct group_member *members[];
};

struct group *group_new(struct mk_server *server, size_t max)
{
    struct group *g;
    unsigned n;

    if (!server)
        return NULL;
    n = mk_server_workers(server);
    g = calloc(1, sizeof(*g) + n * sizeof(struct group_member *));
    if (!g)
        return NULL;
    g->server = mk_server_handle(server);
    if (!g->server) {
        free(g);
        return NULL;
    }
    counted_init(&g->refs, 1);
    g->max = max;
    g->nworkers = n;
    return g;
}

void group_put(struct group *g)
{
    if (!g || !counted_put(&g->refs))
        return;
    mk_server_handle_put(g->server);
    free(g);
}

size_t group_members(const struct group *g)
{
    return atomic_load_explicit(&g->nmembers, memory_order_relaxed);
}

/* ---- members ---- */

static struct group_member **find(const struct group *g, struct group_member **at)
{
    while (*at && (*at)->group != g)
        at = &(*at)->next_of_connection;
    return at;
}

int group_join(struct group *g, const struct mk_worker *w, struct group_member **memberships,
               void *connection)
{
    struct group_member **head, *m;

    if (!mk_server_handle_is_of(g->server, mk_worker_server(w)))
        return MK_E_INVALID;
    if (*find(g, memberships))
        return 0;
    m = malloc(sizeof(*m));
    if (!m)
        return MK_E_NOMEM;
    head = &g->members[mk_worker_index(w)];
    *m = (struct group_member){*head, head, *memberships, g, connection};
    if (m->next)
        m->next->at = &m->next;
    *head = m;
    *memberships = m;
    counted_get(&g->refs);
    atomic_fetch_add_explicit(&g->nmembers, 1, memory_order_relaxed);
    return 0;
}

static void leave(struct group_member **at)
{
    struct group_member *m = *at;

    *at = m->next_of_connection;
    *m->at = m->next;
    if (m->next)
        m->next->at = m->at;
    atomic_fetch_sub_explicit(&m->group->nmembers, 1, memory_order_relaxed);
    group_put(m->group);
    free(m);
}

void group_leave(struct group *g, struct group_member **memberships)
{
    struct group_member **at = find(g, memberships);

    if (*at)
        leave(at);
}

void group_leave_all(struct group_member **memberships)
{
    while (*memberships)
        leave(memberships);
}

/* ---- messages ---- */

static void put_message(struct group_message *m)
{
    struct group *g = m->group;

    if (!counted_put(&m->refs))
        return;
    atomic_fetch_sub_explicit(&g->waiting, m->weight, memory_order_relaxed);
    m->drop(m);
    group_put(g);
}

/* The group stays while the message has it; a member may leave when it is given the message. */
static void give_to_members(struct mk_worker *w, void *arg)
{
    struct group_message *m = arg;

    for (struct group_member *at = m->group->members[mk_worker_index(w)], *next; at; at = next) {
        next = at->next;
        m->give(at->connection, m);
    }
    put_message(m);
}

int group_send(struct group *g, struct group_message *m)
{
    const size_t before = atomic_fetch_add_explicit(&g->waiting, m->weight, memory_order_relaxed);
    int err = MK_E_BUSY;

    counted_get(&g->refs);
    counted_init(&m->refs, g->nworkers);
    m->group = g;
    if (g->max == 0 || (before <= g->max && m->weight <= g->max - before))
        err = mk_server_handle_each_worker(g->server, give_to_members, m);
    if (err < 0) {
        counted_init(&m->refs, 1);
        put_message(m);
    }
    return err;
}
