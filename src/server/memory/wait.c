/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "base/heap.h"
#include "base/str.h"
#include "server/memory/memory.h"
#include "server/worker/worker.h"

#include <errno.h>
#include <semaphore.h>

/* Asking a server and waiting for its answer. */

struct waiter {
    sem_t told;
    struct mk_answer *answer; /* a copy; NULL: without memory */
};

static struct mk_str append(char **at, struct mk_str s)
{
    struct mk_str copy = {*at, s.len};

    if (s.len > 0)
        memcpy(*at, s.p, s.len);
    *at += s.len;
    return copy;
}

/* One block. */
static struct mk_answer *copy_answer(const struct mk_answer *a)
{
    struct mk_answer *copy =
        mk_heap_alloc(sizeof(*copy) + a->fields.len + a->body.len + a->trailers.len);
    char *at;

    if (!copy)
        return NULL;
    *copy = *a;
    at = (char *)(copy + 1);
    copy->fields = append(&at, a->fields);
    copy->body = append(&at, a->body);
    copy->trailers = append(&at, a->trailers);
    return copy;
}

static void on_answer(const struct mk_answer *answer, void *arg)
{
    struct waiter *waiter = arg;

    waiter->answer = copy_answer(answer);
    sem_post(&waiter->told);
}

/* Few programs ask their own server. */
MK_AT_START int mk_server_ask_wait(struct mk_server *server, const struct mk_question *question,
                                   struct mk_answer **answer)
{
    struct waiter waiter = {.answer = NULL};
    int err;

    *answer = NULL;
    if (!server)
        return MK_E_INVALID;
    if (mk_worker_is_of(server) || mk_shared_is_caller(mk_shared_of(server)))
        return MK_E_INVALID; /* it would wait for itself, or two of them for each other */
    sem_init(&waiter.told, 0, 0);
    err = mk_memory_ask(server, question, on_answer, &waiter, true);
    if (err == 0) {
        while (sem_wait(&waiter.told) < 0 && errno == EINTR)
            ;
        *answer = waiter.answer;
        err = waiter.answer ? 0 : MK_E_NOMEM;
    }
    sem_destroy(&waiter.told);
    return err;
}

void mk_answer_free(struct mk_answer *answer)
{
    mk_heap_free(answer);
}
