/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/config.h"
#include "base/code.h"
#include "server/run/server.h"

/* Where configuration and server meet. */

#ifndef MK_VERSION
#define MK_VERSION "0"
#endif

typedef void (*line_fn)(struct mk_server *server, bool is_warning, struct mk_str line);

/* The first line of a fault's text says it all; the others show where. */
static void report_faults(struct mk_server *server, const struct mk_config *config, line_fn fn)
{
    for (const struct mk_fault *fault = config->faults.first; fault; fault = fault->next) {
        struct mk_str line = MK_STR("out of memory");
        struct mk_arena scratch;
        const char *text;

        mk_arena_init(&scratch, NULL, 0, SIZE_MAX);
        text = mk_fault_text(fault, &scratch);
        if (text)
            line = (struct mk_str){text, strcspn(text, "\n")};
        fn(server, fault->is_warning, line);
        mk_arena_fini(&scratch);
    }
}

MK_AT_START int mk_server_new(struct mk_server **server, struct mk_config *config,
                              const struct mk_host *host)
{
    int err;

    *server = NULL;
    if (!mk_config_is_free(config))
        return MK_E_INVALID;
    err = mk_config_check(config);
    if (err > 0)
        return err;
    if (err == 0)
        *server = mk_server_create(&config->snapshot, host);
    if (!*server) {
        mk_config_free(config);
        return MK_E_NOMEM;
    }
    report_faults(*server, config, mk_start_report_line);
    mk_config_drop_text(config);
    mk_snapshot_put(&config->snapshot);
    return 0;
}

MK_AT_START const struct mk_config *mk_server_config(const struct mk_server *server)
{
    return server ? mk_server_snapshot(server)->arg : NULL;
}

/* @return 0, > 0 or an error; config is taken with 0 only. */
static int change_to(struct mk_server *server, struct mk_config *config)
{
    int err;

    mk_config_follow(config, mk_server_config(server));
    err = mk_config_check(config);
    report_faults(server, config, mk_reload_report_line);
    if (err > 0)
        mk_reload_report_failed(server, "the configuration has errors");
    else if (err < 0)
        mk_reload_report_failed(server, mk_error_text(err));
    if (err != 0)
        return err;
    err = mk_server_swap(server, &config->snapshot);
    if (err < 0)
        mk_reload_report_failed(server, mk_server_why(server));
    return err;
}

MK_AT_START void mk_server_reload_failed(struct mk_server *server, const char *why)
{
    if (!server || !why)
        return;
    mk_reload_begin(server);
    mk_reload_report_failed(server, why);
}

MK_AT_START int mk_server_reload(struct mk_server *server, struct mk_config *config)
{
    int err;

    if (!server || !mk_config_is_free(config))
        return MK_E_INVALID;
    mk_reload_begin(server);
    err = change_to(server, config);
    if (err != 0)
        return err;
    mk_config_drop_text(config);
    mk_snapshot_put(&config->snapshot);
    return 0;
}

#ifndef MK_STATIC_PLUGINS
#define MK_STATIC_PLUGINS ""
#endif

const char *mk_version(void)
{
    return MK_VERSION;
}

MK_AT_START const char *mk_build_facts(void)
{
    return "version  " MK_VERSION "\n"
           "compiler " __VERSION__ "\n"
#if defined(__GLIBC__)
           "libc     glibc\n"
#else
           "libc     musl or other\n"
#endif
#ifdef NDEBUG
           "build    release\n"
#else
           "build    with assertions\n"
#endif
           "plugins  liana" MK_STATIC_PLUGINS "\n"
           "modules  " MK_PLUGINDIR "\n";
}
