/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "base/invariant.h"
#include "base/str.h"
#include "server/h1/conn.h"
#include "server/run/server_int.h"

#include <monkey/inspect.h>
#include <monkey/plugin.h>

/* A running server as one of its workers sees it, told to plugins. */

/* ---- settings ---- */

struct listing {
    const struct mk_server_settings *set;
    struct mk_log *log;
    struct mk_arena arena;
    mk_text_fn fn;
    void *arg;
    bool failed;
};

MK_AT_START static void say_setting(struct listing *l, const char *key, const char *value)
{
    char *line = value ? mk_arena_printf(&l->arena, "%s %s", key, value) : NULL;

    if (line)
        l->fn(l->arg, line, strlen(line));
    else
        l->failed = true;
}

MK_AT_START static void say_listens(struct listing *l)
{
    for (size_t i = 0; i < l->set->nlistens; i++) {
        const struct mk_listen *at = &l->set->listens[i];

        say_setting(l, "Listen",
                    mk_arena_printf(&l->arena, "%s%s%s%s%s%s%s", at->text,
                                    at->proxy ? " proxy" : "", at->transport ? " " : "",
                                    at->transport ? at->transport : "", at->protocol ? " h2" : "",
                                    at->has_no_http ? " !http" : "", at->has_no_h2 ? " !h2" : ""));
    }
}

/* As it is now, which mk_server_log_level may have changed. */
MK_AT_START static void say_log_level(struct listing *l)
{
    unsigned traced = atomic_load(&l->log->traced);
    const char *names = "";

    say_setting(l, "LogLevel", mk_log_level_names[atomic_load(&l->log->level)]);
    for (unsigned i = 0; i < MK_LOG_COMPONENT_COUNT && names; i++) {
        if (traced & (1U << i))
            names = mk_arena_printf(&l->arena, "%s%s%s", names, *names ? "," : ":",
                                    mk_log_component_names[i]);
    }
    if (traced)
        say_setting(l, "LogLevel",
                    names ? mk_arena_printf(&l->arena, "%s%s",
                                            mk_log_level_names[atomic_load(&l->log->traced_level)],
                                            names)
                          : NULL);
}

MK_AT_START static void say_trusted(struct listing *l)
{
    for (size_t i = 0; i < l->set->ntrusted; i++) {
        char text[MK_NET_TEXT];

        (void)mk_net_format(&l->set->trusted[i], text);
        say_setting(l, "TrustedProxies", text);
    }
}

MK_AT_START static void say_default_type(struct listing *l)
{
    say_setting(l, "DefaultMimeType", l->set->default_type);
}

MK_AT_START static void say_transport(struct listing *l)
{
    say_setting(l, "TransportLayer", l->set->transport);
}

static const struct {
    const char *key;
    void (*say)(struct listing *l);
} custom_fields[] = {
    {"Listen", say_listens},           {"LogLevel", say_log_level},
    {"TrustedProxies", say_trusted},   {"DefaultMimeType", say_default_type},
    {"TransportLayer", say_transport},
};

MK_AT_START static void say_custom(struct listing *l, const struct mk_field *f)
{
    for (size_t i = 0; i < MK_ARRAY_LEN(custom_fields); i++) {
        if (strcmp(f->name, custom_fields[i].key) == 0)
            custom_fields[i].say(l);
    }
}

MK_AT_START static void say_field(struct listing *l, const struct mk_field *f)
{
    const char *value;

    if (f->type == MK_FIELD_CUSTOM) {
        say_custom(l, f);
        return;
    }
    value = mk_field_format(f, l->set, &l->arena);
    if (!value || *value)
        say_setting(l, f->name, value);
}

MK_AT_START int mk_worker_settings(struct mk_worker *w, mk_text_fn fn, void *arg)
{
    struct listing l = {
        .set = &w->view->snapshot->set, .log = mk_worker_log(w), .fn = fn, .arg = arg};

    mk_arena_init(&l.arena, NULL, 0, SIZE_MAX);
    for (size_t i = 0; i < mk_spec_server.nfields; i++)
        say_field(&l, &mk_spec_server.fields[i]);
    mk_arena_fini(&l.arena);
    return l.failed ? MK_E_NOMEM : 0;
}

/* ---- sites and connections ---- */

MK_AT_START bool mk_worker_site(struct mk_worker *w, unsigned index, struct mk_site_facts *facts)
{
    const struct mk_snapshot *s = w->view->snapshot;
    struct mk_site_facts all = {.size = facts->size};

    if (index >= s->nsites)
        return false;
    all.names = s->sites[index].set.names.items;
    all.nnames = s->sites[index].set.names.count;
    all.document_root = s->sites[index].set.document_root;
    memcpy(facts, &all, facts->size < sizeof(all) ? facts->size : sizeof(all));
    return true;
}

struct visit {
    void (*fn)(void *arg, const struct mk_conn *c);
    void *arg;
};

static void visit(void *block, void *arg)
{
    const struct mk_conn *c = block;
    const struct visit *v = arg;

    if (!c->closed) /* otherwise it waits for the end of the turn */
        v->fn(v->arg, c);
}

void mk_worker_each_conn(struct mk_worker *w, void (*fn)(void *arg, const struct mk_conn *c),
                         void *arg)
{
    struct visit v = {fn, arg};

    mk_pool_each(&w->conns, visit, &v);
}

MK_AT_START void mk_worker_metrics(struct mk_worker *w, mk_metric_fn tell, void *arg)
{
    const struct mk_snapshot *s = w->view->snapshot;

    for (unsigned i = 0; i < s->nplugins; i++) {
        if (s->plugins[i].plugin->metrics)
            s->plugins[i].plugin->metrics(mk_view_context(w->view, &s->sites[0], i), tell, arg);
    }
}

MK_AT_START int mk_worker_order(struct mk_worker *w, struct mk_str plugin,
                                const struct mk_str *words, size_t nwords, mk_order_fn tell,
                                void *arg)
{
    const struct mk_snapshot *s = w->view->snapshot;

    for (unsigned i = 0; i < s->nplugins; i++) {
        const struct mk_plugin *p = s->plugins[i].plugin;

        if (p->order && mk_str_eq(plugin, mk_str_from(p->name)))
            return p->order(mk_view_context(w->view, &s->sites[0], i), words, nwords, tell, arg);
    }
    return MK_E_UNSUPPORTED;
}

bool mk_worker_refusals(const struct mk_worker *w, unsigned index, const char **name,
                        uint64_t *count)
{
    if (index >= MK_REASON_COUNT)
        return false;
    *name = mk_reason_name(index);
    *count = atomic_load_explicit(&w->counters.reasons[index], memory_order_relaxed);
    return true;
}
