/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>
#include <monkey/web.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * HTTPS with certificate and key from memory, here from the environment, and no log on the disk: the lines of the error log
 * and of the access log come to functions, which print them. The end of the standard input stops.
 *
 *     cc tls.c $(pkg-config --cflags --libs monkey-web) -o tls
 *     CERTIFICATE=$(cat cert.pem) KEY=$(cat key.pem) ./tls tls 127.0.0.1:8443
 */

static void log_error(void *arg, enum mk_log_level level, const char *component,
                      const char *message)
{
    (void)arg;
    fprintf(stderr, "%s from %s: %s\n", level == MK_LOG_ERROR ? "error" : "note", component,
            message);
}

static void log_access(void *arg, const char *name, const char *lines, size_t len)
{
    (void)arg;
    fprintf(stderr, "%s: %.*s", name, (int)len, lines);
}

static enum mk_verdict hello(struct mk_request *r, void *arg)
{
    (void)arg;
    return mk_reply_bytes(r, 200, "text/plain", MK_STR("hello, in private\n"));
}

/* @param plugin  tls or mbedtls @return 0, or the first error */
static int configure(struct mk_config *config, const char *plugin, const char *address)
{
    const char *const settings[][3] = {
        {"PLUGINS", "Load", plugin},
        {"PLUGINS", "Load", "logger"},
        {"TLS", "CertificateFile", "program:certificate"},
        {"TLS", "KeyFile", "program:key"},
        {"LOGGER", "MasterLog", "program:access"},
        {"LOGGER", "FlushTimeout", "0"},
    };
    const char *folder = getenv("PLUGINS"); /* of an installation in another place */
    char listen[MK_ADDRESS_TEXT];
    int err = folder ? mk_config_plugin_dir(config, folder) : 0;

    (void)snprintf(listen, sizeof(listen), "%s %s", address, plugin);
    if (err == 0)
        err = mk_config_set(config, "SERVER", "Listen", listen, "tls.c");
    for (size_t i = 0; err == 0 && i < sizeof(settings) / sizeof(settings[0]); i++)
        err = mk_config_set(config, settings[i][0], settings[i][1], settings[i][2], "tls.c");
    return err == 0 ? mk_config_handle(config, "GET", "/", hello, NULL) : err;
}

static void print_fault(void *arg, const char *text, size_t len)
{
    (void)arg;
    fprintf(stderr, "%.*s", (int)len, text);
}

int main(int argc, char **argv)
{
    const struct mk_host_text texts[] = {{"certificate", getenv("CERTIFICATE")},
                                         {"key", getenv("KEY")}};
    const struct mk_host host = {.size = sizeof(host),
                                 .log = log_error,
                                 .log_lines = log_access,
                                 .texts = texts,
                                 .ntexts = 2};
    struct mk_config *config;
    struct mk_server *server;
    int err;

    if (argc != 3 || !texts[0].text || !texts[1].text || mk_config_new(&config, &host) != 0 ||
        configure(config, argv[1], argv[2]) != 0)
        return 1;
    err = mk_server_new(&server, config, &host);
    if (err > 0)
        mk_config_faults(config, print_fault, NULL);
    if (err != 0)
        return 2;
    if (mk_server_listen(server) == 0 && mk_server_start(server) == 0)
        (void)getchar();
    mk_server_stop(server, 1000);
    mk_server_free(server);
    return 0;
}
