/* SPDX-License-Identifier: Apache-2.0 */
#include "gather.h"

#include "kit/counted/counted.h"

#include <monkey/events.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* One connection; texts are copied, because it may be gone when they are read. */
struct row {
    uint64_t id;
    const char *state; /* static */
    unsigned port, requests;
    char peer[MK_PEER_TEXT];
    char listen[128];
    char transport[16];
    char tls[16];
};

/* What one worker told. */
struct part {
    struct row *rows;
    size_t count, room;
    uint64_t total;
    bool failed; /* no memory: some are missing */
};

struct gather {
    struct counted refs; /* of the session, and of the workers together */
    atomic_uint pending; /* workers that have not answered */
    struct mk_worker *home;
    void (*wake)(void *arg); /* home's own; NULL: nobody waits */
    void *arg;
    unsigned nparts;
    struct part parts[];
};

static void put(struct gather *g)
{
    if (!counted_put(&g->refs))
        return;
    for (unsigned i = 0; i < g->nparts; i++)
        free(g->parts[i].rows);
    free(g);
}

/* ---- on each worker ---- */

static bool make_room(struct part *part)
{
    size_t room = part->room ? part->room * 2 : 16;
    struct row *rows;

    if (part->count < part->room)
        return true;
    rows = realloc(part->rows, room * sizeof(*rows));
    if (!rows)
        return false;
    part->rows = rows;
    part->room = room;
    return true;
}

static void copy(char *dst, size_t size, const char *text)
{
    (void)snprintf(dst, size, "%s", text ? text : "");
}

static void note(void *arg, const struct mk_conn *c)
{
    struct part *part = arg;
    struct mk_conn_facts facts = {.size = sizeof(facts)};
    struct row *row;

    part->total++;
    if (part->count == GATHER_CONNECTIONS || part->failed)
        return;
    part->failed = !make_room(part);
    if (part->failed)
        return;
    mk_conn_facts(c, &facts);
    row = &part->rows[part->count++];
    row->id = facts.id;
    row->state = mk_conn_state(c);
    row->port = facts.peer_port;
    row->requests = facts.requests;
    (void)mk_conn_peer(c, row->peer);
    copy(row->listen, sizeof(row->listen), facts.listen);
    copy(row->transport, sizeof(row->transport), facts.transport);
    copy(row->tls, sizeof(row->tls), facts.tls_version);
}

static void on_all_answered(struct mk_worker *w, void *arg)
{
    struct gather *g = arg;

    (void)w;
    if (g->wake)
        g->wake(g->arg);
    put(g);
}

static void answer(struct mk_worker *w, void *arg)
{
    struct gather *g = arg;

    mk_worker_each_conn(w, note, &g->parts[mk_worker_index(w)]);
    if (atomic_fetch_sub_explicit(&g->pending, 1, memory_order_acq_rel) != 1)
        return;
    if (mk_worker_post(g->home, on_all_answered, g) < 0)
        put(g);
}

/* ---- at home ---- */

struct gather *cheetah_gather_begin(struct mk_worker *home, void (*wake)(void *arg), void *arg)
{
    struct mk_server *server = mk_worker_server(home);
    unsigned count = mk_server_workers(server);
    struct gather *g = calloc(1, sizeof(*g) + count * sizeof(struct part));

    if (!g)
        return NULL;
    counted_init(&g->refs, 2);
    atomic_init(&g->pending, count);
    g->home = home;
    g->wake = wake;
    g->arg = arg;
    g->nparts = count;
    if (mk_server_each_worker(server, answer, g) == 0)
        return g;
    free(g);
    return NULL;
}

bool cheetah_gather_is_done(const struct gather *g)
{
    return atomic_load_explicit(&g->pending, memory_order_acquire) == 0;
}

void cheetah_gather_leave(struct gather *g)
{
    g->wake = NULL;
    put(g);
}

static const struct reply_column columns[] = {
    {"worker", 6},   {"id", 8},        {"state", 8}, {"peer", 16},  {"port", 5},
    {"requests", 8}, {"transport", 9}, {"tls", 7},   {"listen", 0},
};

static void tell_row(struct reply *r, unsigned worker, const struct row *row)
{
    cheetah_reply_row(r, columns);
    cheetah_reply_number(r, "worker", worker);
    cheetah_reply_number(r, "id", row->id);
    cheetah_reply_text(r, "state", mk_str_from(row->state));
    cheetah_reply_text(r, "peer", mk_str_from(row->peer));
    cheetah_reply_number(r, "port", row->port);
    cheetah_reply_number(r, "requests", row->requests);
    cheetah_reply_text(r, "transport", mk_str_from(row->transport));
    cheetah_reply_text(r, "tls", mk_str_from(row->tls));
    cheetah_reply_text(r, "listen", mk_str_from(row->listen));
    cheetah_reply_row_end(r);
}

void cheetah_gather_tell(const struct gather *g, struct reply *r)
{
    uint64_t total = 0, shown = 0;

    for (unsigned i = 0; i < g->nparts; i++) {
        total += g->parts[i].total;
        shown += g->parts[i].count;
    }
    cheetah_reply_number(r, "total", total);
    cheetah_reply_number(r, "shown", shown);
    cheetah_reply_list(r, "connections", columns, sizeof(columns) / sizeof(columns[0]));
    for (unsigned i = 0; i < g->nparts; i++) {
        for (size_t j = 0; j < g->parts[i].count; j++)
            tell_row(r, i, &g->parts[i].rows[j]);
    }
    cheetah_reply_list_end(r);
}
