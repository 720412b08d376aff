/* SPDX-License-Identifier: Apache-2.0 */
#include "service/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* The copies of the process, the newest first; as objects, none is ever closed. */
struct copy {
    struct copy *next;
    int fd;
    char path[];
};
static struct copy *_Atomic copies;

/* Without memory reports have the name of the copy. */
static void remember(int fd, const char *path)
{
    struct copy *copy = malloc(sizeof(*copy) + strlen(path) + 1);

    if (!copy)
        return;
    copy->fd = fd;
    memcpy(copy->path, path, strlen(path) + 1);
    copy->next = atomic_load(&copies);
    while (!atomic_compare_exchange_weak(&copies, &copy->next, copy))
        ;
}

static const char own_files[] = "/proc/self/fd/";

const char *mk_duda_library_file(const char *name)
{
    const size_t len = sizeof(own_files) - 1;

    if (strncmp(name, own_files, len) != 0)
        return name;
    for (const struct copy *copy = atomic_load(&copies); copy; copy = copy->next) {
        if (copy->fd == strtol(name + len, NULL, 10))
            return copy->path;
    }
    return name;
}

/* @return a descriptor of a copy in memory; -1, with errno. */
static int copy_file(const char *path)
{
    int from = open(path, O_RDONLY | O_CLOEXEC), to = -1;
    struct stat st;
    ssize_t n = 1;

    if (from < 0)
        return -1;
    if (fstat(from, &st) == 0)
        to = memfd_create(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, MFD_CLOEXEC);
    while (to >= 0 && n > 0)
        n = sendfile(to, from, NULL, 1 << 20);
    if (to >= 0 && n < 0) {
        close(to);
        to = -1;
    }
    close(from);
    return to;
}

/*
 * The linker knows what it has opened by its name first. The descriptor stays open, so that no other object gets that
 * name, and debuggers find the file.
 */
static void *open_copy(const char *path)
{
    char name[64];
    int fd = copy_file(path);
    void *library;

    if (fd < 0)
        return NULL;
    (void)snprintf(name, sizeof(name), "%s%d", own_files, fd);
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library)
        remember(fd, path);
    else
        close(fd);
    return library;
}

void mk_duda_library_share(void (*call)(void))
{
    const union {
        void (*call)(void);
        const void *object;
    } place = {call};
    Dl_info info;

    if (dladdr(place.object, &info) && info.dli_fname)
        (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

void *mk_duda_library_open(const char *path, char *why, size_t size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    const char *error;

    errno = 0;
    if (library) {
        dlclose(library);
        library = open_copy(path);
    } else {
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) {
        error = dlerror();
        (void)snprintf(why, size, "%s", error ? error : strerror(errno));
    }
    return library;
}
