/* SPDX-License-Identifier: Apache-2.0 */
#include "make_cert.h"

#include "paths.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>

/* The program knows nothing of certificates: it asks whichever plugin for TLS is there. */

enum { NAMES_MAX = 64, TEXT_MAX = 1000 };

/* @return 0, MK_E_NOENT: there is no such plugin; another error. */
static int ask(const char *plugin, const char *dir, const char *const *words, char *text)
{
    struct mk_config *config = NULL;
    int err = mk_config_new(&config, NULL);

    if (err == 0 && dir)
        err = mk_config_plugin_dir(config, dir);
    (void)snprintf(text, TEXT_MAX, "%s", mk_error_text(err));
    if (err == 0)
        err = mk_config_command(config, plugin, words, text, TEXT_MAX);
    mk_config_free(config);
    return err;
}

static int ask_any(const char *const *words)
{
    static const char *const plugins[] = {"tls", "mbedtls"};
    char *dir = mk_path_built_plugins();
    char text[TEXT_MAX];
    int err = MK_E_NOENT;

    for (size_t i = 0; err == MK_E_NOENT && i < sizeof(plugins) / sizeof(plugins[0]); i++)
        err = ask(plugins[i], dir, words, text);
    free(dir);
    if (err == 0)
        (void)mk_print("%s", text);
    else if (err == MK_E_NOENT)
        mk_report("--make-cert needs the plugin tls or mbedtls; %s", text);
    else
        mk_report("%s", text);
    return err < 0 ? -1 : 0;
}

int mk_make_cert(const struct mk_options *options)
{
    const char *words[NAMES_MAX + 3] = {"make-cert", options->cert_dir};

    for (size_t i = 0; options->cert_names[i]; i++) {
        if (i == NAMES_MAX) {
            mk_report("more than %d names for one certificate", NAMES_MAX);
            return -1;
        }
        words[2 + i] = options->cert_names[i];
    }
    return ask_any(words);
}
