/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded: lets the n-th allocation of a process fail. A test and the process share a file, named in FAILMALLOC, of
 * three 64-bit numbers, so that the test can arm it at any moment:
 *
 *     left    allocations until the one that fails; 0: none will
 *     seen    allocations so far
 *     failed  allocations that failed
 *
 * Anonymous mmap counts as well.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

struct state {
    _Atomic int64_t left, seen, failed;
};

static struct state *state;

static int must_fail(void)
{
    if (!state)
        return 0;
    atomic_fetch_add(&state->seen, 1);
    if (atomic_load(&state->left) <= 0 || atomic_fetch_sub(&state->left, 1) != 1)
        return 0;
    atomic_fetch_add(&state->failed, 1);
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return must_fail() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return must_fail() ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return must_fail() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *p = must_fail() ? NULL : __libc_memalign(alignment, size);

    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

#ifdef SYS_mmap2
enum { CALL = SYS_mmap2, UNIT = 4096 };
#else
enum { CALL = SYS_mmap, UNIT = 1 };
#endif

/* The server is built for large files; libraries may not be. */
void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
{
    if (fd < 0 && must_fail())
        return MAP_FAILED;
    return (void *)syscall(CALL, addr, len, prot, flags, fd, (long)(offset / UNIT));
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
    return mmap64(addr, len, prot, flags, fd, offset);
}

__attribute__((constructor)) static void attach(void)
{
    const char *name = getenv("FAILMALLOC");
    int fd = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
    void *at;

    if (fd < 0)
        return;
    at = mmap64(NULL, sizeof(struct state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at != MAP_FAILED)
        state = at;
}
