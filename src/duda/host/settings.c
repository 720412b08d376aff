/* SPDX-License-Identifier: Apache-2.0 */
#include "host/settings.h"

#include "data/redis/url.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct mk_field duda_fields[] = {
    {.name = "ServicesRoot",
     .type = MK_FIELD_PATH,
     .offset = offsetof(struct mk_duda_settings, services_root)},
    {.name = "PackagesRoot",
     .type = MK_FIELD_PATH,
     .offset = offsetof(struct mk_duda_settings, packages_root)},
    {.name = "DocumentRoot",
     .type = MK_FIELD_PATH,
     .offset = offsetof(struct mk_duda_settings, document_root)},
    {.name = "SessionStore",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct mk_duda_settings, session_store)},
    {.name = "Backplane",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct mk_duda_settings, backplane)},
    {.name = "SpoolDirectory",
     .type = MK_FIELD_PATH,
     .offset = offsetof(struct mk_duda_settings, spool_dir),
     .fallback = "/tmp"},
    {.name = "WaitTimeout",
     .type = MK_FIELD_TIME,
     .offset = offsetof(struct mk_duda_settings, park_ms),
     .min = 1,
     .max = UINT32_MAX,
     .fallback = "1h"},
    {.name = "CrashReport",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct mk_duda_settings, reports_crashes),
     .fallback = "off"},
    {.name = "CheckAnswers",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct mk_duda_settings, checks_answers),
     .fallback = "off"},
};

static const struct mk_field service_fields[] = {
    {.name = "Name", .type = MK_FIELD_STRING, .offset = offsetof(struct mk_duda_wish, name)},
    {.name = "Enabled",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct mk_duda_wish, enabled),
     .fallback = "on"},
    {.name = "Root",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct mk_duda_wish, is_root),
     .fallback = "off"},
    {.name = "DocumentRoot",
     .type = MK_FIELD_PATH,
     .offset = offsetof(struct mk_duda_wish, docroot)},
    {.name = "ConfDir", .type = MK_FIELD_PATH, .offset = offsetof(struct mk_duda_wish, confdir)},
    {.name = "DataDir", .type = MK_FIELD_PATH, .offset = offsetof(struct mk_duda_wish, datadir)},
    {.name = "LogDir", .type = MK_FIELD_PATH, .offset = offsetof(struct mk_duda_wish, logdir)},
};

static const struct mk_section_spec duda_section =
    MK_SECTION("DUDA", MK_SECTION_FILE, struct mk_duda_settings, duda_fields);
static const struct mk_section_spec service_section = MK_SECTION(
    "WEB_SERVICE", MK_SECTION_SITE | MK_SECTION_REPEAT, struct mk_duda_wish, service_fields);

const struct mk_section_spec *const mk_duda_sections[] = {&duda_section, &service_section, NULL};

/*
 * A directory of a key, with a slash at its end.
 * @return NULL: unset, no directory (noted), or no memory (*error)
 */
static const char *directory(struct mk_setup *setup, const void *settings, const char *key,
                             const char *path, int *error)
{
    size_t len = path ? strlen(path) : 0;
    struct stat st;
    char *copy;

    if (!path)
        return NULL;
    if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)) {
        mk_setup_fault(setup, mk_setup_place(setup, settings, key), "%s: %s is not a directory",
                       key, path);
        return NULL;
    }
    copy = mk_setup_alloc(setup, len + 2);
    if (!copy) {
        *error = MK_E_NOMEM;
        return NULL;
    }
    memcpy(copy, path, len);
    if (copy[len - 1] != '/')
        copy[len] = '/';
    return copy;
}

/* Notes what is wrong with a URL of Redis, without the line if that has a password. @return the URL; NULL: it is none */
static const char *redis_url(struct mk_setup *setup, const struct mk_duda_settings *set,
                             const char *key, const char *text)
{
    struct redis_url url;
    const char *why = redis_url_read(&url, text);

    if (!why)
        return text;
    mk_setup_fault(
        setup, strchr(text, '@') ? mk_setup_origin(setup, set) : mk_setup_place(setup, set, key),
        "%s: %s", key, why);
    return NULL;
}

static void find_store(struct mk_setup *setup, const struct mk_duda_settings *set,
                       struct mk_duda_plan *plan)
{
    static const char kind[] = "sqlite:";
    const char *store = set->session_store;

    if (!store || strcmp(store, "memory") == 0)
        return;
    if (strncmp(store, kind, sizeof(kind) - 1) == 0 && store[sizeof(kind) - 1] == '/')
        plan->session_file = store + sizeof(kind) - 1;
    else if (redis_url_is(store))
        plan->session_url = redis_url(setup, set, "SessionStore", store);
    else
        mk_setup_fault(setup, mk_setup_place(setup, set, "SessionStore"),
                       "SessionStore: %s is none of memory, sqlite: with an absolute path, and "
                       "redis://HOST:PORT",
                       store);
}

/* @return static */
static const char *tls_of(struct mk_setup *setup)
{
    if (mk_setup_has_transport(setup, MK_STR("tls")))
        return "tls";
    return mk_setup_has_transport(setup, MK_STR("mbedtls")) ? "mbedtls" : NULL;
}

