/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AUTH_CHECK_H
#define AUTH_CHECK_H

#include "guesses.h"
#include "password.h"
#include "users.h"

#include <monkey/plugin.h>

/*
 * Passwords that are being checked, or wait for that, while their requests wait. Hashes are made by the offload
 * pool. A worker's own, first-in first-out.
 */

enum {
    CHECKS_WAITING = 512,       /* on a worker */
    CHECKS_WAITING_OF_NET = 64, /* of one address; more are answered 503 */
    CHECKS_LOOK_MS = 100, /* so often waiting ones look for checks that ended on another worker */
};

enum check_state { CHECK_WAITS, CHECK_RUNS, CHECK_ENDED };

struct checks {
    struct check *first, **last;
    struct mk_alarm *alarm; /* set while some wait */
};

struct check {
    struct check *next, **link; /* among the checks */
    struct checks *checks;
    struct mk_worker *worker;
    uint64_t ticket; /* 0: its request has ended, or has looked at the outcome */
    struct guesses *guesses;
    struct guesses_net net;
    struct users *users;
    const char *hash; /* the user's; NULL: there is no such user */
    enum check_state state;
    bool right;
    char password[PASSWORD_MAX + 1];
};

/** @return 0 or MK_E_NOMEM. */
int auth_checks_init(struct checks *checks, struct mk_worker *w);
void auth_checks_fini(struct checks *checks);

/** The check that a request has under way; NULL: none. */
struct check *auth_checks_find(const struct checks *checks, uint64_t ticket);

/**
 * A check that waits. It ends with its request, or with its work if that is later.
 * @param hash  borrowed from users
 * @return it; NULL: too many wait, or there is no memory.
 */
struct check *auth_check_new(struct checks *checks, struct mk_request *r, struct mk_worker *w,
                             struct guesses *guesses, struct guesses_net net, struct users *users,
                             const char *hash, const char *password);

/**
 * Have it worked, as auth_guesses_begin has allowed; its request is resumed when it has ended.
 * @return 0, or an error of mk_offload_kind: the permission was given back.
 */
int auth_check_run(struct check *check);

/** Resume the requests of this address that wait. */
void auth_checks_wake(const struct checks *checks, struct guesses_net net);

#endif
