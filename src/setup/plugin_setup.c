/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fd.h"
#include "base/code.h"
#include "setup/plugin.h"
#include "setup/settings_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* What plugins call while they check: the public face of struct mk_plugin_check. */

static struct mk_occurrence *present_list(const struct mk_plugin_check *check)
{
    const struct mk_draft *draft = check->plugin->draft;

    return check->site ? draft->of_sites[check->site->index] : draft->of_file;
}

MK_AT_START void *mk_setup_section(struct mk_setup *setup, const struct mk_section_spec *spec,
                                   void *before)
{
    struct mk_occurrence *o = present_list(setup->arg);

    while (before && o && o->settings != before)
        o = o->next;
    if (before && o)
        o = o->next;
    while (o && o->given != spec)
        o = o->next;
    return o ? o->settings : NULL;
}

static const struct mk_occurrence *find(const struct mk_occurrence *list, const void *settings)
{
    while (list && list->settings != settings)
        list = list->next;
    return list;
}

static const struct mk_occurrence *find_anywhere(const struct mk_setup *setup, const void *settings)
{
    const struct mk_plugin_check *check = setup->arg;
    const struct mk_occurrence *o = find(present_list(check), settings);

    return o ? o : find(check->plugin->draft->of_file, settings);
}

MK_AT_START const struct mk_origin *mk_setup_origin(struct mk_setup *setup, const void *settings)
{
    const struct mk_occurrence *o = find_anywhere(setup, settings);

    return o && o->section ? &o->section->at : NULL;
}

static const struct mk_setting *written(const struct mk_occurrence *o, const char *key)
{
    for (size_t i = 0; i < o->spec->nfields; i++) {
        const struct mk_field *f = &o->spec->fields[i];

        if (strcmp(f->name, key) == 0 || (f->alias && strcmp(f->alias, key) == 0))
            return mk_field_source(f, &o->effective);
    }
    return NULL;
}

MK_AT_START const struct mk_origin *mk_setup_place(struct mk_setup *setup, const void *settings,
                                                   const char *key)
{
    const struct mk_occurrence *o = find_anywhere(setup, settings);
    const struct mk_setting *s = o ? written(o, key) : NULL;

    return s ? &s->value_at : mk_setup_origin(setup, settings);
}

MK_AT_START void mk_setup_keep(struct mk_setup *setup, void *object)
{
    struct mk_plugin_check *check = setup->arg;

    check->has_kept = true;
    if (check->site)
        check->plugin->sites[check->site->index] = object;
    else
        check->plugin->context.config = object;
}

MK_AT_START void *mk_setup_config(struct mk_setup *setup)
{
    const struct mk_plugin_check *check = setup->arg;

    return check->plugin->context.config;
}

MK_AT_START void *mk_setup_argument(struct mk_setup *setup)
{
    const struct mk_plugin_check *check = setup->arg;

    return check->plugin->argument;
}

MK_AT_START enum mk_switch mk_setup_switch(struct mk_setup *setup)
{
    const struct mk_plugin_check *check = setup->arg;
    const struct mk_draft *draft = check->plugin->draft;

    if (check->source->optional &&
        strcmp(check->plugin->plugin->name, check->source->optional) == 0)
        return MK_SWITCH_ON; /* it was loaded for this alone */
    if (!draft->has_switch || !check->site)
        return MK_SWITCH_UNSAID;
    return draft->is_switched_on[check->site->index] ? MK_SWITCH_ON : MK_SWITCH_OFF;
}

MK_AT_START void mk_setup_act(struct mk_setup *setup, unsigned acts)
{
    const struct mk_plugin_check *check = setup->arg;
    struct mk_draft *draft = check->plugin->draft;

    if (check->site)
        draft->acts[check->site->index] = acts & MK_ACTS_OF_SITES;
    else
        draft->acts_everywhere = acts & MK_ACTS_OF_CONNECTIONS;
    /* A rule of one location looks at all requests, for others may read their paths as leading there. */
    if (check->site && check->site->parent)
        draft->acts_everywhere |= acts & MK_ACTS_REQUEST;
}

MK_AT_START int mk_setup_route(struct mk_setup *setup, struct mk_str pattern, void *data,
                               const struct mk_origin *at, bool global)
{
    struct mk_plugin_check *check = setup->arg;

    if (!check->site || !check->plugin->plugin->on_handle) {
        mk_fault_add(setup->faults, at, "the plugin \"%s\" asks for requests that it cannot answer",
                     check->plugin->plugin->name);
        return MK_E_INVALID;
    }
    global = global && !check->site->parent; /* whose routes a variant has there */
    return mk_plugin_add_route(setup, global ? &check->global : &check->of_site, pattern, data, at,
                               "Match");
}

