/* SPDX-License-Identifier: Apache-2.0 */
#include "host/load.h"

#include "package/package.h"
#include "service/library.h"

#include <monkey/web/cookie.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const struct mk_duda_part *const mk_duda_parts[MK_DUDA_PARTS] = {
#define MK_DUDA_PART_ADDRESS(name, part) &part,
    MK_DUDA_PART_ROWS(MK_DUDA_PART_ADDRESS)
#undef MK_DUDA_PART_ADDRESS
};

enum { HIGHEST_LEVEL = 3 };

/* ---- parts ---- */

static int parts_alloc(struct mk_duda_service *s)
{
    for (unsigned i = 0; i < MK_DUDA_PARTS; i++) {
        size_t size = mk_duda_parts[i]->service_size;

        s->parts[i] = size > 0 ? mk_duda_alloc(s, size) : NULL;
        if (size > 0 && !s->parts[i])
            return mk_duda_refuse(s, "no memory");
    }
    return 0;
}

static void parts_exit(struct mk_duda_service *s, unsigned n)
{
    while (n-- > 0) {
        if (mk_duda_parts[n]->exit)
            mk_duda_parts[n]->exit(s);
    }
}

/* @return how many have loaded; fewer than all: s->why */
static unsigned parts_load(struct mk_duda_service *s)
{
    unsigned n = 0;

    while (n < MK_DUDA_PARTS && (!mk_duda_parts[n]->load || mk_duda_parts[n]->load(s) == 0))
        n++;
    return n;
}

static int parts_ready(struct mk_duda_service *s)
{
    for (unsigned i = 0; i < MK_DUDA_PARTS; i++) {
        if (mk_duda_parts[i]->ready && mk_duda_parts[i]->ready(s) < 0)
            return -1;
    }
    return 0;
}

/* ---- a service ---- */

static void free_service(struct mk_duda_service *s)
{
    struct mk_duda_block *block = s->blocks;

    if (s->is_outlived)
        return;
    mk_duda_packages_free(s);
    for (unsigned i = 0; i < s->nseats; i++)
        free(s->seats ? s->seats[i] : NULL);
    free(s->seats);
    mk_duda_free_blocks(block);
    free(s);
}

static mk_pointer pointer_to(char *text)
{
    return (mk_pointer){text, text ? strlen(text) : 0};
}

static bool copy_text(struct mk_duda_service *s, const char **copy, const char *text)
{
    *copy = text ? mk_duda_copy(s, text, strlen(text)) : NULL;
    return *copy || !text;
}

/* A copy of its own, which it may change. */
static bool set_pointer(struct mk_duda_service *s, mk_pointer *p, const char *text)
{
    *p = pointer_to(text ? mk_duda_copy(s, text, strlen(text)) : NULL);
    return p->data || !text;
}

static bool copy_spec(struct mk_duda_service *s, const struct mk_duda_plan *plan,
                      const struct mk_duda_spec *from)
{
    struct mk_duda_spec *to = &s->spec;
    struct web_service *ws = &s->ws;

    to->is_root = from->is_root;
    to->file = from->file;
    ws->enabled = MK_TRUE;
    ws->is_root = from->is_root;
    s->checks_answers = plan->set->checks_answers;
    return copy_text(s, &to->name, from->name) && copy_text(s, &to->site, from->site) &&
           copy_text(s, &to->docroot, from->docroot) && copy_text(s, &to->confdir, from->confdir) &&
           copy_text(s, &to->datadir, from->datadir) && copy_text(s, &to->logdir, from->logdir) &&
           copy_text(s, &s->packages_root, plan->packages_root) &&
           copy_text(s, &s->session_file, plan->session_file) &&
           copy_text(s, &s->session_url, plan->session_url) &&
           copy_text(s, &s->backplane_url, plan->backplane_url) &&
           copy_text(s, &s->spool_dir, plan->set->spool_dir) &&
           set_pointer(s, &ws->name, from->name) && set_pointer(s, &ws->fixed_name, from->name) &&
           set_pointer(s, &ws->docroot, from->docroot) &&
           set_pointer(s, &ws->confdir, from->confdir) &&
           set_pointer(s, &ws->datadir, from->datadir) && set_pointer(s, &ws->logdir, from->logdir);
}

static void call_exit(struct mk_duda_service *s)
{
    struct mk_duda_here before = mk_duda_enter(s, NULL);
    union {
        void *object;
        void (*function)(void);
    } symbol = {dlsym(s->library, "duda_exit")};

    if (symbol.object)
        symbol.function();
    mk_duda_leave(before);
}

static void unload(struct mk_duda_service *s)
{
    if (s->state == MK_DUDA_READY)
        call_exit(s);
    if (s->library)
        parts_exit(s, MK_DUDA_PARTS);
    free_service(s);
}

