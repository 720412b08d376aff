/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "setup/plugin.h"
#include "setup/settings_int.h"

#include <limits.h>

/* The checks of plugins, and what comes of them: objects, routes, and who acts where. */

enum { ACTS_UNSAID = INT_MAX };

/* ---- sections that nothing was kept for ---- */

static void *first_settings(const struct mk_occurrence *list)
{
    return list ? list->settings : NULL;
}

/* A plugin without check_site may have a Match line on a site that has no section of it. */
static int default_site_settings(const struct mk_draft *draft, void **settings,
                                 struct mk_setup *ctx)
{
    const struct mk_section_spec *spec = NULL;

    for (size_t i = 0; !spec && draft->specs[i]; i++) {
        if (draft->specs[i]->flags & MK_SECTION_SITE)
            spec = draft->specs[i];
    }
    if (!spec)
        return 0;
    *settings = mk_arena_zalloc(ctx->arena, spec->settings_size);
    return *settings ? mk_fields_defaults(spec, *settings, ctx) : MK_E_NOMEM;
}

static bool has_site_sections(const struct mk_draft *draft)
{
    for (size_t i = 0; draft->specs[i]; i++) {
        if (draft->specs[i]->flags & MK_SECTION_SITE)
            return true;
    }
    return false;
}

static bool is_written(const struct mk_occurrence *list)
{
    while (list && !list->section)
        list = list->next;
    return list;
}

/* ---- one hook ---- */

/* @return 0 or MK_E_NOMEM; another error of the plugin's becomes a fault, if it noted none itself. */
static int call(int (*hook)(struct mk_setup *), struct mk_setup *ctx)
{
    const struct mk_plugin_check *check = ctx->arg;
    size_t noted = ctx->faults->count;
    int err = hook ? hook(ctx) : 0;

    if (err == MK_E_NOMEM)
        return err;
    if (err < 0 && ctx->faults->count == noted)
        mk_fault_add(ctx->faults, NULL, "the plugin \"%s\" refuses its configuration: %s",
                     check->plugin->plugin->name, mk_error_text(err));
    if (ctx->faults->count > noted)
        check->plugin->draft->is_bad = true;
    return 0;
}

static int call_of_file(struct mk_loaded *p, int (*hook)(struct mk_setup *), struct mk_setup *ctx)
{
    struct mk_plugin_check *check = ctx->arg;

    check->plugin = p;
    check->site = NULL;
    check->has_kept = false;
    return p->draft->is_bad ? 0 : call(hook, ctx);
}

static int check_file(struct mk_loaded *p, struct mk_setup *ctx)
{
    const struct mk_plugin_check *check = ctx->arg;
    const int err = call_of_file(p, p->plugin->check, ctx);

    if (!check->has_kept)
        p->context.config = p->draft->of_file ? first_settings(p->draft->of_file) : p->argument;
    return err;
}

static int check_site(struct mk_loaded *p, struct mk_site *site, struct mk_setup *ctx)
{
    struct mk_plugin_check *check = ctx->arg;
    const struct mk_draft *draft = p->draft;
    int err;

    check->plugin = p;
    check->has_kept = false;
    err = draft->is_bad ? 0 : call(p->plugin->check_site, ctx);
    if (err == 0 && !check->has_kept) {
        p->sites[site->index] = first_settings(draft->of_sites[site->index]);
        if (!p->sites[site->index])
            err = default_site_settings(draft, &p->sites[site->index], ctx);
    }
    if (draft->acts[site->index] == ACTS_UNSAID)
        draft->acts[site->index] =
            !has_site_sections(draft) || is_written(draft->of_sites[site->index]) ? ACTS_UNSAID : 0;
    return err;
}

/* ---- [HANDLERS] ---- */

/* With the column of what is wrong, if the pattern stands at this place as it is. */
static void fault_pattern(struct mk_str pattern, const char *why, size_t where,
                          const struct mk_origin *at, const char *key, struct mk_setup *ctx)
{
    struct mk_origin place = at ? *at : (struct mk_origin){0};

    if (place.column > 0 && place.text.p &&
        mk_str_has_prefix(mk_str_skip(place.text, place.column - 1), pattern))
        place.column += (unsigned)where;
    mk_fault_add(ctx->faults, at ? &place : NULL, "%s: invalid regular expression \"%.*s\": %s",
                 key, (int)pattern.len, pattern.p, why);
}

