/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include <sys/timerfd.h>

/* Tells its VERSION, at once or later, and writes a line when it leaves. */

DUDA_REGISTER("tests", "reloaded");

static void say(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "version %d", VERSION);
    response->finalize(dr, NULL);
}

static void now(duda_request_t *dr)
{
    say(dr);
}

static int go_on(int fd, void *data)
{
    duda_request_t *dr = data;

    (void)fd;
    if (request->validate_request(dr)) {
        response->cont(dr);
        say(dr);
    }
    return DUDA_EVENT_CLOSE;
}

static void later(duda_request_t *dr)
{
    const struct itimerspec soon = {.it_value = {.tv_nsec = 30 * 1000 * 1000}};
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

    timerfd_settime(fd, 0, &soon, NULL);
    response->wait(dr);
    event->add(fd, DUDA_EVENT_READ, DUDA_EVENT_LEVEL_TRIGGERED, go_on, NULL, NULL, NULL, NULL, dr);
}

int duda_main()
{
    router->map("/now", now);
    router->map("/later", later);
    return 0;
}

void duda_exit(void)
{
    FILE *file = fopen(EXITS, "a");

    fprintf(file, "%d\n", VERSION);
    fclose(file);
}
