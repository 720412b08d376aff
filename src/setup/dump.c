/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "base/code.h"
#include "setup/config.h"
#include "setup/plugin.h"
#include "setup/wants.h"

#include <stdarg.h>
#include <stdio.h>

/* The effective settings as text that reads back, each under a comment that says where it came from. */

struct dump {
    mk_text_fn fn;
    void *arg;
    struct mk_arena scratch;
    const char *only;    /* a section; NULL: all */
    const char *place;   /* the file of what follows; NULL: was said */
    const char *section; /* of what follows; NULL: was said */
    bool is_changed;     /* only what is not as by default */
    bool is_there;       /* a section of that name, whatever is said of it */
    bool failed, any;
};

static void say(struct dump *d, const char *fmt, ...) MK_PRINTF(2, 3);

static void say(struct dump *d, const char *fmt, ...)
{
    char line[MK_ADDR_TEXT + 8400];
    va_list args;
    int len;

    va_start(args, fmt);
    len = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    if (len < 0 || len >= (int)sizeof(line))
        d->failed = true;
    else
        d->fn(d->arg, line, (size_t)len);
}

static void say_section(struct dump *d)
{
    if (!d->section)
        return;
    if (d->place)
        say(d, "%s# %s", d->any ? "\n" : "", d->place);
    say(d, "\n[%s]\n", d->section);
    d->place = d->section = NULL;
    d->any = true;
}

static void say_origin(struct dump *d, const struct mk_origin *at)
{
    say_section(d);
    if (at->line)
        say(d, "    # %s:%u\n", at->file, at->line);
    else
        say(d, "    # %s\n", at->file);
}

static bool is_field(const struct mk_field *f, struct mk_str key)
{
    return mk_str_ieq(key, mk_str_from(f->name)) ||
           (f->alias && mk_str_ieq(key, mk_str_from(f->alias))) || (f->flags & MK_FIELD_ANY_KEY);
}

/* As it is written in a file: a # that begins a word would be a comment. */
static const char *written(struct dump *d, const char *value)
{
    char *copy, *to;

    if (!strchr(value, '#'))
        return value;
    copy = to = mk_arena_zalloc(&d->scratch, 2 * strlen(value) + 1);
    d->failed |= !copy;
    for (char before = ' '; copy && *value; before = *value++) {
        if (*value == '#' && (before == ' ' || before == '\t'))
            *to++ = '\\';
        *to++ = *value;
    }
    return copy ? copy : value;
}

static void dump_setting(struct dump *d, const char *key, const struct mk_setting *s)
{
    say_origin(d, &s->value_at);
    say(d, "    %s %s\n", key, written(d, s->value.p));
}

/* Repeatable and custom fields as they were written. @return whether there was any. */
static bool dump_written(struct dump *d, const struct mk_field *f, const struct mk_section *s)
{
    bool any = false;

    for (const struct mk_setting *at = s ? s->first : NULL; at; at = at->next) {
        if (!is_field(f, at->key))
            continue;
        dump_setting(d, f->flags & MK_FIELD_ANY_KEY ? at->key.p : f->name, at);
        any = true;
    }
    return any;
}

static void say_default(struct dump *d, const struct mk_field *f, const char *value)
{
    if (d->is_changed)
        return;
    say_section(d);
    say(d, "    # default\n    %s %s\n", f->name, written(d, value));
}

/* @param value  as mk_field_format writes it */
static bool is_default(const struct mk_field *f, const char *value)
{
    const struct mk_str texts[] = {mk_str_from(value), mk_str_from(f->fallback)};
    int64_t numbers[2];

    if (!f->fallback)
        return false;
    for (int i = 0; i < 2; i++) {
        if (f->type == MK_FIELD_TIME && mk_read_time(texts[i], &numbers[i]) < 0)
            return false;
        if (f->type == MK_FIELD_SIZE &&
            mk_read_size(texts[i], f->flags & MK_FIELD_KB ? 1024 : 1, &numbers[i]) < 0)
            return false;
    }
    if (f->type == MK_FIELD_TIME || f->type == MK_FIELD_SIZE)
        return numbers[0] == numbers[1];
    return mk_str_eq(texts[0], texts[1]);
}

