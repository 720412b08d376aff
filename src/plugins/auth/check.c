/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

static bool is_same_net(struct guesses_net a, struct guesses_net b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static void resume(const struct check *check)
{
    struct mk_request *r = mk_worker_request(check->worker, check->ticket);

    if (r)
        mk_request_resume(r);
}

/* A check of another worker may have ended. */
static void on_alarm(struct mk_alarm *alarm, void *arg)
{
    const struct checks *checks = arg;
    bool some_wait = false;

    for (const struct check *check = checks->first; check; check = check->next) {
        if (check->state != CHECK_WAITS || !check->ticket)
            continue;
        resume(check);
        some_wait = true;
    }
    if (some_wait)
        mk_alarm_set(alarm, CHECKS_LOOK_MS);
}

int auth_checks_init(struct checks *checks, struct mk_worker *w)
{
    checks->first = NULL;
    checks->last = &checks->first;
    checks->alarm = mk_alarm_new(w, on_alarm, checks);
    return checks->alarm ? 0 : MK_E_NOMEM;
}

void auth_checks_fini(struct checks *checks)
{
    mk_alarm_free(checks->alarm);
}

struct check *auth_checks_find(const struct checks *checks, uint64_t ticket)
{
    struct check *check = checks->first;

    while (check && check->ticket != ticket)
        check = check->next;
    return ticket ? check : NULL; /* without one nothing is found: 0 is what ended checks have */
}

void auth_checks_wake(const struct checks *checks, struct guesses_net net)
{
    for (const struct check *check = checks->first; check; check = check->next) {
        if (check->state == CHECK_WAITS && check->ticket && is_same_net(check->net, net))
            resume(check);
    }
}

static bool has_room(const struct checks *checks, struct guesses_net net)
{
    unsigned waiting = 0, of_net = 0;

    for (const struct check *check = checks->first; check; check = check->next) {
        if (check->state != CHECK_WAITS)
            continue;
        waiting++;
        of_net += is_same_net(check->net, net);
    }
    return waiting < CHECKS_WAITING && of_net < CHECKS_WAITING_OF_NET;
}

static void add(struct checks *checks, struct check *check)
{
    check->checks = checks;
    check->link = checks->last;
    *checks->last = check;
    checks->last = &check->next;
}

static void unlink_check(struct check *check)
{
    *check->link = check->next;
    if (check->next)
        check->next->link = check->link;
    else
        check->checks->last = check->link;
}

static void free_check(struct check *check)
{
    auth_users_put(check->users);
    auth_guesses_put(check->guesses);
    explicit_bzero(check->password, sizeof(check->password));
    free(check);
}

/* Its request has ended. */
static void forget(void *arg)
{
    struct check *check = arg;

    unlink_check(check);
    check->ticket = 0;
    check->checks = NULL;
    if (check->state != CHECK_RUNS)
        free_check(check);
}

struct check *auth_check_new(struct checks *checks, struct mk_request *r, struct mk_worker *w,
                             struct guesses *guesses, struct guesses_net net, struct users *users,
                             const char *hash, const char *password)
{
    struct check *check = has_room(checks, net) ? calloc(1, sizeof(*check)) : NULL;

    if (!check)
        return NULL;
    check->worker = w;
    check->guesses = auth_guesses_get(guesses);
    check->net = net;
    check->users = auth_users_get(users);
    check->hash = hash;
    check->ticket = mk_request_ticket(r);
    memcpy(check->password, password, strlen(password));
    add(checks, check);
    if (!check->ticket || mk_request_on_end(r, forget, check) < 0) {
        forget(check);
        return NULL;
    }
    mk_alarm_set(checks->alarm, CHECKS_LOOK_MS);
    return check;
}

/* On a thread of the offload pool. What the answer takes must not tell whether there is such a user: others of the
 * file cost this much. */
static void work(void *arg)
{
    struct check *check = arg;
    const char *usual = auth_users_usual_hash(check->users);

    if (!check->hash || !auth_password_is_slow(check->hash))
        (void)auth_password_matches(usual, check->password);
    check->right = check->hash && auth_password_matches(check->hash, check->password);
}

static void end(void *arg)
{
    struct check *check = arg;

    check->state = CHECK_ENDED;
    auth_guesses_end(check->guesses, check->net, !check->right, mk_worker_now_ms(check->worker));
    if (!check->checks) {
        free_check(check);
        return;
    }
    resume(check);
    auth_checks_wake(check->checks, check->net);
}

int auth_check_run(struct check *check)
{
    int err = mk_offload_kind(check->worker, MK_WORK_HASH, work, end, check);

    if (err == 0)
        check->state = CHECK_RUNS;
    else
        auth_guesses_end(check->guesses, check->net, false, mk_worker_now_ms(check->worker));
    return err;
}
