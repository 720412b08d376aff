/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/plugin.h>

/* [HANDLERS] `Match ^/hello hello`: answers with the `Greeting` of the site's [HELLO]. */

struct hello_settings {
    const char *greeting;
};

static const struct mk_field hello_fields[] = {
    {.name = "Greeting",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct hello_settings, greeting),
     .fallback = "Hello"},
};
static const struct mk_section_spec hello_section =
    MK_SECTION("HELLO", MK_SECTION_SITE, struct hello_settings, hello_fields);
static const struct mk_section_spec *const hello_sections[] = {&hello_section, NULL};

static enum mk_verdict hello_on_handle(struct mk_request *r, const struct mk_context *ctx,
                                       void *data)
{
    const struct hello_settings *settings = ctx->site;
    char *text = mk_request_printf(r, "%s\n", settings->greeting);

    (void)data;
    if (!text)
        return mk_reply_error(r, 503, NULL);
    return mk_reply_bytes(r, 200, "text/plain; charset=utf-8", mk_str_from(text));
}

static const struct mk_plugin hello = {
    MK_PLUGIN("hello", "greets"),
    .sections = hello_sections,
    .on_handle = hello_on_handle,
};
MK_PLUGIN_EXPORT(hello);
