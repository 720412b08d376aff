/* SPDX-License-Identifier: Apache-2.0 */
#include "web/sse_int.h"

#include <monkey/events.h>

#include "base/heap.h"
#include "kit/group/group.h"

/* Groups of streams: an event is written once, and each worker adds its text, or a reference to it, to the queues of its members. */

enum { GROUP_QUEUE = 1 << 20, MESSAGE = 64 /* weight of one beside its text */ };

struct mk_sse_group {
    struct counted refs; /* the caller's, and of what is on its way */
    struct group *group;
    struct mk_sse_group_options options; /* without zeros */
    atomic_ullong slow;
};

struct message {
    struct group_message base;
    struct mk_sse_group *group;
    struct mk_sse_text *text; /* NULL: close the streams */
};

static void put(struct mk_sse_group *g)
{
    if (!counted_put(&g->refs))
        return;
    group_put(g->group);
    mk_heap_free(g);
}

int mk_sse_group_new(struct mk_sse_group **group, struct mk_server *server,
                     const struct mk_sse_group_options *options)
{
    struct mk_sse_group_options o = {.size = sizeof(o)};
    struct mk_sse_group *g;

    if (!group || !server)
        return MK_E_INVALID;
    if (options)
        memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
    if (o.slow > MK_SSE_SKIP)
        return MK_E_INVALID;
    o.queue = o.queue ? o.queue : GROUP_QUEUE;
    g = mk_heap_zalloc(1, sizeof(*g));
    if (!g)
        return MK_E_NOMEM;
    g->group = group_new(server, o.queue);
    if (!g->group) {
        mk_heap_free(g);
        return MK_E_NOMEM;
    }
    counted_init(&g->refs, 1);
    g->options = o;
    *group = g;
    return 0;
}

void mk_sse_group_free(struct mk_sse_group *g)
{
    if (g)
        put(g);
}

int mk_sse_group_join(struct mk_sse_group *g, struct mk_sse *s)
{
    int err;

    if (!g || !s || s->is_closed)
        return MK_E_INVALID;
    err = group_join(g->group, s->worker, &s->groups, s);
    if (err == 0)
        mk_request_ends_on_hangup(s->r,
                                  true); /* a client that leaves gives back its place at once */
    return err;
}

void mk_sse_group_leave(struct mk_sse_group *g, struct mk_sse *s)
{
    if (g && s)
        group_leave(g->group, &s->groups);
}

static void drop(struct group_message *base)
{
    struct message *m = (struct message *)base;

    mk_sse_text_put(m->text);
    put(m->group);
    mk_heap_free(m);
}

static void give(void *connection, struct group_message *base)
{
    struct message *m = (struct message *)base;
    struct mk_sse *s = connection;

    if (m->text && mk_sse_share(s, m->text) == 0)
        return;
    if (m->text)
        atomic_fetch_add_explicit(&m->group->slow, 1, memory_order_relaxed);
    if (!m->text || m->group->options.slow == MK_SSE_END)
        mk_sse_close(s);
}

/* @param text  taken, also on failure; NULL: none */
static struct message *new_message(struct mk_sse_group *g, struct mk_sse_text *text)
{
    struct message *m = mk_heap_zalloc(1, sizeof(*m));

    if (!m) {
        mk_sse_text_put(text);
        return NULL;
    }
    m->base.give = give;
    m->base.drop = drop;
    m->base.weight = text ? text->buf.len + MESSAGE : 0;
    m->group = g;
    m->text = text;
    counted_get(&g->refs);
    return m;
}

/* @return 0, or as mk_sse_group_send */
static int write_text(const struct mk_sse_group *g, const struct mk_sse_event *event,
                      struct mk_sse_text **out)
{
    struct mk_sse_text *text = mk_heap_zalloc(1, sizeof(*text));
    int err;

    if (!text)
        return MK_E_NOMEM;
    counted_init(&text->refs, 1);
    mk_buf_init(&text->buf, g->options.queue > MESSAGE ? g->options.queue - MESSAGE : 0);
    err = mk_sse_format(&text->buf, event);
    err = err < 0 ? err : text->buf.error;
    if (err < 0)
        mk_sse_text_put(text);
    *out = text;
    return err;
}

int mk_sse_group_send(struct mk_sse_group *g, const struct mk_sse_event *event)
{
    struct mk_sse_text *text;
    struct message *m;
    int err;

    if (!g || !event)
        return MK_E_INVALID;
    err = write_text(g, event, &text);
    if (err < 0)
        return err;
    m = new_message(g, text);
    return m ? group_send(g->group, &m->base) : MK_E_NOMEM;
}

int mk_sse_group_close(struct mk_sse_group *g)
{
    struct message *m = g ? new_message(g, NULL) : NULL;

    if (!m)
        return g ? MK_E_NOMEM : MK_E_INVALID;
    return group_send(g->group, &m->base);
}

void mk_sse_group_facts(const struct mk_sse_group *g, struct mk_sse_group_facts *facts)
{
    const size_t size = facts ? facts->size : 0;
    struct mk_sse_group_facts all = {.size = size};

    if (!facts)
        return;
    if (g) {
        all.members = group_members(g->group);
        all.slow = atomic_load_explicit(&g->slow, memory_order_relaxed);
    }
    memcpy(facts, &all, size < sizeof(all) ? size : sizeof(all));
}