int mk_plugin_compile(struct mk_setup *ctx, struct mk_pattern *match, struct mk_str pattern,
                      const struct mk_origin *at, const char *key)
{
    const char *why;
    size_t where;
    int err = mk_pattern_init(match, pattern, ctx->arena, &why, &where);

    if (err == MK_E_INVALID)
        fault_pattern(pattern, why, where, at, key, ctx);
    return err;
}

/* A star with nothing in front of it is one of file names, and quotes or a tilde in front are of other notations. */
static bool is_meant_otherwise(struct mk_str pattern)
{
    if (pattern.len > 0 && memchr("\"'~", pattern.p[0], 3))
        return true;
    for (size_t i = 0; i < pattern.len; i++) {
        if (pattern.p[i] == '*' && (i == 0 || pattern.p[i - 1] == '/'))
            return true;
    }
    return false;
}

void mk_plugin_warn_of_pattern(struct mk_setup *ctx, struct mk_str pattern,
                               const struct mk_origin *at, const char *key)
{
    if (is_meant_otherwise(pattern))
        mk_fault_warn(
            ctx->faults, at,
            "%s: \"%.*s\" is a regular expression: write \\.php$ for names that end in .php, "
            "^/img/ for all below /img/",
            key, (int)pattern.len, pattern.p);
}

/* With the text, since a plugin may give a place that lasts as long as its call. */
static int keep_place(struct mk_route *route, const struct mk_origin *at, struct mk_setup *ctx)
{
    struct mk_origin *copy;

    if (!at)
        return 0;
    copy = mk_arena_alloc(ctx->faults->arena, sizeof(*copy));
    if (!copy)
        return MK_E_NOMEM;
    *copy = *at;
    route->at = copy;
    return 0;
}

int mk_plugin_add_route(struct mk_setup *ctx, struct mk_route_list *list, struct mk_str pattern,
                        void *data, const struct mk_origin *at, const char *key)
{
    static const struct mk_str no_path = MK_STR_INIT("$.");
    const struct mk_plugin_check *check = ctx->arg;
    struct mk_snapshot *s = check->snapshot;
    struct mk_route route = {
        .who = {.plugin = check->plugin->plugin, .index = (unsigned)(check->plugin - s->plugins)},
        .data = data};
    struct mk_route *kept;
    int err = mk_plugin_compile(
        ctx, &route.match, mk_str_has_prefix(pattern, MK_STR("@")) ? no_path : pattern, at, key);

    route.pattern = mk_setup_copy(ctx, pattern);
    if (!route.pattern.p || keep_place(&route, at, ctx) < 0)
        return MK_E_NOMEM;
    if (list != &check->global || check->site->index == 0)
        mk_plugin_warn_of_pattern(ctx, pattern, at, key);
    if (err < 0)
        return err;
    kept = MK_SETTINGS_APPEND(ctx, list, items, count);
    if (!kept)
        return MK_E_NOMEM;
    *kept = route;
    return 0;
}

static void fault_no_plugin(const struct mk_handler_line *line, struct mk_setup *ctx)
{
    const struct mk_plugin_check *check = ctx->arg;

    mk_fault_add(ctx->faults, &line->setting->value_at,
                 "%s: \"%.*s\" needs the plugin of that name: %s", line->setting->key.p,
                 (int)line->plugin.len, line->plugin.p,
                 mk_plugin_absence(check->source, line->plugin, ctx));
}

static int check_parameters(const struct mk_handler_line *line, struct mk_loaded *p,
                            struct mk_setup *ctx, void **data)
{
    size_t noted = ctx->faults->count;
    int err = 0;

    if (p->draft->is_bad)
        return 0;
    if (p->plugin->check_match)
        err = p->plugin->check_match(ctx, line->setting, &line->params, data);
    else if (line->params.count > 0)
        mk_fault_add(ctx->faults, &line->setting->value_at, "%s: %s takes no parameters",
                     line->setting->key.p, p->plugin->name);
    if (err < 0 && err != MK_E_NOMEM && ctx->faults->count == noted)
        mk_fault_add(ctx->faults, &line->setting->value_at, "%s: %s refuses this line: %s",
                     line->setting->key.p, p->plugin->name, mk_error_text(err));
    return err == MK_E_NOMEM ? err : 0;
}

