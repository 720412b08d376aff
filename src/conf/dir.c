/* SPDX-License-Identifier: Apache-2.0 */
#include "conf/conf.h"

#include "base/str.h"
#include "conf/names_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static bool is_wanted_name(struct mk_str name, const char *suffix)
{
    return name.p[0] != '.' && !mk_str_has_suffix(name, MK_STR("~")) &&
           mk_str_has_suffix(name, mk_str_from(suffix ? suffix : ""));
}

/*
 * A folder may lie beside files that are meant by their place. What cannot be looked at (a dangling link), and what is
 * meant by its name and no file, is listed: the fault comes when it is read, where silence would leave its rules out.
 */
static bool is_wanted_kind(DIR *dir, const struct dirent *entry, const char *suffix)
{
    struct stat st;

    return suffix || entry->d_type == DT_REG || fstatat(dirfd(dir), entry->d_name, &st, 0) < 0 ||
           !S_ISDIR(st.st_mode);
}

static int gather(struct mk_names *names, DIR *dir, const char *path, const char *suffix)
{
    const struct dirent *entry;

    for (;;) {
        const char *full;

        errno = 0;
        entry = readdir(dir);
        if (!entry)
            return errno == 0 ? 0 : MK_E_SYS;
        if (!is_wanted_name(mk_str_from(entry->d_name), suffix) ||
            !is_wanted_kind(dir, entry, suffix))
            continue;
        full = mk_arena_printf(names->arena, "%s/%s", path, entry->d_name);
        if (!full || mk_names_add(names, mk_str_from(full)) < 0)
            return MK_E_NOMEM;
    }
}

int mk_conf_list_dir(struct mk_arena *arena, const char *dir, const char *suffix,
                     const char *const **paths)
{
    struct mk_names names = {.arena = arena};
    DIR *open_dir = opendir(dir);
    int err;

    if (!open_dir)
        return mk_error_from_errno(errno);
    err = gather(&names, open_dir, dir, suffix);
    (void)closedir(open_dir);
    return err < 0 ? err : mk_names_sorted(&names, paths);
}
