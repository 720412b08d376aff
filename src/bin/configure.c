/* SPDX-License-Identifier: Apache-2.0 */
#include "configure.h"

static int read_sources(struct mk_config *config, const struct mk_options *options)
{
    int err = options->plugin_dir ? mk_config_plugin_dir(config, options->plugin_dir) : 0;

    if (err < 0)
        return err;
    err = options->one_shot ? mk_config_one_shot(config, options->one_shot)
                            : mk_config_read(config, &options->files);

    for (size_t i = 0; err == 0 && i < options->noverrides; i++)
        err = mk_config_set(config, "SERVER", options->overrides[i].key,
                            options->overrides[i].value, "command line");
    return err;
}

int mk_configure(const struct mk_options *options, const struct mk_host *host,
                 const struct mk_config *before, struct mk_config **config)
{
    int err = mk_config_new(config, host);

    if (err < 0)
        return err;
    mk_config_follow(*config, before);
    err = read_sources(*config, options);
    if (err == 0)
        err = mk_config_check(*config);
    if (err < 0) {
        mk_config_free(*config);
        *config = NULL;
    }
    return err;
}
