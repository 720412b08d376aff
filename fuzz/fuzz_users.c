/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "password.h"
#include "users.h"

/*
 * Any bytes as a file of users: a fault has its line, and what was taken is sorted, without doubles, found by its
 * name, and no longer than it may be.
 */

static void check_users(const struct users *u, size_t size)
{
    require(u->count <= USERS_MAX && u->count <= size / 2);
    for (size_t i = 0; i < u->count; i++) {
        const struct user *user = &u->items[i];

        require(user->name.len > 0 && user->name.len <= USER_NAME_MAX);
        require(!memchr(user->name.p, ':', user->name.len));
        require(auth_password_is_hash(user->hash));
        require(auth_users_find(u, user->name) == user->hash);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = exact_copy(data, size);
    struct users_fault fault;
    struct users *u = auth_users_parse((struct mk_str){bytes, size}, &fault);

    require((u == NULL) == (fault.why != NULL));
    if (u)
        check_users(u, size);
    auth_users_put(u);
    free(bytes);
    return 0;
}
