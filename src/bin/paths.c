/* SPDX-License-Identifier: Apache-2.0 */
#include "paths.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef MK_CONFDIR
#define MK_CONFDIR "/etc/monkey"
#endif

/* A name as seen from a directory; an absolute one stands for itself. */
static char *join(const char *dir, const char *name)
{
    bool is_absolute = name[0] == '/';
    char *path;

    return asprintf(&path, "%s/%s", is_absolute ? "" : dir, name + is_absolute) < 0 ? NULL : path;
}

static bool is_in(const char *dir, const char *name)
{
    char *path = join(dir, name);
    bool found = path && access(path, F_OK) == 0;

    free(path);
    return found;
}

char *mk_path_absolute(const char *path)
{
    char cwd[PATH_MAX];

    if (path[0] == '/')
        return join("", path);
    return getcwd(cwd, sizeof(cwd)) ? join(cwd, path) : NULL;
}

char *mk_path_built_plugins(void)
{
    char path[PATH_MAX];
    ssize_t len = readlinkat(AT_FDCWD, "/proc/self/exe", path, sizeof(path) - 1);
    char *slash;

    path[len > 0 ? len : 0] = '\0';
    slash = strrchr(path, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    return is_in(path, "build.ninja") && is_in(path, "plugins") ? join(path, "plugins") : NULL;
}

/* "DIR/build.../monkey" leaves "DIR" in path. */
static bool cut_to_source_tree(char *path)
{
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');

        if (!slash || (up == 1 && strncmp(slash, "/build", 6) != 0))
            return false;
        *slash = '\0';
    }
    return true;
}

/* The conf/ of the source tree that this executable was built in; NULL: it was not. */
static char *build_tree_dir(void)
{
    char path[PATH_MAX];
    ssize_t len = readlinkat(AT_FDCWD, "/proc/self/exe", path, sizeof(path) - 1);

    if (len <= 0)
        return NULL;
    path[len] = '\0';
    if (!cut_to_source_tree(path) || !is_in(path, "conf/monkey.conf"))
        return NULL;
    return join(path, "conf");
}

char *mk_path_default_config(void)
{
    char *dir = build_tree_dir();

    return dir ? dir : join("", MK_CONFDIR);
}

/* The library looks in the directory first and then takes the name as given; only the latter depends on where we are. */
static int settle(const char *dir, const char **name)
{
    if (!*name || (*name)[0] == '/' || is_in(dir, *name))
        return 0;
    *name = mk_path_absolute(*name);
    return *name ? 0 : MK_E_NOMEM;
}

int mk_files_settle(struct mk_config_files *files)
{
    files->size = sizeof(*files);
    files->dir = files->dir ? mk_path_absolute(files->dir) : mk_path_default_config();
    if (!files->dir)
        return MK_E_NOMEM;
    if (settle(files->dir, &files->server) < 0 || settle(files->dir, &files->sites) < 0 ||
        settle(files->dir, &files->plugins) < 0 || settle(files->dir, &files->load) < 0 ||
        settle(files->dir, &files->mimes) < 0)
        return MK_E_NOMEM;
    return 0;
}