int mk_duda_check(struct mk_setup *setup)
{
    struct mk_duda_settings *set = mk_setup_section(setup, &duda_section, NULL);
    struct mk_duda_plan *plan = mk_setup_alloc(setup, sizeof(*plan));
    int error = 0;

    if (!plan || !set)
        return MK_E_NOMEM;
    plan->set = set;
    find_store(setup, set, plan);
    if (set->backplane)
        plan->backplane_url = redis_url(setup, set, "Backplane", set->backplane);
    plan->tls = tls_of(setup);
    plan->services_root = directory(setup, set, "ServicesRoot", set->services_root, &error);
    plan->packages_root = directory(setup, set, "PackagesRoot", set->packages_root, &error);
    set->document_root = directory(setup, set, "DocumentRoot", set->document_root, &error);
    mk_setup_keep(setup, plan);
    return error;
}

/* A name is the first segment of paths, and of a file. */
static bool is_name(const char *name)
{
    return name[0] != '.' && !strchr(name, '/');
}

static void look_for(struct mk_setup *setup, const struct mk_duda_plan *plan,
                     const struct mk_duda_wish *w)
{
    char path[PATH_MAX];

    if (!plan->services_root || !w->name || !is_name(w->name))
        return;
    (void)snprintf(path, sizeof(path), "%s%s.duda", plan->services_root, w->name);
    if (access(path, F_OK) < 0)
        mk_setup_fault(setup, mk_setup_place(setup, w, "Name"), "%s: %s", path, strerror(errno));
}

static int add_service(struct mk_setup *setup, struct mk_duda_home *home,
                       const struct mk_duda_wish *w)
{
    struct mk_duda_spec *spec = &home->specs[home->nwishes];
    int error = 0;

    if (!w->name || !is_name(w->name)) {
        mk_setup_fault(setup, mk_setup_origin(setup, w), "[WEB_SERVICE] needs Name");
        return 0;
    }
    for (size_t i = 0; i < home->nwishes; i++) {
        if (strcmp(home->specs[i].name, w->name) == 0)
            mk_setup_fault(setup, mk_setup_place(setup, w, "Name"),
                           "[WEB_SERVICE] %s is on this site already", w->name);
    }
    spec->name = w->name;
    spec->site = home->site;
    spec->is_root = w->is_root;
    spec->docroot = directory(setup, w, "DocumentRoot", w->docroot, &error);
    spec->confdir = directory(setup, w, "ConfDir", w->confdir, &error);
    spec->datadir = directory(setup, w, "DataDir", w->datadir, &error);
    spec->logdir = directory(setup, w, "LogDir", w->logdir, &error);
    home->nwishes++;
    look_for(setup, home->plan, w);
    return error;
}

/* What a service at the root has of its site is all of it. */
static void look_at_root(struct mk_setup *setup, const struct mk_duda_home *home)
{
    const struct mk_duda_spec *root = NULL;

    for (size_t i = 0; i < home->nwishes && !root; i++)
        root = home->specs[i].is_root ? &home->specs[i] : NULL;
    for (struct mk_duda_wish *w = NULL;
         root && (w = mk_setup_section(setup, &service_section, w));) {
        if (w->enabled && w->name && strcmp(w->name, root->name) != 0)
            mk_setup_warn(setup, mk_setup_place(setup, w, "Name"),
                          "[WEB_SERVICE] %s gets no requests: %s of this site has Root on", w->name,
                          root->name);
    }
}

static size_t count_services(struct mk_setup *setup)
{
    size_t n = 0;

    for (void *s = NULL; (s = mk_setup_section(setup, &service_section, s));)
        n++;
    return n;
}

/* Paths of services are known only when they are loaded, so every path is asked for. */
static int add_home(struct mk_setup *setup, struct mk_duda_plan *plan, size_t n)
{
    struct mk_duda_home *home = mk_setup_alloc(setup, sizeof(*home));
    const struct mk_words *names = mk_setup_site_names(setup);
    struct mk_str site = mk_setup_copy(setup, names->count ? names->items[0] : MK_STR(""));
    int err = 0;

    if (!home || !site.p)
        return MK_E_NOMEM;
    home->plan = plan;
    home->site = site.p;
    home->specs = mk_setup_alloc(setup, n * sizeof(*home->specs));
    home->services = mk_setup_alloc(setup, n * sizeof(struct mk_duda_service *));
    if (!home->specs || !home->services)
        return MK_E_NOMEM;
    home->next = plan->homes;
    plan->homes = home;
    for (struct mk_duda_wish *w = NULL;
         err == 0 && (w = mk_setup_section(setup, &service_section, w));)
        err = w->enabled ? add_service(setup, home, w) : 0;
    if (err < 0)
        return err;
    look_at_root(setup, home);
    mk_setup_keep(setup, home);
    return mk_setup_route(setup, MK_STR("^/"), NULL, NULL, false);
}

int mk_duda_check_site(struct mk_setup *setup)
{
    struct mk_duda_plan *plan = mk_setup_config(setup);
    size_t n = count_services(setup);

    if (n == 0 || !plan) {
        mk_setup_keep(setup, NULL);
        return 0;
    }
    if (!plan->services_root) {
        mk_setup_fault(setup, NULL,
                       "[WEB_SERVICE] needs ServicesRoot of [DUDA] in "
                       "plugins/duda/duda.conf");
        return 0;
    }
    return add_home(setup, plan, n);
}
