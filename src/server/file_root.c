/* SPDX-License-Identifier: Apache-2.0 */
#include "base/invariant.h"
#include "base/heap.h"
#include "base/str.h"
#include "core/fd.h"
#include "server/files_int.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    USER_ROOTS_MAX = 64,
    USER_NAME_MAX = 64,
    PASSWD_BUFFER = 4096,
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

void mk_file_root_check(struct mk_file_root *root, int64_t now_ms)
{
    struct mk_file_facts facts;
    int fd = root->path ? mk_file_open_root(root->path, &facts) : MK_E_NOENT;

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
    return user.len > 0 && user.len < USER_NAME_MAX;
}

/* @return "HOME/UserDir" on the heap; NULL when there is no such user, or it is root. */
static char *user_path(struct mk_str user, const char *user_dir)
{
    char name[USER_NAME_MAX], buffer[PASSWD_BUFFER];
    struct passwd pw, *found = NULL;
    char *path = NULL;
    int len;

    memcpy(name, user.p, user.len);
    name[user.len] = '\0';
    if (getpwnam_r(name, &pw, buffer, sizeof(buffer), &found) != 0 || !found || pw.pw_uid == 0)
        return NULL;
    len = snprintf(NULL, 0, "%s/%s", pw.pw_dir, user_dir);
    if (len > 0)
        path = mk_heap_alloc((size_t)len + 1);
    if (path)
        (void)snprintf(path, (size_t)len + 1, "%s/%s", pw.pw_dir, user_dir);
    return path;
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
                                          struct mk_str user)
{
    char *path = user_path(user, f->snapshot->set.user_dir);
    struct mk_file_root *root = path ? mk_heap_alloc(sizeof(*root) + user.len) : NULL;

    if (!root) {
        mk_heap_free(path);
        return NULL;
    }
    if (f->nroots == USER_ROOTS_MAX)
        evict_oldest_root(f);
    mk_file_root_init(root, site, path);
    root->user_len = user.len;
    memcpy(root->user, user.p, user.len);
    mk_list_add_tail(&f->roots, &root->link);
    f->nroots++;
    return root;
}

struct mk_file_root *mk_files_user_root(struct mk_files *f, const struct mk_site *site,
                                        struct mk_str user)
{
    if (!is_user_name(user))
        return NULL;
    MK_LIST_EACH (&f->roots, link) {
        struct mk_file_root *root = MK_CONTAINER_OF(link, struct mk_file_root, link);

        if (root->site != site || !mk_str_eq((struct mk_str){root->user, root->user_len}, user))
            continue;
        mk_list_remove(&root->link); /* the least recently used stays in front */
        mk_list_add_tail(&f->roots, &root->link);
        return root;
    }
    return add_user_root(f, site, user);
}

void mk_file_roots_free(struct mk_files *f)
{
    MK_LIST_EACH (&f->roots, link)
        free_user_root(MK_CONTAINER_OF(link, struct mk_file_root, link));
    mk_list_init(&f->roots);
}