MK_AT_START const struct mk_words *mk_setup_site_names(struct mk_setup *setup)
{
    static const struct mk_words none = {NULL, 0};
    const struct mk_plugin_check *check = setup->arg;

    return check->site ? &check->site->set.names : &none;
}

MK_AT_START void mk_setup_addresses(struct mk_setup *setup,
                                    void (*fn)(void *arg, const char *text, size_t len), void *arg)
{
    const struct mk_plugin_check *check = setup->arg;
    const struct mk_server_settings *set = &check->snapshot->set;

    for (size_t i = 0; i < set->nlistens; i++) {
        char text[MK_ADDR_TEXT];

        fn(arg, text, mk_addr_format(&set->listens[i].addr, text));
    }
}

MK_AT_START const char *mk_setup_user(struct mk_setup *setup)
{
    const struct mk_plugin_check *check = setup->arg;

    return check->snapshot->set.user;
}

MK_AT_START const char *mk_setup_document_root(struct mk_setup *setup)
{
    const struct mk_plugin_check *check = setup->arg;

    return check->site ? check->site->set.document_root : NULL;
}

MK_AT_START bool mk_setup_has_transport(struct mk_setup *setup, struct mk_str name)
{
    const struct mk_plugin_check *check = setup->arg;
    struct mk_via via;

    return mk_via_find(&via, check->snapshot, name);
}

MK_AT_START bool mk_setup_carries(struct mk_setup *setup)
{
    const struct mk_plugin_check *check = setup->arg;
    const struct mk_server_settings *set = &check->snapshot->set;
    const struct mk_transport *own = check->plugin->plugin->transport;

    for (size_t i = 0; i < set->nlistens; i++) {
        if (set->listens[i].via.transport == own)
            return own;
    }
    return false;
}

MK_AT_START int mk_setup_needs(struct mk_setup *setup, enum mk_resource kind, const char *name)
{
    struct mk_plugin_check *check = setup->arg;
    struct mk_snapshot_source *source = check->source;
    struct mk_setup text = {.arena = setup->faults->arena};
    struct mk_need *need = MK_SETTINGS_APPEND(&text, source, needs, nneeds);

    if (!need)
        return MK_E_NOMEM;
    need->kind = kind;
    need->name = mk_arena_strdup(text.arena, mk_str_from(name));
    return need->name ? 0 : MK_E_NOMEM;
}

MK_AT_START int mk_setup_open(struct mk_setup *setup, const char *path)
{
    const struct mk_plugin_check *check = setup->arg;
    const struct mk_snapshot_source *source = check->source;
    int fd;

    if (source->open)
        return source->open(source->open_arg, path);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    return fd < 0 ? mk_error_from_errno(errno) : fd;
}

/* One byte more than may be: a file that is longer shows itself. @return its length or an error. */
static ssize_t read_all(int fd, char *text, size_t room)
{
    size_t len = 0;

    while (len < room) {
        ssize_t n = read(fd, text + len, room - len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mk_error_from_errno(errno);
        if (n == 0)
            break;
        len += (size_t)n;
    }
    return len < room ? (ssize_t)len : MK_E_LIMIT;
}

static ssize_t read_file(int fd, size_t max, struct mk_arena *arena, char **text)
{
    struct stat st;
    size_t room;

    if (fstat(fd, &st) < 0)
        return mk_error_from_errno(errno);
    if (!S_ISREG(st.st_mode))
        return MK_E_INVALID;
    if ((uint64_t)st.st_size > max)
        return MK_E_LIMIT;
    room = (size_t)st.st_size + 1;
    *text = mk_arena_zalloc(arena, room);
    return *text ? read_all(fd, *text, room) : MK_E_NOMEM;
}

MK_AT_START struct mk_str mk_setup_read(struct mk_setup *setup, const char *path, size_t max,
                                        int *error)
{
    int fd = mk_setup_open(setup, path);
    char *text = NULL;
    ssize_t len = fd;

    if (fd >= 0) {
        len = read_file(fd, max, setup->arena, &text);
        mk_fd_close(&fd);
    }
    *error = len < 0 ? (int)len : 0;
    return len < 0 ? (struct mk_str){NULL, 0} : (struct mk_str){text, (size_t)len};
}
