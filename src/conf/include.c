/* SPDX-License-Identifier: Apache-2.0 */
#include "conf/include_int.h"

#include "base/str.h"
#include "conf/names_int.h"

#include <errno.h>
#include <glob.h>

bool mk_include_is_glob(struct mk_str pattern)
{
    for (size_t i = 0; i < pattern.len; i++) {
        if (strchr("*?[", pattern.p[i]))
            return true;
    }
    return false;
}

struct mk_str mk_include_dir(const char *path)
{
    const char *slash = strrchr(path, '/');

    return (struct mk_str){path, slash ? (size_t)(slash - path) + 1 : 0};
}

char *mk_include_path(struct mk_arena *arena, struct mk_str dir, struct mk_str path)
{
    if (path.p[0] == '/')
        return mk_arena_strdup(arena, path);
    return mk_arena_printf(arena, "%.*s%.*s", (int)dir.len, dir.p, (int)path.len, path.p);
}

/* The same, but with the directory's own brackets and stars meaning themselves. */
static char *glob_pattern(struct mk_arena *arena, struct mk_str dir, struct mk_str pattern)
{
    char *text = mk_arena_alloc(arena, dir.len * 2 + pattern.len + 1), *to = text;

    if (!text)
        return NULL;
    for (size_t i = 0; pattern.p[0] != '/' && i < dir.len; i++) {
        if (strchr("*?[\\", dir.p[i]))
            *to++ = '\\';
        *to++ = dir.p[i];
    }
    memcpy(to, pattern.p, pattern.len);
    to[pattern.len] = '\0';
    return text;
}

/* A directory that is not there matches nothing; one that may not be read could have matched. */
static int on_unreadable(const char *path, int err)
{
    (void)path;
    return err != ENOENT && err != ENOTDIR;
}

static int keep_matches(struct mk_arena *arena, const glob_t *found, const char *const **paths)
{
    struct mk_names names = {.arena = arena};

    for (size_t i = 0; i < found->gl_pathc; i++) {
        struct mk_str path = mk_str_from(found->gl_pathv[i]);

        if (!mk_str_has_suffix(path, MK_STR("~")) && mk_names_add(&names, path) < 0)
            return MK_E_NOMEM;
    }
    return mk_names_sorted(&names, paths);
}

int mk_include_expand(struct mk_arena *arena, struct mk_str dir, struct mk_str pattern,
                      const char *const **paths)
{
    const char *text = glob_pattern(arena, dir, pattern);
    glob_t found = {0};
    int err;

    if (!text)
        return MK_E_NOMEM;
    switch (glob(text, GLOB_NOSORT, on_unreadable, &found)) {
    case 0:
        err = keep_matches(arena, &found, paths);
        break;
    case GLOB_NOMATCH:
        err = 0;
        break;
    case GLOB_NOSPACE:
        err = MK_E_NOMEM;
        break;
    default:
        err = MK_E_ACCESS;
        break;
    }
    globfree(&found);
    return err;
}
