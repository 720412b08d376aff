/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>
#include <monkey/web.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Reports that take long to make, for clients that have a key: one is made by a task, and kept for five seconds.
 *
 *     cc reports.c $(pkg-config --cflags --libs monkey-web) -o reports && ./reports 127.0.0.1:8080 secret
 *     curl -H 'X-API-Key: secret' http://127.0.0.1:8080/reports/may
 */

struct office {
    struct mk_cache *reports;
    struct mk_str key;
    unsigned made;
};

struct order {
    struct office *office;
    struct mk_str text;
    char month[32], report[128];
};

static enum mk_verdict need_key(struct mk_request *r, void *arg)
{
    const struct office *office = arg;
    const struct mk_str key = mk_request_header(r, MK_STR("X-API-Key"));

    return mk_secret_eq(office->key, key) ? MK_VERDICT_PASS : mk_reply_error(r, 403, NULL);
}

/* On a thread of the server. */
static void make(const struct mk_task *task, void *arg)
{
    struct order *order = arg;
    const unsigned n = __atomic_add_fetch(&order->office->made, 1, __ATOMIC_RELAXED);

    (void)task;
    (void)usleep(100000);
    order->text.p = order->report;
    order->text.len =
        (size_t)snprintf(order->report, sizeof(order->report), "report %u: %s\n", n, order->month);
    (void)!mk_cache_set(order->office->reports, mk_str_from(order->month), order->text, 0);
}

static enum mk_verdict show(struct mk_request *r, void *arg)
{
    const struct order *order = arg;

    return mk_reply_bytes(r, 200, "text/plain; charset=utf-8", order->text);
}

static enum mk_verdict order_report(struct mk_request *r, struct office *office,
                                    struct mk_str month)
{
    static const struct mk_task_calls calls = {
        .size = sizeof(calls), .work = make, .answer = show, .end = free};
    struct order *order = calloc(1, sizeof(*order));
    int err = MK_E_NOMEM;

    if (order) {
        order->office = office;
        (void)snprintf(order->month, sizeof(order->month), "%.*s", (int)month.len, month.p);
        err = mk_task_start(r, &calls, order);
    }
    if (err == 0)
        return MK_VERDICT_LATER;
    free(order);
    return mk_reply_refusal(r, err);
}

static enum mk_verdict report(struct mk_request *r, void *arg)
{
    struct office *office = arg;
    const struct mk_str month = mk_path_value(r, MK_STR("month"));
    struct mk_str kept;

    if (mk_task_runs(r))
        return MK_VERDICT_LATER;
    if (month.len >= sizeof(((struct order *)0)->month))
        return mk_reply_error(r, 404, NULL);
    if (mk_cache_find(office->reports, r, month, &kept) == 0)
        return mk_reply_bytes(r, 200, "text/plain; charset=utf-8", kept);
    return order_report(r, office, month);
}

int main(int argc, char **argv)
{
    const struct mk_cache_options options = {
        .size = sizeof(options), .entries = 1000, .lasts_ms = 5000};
    struct office office = {.key = mk_str_from(argc == 3 ? argv[2] : "")};
    struct mk_config *config;
    struct mk_server *server;

    if (argc != 3 || mk_cache_new(&office.reports, &options) != 0 ||
        mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", argv[1], "reports") != 0 ||
        mk_routes_before(mk_config_routes(config), need_key, &office) != 0 ||
        mk_config_handle(config, "GET", "/reports/:month<word>", report, &office) != 0 ||
        mk_server_new(&server, config, NULL) != 0 || mk_server_listen(server) != 0)
        return 1;
    if (mk_server_start(server) == 0)
        (void)getchar(); /* until the end of the input */
    mk_server_free(server);
    mk_cache_free(office.reports);
    return 0;
}