static int check_line(const struct mk_handler_line *line, struct mk_setup *ctx)
{
    struct mk_plugin_check *check = ctx->arg;
    const char *of_place = check->site->set.match; /* of `Handler`: it has all that is there */
    struct mk_str pattern = line->pattern.p ? line->pattern
                            : of_place      ? mk_str_from(of_place)
                                            : MK_STR("^/");
    struct mk_loaded *p = mk_plugins_find(check->snapshot, line->plugin);
    bool is_handler = p && p->plugin->on_handle;
    void *data = NULL;
    int err;

    if (!p) {
        fault_no_plugin(line, ctx);
        return 0;
    }
    if (!is_handler && !(p->plugin->check_site && line->pattern.p)) {
        mk_fault_add(ctx->faults, &line->setting->value_at, "%s: %s answers no requests",
                     line->setting->key.p, p->plugin->name);
        return 0;
    }
    check->plugin = p;
    if (check_parameters(line, p, ctx, &data) < 0)
        return MK_E_NOMEM;
    err = mk_plugin_add_route(ctx, is_handler ? &check->of_handlers : &check->limits, pattern, data,
                              &line->setting->value_at, "Match");
    return err == MK_E_NOMEM ? err : 0;
}

/* Before any site is checked: a plugin asks for the lines of the others too. */
static void note_switches(struct mk_snapshot *s)
{
    for (size_t i = 0; i < s->nsites; i++) {
        for (size_t j = 0; j < s->sites[i].set.nhandlers; j++) {
            struct mk_loaded *p = mk_plugins_find(s, s->sites[i].set.handlers[j].plugin);

            if (!p)
                continue;
            p->draft->has_switch = true;
            p->draft->is_switched_on[i] = true;
        }
    }
}

/* ---- what comes of it ---- */

static int join_routes(struct mk_site *site, const struct mk_plugin_check *check,
                       struct mk_setup *ctx)
{
    const struct mk_route_list *lists[] = {&check->of_handlers, &check->of_site, &check->global};

    site->routes = mk_arena_zalloc(
        ctx->arena, (lists[0]->count + lists[1]->count + lists[2]->count) * sizeof(*site->routes));
    if (!site->routes)
        return MK_E_NOMEM;
    for (int i = 0; i < 3; i++) {
        if (lists[i]->count > 0)
            memcpy(site->routes + site->nroutes, lists[i]->items,
                   lists[i]->count * sizeof(*site->routes));
        site->nroutes += lists[i]->count;
    }
    site->limits = check->limits.items;
    site->nlimits = check->limits.count;
    return 0;
}

static bool is_limited(const struct mk_site *site, unsigned plugin)
{
    for (size_t i = 0; i < site->nlimits; i++) {
        if (site->limits[i].who.index == plugin)
            return true;
    }
    return false;
}

static int make_hooks(struct mk_hooks *hooks, const struct mk_snapshot *s, size_t site,
                      unsigned act, size_t member, struct mk_setup *ctx)
{
    struct mk_hooked *items = NULL;

    for (unsigned i = 0; i < s->nplugins; i++) {
        const struct mk_loaded *p = &s->plugins[i];
        void (*hook)(void);

        memcpy(&hook, (const char *)p->plugin + member, sizeof(hook));
        if (!hook || !((p->draft->acts[site] | p->draft->acts_everywhere) & act))
            continue;
        if (!items)
            items = mk_arena_alloc(ctx->arena, s->nplugins * sizeof(*items));
        if (!items)
            return MK_E_NOMEM;
        items[hooks->count++] = (struct mk_hooked){p->plugin, i, is_limited(&s->sites[site], i)};
    }
    hooks->items = items;
    return 0;
}

#define HOOK(name) offsetof(struct mk_plugin, name)

static int make_site_hooks(const struct mk_snapshot *s, struct mk_site *site, struct mk_setup *ctx)
{
    const struct {
        struct mk_hooks *hooks;
        unsigned act;
        size_t member;
    } rows[] = {
        {&site->on_request, MK_ACTS_REQUEST, HOOK(on_request)},
        {&site->on_directory, MK_ACTS_DIRECTORY, HOOK(on_directory)},
        {&site->on_head, MK_ACTS_HEAD, HOOK(on_head)},
        {&site->on_finish, MK_ACTS_FINISH, HOOK(on_finish)},
    };
    int err = 0;

    for (size_t i = 0; err == 0 && i < sizeof(rows) / sizeof(rows[0]); i++)
        err = make_hooks(rows[i].hooks, s, site->index, rows[i].act, rows[i].member, ctx);
    return err;
}

