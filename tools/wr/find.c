/* SPDX-License-Identifier: Apache-2.0 */
#include "find.h"

#include "proc.h"
#include "source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_SIZE = 4096, SOCKETS_MAX = 64 };

struct sockets {
    uint64_t inodes[SOCKETS_MAX];
    size_t count;
};

typedef bool (*matches_fn)(int pid, const void *wanted);

static size_t add_matching(struct tree *t, matches_fn matches, const void *wanted)
{
    DIR *proc = source_folder(AT_FDCWD, "/proc");
    size_t added = 0;

    if (!proc)
        return 0;
    for (const struct dirent *e; (e = readdir(proc));) {
        int pid = (int)strtoll(e->d_name, NULL, 10);

        if (pid > 0 && pid != (int)getpid() && matches(pid, wanted))
            added += tree_add(t, pid) == 0;
    }
    (void)closedir(proc);
    return added;
}

/* ---- by name ---- */

/* The kernel keeps 15 bytes of a name; the executable has all of it. */
static bool has_name(int pid, const void *wanted)
{
    const char *stat = source_text(AT_FDCWD, "/proc/%d/stat", pid);
    char path[32], text[TEXT_SIZE];
    struct proc_stat s;
    ssize_t len;

    if (!stat || !proc_parse_stat(stat, &s) || s.state == 'Z')
        return false;
    if (strcmp(s.name, wanted) == 0)
        return true;
    (void)snprintf(path, sizeof(path), "/proc/%d/exe", pid);
    len = readlinkat(AT_FDCWD, path, text, sizeof(text) - 1);
    text[len > 0 ? len : 0] = '\0';
    return strrchr(text, '/') && strcmp(strrchr(text, '/') + 1, wanted) == 0;
}

/* ---- by port ---- */

static void find_listeners(const char *path, unsigned port, struct sockets *found)
{
    FILE *table = fopen(path, "re");
    char line[512];
    struct proc_listener l;

    if (!table)
        return;
    while (fgets(line, sizeof(line), table))
        if (proc_parse_listener(line, &l) && l.port == port && found->count < SOCKETS_MAX)
            found->inodes[found->count++] = l.inode;
    (void)fclose(table);
}

static bool is_one_of(const char *link, const struct sockets *s)
{
    unsigned long long inode;

    if (sscanf(link, "socket:[%llu]", &inode) != 1)
        return false;
    for (size_t i = 0; i < s->count; i++)
        if (s->inodes[i] == inode)
            return true;
    return false;
}

static bool holds_socket(int pid, const void *wanted)
{
    char path[32], link[64];
    DIR *fds;
    bool is_found = false;

    (void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    fds = source_folder(AT_FDCWD, path);
    if (!fds)
        return false;
    for (const struct dirent *e; !is_found && (e = readdir(fds));) {
        ssize_t len = readlinkat(dirfd(fds), e->d_name, link, sizeof(link) - 1);

        link[len > 0 ? len : 0] = '\0';
        is_found = is_one_of(link, wanted);
    }
    (void)closedir(fds);
    return is_found;
}

static size_t add_listening(struct tree *t, unsigned port)
{
    struct sockets found = {.count = 0};

    find_listeners("/proc/net/tcp", port, &found);
    find_listeners("/proc/net/tcp6", port, &found);
    return found.count == 0 ? 0 : add_matching(t, holds_socket, &found);
}

/* ---- by unit ---- */

static bool is_in_unit(int pid, const void *wanted)
{
    const char *text = source_text(AT_FDCWD, "/proc/%d/cgroup", pid);

    return text && proc_is_in_unit(text, wanted);
}

static size_t add_unit(struct tree *t, const char *name)
{
    char full[128];

    (void)snprintf(full, sizeof(full), strchr(name, '.') ? "%s" : "%s.service", name);
    return add_matching(t, is_in_unit, full);
}

size_t find_processes(struct tree *t, enum find_by by, const char *value)
{
    switch (by) {
    case FIND_PID:
        return tree_add(t, (int)strtoll(value, NULL, 10)) == 0;
    case FIND_NAME:
        return add_matching(t, has_name, value);
    case FIND_PORT:
        return add_listening(t, (unsigned)strtoll(value, NULL, 10));
    default:
        return add_unit(t, value);
    }
}
