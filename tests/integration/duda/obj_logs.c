/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("obj_logs", "logger, console, msg, xtime and dthread");

static duda_logger_t log_a, log_b, log_none;

static void logs(duda_request_t *dr)
{
    int written = logger->print(&log_a, "first %d\n", 1);

    response->http_status(dr, 200);
    response->printf(dr, "%d %d", written, logger->print(&log_b, "%s", "without an end"));
    log_a.enabled = 0;
    response->printf(dr, " %d", logger->print(&log_a, "never\n"));
    log_a.enabled = 1;
    response->printf(dr, " %d %d", logger->print(&log_a, "last\n") > 0,
                     logger->print(&log_none, "x"));
    response->end(dr, NULL);
}

/* More than the queue holds, while nothing may wait for the disk. */
static void flood(duda_request_t *dr)
{
    int lost = 0, kept = 0;

    for (int i = 0; i < 2000; i++) {
        if (logger->print(&log_a, "%0999d\n", i) < 0)
            lost++;
        else
            kept++;
    }
    response->http_status(dr, 200);
    response->printf(dr, "%d", kept + lost);
    response->end(dr, NULL);
}

static void debugs(duda_request_t *dr)
{
    console->debug(dr, "text %s", "of the service");
    msg->info("said %d", 1);
    response->http_status(dr, 200);
    response->end(dr, NULL);
}

/* ---- the producer and consumer of numbers ---- */

struct numbers {
    duda_dthread_channel_t *chan;
    duda_request_t *dr;
    int values[20];
};

static void produce(void *arg)
{
    struct numbers *n = arg;
    int a = 0, b = 1;

    for (int i = 0; i < 10; i++) {
        int next = a + b;

        n->values[i] = a;
        dthread->chan_send(n->chan, &n->values[i]);
        a = b;
        b = next;
    }
    dthread->chan_end(n->chan);
}

static void consume(void *arg)
{
    struct numbers *n = arg;

    response->printf(n->dr, "%d %d:", dthread->status(dthread->chan_get_receiver(n->chan)),
                     dthread->status(dthread->chan_get_sender(n->chan)));
    while (!dthread->chan_done(n->chan)) {
        int *value = dthread->chan_recv(n->chan);

        if (value)
            response->printf(n->dr, " %d", *value);
    }
}

static void fibonacci(duda_request_t *dr)
{
    struct numbers n = {.dr = dr, .chan = dthread->chan_create(3)};
    int producer = dthread->create(produce, &n), consumer = dthread->create(consume, &n);

    dthread->chan_set_sender(n.chan, producer);
    dthread->chan_set_receiver(n.chan, consumer);
    response->http_status(dr, 200);
    dthread->resume(consumer);
    dthread->chan_free(n.chan);
    response->end(dr, NULL);
}

int duda_main()
{
    router->map("/logs", logs);
    router->map("/flood", flood);
    router->map("/debugs", debugs);
    router->map("/fibonacci", fibonacci);
    if (duda_logger_create(&log_a, "a.log") != 0 || duda_logger_create(&log_b, "b.log") != 0)
        return 1;
    return duda_logger_create(&log_none, "no/such/folder.log") == -1 && !log_none.enabled ? 0 : 2;
}