static struct mk_duda_service *new_service(const struct mk_context *ctx,
                                           const struct mk_duda_plan *plan,
                                           const struct mk_duda_spec *spec)
{
    struct mk_duda_service *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    counted_init(&s->refs, 1);
    s->end = unload;
    s->server = ctx->server;
    s->wait_ms = (unsigned)plan->set->park_ms;
    s->tls = plan->tls;
    s->nseats = mk_server_workers(ctx->server);
    s->seats = calloc(s->nseats, sizeof(struct mk_duda_seat *));
    mk_duda_fill_bag(&s->objects);
    if (!s->seats || !copy_spec(s, plan, spec) || parts_alloc(s) < 0) {
        free_service(s);
        return NULL;
    }
    return s;
}

/* ---- loading ---- */

/* @return false: it cannot be seen; errno says why */
static bool file_of(const struct mk_duda_plan *plan, struct mk_duda_spec *spec, char *path,
                    size_t size)
{
    struct stat st;

    (void)snprintf(path, size, "%s%s.duda", plan->services_root, spec->name);
    if (stat(path, &st) < 0)
        return false;
    spec->file = (struct mk_duda_file){st.st_dev, st.st_ino, st.st_mtim};
    return true;
}

typedef int (*main_fn)(struct duda_api_objects *objects, struct web_service *ws);

static main_fn find_main(struct mk_duda_service *s)
{
    const int *level = dlsym(s->library, "duda_compiled_level");
    union {
        void *object;
        main_fn function;
    } symbol = {dlsym(s->library, "duda_bootstrap_service")};

    if (!symbol.object || !level || *level < 1 || *level > HIGHEST_LEVEL)
        return NULL;
    s->level = *level;
    return symbol.function;
}

/* @return 0: ready or skipped; -1: refused */
static int run_main(struct mk_duda_service *s)
{
    struct mk_duda_here before = mk_duda_enter(s, NULL);
    main_fn bootstrap = find_main(s);
    int result = -1, err = 0;

    if (!bootstrap)
        mk_duda_log(s, MK_LOG_WARN, "skipped: it has no duda_main() of this version");
    else if ((result = bootstrap(&s->objects, &s->ws)) != 0)
        mk_duda_log(s, MK_LOG_WARN, "skipped: duda_main() returned %d", result);
    if (result == 0 && s->state == MK_DUDA_NEW) {
        s->state = MK_DUDA_READY;
        err = parts_ready(s);
    } else {
        s->state = MK_DUDA_SKIPPED;
    }
    mk_duda_leave(before);
    return err;
}

static int load(struct mk_duda_service *s, const char *path)
{
    unsigned n;
    char why[200];

    mk_duda_library_share((void (*)(void))mk_cookie_write); /* for duda_request() */
    s->library = mk_duda_library_open(path, why, sizeof(why));
    if (!s->library) {
        mk_duda_log(s, MK_LOG_WARN, "skipped: %s", why);
        s->state = MK_DUDA_SKIPPED;
        return 0;
    }
    n = parts_load(s);
    if (n == MK_DUDA_PARTS && run_main(s) == 0)
        return 0;
    parts_exit(s, n);
    return -1;
}

struct mk_duda_service *mk_duda_load(const struct mk_context *ctx, const struct mk_duda_plan *plan,
                                     const struct mk_duda_spec *spec, int *error, char *why,
                                     size_t size)
{
    struct mk_duda_spec found = *spec;
    struct mk_duda_service *s;
    char path[4096];

    *error = 0;
    if (!file_of(plan, &found, path, sizeof(path))) {
        *error = MK_E_INVALID;
        (void)snprintf(why, size, "service '%s': %s: %s", spec->name, path, strerror(errno));
        return NULL;
    }
    s = new_service(ctx, plan, &found);
    if (s && load(s, path) == 0)
        return s;
    *error = s ? MK_E_INVALID : MK_E_NOMEM;
    (void)snprintf(why, size, "service '%s': %s", spec->name, s ? s->why : "no memory");
    if (s)
        free_service(s);
    return NULL;
}

/* ---- reloads ---- */

static bool is_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool mk_duda_is_same(const struct mk_duda_service *s, const struct mk_duda_plan *plan,
                     const struct mk_duda_spec *spec)
{
    struct mk_duda_spec now = *spec;
    const struct mk_duda_spec *was = &s->spec;
    char path[4096];

    return s->state == MK_DUDA_READY && file_of(plan, &now, path, sizeof(path)) &&
           is_text(was->name, now.name) && is_text(was->site, now.site) &&
           is_text(was->docroot, now.docroot) && is_text(was->confdir, now.confdir) &&
           is_text(was->datadir, now.datadir) && is_text(was->logdir, now.logdir) &&
           is_text(s->packages_root, plan->packages_root) &&
           is_text(s->session_file, plan->session_file) && is_text(s->tls, plan->tls) &&
           is_text(s->session_url, plan->session_url) &&
           is_text(s->backplane_url, plan->backplane_url) &&
           is_text(s->spool_dir, plan->set->spool_dir) &&
           s->checks_answers == plan->set->checks_answers && was->is_root == now.is_root &&
           was->file.device == now.file.device && was->file.inode == now.file.inode &&
           was->file.changed.tv_sec == now.file.changed.tv_sec &&
           was->file.changed.tv_nsec == now.file.changed.tv_nsec;
}
