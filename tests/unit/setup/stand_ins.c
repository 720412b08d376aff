/* SPDX-License-Identifier: Apache-2.0 */
#define MK_PLUGIN_STATIC
#include <monkey/plugin.h>

/* Setup is tested without the server, which brings these: only their names matter here. */

static const struct mk_transport sockets = {.size = sizeof(sockets), .name = "liana"};
static const struct mk_plugin liana = {
    MK_PLUGIN("liana", "carries nothing"),
    .transport = &sockets,
    .traits = MK_TRAIT_ALWAYS,
};
MK_PLUGIN_EXPORT(liana);

static enum mk_verdict pass(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    (void)r;
    (void)ctx;
    (void)data;
    return MK_VERDICT_PASS;
}

static const struct mk_plugin echo = {
    MK_PLUGIN("echo", "answers nothing"),
    .on_handle = pass,
};
static const struct mk_plugin *const echo_row __attribute__((used, section("mk_plugins"))) = &echo;
