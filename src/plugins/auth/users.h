/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AUTH_USERS_H
#define AUTH_USERS_H

#include "kit/counted/counted.h"

#include <monkey/types.h>

/*
 * A file of users: lines `user:hash`, `#` comments and empty lines between. What was read never changes;
 * a file that was written again is another struct users.
 */

enum {
    USERS_FILE_MAX = 4 << 20,
    USERS_MAX = 100000,
    USER_NAME_MAX = 255,
};

struct user {
    struct mk_str name;
    const char *hash; /* terminated */
};

struct users {
    struct counted refs;
    uint64_t serial; /* of its source: what was read later has a higher one */
    size_t count;
    struct user *items; /* sorted by name */
    const char *usual;  /* auth_users_usual_hash */
    char *text;
};

/** What is wrong with a file, and where. */
struct users_fault {
    unsigned line;
    const char *why;
};

/**
 * @param text    copied
 * @return it, with one reference; NULL with fault->why, or without memory with fault->why NULL.
 */
struct users *auth_users_parse(struct mk_str text, struct users_fault *fault);
struct users *auth_users_get(struct users *u);
/** Any thread. NULL is allowed. */
void auth_users_put(struct users *u);

/** @return the hash of a user; NULL when there is no such one. */
const char *auth_users_find(const struct users *u, struct mk_str name);

/**
 * A hash of the scheme and cost that most users of the file have, a slow one if there are any: what a check of an
 * unknown name is to cost. Always the same one. NULL: there are no users.
 */
const char *auth_users_usual_hash(const struct users *u);

#endif
