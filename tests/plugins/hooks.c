/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/plugin.h>

/* Answers with what its hooks got: the smallest plugin with settings of a site. */

struct hooks_settings {
    const char *text;
};

static const struct mk_field fields[] = {
    {.name = "Text",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct hooks_settings, text),
     .fallback = "nothing set"},
};
static const struct mk_section_spec section =
    MK_SECTION("HOOKS", MK_SECTION_SITE, struct hooks_settings, fields);
static const struct mk_section_spec *const sections[] = {&section, NULL};

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const struct hooks_settings *site = ctx->site;
    struct mk_str text = mk_str_from(site->text);
    struct mk_reply p;

    (void)data;
    if (mk_reply_begin(&p, r, 200) < 0)
        return MK_VERDICT_CLOSE;
    mk_reply_line(&p, MK_STR("Content-Type"), MK_STR("text/plain"));
    if (mk_reply_end(&p, (int64_t)text.len) < 0 || mk_reply_memory(r, text) < 0)
        return MK_VERDICT_CLOSE;
    return MK_VERDICT_DONE;
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("hooks", "for the tests of the host"),
    .sections = sections,
    .on_handle = on_handle,
};
MK_PLUGIN_EXPORT(plugin);
