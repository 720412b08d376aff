/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/config.h"
#include "base/code.h"
#include "setup/plugin.h"

#include <stdio.h>

/* What a plugin does by order of whoever runs the program: mk_config_command. */

MK_AT_START int mk_config_command(struct mk_config *config, const char *plugin,
                                  const char *const *words, char *text, size_t size)
{
    struct mk_setup ctx = {.arena = &config->arena, .faults = &config->faults};
    struct mk_loaded loaded;
    const char *why;
    int err = mk_plugin_by_name(&loaded, mk_config_plugins_from(config), plugin, &ctx, &why);

    text[0] = '\0';
    if (err < 0)
        (void)snprintf(text, size, "%s", err == MK_E_NOENT ? why : mk_error_text(err));
    if (err < 0)
        return err;
    err = loaded.plugin->command ? loaded.plugin->command(words, text, size) : MK_E_UNSUPPORTED;
    if (err == MK_E_UNSUPPORTED)
        (void)snprintf(text, size, "the plugin %s has no command \"%s\"", plugin, words[0]);
    return err;
}