static int make_server_hooks(struct mk_snapshot *s, struct mk_setup *ctx)
{
    int err = make_hooks(&s->on_accept, s, 0, MK_ACTS_ACCEPT, HOOK(on_accept), ctx);

    if (err == 0)
        err = make_hooks(&s->on_close, s, 0, MK_ACTS_CLOSE, HOOK(on_close), ctx);
    if (err == 0)
        err = make_hooks(&s->on_conn_event, s, 0, MK_ACTS_CONN_EVENT, HOOK(on_conn_event), ctx);
    return err;
}

static int make_lists(struct mk_snapshot *s, struct mk_setup *ctx)
{
    const size_t count = mk_snapshot_places(s);

    for (size_t i = 0; i < s->nplugins; i++) {
        struct mk_loaded *p = &s->plugins[i];

        p->sites = mk_arena_zalloc(ctx->arena, count * sizeof(*p->sites));
        p->draft->acts = mk_arena_alloc(ctx->faults->arena, count * sizeof(unsigned));
        p->draft->is_switched_on = mk_arena_zalloc(ctx->faults->arena, count * sizeof(bool));
        if (!p->sites || !p->draft->acts || !p->draft->is_switched_on)
            return MK_E_NOMEM;
        p->draft->acts_everywhere = MK_ACTS_OF_CONNECTIONS;
        for (size_t j = 0; j < count; j++)
            p->draft->acts[j] = ACTS_UNSAID;
    }
    return 0;
}

/* What holds around a variant; plugins with keys in [LOCATION] are asked for more. */
static int check_in_place(struct mk_loaded *p, struct mk_site *site, struct mk_setup *ctx)
{
    struct mk_draft *draft = p->draft;

    if (site->parent) {
        const unsigned parent = site->parent->index;

        draft->is_switched_on[site->index] = draft->is_switched_on[parent];
        draft->acts[site->index] = draft->acts[parent];
        p->sites[site->index] = p->sites[parent];
        if (!draft->of_sites[site->index])
            return 0;
    }
    return check_site(p, site, ctx);
}

/* Handlers of a variant come before those around it. */
static int check_one_site(struct mk_snapshot *s, struct mk_site *site, struct mk_setup *ctx)
{
    struct mk_plugin_check *check = ctx->arg;
    int err = 0;

    check->site = site;
    check->of_handlers = check->of_site = check->global = check->limits = (struct mk_route_list){0};
    if (site->parent) {
        check->limits = (struct mk_route_list){site->parent->limits, site->parent->nlimits};
        check->global = (struct mk_route_list){site->parent->routes, site->parent->nroutes};
    }
    for (size_t i = 0; err == 0 && i < site->set.nhandlers; i++)
        err = check_line(&site->set.handlers[i], ctx);
    for (size_t i = 0; err == 0 && i < s->nplugins; i++)
        err = check_in_place(&s->plugins[i], site, ctx);
    return err < 0 ? err : join_routes(site, check, ctx);
}

/* Parents stand before their variants. What is wrong in one of those is wrong in others too. */
static int check_sites(struct mk_snapshot *s, struct mk_setup *ctx)
{
    int err = 0;

    for (size_t i = 0; err == 0 && i < mk_snapshot_places(s); i++) {
        if (!s->sites[i].parent || ctx->faults->count == 0)
            err = check_one_site(s, &s->sites[i], ctx);
    }
    for (size_t i = 0; err == 0 && i < mk_snapshot_places(s); i++)
        err = make_site_hooks(s, &s->sites[i], ctx);
    return err;
}

int mk_plugins_check(struct mk_snapshot *s, struct mk_snapshot_source *source, struct mk_setup *ctx)
{
    struct mk_plugin_check check = {.snapshot = s, .source = source};
    int err;

    ctx->arg = &check;
    err = mk_plugins_fill(s, source, ctx);
    if (err == 0)
        err = make_lists(s, ctx);
    if (err == 0)
        note_switches(s);
    for (size_t i = 0; err == 0 && i < s->nplugins; i++)
        err = check_file(&s->plugins[i], ctx);
    if (err == 0)
        err = check_sites(s, ctx);
    for (size_t i = 0; err == 0 && i < s->nplugins; i++)
        err = call_of_file(&s->plugins[i], s->plugins[i].plugin->check_end, ctx);
    ctx->arg = NULL;
    return err < 0 ? err : make_server_hooks(s, ctx);
}
