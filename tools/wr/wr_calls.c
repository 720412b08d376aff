/* SPDX-License-Identifier: Apache-2.0 */
#include "call_names.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * wr-calls PID...: count the system calls of processes, with all their threads and children, by name, until SIGINT or
 * until the last one exits. It says "ready" when it counts, and at the end an object of JSON, the most frequent first.
 * wr starts it: names are a table of some kilobytes, which wr has no room for, and tracing is for one run only.
 * When it exits the kernel lets all of them go on.
 */

enum { CALLS_MAX = 1024, PASSES = 8, SYSCALL_STOP = SIGTRAP | 0x80 };

struct count {
    uint64_t calls;
    unsigned number;
};

static struct count counts[CALLS_MAX];
static bool has_names = true;
static volatile sig_atomic_t is_over;

/* Once more in a second: it may have come between a look at is_over and the wait. */
static void on_signal(int signal)
{
    (void)signal;
    is_over = 1;
    (void)alarm(1);
}

/* ---- attaching ---- */

/* @return whether it was not traced by us before */
static bool seize(pid_t tid)
{
    const uintptr_t options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                              PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;

    return ptrace(PTRACE_SEIZE, tid, NULL, (void *)options) == 0 &&
           ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0;
}

/* Threads that start meanwhile are in the next pass, if not traced by then as children of others. */
static bool seize_all(const char *pid)
{
    char path[64];
    bool is_any = false, is_new = true;

    (void)snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
    for (int pass = 0; pass < PASSES && is_new; pass++) {
        DIR *tasks = opendir(path);

        is_new = false;
        for (const struct dirent *e; tasks && (e = readdir(tasks));)
            if (e->d_name[0] != '.')
                is_new |= seize((pid_t)strtol(e->d_name, NULL, 10));
        if (tasks)
            (void)closedir(tasks);
        is_any |= is_new;
    }
    return is_any;
}

/* ---- counting ---- */

/* The names are those of programs with words of our size. */
static bool has_our_words(uint32_t arch)
{
    const uint32_t is_64_bit = 0x80000000; /* __AUDIT_ARCH_64BIT */

    return ((arch & is_64_bit) != 0) == (sizeof(long) == sizeof(uint64_t));
}

static void count_call(pid_t tid)
{
    struct __ptrace_syscall_info info;
    const uintptr_t size = sizeof(info);

    if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)size, &info) <= 0 ||
        info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr >= CALLS_MAX)
        return;
    counts[info.entry.nr].calls++;
    has_names &= has_our_words(info.arch);
}

static bool is_stop_of_job(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* ptrace(2): a stop is of a system call, of an event, of a whole process, or of a signal, which is handed on. */
static void pass_on(pid_t tid, int status)
{
    int signal = WSTOPSIG(status), event = status >> 16;
    uintptr_t handed_on = 0;

    if (signal == SYSCALL_STOP)
        count_call(tid);
    else if (event == PTRACE_EVENT_STOP && is_stop_of_job(signal)) {
        (void)ptrace(PTRACE_LISTEN, tid, NULL, NULL);
        return;
    } else if (event == 0)
        handed_on = (uintptr_t)signal;
    (void)ptrace(PTRACE_SYSCALL, tid, NULL, (void *)handed_on);
}

static void follow(void)
{
    int status;
    pid_t tid;

    while (!is_over && ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR))
        if (tid > 0 && WIFSTOPPED(status))
            pass_on(tid, status);
}

/* ---- the result ---- */

static int by_calls(const void *a, const void *b)
{
    const struct count *x = a, *y = b;

    return (x->calls < y->calls) - (x->calls > y->calls);
}

static void print_name(unsigned number)
{
    for (size_t n = 0; has_names && n < call_name_count; n++)
        if (call_names[n].number == number) {
            (void)printf("\"%s\"", call_names[n].name);
            return;
        }
    (void)printf("\"call_%u\"", number);
}

static void report(void)
{
    const char *before = "{";

    for (unsigned i = 0; i < CALLS_MAX; i++)
        counts[i].number = i;
    qsort(counts, CALLS_MAX, sizeof(*counts), by_calls);
    for (size_t i = 0; i < CALLS_MAX && counts[i].calls > 0; i++) {
        (void)fputs(before, stdout);
        print_name(counts[i].number);
        (void)printf(": %llu", (unsigned long long)counts[i].calls);
        before = ",\n   ";
    }
    (void)fputs(before[0] == '{' ? "{}" : "}", stdout);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal};
    bool is_any = false;

    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGALRM, &action, NULL);
    for (int i = 1; i < argc; i++)
        is_any |= seize_all(argv[i]);
    if (!is_any) {
        (void)fprintf(stderr, "wr-calls: nothing to trace: %s\n",
                      argc > 1 ? strerror(errno) : "wr-calls PID...");
        return 1;
    }
    (void)puts("ready");
    (void)fflush(stdout);
    follow();
    report();
    return 0;
}
