/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include "kit/text/words.h"

#include <errno.h>
#include <stddef.h>
#include <sys/stat.h>
#include <syslog.h>

/* What both sections have, at their beginning. */
struct line_settings {
    struct logger_rules rules;          /* first, as their parsers have it */
    const struct logger_format *format; /* NULL: that of the file */
};

struct file_settings {
    struct line_settings lines;
    int64_t flush_ms;
    const char *master;
    bool to_syslog, rotate_daily;
    int64_t rotate_size, rotate_count;
};

struct site_settings {
    struct line_settings lines;
    const char *access, *error;
};

static int parse_format(struct mk_setup *setup, const struct mk_setting *s)
{
    struct line_settings *settings = mk_setup_settings(setup);
    struct logger_format *format = mk_setup_alloc(setup, sizeof(*format));
    struct mk_template from;
    const char *why;
    int err;

    if (!format)
        return MK_E_NOMEM;
    settings->format = format;
    err = mk_setup_template(setup, s, s->value, MK_TEMPLATE_PRICES, &from);
    if (err < 0)
        return err;
    return logger_format_compile(format, &from, &why) < 0 ? mk_setup_refuse(setup, s, why) : 0;
}

static const struct mk_field file_fields[] = {
    {.name = "FlushTimeout",
     .type = MK_FIELD_TIME,
     .offset = offsetof(struct file_settings, flush_ms),
     .max = 3600 * 1000,
     .fallback = "3"},
    {.name = "MasterLog", .type = MK_FIELD_PATH, .offset = offsetof(struct file_settings, master)},
    {.name = "Format", .type = MK_FIELD_CUSTOM, .parse = parse_format},
    {.name = "Syslog",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct file_settings, to_syslog),
     .fallback = "off"},
    {.name = "RotateSize",
     .type = MK_FIELD_SIZE,
     .offset = offsetof(struct file_settings, rotate_size),
     .min = LOGGER_ROTATE_MIN},
    {.name = "RotateDaily",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct file_settings, rotate_daily),
     .fallback = "off"},
    {.name = "RotateCount",
     .alias = "RotateKeep",
     .type = MK_FIELD_INT,
     .offset = offsetof(struct file_settings, rotate_count),
     .min = 1,
     .max = LOGGER_ROTATE_COUNT_MAX,
     .fallback = "5"},
    {.name = "LogIf",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = logger_rules_parse_condition},
    {.name = "Sample",
     .alias = "LogSample",
     .type = MK_FIELD_CUSTOM,
     .parse = logger_rules_parse_sample},
};
static const struct mk_section_spec file_section =
    MK_SECTION("LOGGER", MK_SECTION_FILE, struct file_settings, file_fields);

static const struct mk_field site_fields[] = {
    {.name = "AccessLog", .type = MK_FIELD_PATH, .offset = offsetof(struct site_settings, access)},
    {.name = "ErrorLog", .type = MK_FIELD_PATH, .offset = offsetof(struct site_settings, error)},
    {.name = "Format", .type = MK_FIELD_CUSTOM, .parse = parse_format},
    {.name = "LogIf",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = logger_rules_parse_condition},
    {.name = "Sample",
     .alias = "LogSample",
     .type = MK_FIELD_CUSTOM,
     .parse = logger_rules_parse_sample},
};
static const struct mk_section_spec site_section =
    MK_SECTION("LOGGER", MK_SECTION_SITE, struct site_settings, site_fields);

/** In [HOST] and [LOCATION]: a file, or one of switches: on is the site's. */
struct location_settings {
    const char *access, *error;
};

/* on and off by turns */
static const char *const switches[] = {"on", "off", "yes", "no", "true", "false", NULL};

static const struct mk_field location_fields[] = {
    {.name = "AccessLog",
     .type = MK_FIELD_PATH,
     .offset = offsetof(struct location_settings, access),
     .names = switches,
     .fallback = "on"},
    {.name = "ErrorLog",
     .type = MK_FIELD_PATH,
     .offset = offsetof(struct location_settings, error),
     .names = switches,
     .fallback = "on"},
};
static const struct mk_section_spec location_section =
    MK_SECTION("LOCATION", MK_SECTION_LOCATION, struct location_settings, location_fields);

const struct mk_section_spec *const logger_sections[] = {&file_section, &location_section,
                                                         &site_section, NULL};

/* ---- places ---- */

static int add_place(struct mk_setup *setup, struct logger_config *c,
                     const struct logger_place *place, int *index)
{
    struct logger_place *copy = mk_setup_alloc(setup, sizeof(*copy));

    if (!copy)
        return MK_E_NOMEM;
    *copy = *place;
    *c->last = copy;
    c->last = &copy->next;
    *index = c->nplaces++;
    return place->is_syslog ? 0 : mk_setup_needs(setup, MK_RESOURCE_LOG, place->name);
}

/* The index of a place, which is added when no site has named it before. */
static int find_place(struct mk_setup *setup, struct logger_config *c,
                      const struct logger_place *place, int *index)
{
    *index = 0;
    for (const struct logger_place *p = c->places; p; p = p->next, ++*index) {
        if (p->is_syslog == place->is_syslog && strcmp(p->name, place->name) == 0)
            return 0;
    }
    return add_place(setup, c, place, index);
}

