/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/postgresql.h>
#include <monkey/redis.h>
#include <monkey/server.h>
#include <monkey/web.h>

#include <stdio.h>

/*
 * Items of a table: GET /items/ID asks Redis for an answer that was kept, and PostgreSQL where there is none, whose answer
 * Redis then keeps for half a second. No thread waits for either of them, and without Redis the database answers.
 *
 *     psql shop -c 'CREATE TABLE items (id integer PRIMARY KEY, name text, price integer)'
 *     cc shop.c -o shop $(pkg-config --cflags --libs monkey-postgresql monkey-redis)
 *     ./shop 8080 postgresql://localhost/shop redis://localhost
 */

enum { JSON_MAX = 4096 };

struct shop {
    struct mk_postgresql *database;
    struct mk_redis *cache;
};

static const char *key_of(struct mk_request *r)
{
    const struct mk_str id = mk_path_value(r, MK_STR("id"));

    return mk_request_printf(r, "item:%.*s", (int)id.len, id.p);
}

/* Nobody waits for it, and nothing is lost where it fails. */
static void keep(struct mk_request *r, struct mk_redis *cache, struct mk_str json)
{
    const char *key = key_of(r);
    const struct mk_str words[] = {MK_STR("SET"), mk_str_from(key ? key : ""), json, MK_STR("PX"),
                                   MK_STR("500")};

    if (key)
        (void)!mk_redis_ask(cache, r, words, 5, NULL, NULL);
}

static enum mk_verdict on_item(struct mk_request *r, const struct mk_postgresql_answer *answer,
                               void *arg)
{
    const struct shop *shop = arg;
    int64_t price = 0;
    struct mk_json j;

    if (answer->result < 0)
        return mk_reply_failure(r, answer->result);
    if (answer->nrows == 0)
        return mk_reply_error(r, 404, NULL);
    (void)!mk_text_int(mk_postgresql_value(answer, 0, 1), &price);
    mk_json_begin_reply(&j, r, JSON_MAX);
    mk_json_object(&j);
    mk_json_key(&j, MK_STR("name"));
    mk_json_text(&j, mk_postgresql_value(answer, 0, 0));
    mk_json_key(&j, MK_STR("price"));
    mk_json_int(&j, price);
    mk_json_close(&j);
    keep(r, shop->cache, (struct mk_str){j.p, j.len});
    return mk_reply_json(r, 200, &j);
}

static enum mk_verdict ask_database(struct mk_request *r, struct shop *shop)
{
    const struct mk_str id = mk_path_value(r, MK_STR("id"));
    const int err =
        mk_postgresql_ask(shop->database, r, "SELECT name, price FROM items WHERE id = $1::integer",
                          &id, 1, on_item, shop);

    return err < 0 ? mk_reply_failure(r, err) : MK_VERDICT_LATER;
}

static enum mk_verdict on_kept(struct mk_request *r, const struct mk_redis_answer *answer,
                               void *arg)
{
    const struct mk_str json = mk_redis_text(answer->reply);

    if (answer->result < 0 || answer->reply->type != MK_REDIS_STRING)
        return ask_database(r, arg);
    return mk_reply_bytes(r, 200, "application/json", json);
}

static enum mk_verdict item(struct mk_request *r, void *arg)
{
    struct shop *shop = arg;
    const char *key = key_of(r);
    const struct mk_str words[] = {MK_STR("GET"), mk_str_from(key ? key : "")};

    if (mk_later_waits(r))
        return MK_VERDICT_LATER;
    if (mk_redis_ask(shop->cache, r, words, 2, on_kept, shop) == 0)
        return MK_VERDICT_LATER;
    return ask_database(r, shop);
}

/* @return 0; -1: it cannot be. */
static int open_shop(struct shop *shop, const char *database, const char *cache)
{
    const struct mk_postgresql_options items = {.size = sizeof(items), .url = database};
    const struct mk_redis_options kept = {.size = sizeof(kept), .url = cache};
    const char *why = "no memory";

    if (mk_postgresql_new(&shop->database, &items, &why) == 0 &&
        mk_redis_new(&shop->cache, &kept, &why) == 0)
        return 0;
    (void)fprintf(stderr, "shop: %s\n", why);
    return -1;
}

static void close_shop(struct shop *shop)
{
    mk_postgresql_free(shop->database);
    mk_redis_free(shop->cache);
}

static int serve(struct shop *shop, const char *address)
{
    struct mk_config *config;
    struct mk_server *server;

    if (mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", address, "shop") != 0 ||
        mk_config_handle(config, "GET", "/items/:id<uint>", item, shop) != 0 ||
        mk_server_new(&server, config, NULL) != 0)
        return 1;
    if (mk_server_listen(server) == 0 && mk_server_start(server) == 0)
        (void)getchar(); /* until the end of the input */
    mk_server_stop(server, 1000);
    (void)!mk_server_wait(server, -1);
    close_shop(shop); /* after the workers, before the server */
    mk_server_free(server);
    return 0;
}

int main(int argc, char **argv)
{
    struct shop shop = {0};

    if (argc == 4 && open_shop(&shop, argv[2], argv[3]) == 0)
        return serve(&shop, argv[1]);
    close_shop(&shop);
    return 1;
}
