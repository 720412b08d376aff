/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/guards/guard.h"
#include "service/answer.h"

#include <stdio.h>
#include <sys/random.h>

/* Names of requests: a random beginning of the service, and a number. */

enum { NAME_MAX_BYTES = 64 };

static bool is_name(struct mk_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.p[i];

        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
              c == '.' || c == '_' || c == '-'))
            return false;
    }
    return text.len > 0 && text.len <= NAME_MAX_BYTES;
}

static const char *new_name(struct mk_duda_request *rq)
{
    struct mk_duda_guards *guards = mk_duda_state(rq->service, MK_DUDA_PART_GUARD);
    char text[NAME_MAX_BYTES];
    int len = snprintf(text, sizeof(text), "%016llx-%llx", (unsigned long long)guards->seed,
                       atomic_fetch_add(&guards->named, 1) + 1);

    return mk_duda_request_copy(rq, (struct mk_str){text, (size_t)len});
}

static void name(struct mk_duda_request *rq, const void *arg)
{
    const struct mk_str field = MK_STR("X-Request-Id");
    const struct mk_str given = mk_request_header(rq->r, field);

    (void)arg;
    if (!rq->id)
        rq->id = is_name(given) ? mk_duda_request_copy(rq, given) : new_name(rq);
    if (rq->id)
        (void)mk_duda_answer_replace(rq, field, mk_str_from(rq->id));
}

int mk_duda_guard_request_id(void)
{
    struct mk_duda_service *s;
    struct mk_duda_guards *guards = mk_duda_guards_of(&s, "guard->request_id");

    if (!guards)
        return -1;
    if (guards->seed == 0 &&
        getrandom(&guards->seed, sizeof(guards->seed), 0) != (ssize_t)sizeof(guards->seed))
        return mk_duda_refuse(s, "guard->request_id(): no random bytes");
    return mk_duda_route_guard(s, "guard->request_id", name, NULL, NULL);
}

const char *mk_duda_guard_id(duda_request_t *dr)
{
    const struct mk_duda_request *rq = mk_duda_request_check(dr, "guard->id");

    return rq ? rq->id : NULL;
}
