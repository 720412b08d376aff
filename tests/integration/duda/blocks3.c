/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include <sys/stat.h>

DUDA_REGISTER("tests", "call-backs that keep their worker, or forget their request");

static void busy(void)
{
    struct timespec now, begun;

    clock_gettime(CLOCK_MONOTONIC, &begun);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 < 900);
}

static void loop(duda_request_t *dr)
{
    busy();
    response->send(dr, 200, "text/plain", "at last");
}

/* It computes until there is the file that it is told. */
static void spin(duda_request_t *dr)
{
    const char *file = query->get(dr, "file");
    struct stat st;

    while (stat(file, &st) < 0)
        for (volatile int i = 0; i < 10000000; i++)
            ;
    response->send(dr, 200, "text/plain", "at last");
}

/* The same, asleep. */
static void doze(duda_request_t *dr)
{
    const char *file = query->get(dr, "file");
    struct stat st;

    while (stat(file, &st) < 0)
        usleep(50000);
    response->send(dr, 200, "text/plain", "at last");
}

static void later(void *arg)
{
    (void)arg;
    busy();
}

static void late(duda_request_t *dr)
{
    timer->after(1, later, NULL);
    response->send(dr, 200, "text/plain", "ok");
}

static void forget(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "never seen");
}

static void forget_after_body(duda_request_t *dr)
{
    size_t len;

    (void)request->body(dr, &len);
}

static void end_parked(void *arg)
{
    response->cont(arg);
    response->send(arg, 200, NULL, "waited");
}

static void waits(duda_request_t *dr)
{
    response->wait(dr);
    timer->after(1, end_parked, dr);
}

static void end_unparked(void *arg)
{
    response->send(arg, 200, NULL, "resumed");
}

/* A dthread that lives may answer it. */
static void run(void *arg)
{
    dthread->yield();
    end_unparked(arg);
}

static int id;

static void resume(void *arg)
{
    (void)arg;
    dthread->resume(id);
}

static void threads(duda_request_t *dr)
{
    id = dthread->create(run, dr);
    dthread->resume(id);
    timer->after(1, resume, NULL);
}

static void enormous(duda_request_t *dr)
{
    const int results[] = {response->printf(dr, "%2000000000d", 1),
                           response->printf(dr, "%-+.2000000000ld", 1L),
                           response->printf(dr, "%s%2000000000d", "", 1),
                           response->printf(dr, "%*d", 65 << 20, 1),
                           response->printf(dr, "%%2000000000d"),
                           response->printf(dr, "%1000d|%.3s", 1, "abcd")};

    response->send(dr, 200, "text/plain", "%d %d %d %d %d %d", results[0], results[1], results[2],
                   results[3], results[4], results[5]);
}

int duda_main()
{
    router->get("/loop", loop);
    router->get("/spin", spin);
    router->get("/doze", doze);
    router->get("/late", late);
    router->get("/forget", forget);
    router->post("/forget", forget_after_body);
    router->get("/waits", waits);
    router->get("/threads", threads);
    router->get("/enormous", enormous);
    return 0;
}
