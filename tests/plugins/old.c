/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/plugin.h>

#include <stdbool.h>

/*
 * Built with the first header of major version 1, kept in frozen/monkey_v1: it must run on every later
 * server of that version. Behind its description stands what no server may take for a part of it.
 */

struct settings {
    const char *text;
    int64_t times;
};

static const struct mk_field fields[] = {
    {.name = "Text",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct settings, text),
     .fallback = "old"},
    {.name = "Times",
     .type = MK_FIELD_INT,
     .min = 1,
     .max = 9,
     .offset = offsetof(struct settings, times),
     .fallback = "1"},
};
static const struct mk_section_spec section = MK_SECTION(
    "OLD", MK_SECTION_FILE | MK_SECTION_SITE | MK_SECTION_INHERIT, struct settings, fields);
static const struct mk_section_spec *const sections[] = {&section, NULL};

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const struct settings *s = ctx->site;
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_reply p;
    char *text;

    (void)data;
    mk_request_facts(r, &facts);
    text = mk_request_printf(r, "%.*s %s %d", (int)facts.path.len, facts.path.p, s->text,
                             (int)s->times);
    if (!text || mk_reply_begin(&p, r, 200) < 0)
        return MK_VERDICT_CLOSE;
    mk_reply_line(&p, MK_STR("Content-Type"), MK_STR("text/plain"));
    if (mk_reply_end(&p, (int64_t)strlen(text)) < 0 || mk_reply_memory(r, mk_str_from(text)) < 0)
        return MK_VERDICT_CLOSE;
    return MK_VERDICT_DONE;
}

static void must_not_be_called(void)
{
    __builtin_trap();
}

static const struct {
    struct mk_plugin plugin;
    void (*behind[8])(void);
} plugin = {
    .plugin = {MK_PLUGIN("old", "built with the first header"), .sections = sections,
               .on_handle = on_handle},
    .behind = {must_not_be_called, must_not_be_called, must_not_be_called, must_not_be_called,
               must_not_be_called, must_not_be_called, must_not_be_called, must_not_be_called},
};
MK_PLUGIN_EXPORT(plugin.plugin);
