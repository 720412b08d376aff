/* SPDX-License-Identifier: Apache-2.0 */
#include "reply.h"

#include <monkey/plugin.h>
#include <stdio.h>

/*
 * Sections of each kind. [EACH], of sites and of the plugin's file, repeatable: a route that answers its
 * text. [SHARED], inherited: what the path /shared answers.
 */

struct each {
    const char *match, *text;
};

static const struct mk_field each_fields[] = {
    {.name = "Match", .type = MK_FIELD_STRING, .offset = offsetof(struct each, match)},
    {.name = "Text",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct each, text),
     .fallback = "no text"},
};
static const struct mk_section_spec each_section = MK_SECTION(
    "EACH", MK_SECTION_FILE | MK_SECTION_SITE | MK_SECTION_REPEAT, struct each, each_fields);

struct shared {
    const char *word, *path;
    int64_t number;
    struct mk_words list;
    unsigned ncustom;
};

static int parse_custom(struct mk_setup *setup, const struct mk_setting *s)
{
    struct shared *shared = mk_setup_settings(setup);

    if (s->value.p[0] == '!')
        return mk_setup_refuse(setup, s, "something without !");
    shared->ncustom++;
    return 0;
}

static const struct mk_field shared_fields[] = {
    {.name = "Word", .type = MK_FIELD_STRING, .offset = offsetof(struct shared, word)},
    {.name = "Path", .type = MK_FIELD_PATH, .offset = offsetof(struct shared, path)},
    {.name = "Number",
     .alias = "Count",
     .type = MK_FIELD_INT,
     .min = 1,
     .max = 99,
     .offset = offsetof(struct shared, number),
     .fallback = "7"},
    {.name = "List",
     .type = MK_FIELD_WORDS,
     .flags = MK_FIELD_REPEAT,
     .offset = offsetof(struct shared, list),
     .fallback = "x y"},
    {.name = "Custom", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = parse_custom},
};
static const struct mk_section_spec shared_section = MK_SECTION(
    "SHARED", MK_SECTION_FILE | MK_SECTION_SITE | MK_SECTION_INHERIT, struct shared, shared_fields);

static const struct mk_section_spec *const sections[] = {&each_section, &shared_section, NULL};

enum { EACH_MAX = 8 };

struct config {
    const struct each *global[EACH_MAX];
    const struct mk_origin *at[EACH_MAX];
};

static int check(struct mk_setup *setup)
{
    struct config *config = mk_setup_alloc(setup, sizeof(*config));
    struct each *each = NULL;

    if (!config)
        return MK_E_NOMEM;
    for (int i = 0; i < EACH_MAX; i++) {
        each = mk_setup_section(setup, &each_section, each);
        if (!each)
            break;
        config->global[i] = each;
        config->at[i] = mk_setup_origin(setup, each);
    }
    mk_setup_keep(setup, config);
    return 0;
}

static int add_route(struct mk_setup *setup, const struct each *each, const struct mk_origin *at,
                     bool global)
{
    struct mk_str text = mk_setup_copy(setup, mk_str_from(each->text));
    struct mk_str *data = mk_setup_alloc(setup, sizeof(*data));
    int err;

    if (!text.p || !data)
        return MK_E_NOMEM;
    *data = text;
    if (!each->match) {
        mk_setup_fault(setup, at, "[EACH] needs a Match");
        return MK_E_INVALID;
    }
    err = mk_setup_route(setup, mk_str_from(each->match), data, at, global);
    return err == MK_E_NOMEM ? err : 0;
}

static int describe(struct mk_setup *setup, const struct shared *shared)
{
    char text[512];
    struct mk_str *data = mk_setup_alloc(setup, sizeof(*data));
    int len = snprintf(text, sizeof(text),
                       "word=%s path=%s number=%d list=", shared->word ? shared->word : "-",
                       shared->path ? shared->path : "-", (int)shared->number);

    for (size_t i = 0; i < shared->list.count; i++)
        len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%s", i ? "," : "",
                        shared->list.items[i].p);
    len += snprintf(text + len, sizeof(text) - (size_t)len, " custom=%u written=%s",
                    shared->ncustom, mk_setup_origin(setup, shared) ? "yes" : "no");
    if (!data)
        return MK_E_NOMEM;
    *data = mk_setup_copy(setup, (struct mk_str){text, (size_t)len});
    return data->p ? mk_setup_route(setup, MK_STR("^/shared$"), data, NULL, true) : MK_E_NOMEM;
}

static int check_site(struct mk_setup *setup)
{
    const struct config *config = mk_setup_config(setup);
    struct each *each = NULL;
    int err = 0;

    while (err == 0 && (each = mk_setup_section(setup, &each_section, each)))
        err = add_route(setup, each, mk_setup_origin(setup, each), false);
    for (int i = 0; err == 0 && i < EACH_MAX && config->global[i]; i++)
        err = add_route(setup, config->global[i], config->at[i], true);
    return err < 0 ? err : describe(setup, mk_setup_section(setup, &shared_section, NULL));
}

static int check_match(struct mk_setup *setup, const struct mk_setting *line,
                       const struct mk_words *parameters, void **data)
{
    struct mk_str *text = mk_setup_alloc(setup, sizeof(*text));

    if (parameters->count != 1) {
        mk_setup_fault(setup, &line->value_at, "Match: sections takes one parameter, its text");
        return MK_E_INVALID;
    }
    if (!text)
        return MK_E_NOMEM;
    *text = mk_setup_copy(setup, parameters->items[0]);
    *data = text;
    return text->p ? 0 : MK_E_NOMEM;
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const struct mk_str *text = data;

    (void)ctx;
    if (text->p[0] == '-')
        return MK_VERDICT_PASS;
    return reply_text(r, *text);
}

/* "say WORD": says the word. */
static int command(const char *const *words, char *text, size_t size)
{
    if (strcmp(words[0], "say") != 0)
        return MK_E_UNSUPPORTED;
    if (!words[1])
        return MK_E_INVALID;
    (void)snprintf(text, size, "%s", words[1]);
    return 0;
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("sections", "for the tests of the host"),
    .sections = sections,
    .check = check,
    .check_site = check_site,
    .check_match = check_match,
    .on_handle = on_handle,
    .command = command,
};
MK_PLUGIN_EXPORT(plugin);
