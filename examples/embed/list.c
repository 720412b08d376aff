/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>

#include <stdio.h>

/*
 * Print the addresses, sites, workers and media types of a server.
 *
 *     cc list.c $(pkg-config --cflags --libs monkey) -o list && ./list 127.0.0.1:0
 */

static const char origin[] = "list"; /* where a setting comes from, in messages */

static void print(void *arg, const char *text, size_t len)
{
    (void)arg;
    (void)fwrite(text, 1, len, stdout);
}

static void print_address(void *arg, const char *text, size_t len)
{
    (void)arg;
    printf("address %.*s\n", (int)len, text);
}

static int configure(struct mk_config *config, const char *address)
{
    if (mk_config_set(config, "SERVER", "Listen", address, origin) != 0 ||
        mk_config_set(config, "SERVER", "Workers", "2", origin) != 0 ||
        mk_config_set(config, "MIMETYPES", "quiz", "text/x-quiz", origin) != 0)
        return -1;
    return mk_config_set_site(config, "files", "HOST", "ServerName", "files.example.org", origin);
}

/* A server takes the configuration, and keeps none of its texts. */
static void print_settings(const struct mk_config *config)
{
    if (mk_config_dump_section(config, "HOST", print, NULL) < 0 ||
        mk_config_dump_section(config, "MIMETYPES", print, NULL) < 0)
        fprintf(stderr, "not all settings could be shown\n");
}

static void print_running(const struct mk_server *server)
{
    struct mk_worker_stats stats = {.size = sizeof(stats)};

    mk_server_addresses(server, print_address, NULL);
    for (unsigned i = 0; mk_server_stats(server, i, &stats) == 0; i++)
        printf("worker %u: %llu connections\n", i, (unsigned long long)stats.connections);
}

int main(int argc, char **argv)
{
    struct mk_config *config;
    struct mk_server *server;
    int err = 1;

    if (argc != 2 || mk_config_new(&config, NULL) != 0 || configure(config, argv[1]) != 0 ||
        mk_config_check(config) != 0)
        return 1;
    print_settings(config);
    if (mk_server_new(&server, config, NULL) != 0)
        return 1;
    if (mk_server_listen(server) == 0 && mk_server_start(server) == 0) {
        print_running(server);
        err = 0;
    }
    mk_server_free(server);
    return err;
}
