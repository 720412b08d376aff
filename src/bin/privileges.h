/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_PRIVILEGES_H
#define MK_BIN_PRIVILEGES_H

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/types.h>

/* Becoming somebody else for good, and the limit of descriptors, which takes rights to raise. */

struct mk_identity {
    uid_t uid;
    gid_t gid;
    char name[64]; /* for the supplementary groups; empty: a number without an account */
};

/**
 * Whom a User line means: the name of an account, or a number. A number without an account stands
 * for the group of the same number, and for no supplementary groups.
 * @return 0 or MK_E_NOENT.
 */
int mk_identity_find(struct mk_identity *identity, const char *user) MK_MUST_USE;

/** The account "nobody", or its usual number where there is none of that name. */
void mk_identity_nobody(struct mk_identity *identity);

/**
 * Give up everything but the rights of identity, in this process and whatever it starts: groups,
 * user, capabilities, and gaining any by executing a file. Its memory can no longer be read by
 * other processes of the same user, nor dumped, unless there are to be core dumps.
 * @return 0, or -1 after telling why; the process must not go on then.
 */
int mk_privileges_drop(const struct mk_identity *identity, bool core_dumps) MK_MUST_USE;

/**
 * The part of it that takes no rights: where the process is not root, nothing that it executes gains any, and its memory
 * is as hidden. Root has nothing to gain and nobody but root to hide from.
 * @return as above.
 */
int mk_privileges_freeze(bool core_dumps) MK_MUST_USE;

/** Allow so many descriptors; 0: as many as we may without asking. Tells when that falls short. */
void mk_privileges_set_fd_limit(uint64_t limit);

#endif
