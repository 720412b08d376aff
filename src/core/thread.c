/* SPDX-License-Identifier: Apache-2.0 */
#include "core/thread.h"

#include "base/code.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>

enum {
    STACK_SIZE = 256 << 10,
    /* No frame of ours skips it: what a plugin's or a library's large array would step over is what lies below. */
    GUARD_SIZE = 64 << 10,
    SIGNAL_STACK_SIZE = 64 << 10, /* the registers of a large processor take 11 KB */
};

static int set_up(pthread_attr_t *attr)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (pthread_attr_setstacksize(attr, STACK_SIZE) != 0)
        return MK_E_SYS;
#endif
    return pthread_attr_setguardsize(attr, GUARD_SIZE) == 0 ? 0 : MK_E_SYS;
}

/* A CPU that went away since the configuration was checked is no reason to stop. */
static void pin(pthread_t thread, int cpu)
{
    cpu_set_t cpus;

    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    (void)pthread_setaffinity_np(thread, sizeof(cpus), &cpus);
}

/* A fault that is blocked would end the process without the program's handler. */
static void fill_but_faults(sigset_t *set)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};

    sigfillset(set);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigdelset(set, faults[i]);
}

int mk_thread_start(pthread_t *thread, const char *name, int cpu, void *(*main)(void *arg),
                    void *arg)
{
    pthread_attr_t attr;
    sigset_t all, before;
    int err;

    if (pthread_attr_init(&attr) != 0)
        return MK_E_NOMEM;
    err = set_up(&attr);
    if (err == 0) {
        fill_but_faults(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        switch (pthread_create(thread, &attr, main, arg)) {
        case 0:
            (void)pthread_setname_np(*thread, name);
            pin(*thread, cpu);
            break;
        case EAGAIN:
        case ENOMEM:
            err = MK_E_NOMEM;
            break;
        default:
            err = MK_E_SYS;
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attr);
    return err;
}

void *mk_thread_enter(void)
{
    stack_t stack = {.ss_size = SIGNAL_STACK_SIZE}, old;

    if (sigaltstack(NULL, &old) < 0 || !(old.ss_flags & SS_DISABLE))
        return NULL;
    stack.ss_sp = mmap(NULL, SIGNAL_STACK_SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack.ss_sp == MAP_FAILED)
        return NULL;
    (void)sigaltstack(&stack, NULL);
    return stack.ss_sp;
}

MK_AT_START void mk_thread_leave(void *stack)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    stack_t now;

    if (!stack)
        return;
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == stack)
        (void)sigaltstack(&none, NULL);
    (void)munmap(stack, SIGNAL_STACK_SIZE);
}

void mk_thread_hold_sigpipe(sigset_t *before)
{
    sigset_t pipe;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, before);
}

/* The signal of a failed write is pending for its thread, so nobody else loses one that was meant for him. */
void mk_thread_release_sigpipe(const sigset_t *before)
{
    static const struct timespec at_once = {0};
    sigset_t pipe;

    if (sigismember(before, SIGPIPE) == 1)
        return;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    while (sigtimedwait(&pipe, NULL, &at_once) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

unsigned mk_thread_cpus(void)
{
    cpu_set_t cpus;

    if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
        return 1;
    return CPU_COUNT(&cpus) > 0 ? (unsigned)CPU_COUNT(&cpus) : 1;
}
