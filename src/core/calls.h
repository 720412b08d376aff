/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CORE_CALLS_H
#define MK_CORE_CALLS_H

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The three system calls of every request. In a process with threads the C library's functions mark before and after each call
 * that the thread may be cancelled there (POSIX, "Cancellation Points"), which took 130 instructions of a small request; no
 * thread is cancelled in the middle of a turn, as nothing could go on with its connections. Sanitizers need those functions.
 */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MK_CALLS_OF_LIBC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define MK_CALLS_OF_LIBC 1
#endif
#endif

/** As recv. */
static inline ssize_t mk_call_recv(int fd, void *buf, size_t len, int flags)
{
#if defined(SYS_recvfrom) && !defined(MK_CALLS_OF_LIBC)
    return syscall(SYS_recvfrom, fd, buf, len, flags, NULL, NULL);
#else
    return recv(fd, buf, len, flags);
#endif
}

/** As send. */
static inline ssize_t mk_call_send(int fd, const void *buf, size_t len, int flags)
{
#if defined(SYS_sendto) && !defined(MK_CALLS_OF_LIBC)
    return syscall(SYS_sendto, fd, buf, len, flags, NULL, 0);
#else
    return send(fd, buf, len, flags);
#endif
}

/** As epoll_wait. */
static inline int mk_call_epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms)
{
#if defined(SYS_epoll_wait) && !defined(MK_CALLS_OF_LIBC)
    return (int)syscall(SYS_epoll_wait, fd, events, max, timeout_ms);
#else
    return epoll_wait(fd, events, max, timeout_ms);
#endif
}

#endif
