/* SPDX-License-Identifier: Apache-2.0 */
#include "package/package.h"

#include "duda_package.h"
#include "service/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef duda_package_t *(*bootstrap_fn)(struct duda_api_objects *objects, struct web_service *ws);

static struct mk_duda_package *find(const struct mk_duda_service *s, const char *name)
{
    struct mk_duda_package *p = s->packages;

    while (p && strcmp(p->name, name) != 0)
        p = p->next;
    return p;
}

static duda_package_t *open_package(struct mk_duda_service *s, const char *path, char *why,
                                    size_t size)
{
    void *library = mk_duda_library_open(path, why, size);
    duda_package_t *package;
    union {
        void *object;
        bootstrap_fn function;
    } symbol;

    if (!library)
        return NULL;
    symbol.object = dlsym(library, "duda_bootstrap_package");
    (void)snprintf(why, size, "%s has no duda_package_main() of this version", path);
    if (!symbol.object)
        return NULL;
    package = symbol.function(&s->objects, &s->ws);
    (void)snprintf(why, size, "duda_package_main() of %s failed", path);
    return package && package->api ? package : NULL;
}

static void *add(struct mk_duda_service *s, const char *name)
{
    struct mk_duda_package *p = mk_duda_alloc(s, sizeof(*p));
    duda_package_t *package;
    char path[4096], why[4500];

    (void)snprintf(path, sizeof(path), "%s%s.dpkg", s->packages_root ? s->packages_root : "", name);
    (void)snprintf(why, sizeof(why), "PackagesRoot of [DUDA] is not set");
    package = p && s->packages_root ? open_package(s, path, why, sizeof(why)) : NULL;
    if (!package) {
        mk_duda_log(s, MK_LOG_WARN, "package '%s': %s", name, why);
        s->state = MK_DUDA_SKIPPED;
        return NULL;
    }
    p->name = mk_duda_copy(s, name, strlen(name));
    p->api = package->api;
    p->given = package;
    if (!p->name)
        return NULL;
    p->next = s->packages;
    s->packages = p;
    return p->api;
}

/* Without the package the service would call through NULL: see mk_duda_load, which skips it. */
void *mk_duda_load_package(struct web_service *ws, const char *name)
{
    struct mk_duda_service *s = mk_duda_service_of(ws);
    struct mk_duda_package *p;

    if (!name || !mk_duda_is_set_up(s, "duda_load_package"))
        return NULL;
    p = find(s, name);
    return p ? p->api : add(s, name);
}

/* Most packages allocate it; that of others is a variable of theirs. */
void mk_duda_packages_free(struct mk_duda_service *s)
{
    for (struct mk_duda_package *p = s->packages; p; p = p->next) {
        Dl_info info;

        if (!dladdr(p->given, &info))
            free(p->given);
    }
    s->packages = NULL;
}
