/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASKER_H
#define ASKER_H

#include <monkey/server.h>
#include <monkey/web.h>
#include <monkey/web/later.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The frame of programs whose handlers ask another server, for tests: PROGRAM SOCKET URL WORKERS [OWN ...] [SECTION:KEY:VALUE ...].
 * They end when their input does. GET /alive is answered by "alive" without asking anybody.
 */

struct asker_route {
    const char *path;
    mk_handle_fn fn;
};

struct asker {
    const struct asker_route *routes; /* end with NULL */
    int nown;                         /* words of its own */
    /* Make the client that handlers get. @return 0; else why is set */
    int (*make)(void **client, const char *url, char **own, const char **why);
    void (*free)(void *client);
};

/* The verdict of a handler that has asked with this result. */
static inline enum mk_verdict asker_wait(struct mk_request *r, int err)
{
    return err < 0 ? mk_reply_failure(r, err) : MK_VERDICT_LATER;
}

static inline enum mk_verdict asker_explain(struct mk_request *r, int result, const char *text)
{
    const char *line = mk_request_printf(r, "%d %s", result, text);

    return line ? mk_reply_bytes(r, 200, "text/plain", mk_str_from(line))
                : mk_reply_failure(r, MK_E_NOMEM);
}

static inline enum mk_verdict asker_alive(struct mk_request *r, void *arg)
{
    (void)arg;
    return mk_reply_bytes(r, 200, "text/plain", MK_STR("alive"));
}

/* @param word  SECTION:KEY:VALUE, cut here */
static inline int asker_set(struct mk_config *config, char *word)
{
    char *key = strchr(word, ':'), *value = key ? strchr(key + 1, ':') : NULL;

    if (!value)
        return MK_E_INVALID;
    *key++ = *value++ = '\0';
    return mk_config_set(config, word, key, value, "asker");
}

static inline void asker_print(void *arg, const char *text, size_t len)
{
    (void)arg;
    (void)fwrite(text, 1, len, stderr);
}

static inline int asker_configure(struct mk_config *config, const struct asker *a, void *client,
                                  char **argv)
{
    int err = mk_config_set(config, "SERVER", "Listen", argv[1], "asker");

    if (err == 0)
        err = mk_config_set(config, "SERVER", "Workers", argv[3], "asker");
    for (char **word = argv + 4 + a->nown; err == 0 && *word; word++)
        err = asker_set(config, *word);
    for (const struct asker_route *at = a->routes; err == 0 && at->path; at++)
        err = mk_config_handle(config, "GET", at->path, at->fn, client);
    return err == 0 ? mk_config_handle(config, "GET", "/alive", asker_alive, NULL) : err;
}

static inline int asker_serve(const struct asker *a, void *client, char **argv)
{
    struct mk_config *config;
    struct mk_server *server;
    int err = mk_config_new(&config, NULL);

    if (err == 0)
        err = asker_configure(config, a, client, argv);
    if (err == 0)
        err = mk_server_new(&server, config, NULL);
    if (err != 0) {
        mk_config_faults(config, asker_print, NULL);
        return 1;
    }
    if (mk_server_listen(server) != 0)
        return 1;
    if (mk_server_start(server) == 0)
        (void)getchar(); /* until the end of the input */
    mk_server_stop(server, 0);
    err = mk_server_wait(server, -1);
    a->free(client);
    mk_server_free(server);
    return err != 0;
}

static inline int asker_run(const struct asker *a, int argc, char **argv)
{
    const char *why = "";
    void *client;

    if (argc < 4 + a->nown)
        return 2;
    if (a->make(&client, argv[2], argv + 4, &why) == 0)
        return asker_serve(a, client, argv);
    (void)fprintf(stderr, "asker: %s\n", why);
    return 1;
}

#endif
