/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"
#include "theme.h"

#include "kit/text/escape.h"

#include <monkey/plugin.h>

#include <stdio.h>
#include <strings.h>
#include <unistd.h>

/*
 * Shows the directories that have no index file, where `Listing on` says so, or a site's `Match ... dirlisting` for the
 * paths that match.
 */

enum { ROOM_MAX = 64 << 20 }; /* bytes of large listings at the same time, beside 8 MB of one */

struct dirlisting_settings {
    struct mk_str theme; /* p NULL: what is built in */
    struct mk_origin theme_at;
    const char *theme_path;
    bool listing;
};

/** What [HOST] and [LOCATION] may say, which has precedence. */
struct place_settings {
    bool is_said, listing;
};

/** What a site may say for itself. */
struct site_settings {
    bool listing;
};

struct dirlisting_config {
    struct dirlisting_theme html, json;
    struct dirlisting_room *room; /* from start to stop */
    bool listing;                 /* on sites that say nothing */
};

/* The name of a folder beside the file that has the line. */
static int parse_theme(struct mk_setup *setup, const struct mk_setting *s)
{
    struct dirlisting_settings *settings = mk_setup_settings(setup);

    if (s->value.len == 0 || s->value.p[0] == '.' || memchr(s->value.p, '/', s->value.len))
        return mk_setup_refuse(setup, s, "the name of a folder in themes/, beside this file");
    settings->theme = mk_setup_copy(setup, s->value);
    settings->theme_at = s->value_at;
    return settings->theme.p ? 0 : MK_E_NOMEM;
}

static const struct mk_field fields[] = {
    {.name = "Theme", .type = MK_FIELD_CUSTOM, .parse = parse_theme},
    {.name = "ThemePath",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct dirlisting_settings, theme_path)},
    {.name = "Listing",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct dirlisting_settings, listing),
     .fallback = "off"},
};

static const struct mk_section_spec section =
    MK_SECTION("DIRLISTING", MK_SECTION_FILE, struct dirlisting_settings, fields);

static const struct mk_field site_fields[] = {
    {.name = "Listing",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct site_settings, listing),
     .fallback = "off"},
};
static const struct mk_section_spec site_section =
    MK_SECTION("DIRLISTING", MK_SECTION_SITE, struct site_settings, site_fields);

/* A place that says nothing is as the section has it, so there is no default. */
static int parse_listing(struct mk_setup *setup, const struct mk_setting *s)
{
    static const char *const words[] = {"on", "off", "yes", "no", "true", "false"};
    struct place_settings *place = mk_setup_settings(setup);

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(s->value.p, words[i]) != 0)
            continue;
        *place = (struct place_settings){.is_said = true, .listing = i % 2 == 0};
        return 0;
    }
    return mk_setup_refuse(setup, s, "on or off");
}

static const struct mk_field place_fields[] = {
    {.name = "Listing", .type = MK_FIELD_CUSTOM, .parse = parse_listing},
};
static const struct mk_section_spec place_section =
    MK_SECTION("LOCATION", MK_SECTION_LOCATION, struct place_settings, place_fields);

static const struct mk_section_spec *const sections[] = {&section, &place_section, &site_section,
                                                         NULL};

/* Beside the file of the section: monkey.conf -> themes/NAME */
static char *folder_of(struct mk_setup *setup, const struct dirlisting_settings *s)
{
    const char *file = s->theme_at.file, *slash = strrchr(file, '/');
    int dir_len = slash ? (int)(slash - file) + 1 : 0;
    size_t room = (size_t)dir_len + s->theme.len + sizeof("themes/");
    char *path = mk_setup_alloc(setup, room);

    if (path)
        (void)snprintf(path, room, "%.*sthemes/%s", dir_len, file, s->theme.p);
    return path;
}

/* The theme that came with the server in Monkey 1, where it was not kept. */
static bool is_old_name(struct mk_setup *setup, const char *folder,
                        const struct dirlisting_settings *s)
{
    if (strcmp(s->theme.p, "guineo") != 0 || access(folder, F_OK) == 0)
        return false;
    mk_setup_warn(setup, &s->theme_at,
                  "Theme: guineo was a theme of Monkey 1; the built-in theme is used");
    return true;
}

