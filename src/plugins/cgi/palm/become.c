/* SPDX-License-Identifier: Apache-2.0 */
#include "palm/launch.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct account {
    uid_t uid;
    gid_t gid;
    const char *name; /* NULL: a number without an account, which has no further groups */
};

static bool find(struct account *a, const char *user)
{
    char *end;
    unsigned long number = strtoul(user, &end, 10);
    bool is_number = *end == '\0' && number < (uid_t)-1;
    const struct passwd *entry = is_number ? getpwuid((uid_t)number) : getpwnam(user);

    if (entry)
        *a = (struct account){entry->pw_uid, entry->pw_gid, entry->pw_name};
    else if (is_number)
        *a = (struct account){(uid_t)number, (gid_t)number, NULL};
    return entry || is_number;
}

static bool complain(const char *what, const char *user)
{
    (void)fprintf(stderr, "monkey-palm: %s %s: %s\n", what, user, strerror(errno));
    return false;
}

bool become(const char *user)
{
    struct account a;
    int err;

    if (*user == '\0')
        return true;
    if (geteuid() != 0) {
        if (!find(&a, user) || a.uid != geteuid())
            (void)fprintf(stderr, "monkey-palm: scripts run as user %u, only root may become %s\n",
                          (unsigned)geteuid(), user);
        return true;
    }
    if (!find(&a, user)) {
        (void)fprintf(stderr, "monkey-palm: there is no account %s\n", user);
        return false;
    }
    err = a.name ? initgroups(a.name, a.gid) : setgroups(0, NULL);
    if (err < 0 || setresgid(a.gid, a.gid, a.gid) < 0 || setresuid(a.uid, a.uid, a.uid) < 0)
        return complain("cannot become", user);
    if (a.uid != 0 && setuid(0) == 0) {
        errno = EPERM;
        return complain("could become root again after", user);
    }
    return true;
}
