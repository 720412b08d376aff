/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include <fcntl.h>
#include <unistd.h>

/* A value for each worker and thread; each that ends leaves a letter in the file ENDS. */

DUDA_REGISTER("tests", "globals");

static duda_global_t counts, nothing;

static void *begin(void *data)
{
    (void)data;
    return calloc(1, sizeof(int));
}

static void leave(void *value)
{
    int fd = open(ENDS, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

    (void)!write(fd, "e", 1);
    close(fd);
    free(value);
}

static void *pass(void *arg)
{
    return arg;
}

static void count(duda_request_t *dr)
{
    int *n = global->get(counts);

    response->http_status(dr, 200);
    response->printf(dr, "%d", ++*n);
    response->finalize(dr, NULL);
}

/* Of one that init() never saw: its key, 0, is that of somebody else. */
static void stranger(duda_request_t *dr)
{
    static duda_global_t never;
    void *before = pthread_getspecific(0);
    int said = global->set(never, &never);

    response->http_status(dr, 200);
    response->printf(dr, "%d %d %d", said, global->get(never) == NULL,
                     pthread_getspecific(0) == before);
    (void)pthread_setspecific(0, before);
    response->finalize(dr, NULL);
}

int duda_main()
{
    global->init_with_end(NULL, begin, NULL, leave);
    global->init_with_end(&counts, begin, NULL, leave);
    global->init_with_end(&nothing, NULL, NULL, leave);
    if (HAS_THREAD)
        worker->spawn(pass, NULL);
    router->map("/count", count);
    router->map("/stranger", stranger);
    return 0;
}
