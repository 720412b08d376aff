/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/plugin.h"

#include "base/str.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>

/* Where plugins come from: the executable itself, or a shared object. */

/* The linker's names for the ends of a section; none of the two exists when nothing is in it. */
#define SECTION_END __attribute__((weak, visibility("hidden")))
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
extern const struct mk_plugin *const __start_mk_plugins[] SECTION_END;
extern const struct mk_plugin *const __stop_mk_plugins[] SECTION_END;
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)

struct mk_str mk_plugin_name_of(struct mk_str what)
{
    const char *slash = memrchr(what.p, '/', what.len);

    if (slash)
        what = mk_str_skip(what, (size_t)(slash - what.p) + 1);
    if (mk_str_has_prefix(what, MK_STR("monkey-")))
        what = mk_str_skip(what, sizeof("monkey-") - 1);
    if (mk_str_has_suffix(what, MK_STR(".so")))
        what.len -= sizeof(".so") - 1;
    return what;
}

const struct mk_plugin *mk_plugin_static(struct mk_str name)
{
    for (const struct mk_plugin *const *row = __start_mk_plugins; row < __stop_mk_plugins; row++) {
        if (mk_str_eq(mk_str_from((*row)->name), name))
            return *row;
    }
    return NULL;
}

static bool is_always(const struct mk_plugin *plugin)
{
    return plugin->size >= offsetof(struct mk_plugin, traits) + sizeof(plugin->traits) &&
           (plugin->traits & MK_TRAIT_ALWAYS);
}

const struct mk_plugin *mk_plugin_always(size_t *at)
{
    while (&__start_mk_plugins[*at] < __stop_mk_plugins) {
        const struct mk_plugin *plugin = __start_mk_plugins[(*at)++];

        if (is_always(plugin))
            return plugin;
    }
    return NULL;
}

#ifdef MK_NO_DLOPEN

const struct mk_plugin *mk_plugin_open(const char *path, struct mk_arena *arena, const char **why)
{
    *why = mk_arena_printf(arena,
                           "cannot load \"%s\", because this server is linked statically: it has "
                           "only the plugins that were built into it",
                           path);
    return NULL;
}

#else

/* The linker's message, without the path where that comes first. */
static const char *reason(const char *path)
{
    const char *text = dlerror();
    size_t len = strlen(path);

    if (!text)
        return "no reason known";
    return strncmp(text, path, len) == 0 && strncmp(text + len, ": ", 2) == 0 ? text + len + 2
                                                                              : text;
}

const struct mk_plugin *mk_plugin_open(const char *path, struct mk_arena *arena, const char **why)
{
    const struct mk_plugin *const *exported;
    struct stat st;
    void *object;

    if (stat(path, &st) < 0) {
        *why = mk_arena_printf(arena, "cannot load \"%s\": %s", path, strerror(errno));
        return NULL;
    }
    if (!S_ISREG(st.st_mode)) { /* the linker would wait for somebody to write into a fifo */
        *why = mk_arena_printf(arena, "cannot load \"%s\": it is not a file", path);
        return NULL;
    }
    object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        *why = mk_arena_printf(arena, "cannot load \"%s\": %s", path, reason(path));
        return NULL;
    }
    exported = dlsym(object, "mk_plugin");
    if (exported && *exported)
        return *exported;
    *why = mk_arena_printf(arena, "\"%s\" is not a plugin: it does not export mk_plugin", path);
    return NULL;
}

#endif