static void dump_field(struct dump *d, const struct mk_field *f, const struct mk_section *s,
                       const void *settings)
{
    const struct mk_setting *source = mk_field_source(f, s);
    char *value;

    if (!settings || f->type == MK_FIELD_CUSTOM || (f->flags & MK_FIELD_REPEAT)) {
        if (!dump_written(d, f, s) && f->fallback && settings)
            say_default(d, f, f->fallback);
        return;
    }
    value = mk_field_format(f, settings, &d->scratch);
    if (!value)
        d->failed = true;
    if (!value || !*value)
        return;
    if (!source) {
        if (f->fallback)
            say_default(d, f, value);
        return;
    }
    if (d->is_changed && is_default(f, value))
        return;
    say_origin(d, &source->value_at);
    say(d, "    %s %s\n", f->name, written(d, value));
}

/* @return whether it is wanted. */
static bool dump_section(struct dump *d, const struct mk_section_spec *spec,
                         const struct mk_section *s, const void *settings)
{
    if (d->only && !mk_str_ieq(mk_str_from(spec->name), mk_str_from(d->only)))
        return false;
    d->is_there = true;
    d->section = spec->name;
    if (!d->is_changed)
        say_section(d);
    for (size_t i = 0; i < spec->nfields; i++)
        dump_field(d, &spec->fields[i], s, settings);
    return true;
}

static void dump_core(struct dump *d, const struct mk_section_spec *spec,
                      const struct mk_tree *tree, const void *settings)
{
    const struct mk_section *s = mk_section_find(tree->first, mk_str_from(spec->name));

    if (s || !(spec->fields[0].flags & MK_FIELD_REPEAT) || spec->nfields > 1)
        (void)dump_section(d, spec, s, settings);
}

/* Of the whole a file's comment is said even where no section of it is. */
static void begin_place(struct dump *d, const char *name)
{
    d->place = name;
    if (d->only || d->is_changed || !name)
        return;
    say(d, "%s# %s", d->any ? "\n" : "", name);
    d->any = true;
    d->place = NULL;
}

static void dump_plugin(struct dump *d, const struct mk_loaded *p)
{
    char *name;

    if (!p->draft->of_file)
        return;
    name = mk_arena_printf(&d->scratch, "plugins/%s/", p->plugin->name);
    d->failed |= !name;
    begin_place(d, name);
    for (const struct mk_occurrence *o = p->draft->of_file; o; o = o->next)
        (void)dump_section(d, o->spec, &o->effective, o->settings);
}

/* Some hundred lines that are as in the file say nothing of this configuration; who wants them asks for the section. */
static void dump_mimes(struct dump *d, const struct mk_tree *tree)
{
    const struct mk_section *s = mk_section_find(tree->first, mk_str_from(mk_spec_mime.name));
    const char *file = NULL;
    size_t count = 0;

    begin_place(d, "monkey.mime");
    if (d->only) {
        dump_core(d, &mk_spec_mime, tree, NULL);
        return;
    }
    for (const struct mk_setting *at = s ? s->first : NULL; at; at = at->next, count++)
        file = at->value_at.file;
    if (count > 0 && !d->is_changed)
        say(d, "\n# %zu types as in %s; monkey --dump MIMETYPES shows them\n", count, file);
}

/* Load lines, and those that there would be for plugins that are loaded by themselves, with the lines that they are for. */
static void dump_loads(struct dump *d, const struct mk_config *config)
{
    const struct mk_section *s =
        mk_section_find(config->source.plugins.first, mk_str_from(mk_spec_plugins.name));
    bool is_begun = s && s->first && dump_section(d, &mk_spec_plugins, s, NULL);

    for (size_t i = 0; i < config->snapshot.nplugins && !d->is_changed; i++) {
        const struct mk_loaded *p = &config->snapshot.plugins[i];
        const struct mk_want *want = p->draft->want;
        struct mk_str line;

        if (!want || (!is_begun && !dump_section(d, &mk_spec_plugins, NULL, NULL)))
            continue;
        is_begun = true;
        line = mk_str_trim(want->at->text);
        say(d, "    # %s:%u: %.*s\n    Load %s\n", want->at->file, want->at->line,
            (int)(line.len < 200 ? line.len : 200), line.p, p->plugin->name);
    }
}

