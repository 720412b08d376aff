/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/store/dirs.h"

#include "service/service.h"

struct name {
    struct name *next;
    char text[];
};

/* Names that the service has given; a pointer to an old one may still be in use. */
struct dirs {
    pthread_mutex_t lock; /* of the names and of the pointers in self */
    struct name *names;
};

static struct dirs *dirs_of(struct web_service *ws)
{
    return mk_duda_state(mk_duda_service_of(ws), MK_DUDA_PART_DIRS);
}

static struct name *new_name(const char *path)
{
    size_t len = strlen(path);
    struct name *name = malloc(sizeof(*name) + len + 2);

    if (!name)
        return NULL;
    memcpy(name->text, path, len + 1);
    if (path[len - 1] != '/')
        memcpy(name->text + len, "/", 2);
    return name;
}

int mk_duda_dir_set(struct web_service *ws, mk_pointer *dir, const char *path)
{
    struct dirs *dirs;
    struct name *name;
    struct stat st;

    if (!ws || !path || stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return -1;
    name = new_name(path);
    if (!name)
        return -1;
    dirs = dirs_of(ws);
    (void)pthread_mutex_lock(&dirs->lock);
    name->next = dirs->names;
    dirs->names = name;
    *dir = (mk_pointer){.data = name->text, .len = strlen(name->text)};
    (void)pthread_mutex_unlock(&dirs->lock);
    return 0;
}

const char *mk_duda_dir_get(struct web_service *ws, const mk_pointer *dir)
{
    const char *path;

    if (!ws)
        return NULL;
    (void)pthread_mutex_lock(&dirs_of(ws)->lock);
    path = dir->data;
    (void)pthread_mutex_unlock(&dirs_of(ws)->lock);
    return path;
}

char *mk_duda_dir_join(struct web_service *ws, const mk_pointer *dir, const char *name)
{
    const char *path = mk_duda_dir_get(ws, dir);
    char *joined = NULL;

    if (!path || !name || asprintf(&joined, "%s%s", path, name) < 0)
        return NULL;
    return joined;
}

static int load(struct mk_duda_service *s)
{
    struct dirs *dirs = mk_duda_state(s, MK_DUDA_PART_DIRS);

    return pthread_mutex_init(&dirs->lock, NULL) == 0 ? 0 : mk_duda_refuse(s, "no memory");
}

static void exit_of(struct mk_duda_service *s)
{
    struct dirs *dirs = mk_duda_state(s, MK_DUDA_PART_DIRS);

    for (struct name *name = dirs->names, *next; name; name = next) {
        next = name->next;
        free(name);
    }
    (void)pthread_mutex_destroy(&dirs->lock);
}

const struct mk_duda_part mk_duda_dirs_part = {
    .service_size = sizeof(struct dirs),
    .load = load,
    .exit = exit_of,
};
