/* SPDX-License-Identifier: Apache-2.0 */
#include "items.h"
#include "store.h"

#include <monkey/server.h>
#include <monkey/web.h>
#include <monkey/websocket.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* The end points of a public benchmark of HTTP frameworks: README.md. */

enum { BODY_MAX = 64, FACTOR_MAX = 1000000, JSON_MAX = 64 << 10 };

static enum mk_verdict say_number(struct mk_request *r, int64_t n)
{
    char text[64];
    struct mk_json j; /* its numbers are decimal, and made without the locale */

    mk_json_begin(&j, text, sizeof(text), NULL, NULL);
    mk_json_int(&j, n);
    return mk_reply_bytes(r, 200, "text/plain", (struct mk_str){text, j.len});
}

/* @param sum  in: what is added to it @return 0; MK_E_BAD: a or b is no number. */
static int add_query(struct mk_request *r, int64_t *sum)
{
    int64_t a = 0, b = 0;

    if (mk_query_int(r, MK_STR("a"), &a) < 0 || mk_query_int(r, MK_STR("b"), &b) < 0 ||
        __builtin_add_overflow(*sum, a, sum) || __builtin_add_overflow(*sum, b, sum))
        return MK_E_BAD;
    return 0;
}

static enum mk_verdict add(struct mk_request *r, void *arg)
{
    int64_t sum = 0;

    (void)arg;
    return add_query(r, &sum) < 0 ? mk_reply_refusal(r, MK_E_BAD) : say_number(r, sum);
}

static enum mk_verdict add_body(struct mk_request *r, void *arg)
{
    struct mk_str body;
    int64_t sum = 0;
    int err = mk_request_body(r, BODY_MAX, &body);

    (void)arg;
    if (err == 0)
        err = mk_text_int(body, &sum);
    if (err == 0)
        err = add_query(r, &sum);
    return err < 0 ? mk_reply_refusal(r, err) : say_number(r, sum);
}

static enum mk_verdict say_ok(struct mk_request *r, void *arg)
{
    (void)arg;
    return mk_reply_bytes(r, 200, "text/plain", MK_STR("ok"));
}

/* The first of the items, as many as the path says, with prices of this request. */
static enum mk_verdict list_items(struct mk_request *r, void *arg)
{
    const struct items *items = arg;
    int64_t count = 0, factor = 1;
    struct mk_json j;

    if (mk_path_int(r, MK_STR("count"), &count) != 1 || mk_query_int(r, MK_STR("m"), &factor) < 0 ||
        factor < 0 || factor > FACTOR_MAX)
        return mk_reply_refusal(r, MK_E_BAD);
    if (count > (int64_t)items->count)
        count = (int64_t)items->count;
    mk_json_begin_reply(&j, r, JSON_MAX);
    mk_json_object(&j);
    mk_json_key(&j, MK_STR("items"));
    mk_json_array(&j);
    for (int64_t i = 0; i < count; i++)
        item_write(&j, &items->all[i], factor);
    mk_json_close(&j);
    mk_json_key(&j, MK_STR("count"));
    mk_json_int(&j, count);
    mk_json_close(&j);
    return mk_reply_json(r, 200, &j);
}

/* The bytes of a body of any size are counted as they come. */
static enum mk_verdict count_body(struct mk_request *r, void *arg)
{
    static const char key;
    int64_t *counted = mk_request_kept(r, &key);
    char bytes[64 << 10];
    ssize_t got;

    (void)arg;
    if (!counted) {
        counted = mk_request_alloc(r, sizeof(*counted));
        if (!counted || mk_request_keep(r, &key, counted) < 0)
            return mk_reply_refusal(r, MK_E_NOMEM);
        *counted = 0;
    }
    while ((got = mk_request_read(r, bytes, sizeof(bytes))) > 0)
        *counted += got;
    return got < 0 ? mk_reply_refusal(r, (int)got) : say_number(r, *counted);
}

static void send_back(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message)
{
    (void)mk_ws_send(ws, kind, message); /* one that cannot be queued closes the connection */
}

static enum mk_verdict accept_socket(struct mk_request *r, void *arg)
{
    static const struct mk_ws_spec echo = {.size = sizeof(echo), .on_message = send_back};

    (void)arg;
    return mk_ws_accept(r, &echo, NULL, NULL);
}

/* @return 0 or the first error. */
static int configure(struct mk_config *config, const char *folder, struct items *items,
                     struct mk_postgresql *database)
{
    const struct {
        const char *methods, *pattern;
        mk_handle_fn fn;
    } routes[] = {
        {"GET", "/baseline11", add},
        {"POST", "/baseline11", add_body},
        {"GET", "/baseline2", add},
        {"GET", "/pipeline", say_ok},
        {"GET", "/json/:count<uint>", list_items},
        {"POST", "/upload", count_body},
        {NULL, "/ws", accept_socket},
    };
    const struct mk_config_files files = {.size = sizeof(files), .dir = folder};
    const char *plugins = getenv("PLUGINS"); /* of an installation in another place */
    int err = plugins ? mk_config_plugin_dir(config, plugins) : 0;

    if (err == 0)
        err = mk_config_read(config, &files);
    for (size_t i = 0; err == 0 && i < sizeof(routes) / sizeof(routes[0]); i++)
        err = mk_config_handle(config, routes[i].methods, routes[i].pattern, routes[i].fn, items);
    if (err == 0)
        err = mk_config_handle(config, "GET", "/async-db", store_list, database);
    return err;
}

static void print_fault(void *arg, const char *text, size_t len)
{
    (void)arg;
    (void)fprintf(stderr, "%.*s", (int)len, text);
}

static int serve(struct mk_server *server, const sigset_t *ends)
{
    int number;

    if (mk_server_listen(server) != 0 || mk_server_start(server) != 0)
        return 1;
    (void)sigwait(ends, &number);
    mk_server_stop(server, 5000);
    return mk_server_wait(server, -1) != 0;
}

/* Takes the database, which may be NULL. */
static int run(const char *folder, struct items *items, struct mk_postgresql *database,
               const sigset_t *ends)
{
    struct mk_config *config;
    struct mk_server *server;
    int err;

    if (mk_config_new(&config, NULL) != 0) {
        mk_postgresql_free(database);
        return 1;
    }
    err = configure(config, folder, items, database);
    if (err == 0)
        err = mk_server_new(&server, config, NULL);
    if (err != 0) { /* the configuration is still ours, and may have errors */
        mk_config_faults(config, print_fault, NULL);
        mk_config_free(config);
        mk_postgresql_free(database);
        return 1;
    }
    err = serve(server, ends);
    mk_postgresql_free(database); /* after the workers, before the server */
    mk_server_free(server);
    return err;
}

int main(int argc, char **argv)
{
    struct items items;
    sigset_t ends;
    int err;

    if (argc != 3) {
        (void)fprintf(stderr, "usage: arena CONFIGDIR ITEMS\n");
        return 2;
    }
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    if (items_read(&items, argv[2]) < 0) {
        (void)fprintf(stderr, "arena: %s is no list of items\n", argv[2]);
        return 1;
    }
    err = run(argv[1], &items, store_open(), &ends);
    items_free(&items);
    return err;
}