static int read_theme(struct mk_setup *setup, struct dirlisting_theme *theme,
                      const struct dirlisting_settings *s)
{
    char *folder = folder_of(setup, s);

    if (!folder)
        return MK_E_NOMEM;
    if (is_old_name(setup, folder, s))
        return dirlisting_theme_of_texts(theme, setup, &dirlisting_default_texts, 0);
    return dirlisting_theme_read(theme, setup, folder, &s->theme_at);
}

static int escape_path(struct mk_setup *setup, struct dirlisting_theme *theme, const char *path)
{
    struct mk_str text = mk_str_from(path ? path : "");
    char *p = mk_setup_alloc(setup, text.len * TEXT_HTML_GROWTH + 1);

    if (!p)
        return MK_E_NOMEM;
    theme->path = (struct mk_str){p, text_html(p, text)};
    return 0;
}

static bool says_path(const struct dirlisting_theme *t)
{
    return dirlisting_template_has(&t->header, DIRLISTING_THEME_PATH) ||
           dirlisting_template_has(&t->entry, DIRLISTING_THEME_PATH) ||
           dirlisting_template_has(&t->footer, DIRLISTING_THEME_PATH);
}

static int check(struct mk_setup *setup)
{
    const struct dirlisting_settings *s = mk_setup_section(setup, &section, NULL);
    struct dirlisting_config *config = mk_setup_alloc(setup, sizeof(*config));
    int err;

    if (!config)
        return MK_E_NOMEM;
    mk_setup_keep(setup, config);
    config->listing = s && s->listing;
    err = dirlisting_theme_of_texts(&config->json, setup, &dirlisting_json_texts, DIRLISTING_JSON);
    if (err == 0)
        err = escape_path(setup, &config->html, s ? s->theme_path : NULL);
    if (err == 0 && s && s->theme.p)
        err = read_theme(setup, &config->html, s);
    else if (err == 0)
        err = dirlisting_theme_of_texts(&config->html, setup, &dirlisting_default_texts, 0);
    if (err == 0 && s && !s->theme_path && says_path(&config->html))
        mk_setup_warn(setup, &s->theme_at,
                      "the theme has %%_theme_path_%%, which is empty without ThemePath");
    return err == MK_E_NOMEM ? err : 0;
}

static int check_site(struct mk_setup *setup)
{
    const struct dirlisting_config *config = mk_setup_config(setup);
    const struct site_settings *site = mk_setup_section(setup, &site_section, NULL);
    const struct place_settings *place = mk_setup_section(setup, &place_section, NULL);
    bool listing = site ? site->listing : config && config->listing;

    if (mk_setup_switch(setup) == MK_SWITCH_ON)
        listing = true;
    if (place && place->is_said)
        listing = place->listing;
    mk_setup_act(setup, listing ? MK_ACTS_DIRECTORY : 0);
    return 0;
}

static int start(const struct mk_context *ctx, const struct mk_context *old)
{
    struct dirlisting_config *config = ctx->config;
    const struct dirlisting_config *before = old ? old->config : NULL;

    config->room = before ? dirlisting_room_get(before->room) : dirlisting_room_new(ROOM_MAX);
    if (!config->room)
        mk_plugin_why(ctx, "%s", mk_error_text(MK_E_NOMEM));
    return config->room ? 0 : MK_E_NOMEM;
}

static void stop(const struct mk_context *ctx)
{
    struct dirlisting_config *config = ctx->config;

    dirlisting_room_put(config->room);
}

static enum mk_verdict on_directory(struct mk_request *r, const struct mk_context *ctx, int fd)
{
    const struct dirlisting_config *config = ctx->config;

    return dirlisting_answer(r, &config->html, &config->json, config->room, fd);
}

static const struct mk_plugin dirlisting = {
    MK_PLUGIN("dirlisting", "shows directories"),
    .sections = sections,
    .check = check,
    .check_site = check_site,
    .start = start,
    .stop = stop,
    .on_directory = on_directory,
};
MK_PLUGIN_EXPORT(dirlisting);
