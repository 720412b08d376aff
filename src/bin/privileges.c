/* SPDX-License-Identifier: Apache-2.0 */
#include "privileges.h"

#include "report.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NOBODY = 65534 };

/* Without FDLimit the hard limit counts, which containers set to a thousand million. */
enum { FD_LIMIT_UNASKED_MAX = 1 << 20 };

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_LEAK_CHECK 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_LEAK_CHECK 1
#endif

/* The leak check of a sanitizer has to trace its own process. */
#ifdef HAS_LEAK_CHECK
enum { DUMPABLE = 1 };
#else
enum { DUMPABLE = 0 };
#endif

static const struct passwd *find_account(const char *user, uid_t *number)
{
    const struct passwd *account = getpwnam(user);
    char *end;
    unsigned long value;

    if (account)
        return account;
    *number = (uid_t)-1;
    if (*user < '0' || *user > '9')
        return NULL;
    value = strtoul(user, &end, 10);
    if (*end || value >= (uid_t)-1)
        return NULL;
    *number = (uid_t)value;
    return getpwuid(*number);
}

int mk_identity_find(struct mk_identity *identity, const char *user)
{
    const struct passwd *account;
    uid_t number;

    *identity = (struct mk_identity){.name = "root"};
    if (strcmp(user, "root") == 0) /* who needs no data base, and no memory to look in it */
        return 0;
    account = find_account(user, &number);
    *identity = (struct mk_identity){0};
    if (account) {
        identity->uid = account->pw_uid;
        identity->gid = account->pw_gid;
        if (snprintf(identity->name, sizeof(identity->name), "%s", account->pw_name) >=
            (int)sizeof(identity->name))
            return MK_E_NOENT;
        return 0;
    }
    if (number == (uid_t)-1)
        return MK_E_NOENT;
    identity->uid = number;
    identity->gid = number;
    return 0;
}

void mk_identity_nobody(struct mk_identity *identity)
{
    if (mk_identity_find(identity, "nobody") < 0)
        *identity = (struct mk_identity){.uid = NOBODY, .gid = NOBODY};
}

static int set_groups(const struct mk_identity *id)
{
    return id->name[0] ? initgroups(id->name, id->gid) : setgroups(1, &id->gid);
}

/* Trust what the kernel says now, not what it answered on the way. */
static bool is_dropped(const struct mk_identity *id)
{
    uid_t real, effective, saved;
    gid_t real_gid, effective_gid, saved_gid;

    if (getresuid(&real, &effective, &saved) < 0 ||
        getresgid(&real_gid, &effective_gid, &saved_gid) < 0)
        return false;
    if (real != id->uid || effective != id->uid || saved != id->uid)
        return false;
    if (real_gid != id->gid || effective_gid != id->gid || saved_gid != id->gid)
        return false;
    return id->uid == 0 || (setresuid((uid_t)-1, 0, (uid_t)-1) < 0 && setgroups(0, NULL) < 0);
}

static int freeze(bool core_dumps)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
                   prctl(PR_SET_DUMPABLE, core_dumps ? 1 : DUMPABLE, 0, 0, 0) < 0
               ? -1
               : 0;
}

int mk_privileges_freeze(bool core_dumps)
{
    if (geteuid() == 0 || freeze(core_dumps) == 0)
        return 0;
    mk_report("cannot hide the server's memory, or give up rights for its children: %s",
              mk_errno_text());
    return -1;
}

int mk_privileges_drop(const struct mk_identity *identity, bool core_dumps)
{
    const char *step = "its groups";

    if (set_groups(identity) < 0)
        goto failed;
    step = "its group";
    if (setresgid(identity->gid, identity->gid, identity->gid) < 0)
        goto failed;
    step = "the user";
    if (setresuid(identity->uid, identity->uid, identity->uid) < 0)
        goto failed;
    if (!is_dropped(identity)) {
        mk_report("User: the server does not start, because it could regain the rights of root");
        return -1;
    }
    step = "less rights for its children";
    if (freeze(core_dumps) < 0)
        goto failed;
    return 0;

failed:
    mk_report("User: cannot take %s: %s", step, mk_errno_text());
    return -1;
}

static uint64_t wanted_limit(uint64_t asked, const struct rlimit *now)
{
    if (asked > 0)
        return asked;
    if (now->rlim_max < FD_LIMIT_UNASKED_MAX)
        return now->rlim_max;
    return now->rlim_cur > FD_LIMIT_UNASKED_MAX ? now->rlim_cur : FD_LIMIT_UNASKED_MAX;
}

void mk_privileges_set_fd_limit(uint64_t limit)
{
    struct rlimit now, then;

    if (getrlimit(RLIMIT_NOFILE, &now) < 0)
        return;
    then = now;
    then.rlim_cur = (rlim_t)wanted_limit(limit, &now);
    if (then.rlim_cur > then.rlim_max)
        then.rlim_max = then.rlim_cur;
    if (setrlimit(RLIMIT_NOFILE, &then) == 0)
        return;
    mk_report("FDLimit %llu: at most %llu is possible: %s", (unsigned long long)limit,
              (unsigned long long)now.rlim_max, mk_errno_text());
    then = now;
    then.rlim_cur = now.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &then);
}