/* A log whose folder is not there cannot be opened at the start. */
static int judge_folder(struct mk_setup *setup, const void *settings, const char *key,
                        const char *path)
{
    const char *slash = strrchr(path, '/');
    struct mk_str folder = {path, slash ? (size_t)(slash - path) : 0};
    struct stat st;

    folder = mk_setup_copy(setup, folder);
    if (!folder.p)
        return MK_E_NOMEM;
    if (folder.len > 0 && stat(folder.p, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
        mk_setup_fault(setup, mk_setup_place(setup, settings, key), "%s: there is no folder %s",
                       key, folder.p);
    return 0;
}

/* Where lines for a file go; with Syslog on to syslog in its place. */
static int place_for(struct mk_setup *setup, struct logger_config *c, const void *settings,
                     const char *key, const char *path, const struct logger_place *in_syslog,
                     int *index)
{
    const struct logger_place file = {.name = path};

    if (!c->to_syslog && path && judge_folder(setup, settings, key, path) < 0)
        return MK_E_NOMEM;
    return find_place(setup, c, c->to_syslog ? in_syslog : &file, index);
}

static const struct logger_place syslog_access = {
    .name = "syslog (access)", .is_syslog = true, .priority = LOG_DAEMON | LOG_INFO};
static const struct logger_place syslog_error = {
    .name = "syslog (errors)", .is_syslog = true, .priority = LOG_DAEMON | LOG_WARNING};

/* ---- checks ---- */

/* No fallback of the table: a dump would have it as a line above the sites, which is each site's own when it is read again. */
static int take_combined(struct mk_setup *setup, const struct logger_format **out)
{
    static const struct mk_template_piece combined = {MK_STR_INIT("combined"), MK_VARIABLE_TEXT};
    const struct mk_template from = {&combined, 1};
    struct logger_format *format = mk_setup_alloc(setup, sizeof(*format));
    const char *why;

    *out = format;
    return format ? logger_format_compile(format, &from, &why) : MK_E_NOMEM;
}

int logger_check(struct mk_setup *setup)
{
    const struct file_settings *set = mk_setup_section(setup, &file_section, NULL);
    struct logger_config *c = mk_setup_alloc(setup, sizeof(*c));

    if (!c)
        return MK_E_NOMEM;
    mk_setup_keep(setup, c);
    c->last = &c->places;
    c->master = LOGGER_NO_TARGET;
    if (!set)
        return 0;
    c->flush_ms = (unsigned)set->flush_ms;
    c->to_syslog = set->to_syslog;
    c->format = set->lines.format;
    if (!c->format && take_combined(setup, &c->format) < 0)
        return MK_E_NOMEM;
    c->rules = set->lines.rules;
    c->rotation.size = (off_t)set->rotate_size;
    c->rotation.daily = set->rotate_daily;
    if (set->rotate_size > 0 || set->rotate_daily)
        c->rotation.count = (unsigned)set->rotate_count;
    if (!set->master && !set->to_syslog)
        return 0;
    return place_for(setup, c, set, "MasterLog", set->master, &syslog_access, &c->master);
}

/* A site's own LogIf lines replace those of the file, and so does its Sample. */
static int merge_rules(struct mk_setup *setup, const struct logger_config *c,
                       const struct logger_rules *own, struct logger_site *site)
{
    struct logger_rules *rules = mk_setup_alloc(setup, sizeof(*rules));

    if (!rules)
        return MK_E_NOMEM;
    *rules = c->rules;
    if (own && own->first) {
        rules->first = own->first;
        rules->asks_remote = own->asks_remote;
    }
    if (own && own->of > 0) {
        rules->take = own->take;
        rules->of = own->of;
        rules->errors_stay = own->errors_stay;
    }
    site->rules = rules->first || rules->of > 0 ? rules : NULL;
    return 0;
}

/* What [HOST] or [LOCATION] says of a log, in place of [LOGGER]. @param index  in: that one's place */
static int choose_in_place(struct mk_setup *setup, struct logger_config *c,
                           const struct location_settings *location, const char *key,
                           const char *value, const struct logger_place *in_syslog, int *index)
{
    for (size_t i = 0; value && switches[i]; i++) {
        if (!text_is_word(mk_str_from(value), mk_str_from(switches[i])))
            continue;
        if (i % 2 == 1)
            *index = LOGGER_NO_TARGET;
        return 0;
    }
    return value ? place_for(setup, c, location, key, value, in_syslog, index) : 0;
}

int logger_check_site(struct mk_setup *setup)
{
    const struct site_settings *set = mk_setup_section(setup, &site_section, NULL);
    const struct location_settings *location = mk_setup_section(setup, &location_section, NULL);
    struct logger_config *c = mk_setup_config(setup);
    struct logger_site *site = mk_setup_alloc(setup, sizeof(*site));
    int err = 0;

    if (!site)
        return MK_E_NOMEM;
    mk_setup_keep(setup, site);
    site->access = c->master;
    site->error = LOGGER_NO_TARGET;
    site->format = set && set->lines.format ? set->lines.format : c->format;
    if (merge_rules(setup, c, set ? &set->lines.rules : NULL, site) < 0)
        return MK_E_NOMEM;
    if (set && set->access)
        err = place_for(setup, c, set, "AccessLog", set->access, &syslog_access, &site->access);
    if (err == 0 && set && set->error)
        err = place_for(setup, c, set, "ErrorLog", set->error, &syslog_error, &site->error);
    if (err == 0 && location)
        err = choose_in_place(setup, c, location, "AccessLog", location->access, &syslog_access,
                              &site->access);
    if (err == 0 && location)
        err = choose_in_place(setup, c, location, "ErrorLog", location->error, &syslog_error,
                              &site->error);
    if (mk_setup_switch(setup) == MK_SWITCH_OFF)
        site->access = site->error = LOGGER_NO_TARGET;
    mk_setup_act(setup, site->access != LOGGER_NO_TARGET || site->error != LOGGER_NO_TARGET
                            ? MK_ACTS_FINISH
                            : 0);
    return err;
}
