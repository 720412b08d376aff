/* SPDX-License-Identifier: Apache-2.0 */
#include "base/invariant.h"
#include "base/heap.h"
#include "base/limits.h"
#include "base/str.h"
#include "core/fd.h"
#include "server/files/files_int.h"

#include <pwd.h>
#include <stdlib.h>

enum {
    PASSWD_BUFFER = 4096,
    STRANGER_MS = 5000, /* an account that was just made is seen after that */
};

/* A name that nobody has. Asking the system takes as long as it takes, also over the network, and holds the worker. */
struct mk_stranger {
    struct mk_list link; /* in f->strangers, oldest first */
    int64_t until_ms;
    size_t len;
    char name[];
};

void mk_file_root_init(struct mk_file_root *root, const struct mk_site *site, const char *path)
{
    *root = (struct mk_file_root){.site = site, .path = path, .fd = -1};
    mk_list_init(&root->link);
}

static bool is_same_directory(const struct mk_file_facts *a, const struct mk_file_facts *b)
{
    return a->ino == b->ino && a->dev == b->dev;
}

/* What a user put in the place of the folder is served only when it is that user's own. */
static int open_user_root(const struct mk_files *f, const struct mk_file_root *root,
                          struct mk_file_facts *facts)
{
    int fd = mk_file_open_root_beneath(root->path, root->beneath, root->site->set.symlink,
                                       f->openat2, facts);

    if (fd >= 0 && facts->uid != root->owner) {
        mk_fd_close(&fd);
        return MK_E_ACCESS;
    }
    return fd;
}

static int open_root(const struct mk_files *f, const struct mk_file_root *root,
                     struct mk_file_facts *facts)
{
    if (root->beneath)
        return open_user_root(f, root, facts);
    return root->path ? mk_file_open_root(root->path, facts) : MK_E_NOENT;
}

void mk_file_root_check(const struct mk_files *f, struct mk_file_root *root, int64_t now_ms)
{
    struct mk_file_facts facts = {0};
    int fd = open_root(f, root, &facts);

    root->checked_ms = now_ms;
    if (fd >= 0 && root->fd >= 0 && is_same_directory(&facts, &root->facts)) {
        mk_fd_close(&fd);
        return;
    }
    if (fd == MK_E_NOFD || fd == MK_E_NOMEM)
        return; /* a shortage says nothing about the directory */
    mk_fd_close(&root->fd);
    root->fd = fd >= 0 ? fd : -1;
    root->facts = facts;
    root->epoch++;
}

/* Names as useradd makes them: nothing that could lead elsewhere. */
static bool is_user_name(struct mk_str user)
{
    for (size_t i = 0; i < user.len; i++) {
        char c = mk_char_lower(user.p[i]);

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
              (i > 0 && (c == '-' || c == '.'))))
            return false;
    }
    return user.len > 0 && user.len < MK_LIMIT_USER_NAME;
}

/* ---- strangers ---- */

static void forget_stranger(struct mk_files *f, struct mk_stranger *s)
{
    mk_list_remove(&s->link);
    mk_heap_free(s);
    f->nstrangers--;
}

static bool is_known_stranger(struct mk_files *f, struct mk_str user, int64_t now_ms)
{
    MK_LIST_EACH (&f->strangers, link) {
        struct mk_stranger *s = MK_CONTAINER_OF(link, struct mk_stranger, link);

        if (now_ms >= s->until_ms)
            forget_stranger(f, s);
        else if (mk_str_eq((struct mk_str){s->name, s->len}, user))
            return true;
    }
    return false;
}

static void remember_stranger(struct mk_files *f, struct mk_str user, int64_t now_ms)
{
    struct mk_stranger *s = mk_heap_alloc(sizeof(*s) + user.len);

    if (!s)
        return;
    if (f->nstrangers == MK_LIMIT_STRANGERS)
        forget_stranger(f, MK_CONTAINER_OF(f->strangers.next, struct mk_stranger, link));
    s->until_ms = now_ms + STRANGER_MS;
    s->len = user.len;
    memcpy(s->name, user.p, user.len);
    mk_list_add_tail(&f->strangers, &s->link);
    f->nstrangers++;
}

