/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/events.h>
#include <monkey/server.h>
#include <monkey/web.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * News that clients get at once, in two ways: by server-sent events, and by long polling, in which a request waits until there
 * is something new.
 *
 *     cc news.c $(pkg-config --cflags --libs monkey-web) -o news && ./news 127.0.0.1:8080 $PWD/pages
 *     curl http://127.0.0.1:8080/events & curl 'http://127.0.0.1:8080/news?after=0' & curl -d 'It rains' http://127.0.0.1:8080/news
 *
 * One worker has all of it, so nothing is locked.
 */

enum { KEPT = 50, LENGTH = 200, PATIENCE_MS = 25000 };

/* A client that waits, whichever way: a stream, or a request until its time is over. */
struct client {
    struct client *next, **at; /* at NULL: in no list */
    struct mk_sse *stream;
    struct mk_request *request;
    struct mk_alarm *alarm;
    unsigned after;
    bool is_late;
};

static struct client *streams, *requests;
static char lines[KEPT][LENGTH + 1];
static unsigned newest; /* the number of the last line; 0: none */

static void join(struct client **list, struct client *c)
{
    c->next = *list;
    c->at = list;
    if (c->next)
        c->next->at = &c->next;
    *list = c;
}

static void leave(void *arg)
{
    struct client *c = arg;

    if (c->at) {
        *c->at = c->next;
        if (c->next)
            c->next->at = c->at;
    }
    mk_alarm_free(c->alarm);
    free(c);
}

static unsigned number_of(struct mk_str text)
{
    return text.len > 0 && text.len < 10 ? (unsigned)strtoul(text.p, NULL, 10) : 0;
}

/* The first line that is kept and newer. */
static unsigned first_after(unsigned after)
{
    const unsigned oldest = newest > KEPT ? newest - KEPT + 1 : 1;

    return after + 1 > oldest ? after + 1 : oldest;
}

/* ---- server-sent events ---- */

static void tell(struct client *c)
{
    for (unsigned i = first_after(c->after); i <= newest; i++) {
        struct mk_sse_event event = {.size = sizeof(event), .data = mk_str_from(lines[i % KEPT])};
        char id[16];

        (void)snprintf(id, sizeof(id), "%u", i);
        event.id = mk_str_from(id);
        if (mk_sse_send(c->stream, &event) < 0)
            return; /* too slow: on_room goes on */
        c->after = i;
    }
}

static void on_room(struct mk_sse *stream, void *arg)
{
    (void)stream;
    tell(arg);
}

static enum mk_verdict events(struct mk_request *r, void *arg)
{
    struct mk_sse_options options = {.size = sizeof(options), .on_room = on_room, .on_end = leave};
    struct client *c = calloc(1, sizeof(*c));

    (void)arg;
    options.arg = c;
    if (!c || mk_sse_open(r, &options, &c->stream) < 0) {
        free(c);
        return mk_reply_error(r, 503, NULL);
    }
    c->after = number_of(mk_sse_last_id(r));
    join(&streams, c);
    tell(c);
    return MK_VERDICT_DONE;
}

/* ---- long polling ---- */

static enum mk_verdict reply(struct mk_request *r, unsigned after)
{
    struct mk_json j;

    mk_json_begin_reply(&j, r, 65536);
    mk_json_object(&j);
    mk_json_key(&j, MK_STR("newest"));
    mk_json_uint(&j, newest);
    mk_json_key(&j, MK_STR("news"));
    mk_json_array(&j);
    for (unsigned i = first_after(after); i <= newest; i++)
        mk_json_text(&j, mk_str_from(lines[i % KEPT]));
    mk_json_close(&j);
    mk_json_close(&j);
    return mk_reply_json(r, 200, &j);
}

static void be_late(struct mk_alarm *alarm, void *arg)
{
    struct client *c = arg;

    (void)alarm;
    c->is_late = true;
    mk_request_resume(c->request);
}

static struct client *new_waiter(struct mk_request *r)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct client *c = calloc(1, sizeof(*c));

    if (!c || mk_request_on_end(r, leave, c) < 0) {
        free(c);
        return NULL;
    }
    mk_request_facts(r, &facts);
    c->request = r;
    c->alarm = mk_alarm_new(facts.worker, be_late, c);
    if (!c->alarm || mk_request_keep(r, &requests, c) < 0)
        return NULL;
    join(&requests, c);
    mk_alarm_set(c->alarm, PATIENCE_MS);
    mk_request_timeout(r, 2 * PATIENCE_MS);
    mk_request_ends_on_hangup(r, true);
    return c;
}

/* Called again when it is resumed. */
static enum mk_verdict poll_news(struct mk_request *r, void *arg)
{
    struct client *c = mk_request_kept(r, &requests);
    struct mk_str text;
    unsigned after;

    (void)arg;
    if (mk_query_value(r, MK_STR("after"), &text) < 0)
        return mk_reply_error(r, 400, NULL);
    after = number_of(text);
    if (after < newest || (c && c->is_late))
        return reply(r, after);
    if (!c && !new_waiter(r))
        return mk_reply_error(r, 503, NULL);
    return MK_VERDICT_LATER;
}

/* ---- new lines ---- */

static enum mk_verdict publish(struct mk_request *r, void *arg)
{
    struct mk_str text;
    int err = mk_request_body(r, LENGTH, &text);

    (void)arg;
    if (err < 0)
        return mk_reply_refusal(r, err); /* waits for more, too */
    newest++;
    (void)snprintf(lines[newest % KEPT], LENGTH + 1, "%s", text.p);
    for (struct client *c = streams; c; c = c->next)
        tell(c);
    for (struct client *c = requests; c; c = c->next)
        mk_request_resume(c->request);
    return mk_reply_bytes(r, 204, NULL, MK_STR(""));
}

int main(int argc, char **argv)
{
    struct mk_config *config;
    struct mk_server *server;

    if (argc != 3 || mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", argv[1], "news") != 0 ||
        mk_config_set(config, "SERVER", "Workers", "1", "news") != 0 ||
        mk_config_set(config, "HOST", "DocumentRoot", argv[2], "news") != 0 ||
        mk_config_set(config, "SERVER", "IndexFile", "news.html", "news") != 0 ||
        mk_config_handle(config, "GET", "/events", events, NULL) != 0 ||
        mk_config_handle(config, "GET", "/news", poll_news, NULL) != 0 ||
        mk_config_handle(config, "POST", "/news", publish, NULL) != 0 ||
        mk_server_new(&server, config, NULL) != 0 || mk_server_listen(server) != 0)
        return 1;
    if (mk_server_start(server) == 0) {
        printf("http://127.0.0.1:%u/\n", mk_server_port(server, 0));
        (void)fflush(stdout);
        (void)getchar(); /* until the end of the input */
    }
    mk_server_free(server);
    return 0;
}