/* A section to whose keys plugins add theirs. */
static void dump_place(struct dump *d, const struct mk_snapshot *s,
                       const struct mk_section_spec *spec, const struct mk_section *section,
                       const void *settings)
{
    if (!dump_section(d, spec, section, settings))
        return;
    for (const struct mk_setting *at = section ? section->first : NULL; at; at = at->next) {
        if (mk_plugins_have_key(s, at->key))
            dump_setting(d, at->key.p, at);
    }
}

/* Without settings: a default here would hold in place of what the site says. */
static void dump_places(struct dump *d, const struct mk_snapshot *s, const struct mk_tree *tree,
                        const void *settings)
{
    struct mk_section *at = tree->first;

    dump_place(d, s, &mk_spec_host, mk_section_find(at, MK_STR("HOST")), settings);
    for (; (at = mk_section_find(at, MK_STR("LOCATION"))); at = at->next)
        dump_place(d, s, &mk_spec_location, at, NULL);
}

/* Sections that the site's file has; what only the plugin's has stands there. */
static void dump_plugin_of_site(struct dump *d, const struct mk_loaded *p, size_t site)
{
    for (const struct mk_occurrence *o = p->draft->of_sites[site]; o; o = o->next) {
        if (o->section && !(o->spec->flags & MK_SECTION_LOCATION))
            (void)dump_section(d, o->spec, &o->effective, o->settings);
    }
}

static void dump_site(struct dump *d, const struct mk_config *config, size_t index)
{
    const struct mk_snapshot *s = &config->snapshot;
    const struct mk_tree *tree = &config->source.sites[index];
    const struct mk_site_settings *set = &s->sites[index].set;

    begin_place(d, *config->sites[index].path ? config->sites[index].path : "default site");
    dump_places(d, s, tree, set);
    dump_core(d, &mk_spec_error_pages, tree, set);
    dump_core(d, &mk_spec_handlers, tree, set);
    for (size_t i = 0; i < s->nplugins; i++)
        dump_plugin_of_site(d, &s->plugins[i], index);
}

static int dump_all(struct dump *d, const struct mk_config *config)
{
    if (!config->checked || config->check_result != 0 || config->source.nsites == 0)
        return MK_E_INVALID; /* nsites: a server has taken it */
    mk_arena_init(&d->scratch, NULL, 0, SIZE_MAX);
    begin_place(d, "monkey.conf");
    dump_core(d, &mk_spec_server, &config->source.server, &config->snapshot.set);
    dump_mimes(d, &config->source.mimes);
    begin_place(d, "plugins.load");
    dump_loads(d, config);
    for (size_t i = 0; i < config->snapshot.nplugins; i++)
        dump_plugin(d, &config->snapshot.plugins[i]);
    for (size_t i = 0; i < config->source.nsites; i++)
        dump_site(d, config, i);
    if (d->any)
        say(d, "\n");
    mk_arena_fini(&d->scratch);
    return d->failed ? MK_E_NOMEM : 0;
}

MK_AT_START int mk_config_dump(const struct mk_config *config, mk_text_fn fn, void *arg)
{
    struct dump d = {.fn = fn, .arg = arg};

    return dump_all(&d, config);
}

static int dump_some(struct dump *d, const struct mk_config *config)
{
    int err = dump_all(d, config);

    return err < 0 ? err : d->is_there ? 0 : MK_E_NOENT;
}

MK_AT_START int mk_config_dump_section(const struct mk_config *config, const char *section,
                                       mk_text_fn fn, void *arg)
{
    struct dump d = {.fn = fn, .arg = arg, .only = section};

    return dump_some(&d, config);
}

MK_AT_START int mk_config_dump_changed(const struct mk_config *config, const char *section,
                                       mk_text_fn fn, void *arg)
{
    struct dump d = {.fn = fn, .arg = arg, .only = section, .is_changed = true};

    return dump_some(&d, config);
}
