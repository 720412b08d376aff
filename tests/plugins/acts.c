/* SPDX-License-Identifier: Apache-2.0 */
#include "reply.h"

#include <monkey/plugin.h>

/* Answers nothing by routes, but at stage 20 where it acts: switched by a Match line, or by a section. */

struct settings {
    bool off;
};

static const struct mk_field fields[] = {
    {.name = "Off", .type = MK_FIELD_BOOL, .offset = offsetof(struct settings, off)},
};
static const struct mk_section_spec section =
    MK_SECTION("ACTS", MK_SECTION_SITE, struct settings, fields);
static const struct mk_section_spec *const sections[] = {&section, NULL};

static int check_site(struct mk_setup *setup)
{
    const struct settings *s = mk_setup_section(setup, &section, NULL);

    if (mk_setup_switch(setup) == MK_SWITCH_ON)
        mk_setup_act(setup, MK_ACTS_REQUEST);
    else if (mk_setup_switch(setup) == MK_SWITCH_OFF || (s && s->off))
        mk_setup_act(setup, 0);
    return 0;
}

static enum mk_verdict on_request(struct mk_request *r, const struct mk_context *ctx)
{
    (void)ctx;
    return reply_text(r, MK_STR("acts"));
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("acts", "for the tests of the host"),
    .sections = sections,
    .check_site = check_site,
    .on_request = on_request,
};
MK_PLUGIN_EXPORT(plugin);
