/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/gateway/script.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLIND_STEPS = 8 };

static const struct mk_str nothing = MK_STR_INIT("");

/* @return GATEWAY_SCRIPT, GATEWAY_DIRECTORY, or an error. */
static int judge(struct mk_request *r, struct mk_str path)
{
    int fd = mk_request_open(r, path), err;
    struct stat st;

    if (fd < 0)
        return fd;
    err = fstat(fd, &st) < 0 ? MK_E_SYS : 0;
    (void)close(fd);
    if (err < 0)
        return err;
    if (S_ISDIR(st.st_mode))
        return GATEWAY_DIRECTORY;
    return S_ISREG(st.st_mode) ? GATEWAY_SCRIPT : MK_E_ACCESS;
}

static int judge_folder(struct mk_request *r, struct mk_str path)
{
    int what = judge(r, path);

    return what == GATEWAY_SCRIPT ? MK_E_NOENT : what;
}

/* As for files: nobody's business, but for the well-known names of RFC 8615. */
static bool is_hidden(struct mk_str path, size_t from, size_t to)
{
    static const char known[] = "/.well-known";

    if (from == 0 && to == sizeof(known) - 1 && memcmp(path.p, known, to) == 0)
        return false;
    return from + 1 < to && path.p[from + 1] == '.';
}

static size_t end_of_segment(struct mk_str path, size_t from)
{
    const char *slash = from < path.len ? memchr(path.p + from, '/', path.len - from) : NULL;

    return slash ? (size_t)(slash - path.p) : path.len;
}

static int fill(struct gateway_script *s, struct mk_request *r, struct mk_str path, size_t len,
                const char *root)
{
    s->name = (struct mk_str){path.p, len};
    s->info = len < path.len ? (struct mk_str){path.p + len, path.len - len} : nothing;
    s->translated = NULL;
    if (s->info.len == 0 || !root)
        return 0;
    s->translated = mk_request_printf(r, "%s%.*s", root, (int)s->info.len, s->info.p);
    return s->translated ? 0 : MK_E_NOMEM;
}

/* The root as it is written may end in a slash; paths begin with one. */
static const char *root_of(struct mk_request *r, const struct mk_request_facts *f)
{
    size_t len = f->document_root ? strlen(f->document_root) : 0;

    if (len == 0 || f->document_root[len - 1] != '/')
        return f->document_root;
    return mk_request_printf(r, "%.*s", (int)len - 1, f->document_root);
}

static int found(struct gateway_script *s, struct mk_request *r, const struct mk_request_facts *f,
                 size_t len)
{
    const char *root = root_of(r, f);

    if (!root || fill(s, r, f->path, len, root) < 0)
        return MK_E_NOMEM;
    s->filename = mk_request_printf(r, "%s%.*s", root, (int)len, f->path.p);
    return s->filename ? GATEWAY_SCRIPT : MK_E_NOMEM;
}

/*
 * From the root on, so that the walk ends where the file system does: a path of a thousand slashes costs no more
 * than there are folders. Folders that the pattern is not about are looked for now and then only, since most paths
 * are short.
 */
int gateway_script_find(struct gateway_script *s, struct mk_request *r)
{
    struct mk_request_facts f = {.size = sizeof(f)};
    struct mk_match match = {0};
    unsigned unmatched = 0;
    int what = MK_E_NOENT;

    *s = (struct gateway_script){.name = nothing, .info = nothing};
    mk_request_facts(r, &f);
    if (!f.document_root || f.path.len == 0)
        return MK_E_NOENT;
    for (size_t from = 0, to; from < f.path.len; from = to) {
        to = end_of_segment(f.path, from + 1);
        if (to == from + 1) /* the slash at the end: at best a folder */
            return what == GATEWAY_DIRECTORY ? what : judge_folder(r, f.path);
        if (is_hidden(f.path, from, to))
            return MK_E_NOENT;
        if (!mk_request_matches_on(r, &match, (struct mk_str){f.path.p, to})) {
            if (++unmatched % BLIND_STEPS == 0 &&
                judge(r, (struct mk_str){f.path.p, to}) != GATEWAY_DIRECTORY)
                return MK_E_NOENT;
            what = MK_E_NOENT;
            continue;
        }
        what = judge(r, (struct mk_str){f.path.p, to});
        if (what == GATEWAY_SCRIPT)
            return found(s, r, &f, to);
        if (what < 0)
            return what;
    }
    return what;
}

int gateway_script_mount(struct gateway_script *s, struct mk_request *r, size_t prefix_len,
                         const char *filename)
{
    struct mk_request_facts f = {.size = sizeof(f)};
    const char *root;

    mk_request_facts(r, &f);
    root = root_of(r, &f);
    if (f.document_root && !root)
        return MK_E_NOMEM;
    s->filename = filename;
    return fill(s, r, f.path, prefix_len < f.path.len ? prefix_len : f.path.len, root);
}

/* One step down. @return the next descriptor, or an error; fd is closed. */
static int step_down(int fd, const char *name, int follow)
{
    int next = openat(fd, name, O_PATH | O_CLOEXEC | follow);
    int err = next < 0 ? (errno == ELOOP ? MK_E_ACCESS : mk_error_from_errno(errno)) : next;

    (void)close(fd);
    return err;
}

/* @return GATEWAY_SCRIPT, GATEWAY_DIRECTORY, or an error. */
static int judge_opened(int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return MK_E_SYS;
    if (S_ISDIR(st.st_mode))
        return GATEWAY_DIRECTORY;
    return S_ISREG(st.st_mode) ? GATEWAY_SCRIPT : MK_E_ACCESS;
}

/* @return the length of the path up to the script, or an error. */
static ssize_t walk(struct mk_str path, size_t from, const char *folder, bool follows)
{
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), what = GATEWAY_DIRECTORY;
    char name[NAME_MAX + 1];

    if (fd < 0)
        return mk_error_from_errno(errno);
    while (what == GATEWAY_DIRECTORY && from + 1 < path.len) {
        size_t to = end_of_segment(path, from + 1), len = to - from - 1;

        if (len == 0 || len > NAME_MAX || path.p[from + 1] == '.') {
            (void)close(fd);
            return MK_E_NOENT;
        }
        memcpy(name, path.p + from + 1, len);
        name[len] = '\0';
        fd = step_down(fd, name, follows ? 0 : O_NOFOLLOW);
        if (fd < 0)
            return fd;
        what = judge_opened(fd);
        from = to;
    }
    (void)close(fd);
    if (what == GATEWAY_DIRECTORY)
        return MK_E_ACCESS;
    return what < 0 ? what : (ssize_t)from;
}

int gateway_script_find_in(struct gateway_script *s, struct mk_request *r, size_t prefix_len,
                           const char *folder)
{
    struct mk_request_facts f = {.size = sizeof(f)};
    const char *filename;
    ssize_t len;

    *s = (struct gateway_script){.name = nothing, .info = nothing};
    mk_request_facts(r, &f);
    len = walk(f.path, prefix_len, folder, f.symlinks);
    if (len < 0)
        return (int)len;
    filename = mk_request_printf(r, "%s%.*s", folder, (int)((size_t)len - prefix_len),
                                 f.path.p + prefix_len);
    return filename ? gateway_script_mount(s, r, (size_t)len, filename) : MK_E_NOMEM;
}

unsigned gateway_script_status(int error)
{
    switch (error) {
    case MK_E_NOENT:
        return 404;
    case MK_E_ACCESS:
        return 403;
    case MK_E_NOFD:
    case MK_E_NOMEM:
        return 503;
    default:
        return 500;
    }
}
