/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/reach.h"

#include "base/code.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ACCOUNT_BUFFER = 2048, LINE = 2 * PATH_MAX + 512 };

const char *mk_reach_user(char name[MK_REACH_NAME])
{
    char buffer[ACCOUNT_BUFFER];
    struct passwd account, *found = NULL;

    if (getpwuid_r(geteuid(), &account, buffer, sizeof(buffer), &found) == 0 && found)
        (void)snprintf(name, MK_REACH_NAME, "%s", found->pw_name);
    else
        (void)snprintf(name, MK_REACH_NAME, "%u", (unsigned)geteuid());
    return name;
}

/* Cut path after the first folder that may not be entered. @return false: there is none. */
static bool cut_after_barrier(char *path)
{
    for (char *end = path; *end;) {
        char saved;

        end += strspn(end, "/");
        end += strcspn(end, "/");
        saved = *end;
        *end = '\0';
        if (access(path, X_OK) < 0)
            return errno == EACCES;
        *end = saved;
    }
    return false;
}

static void tell(const char *root, const char *barrier, mk_text_fn fn, void *arg)
{
    char user[MK_REACH_NAME], line[LINE];
    int len = snprintf(
        line, sizeof(line),
        "DocumentRoot %s: user %s may not enter %s (allow it: chmod o+x, or an owner or group "
        "that fits; or choose another user with User)\n",
        root, mk_reach_user(user), barrier);

    if (len > 0)
        fn(arg, line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1);
}

MK_AT_START void mk_snapshot_unreachable(const struct mk_snapshot *snapshot, mk_text_fn fn,
                                         void *arg)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < snapshot->nsites; i++) {
        const char *root = snapshot->sites[i].set.document_root;

        if (!root || snprintf(path, sizeof(path), "%s", root) >= (int)sizeof(path))
            continue;
        if (cut_after_barrier(path))
            tell(root, path, fn, arg);
    }
}