/* ---- users ---- */

static char *copy_path(const char *path)
{
    size_t size = strlen(path) + 1;
    char *copy = mk_heap_alloc(size);

    return copy ? memcpy(copy, path, size) : NULL;
}

/* @return the user's home on the heap; NULL without memory, when there is no such user, or it is root. */
static char *user_home(struct mk_files *f, struct mk_str user, int64_t now_ms, uid_t *uid)
{
    char name[MK_LIMIT_USER_NAME], buffer[PASSWD_BUFFER];
    struct passwd pw, *found = NULL;

    memcpy(name, user.p, user.len);
    name[user.len] = '\0';
    if (getpwnam_r(name, &pw, buffer, sizeof(buffer), &found) != 0)
        return NULL; /* it could not be looked up, which says nothing of the user */
    if (!found || pw.pw_uid == 0) {
        remember_stranger(f, user, now_ms);
        return NULL;
    }
    *uid = pw.pw_uid;
    return copy_path(pw.pw_dir);
}

static void free_user_root(struct mk_file_root *root)
{
    void *path;

    mk_fd_close(&root->fd);
    memcpy(&path, &root->path, sizeof(path));
    mk_heap_free(path);
    mk_heap_free(root);
}

static void evict_oldest_root(struct mk_files *f)
{
    struct mk_file_root *root = MK_CONTAINER_OF(f->roots.next, struct mk_file_root, link);

    mk_files_forget(f, root);
    mk_list_remove(&root->link);
    f->nroots--;
    free_user_root(root);
}

static struct mk_file_root *add_user_root(struct mk_files *f, const struct mk_site *site,
                                          struct mk_str user, int64_t now_ms)
{
    uid_t uid = 0;
    bool is_path = user.p[0] == '/';
    char *home = is_path ? copy_path(user.p) : user_home(f, user, now_ms, &uid);
    struct mk_file_root *root = home ? mk_heap_alloc(sizeof(*root) + user.len) : NULL;

    if (!root) {
        mk_heap_free(home);
        return NULL;
    }
    if (f->nroots == MK_LIMIT_USER_ROOTS)
        evict_oldest_root(f);
    mk_file_root_init(root, site, home);
    root->beneath = is_path ? NULL : f->snapshot->set.user_dir;
    root->owner = uid;
    root->user_len = user.len;
    memcpy(root->user, user.p, user.len);
    mk_list_add_tail(&f->roots, &root->link);
    f->nroots++;
    return root;
}

struct mk_file_root *mk_files_user_root(struct mk_files *f, const struct mk_site *site,
                                        struct mk_str user, int64_t now_ms)
{
    if (user.p[0] != '/' && !is_user_name(user))
        return NULL;
    MK_LIST_EACH (&f->roots, link) {
        struct mk_file_root *root = MK_CONTAINER_OF(link, struct mk_file_root, link);

        if (root->site != site || !mk_str_eq((struct mk_str){root->user, root->user_len}, user))
            continue;
        mk_list_remove(&root->link); /* the least recently used stays in front */
        mk_list_add_tail(&f->roots, &root->link);
        return root;
    }
    return is_known_stranger(f, user, now_ms) ? NULL : add_user_root(f, site, user, now_ms);
}

void mk_file_roots_free(struct mk_files *f)
{
    MK_LIST_EACH (&f->roots, link)
        free_user_root(MK_CONTAINER_OF(link, struct mk_file_root, link));
    mk_list_init(&f->roots);
    while (f->nstrangers > 0)
        forget_stranger(f, MK_CONTAINER_OF(f->strangers.next, struct mk_stranger, link));
}
