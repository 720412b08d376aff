/* SPDX-License-Identifier: Apache-2.0 */
#include "entry/palm_path.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char program[] = "monkey-palm";

/* Beside a file, in a folder there. */
static bool is_beside(char dst[PALM_PATH_MAX], const char *file, const char *folder)
{
    const char *slash = strrchr(file, '/');
    int len;

    if (file[0] != '/' || !slash)
        return false;
    len = snprintf(dst, PALM_PATH_MAX, "%.*s/%s%s", (int)(slash - file), file, folder, program);
    return len > 0 && len < PALM_PATH_MAX && access(dst, X_OK) == 0;
}

static bool is_beside_plugin(char dst[PALM_PATH_MAX])
{
    Dl_info info;

    return dladdr(program, &info) != 0 && info.dli_fname && is_beside(dst, info.dli_fname, "");
}

static bool is_beside_program(char dst[PALM_PATH_MAX])
{
    char self[PALM_PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (len <= 0)
        return false;
    self[len] = '\0';
    return is_beside(dst, self, "plugins/");
}

const char *cgi_palm_path(char dst[PALM_PATH_MAX])
{
    int len;

    if (is_beside_plugin(dst) || is_beside_program(dst))
        return dst;
    len = snprintf(dst, PALM_PATH_MAX, "%s/%s", PLUGIN_DIR, program);
    return len > 0 && len < PALM_PATH_MAX && access(dst, X_OK) == 0 ? dst : NULL;
}
