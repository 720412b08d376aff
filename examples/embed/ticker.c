/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/events.h>
#include <monkey/server.h>
#include <monkey/web.h>

#include <stdio.h>
#include <stdlib.h>

/*
 * Server-sent events: each client gets a number every 100 ms, and goes on after the last that it saw.
 *
 *     cc ticker.c $(pkg-config --cflags --libs monkey-web) -o ticker && ./ticker 127.0.0.1:8080
 *     curl http://127.0.0.1:8080/ticks
 */

enum { TICK_MS = 100 };

struct client {
    struct mk_sse *stream;
    struct mk_alarm *alarm;
    long number;
};

static void tick(struct mk_alarm *alarm, void *arg)
{
    struct client *c = arg;
    char number[24];
    struct mk_sse_event event = {.size = sizeof(event)};

    (void)snprintf(number, sizeof(number), "%ld", c->number);
    event.id = event.data = mk_str_from(number);
    if (mk_sse_send(c->stream, &event) == 0) /* otherwise the client is too slow: try again */
        c->number++;
    mk_alarm_set(alarm, TICK_MS);
}

static void forget(void *arg)
{
    struct client *c = arg;

    mk_alarm_free(c->alarm);
    free(c);
}

static enum mk_verdict ticks(struct mk_request *r, void *arg)
{
    struct mk_sse_options options = {.size = sizeof(options), .on_end = forget};
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_str last = mk_sse_last_id(r);
    struct client *c = calloc(1, sizeof(*c));

    (void)arg;
    if (!c)
        return mk_reply_error(r, 500, NULL);
    mk_request_facts(r, &facts);
    c->number = last.len > 0 && last.len < 10 ? strtol(last.p, NULL, 10) + 1 : 0;
    c->alarm = mk_alarm_new(facts.worker, tick, c);
    options.arg = c;
    if (!c->alarm || mk_sse_open(r, &options, &c->stream) < 0) {
        forget(c);
        return mk_reply_error(r, 500, NULL);
    }
    mk_alarm_set(c->alarm, TICK_MS);
    return MK_VERDICT_DONE;
}

int main(int argc, char **argv)
{
    struct mk_config *config;
    struct mk_server *server;

    if (argc != 2 || mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", argv[1], "ticker") != 0 ||
        mk_config_handle(config, "GET", "/ticks", ticks, NULL) != 0 ||
        mk_server_new(&server, config, NULL) != 0 || mk_server_listen(server) != 0)
        return 1;
    if (mk_server_start(server) == 0)
        (void)getchar(); /* until the end of the input */
    mk_server_free(server);
    return 0;
}
