/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include <stdatomic.h>

DUDA_REGISTER("tests", "timers and tasks of level 3");

static atomic_int ticks, begun, worked, done_calls, ends, left;
static atomic_bool is_open = 1; /* work waits while it is not */
static duda_timer_t *ticker;

/* ---- timers ---- */

static void answer_later(void *arg)
{
    duda_request_t *dr = arg;

    if (!request->validate_request(dr))
        return;
    response->cont(dr);
    response->send(dr, 200, "text/plain", "later");
}

static void later(duda_request_t *dr)
{
    response->wait(dr);
    if (!timer->after(1, answer_later, dr))
        response->problem(dr, 500, "no timer", NULL);
}

static void tick(void *arg)
{
    ticks++;
    /* the fifth time it ends itself */
    if (ticks == *(int *)arg)
        timer->cancel(ticker);
}

static void start_ticks(void *arg)
{
    ticker = timer->every(1, tick, arg);
}

static void show_ticks(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d", (int)ticks);
}

static void never(void *arg)
{
    abort();
}

static void cancel(duda_request_t *dr)
{
    duda_timer_t *t = timer->after(60000, never, NULL);
    int first = timer->cancel(t), second = timer->cancel(t), none = timer->cancel(NULL);

    response->send(dr, 200, "text/plain", "%d %d %d %d", first, second, none,
                   timer->after(1, NULL, NULL) == NULL);
}

/* ---- tasks ---- */

struct sum {
    long a, b, result;
    int rounds;
};

static void work(void *arg)
{
    struct sum *sum = arg;

    while (!is_open)
        usleep(1000);
    sum->result = sum->a + sum->b;
    worked++;
}

static void count_end(void *arg)
{
    ends++;
    mem->free(arg);
}

static void show_sum(duda_request_t *dr, void *arg)
{
    struct sum *sum = arg, *next;

    done_calls++;
    if (sum->rounds > 0) {
        next = mem->alloc(sizeof(*next));
        *next = (struct sum){sum->result, sum->b, 0, sum->rounds - 1};
        if (task->run(dr, work, show_sum, count_end, next) < 0)
            abort();
        return;
    }
    response->send(dr, 200, "text/plain", "%ld", sum->result);
}

static void count_left(void *arg)
{
    left++;
}

static void add(duda_request_t *dr)
{
    struct sum *sum = mem->alloc_z(sizeof(*sum));
    long rounds = 0;

    query->get_number(dr, "a", &sum->a);
    query->get_number(dr, "b", &sum->b);
    query->get_number(dr, "rounds", &rounds);
    sum->rounds = (int)rounds;
    begun++;
    gc->call(dr, count_left, NULL);
    if (task->run(dr, work, show_sum, count_end, sum) < 0 ||
        task->run(dr, work, show_sum, NULL, sum) != -1)
        abort();
}

static void wrong(duda_request_t *dr)
{
    int results = task->run(dr, NULL, show_sum, NULL, NULL) + task->run(dr, work, NULL, NULL, NULL);

    response->send(dr, 200, "text/plain", "%d", results);
    if (task->run(dr, work, show_sum, NULL, NULL) != -1)
        abort();
}

static void show_counts(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d %d %d %d %d", (int)begun, (int)worked,
                   (int)done_calls, (int)ends, (int)left);
}

static void open_gate(duda_request_t *dr)
{
    is_open = 1;
    show_counts(dr);
}

static void close_gate(duda_request_t *dr)
{
    is_open = 0;
    show_counts(dr);
}

int duda_main()
{
    static int most = 5;

    worker->pre_loop(start_ticks, &most);
    router->get("/later", later);
    router->get("/ticks", show_ticks);
    router->get("/cancel", cancel);
    router->get("/sum", add);
    router->get("/wrong", wrong);
    router->get("/counts", show_counts);
    router->put("/gate", open_gate);
    router->delete ("/gate", close_gate);
    return 0;
}
