/* SPDX-License-Identifier: Apache-2.0 */
#include "service/blocked.h"

#include "service/calls.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * The calls that another thread is in: a signal lets it write them down. It is one that does nothing where nobody handles it,
 * and is handled only meanwhile; a program that handles it keeps it.
 */

enum {
    ASKED = SIGURG,
    CALLS_MAX = 24,
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    OWN_CALLS = 3, /* backtrace() itself is another one there */
#else
    OWN_CALLS = 2, /* the handler, and that which the kernel puts below it */
#endif
    PATIENCE_S = 2,
};

static struct {
    void *calls[CALLS_MAX];
    int count;
    sem_t written;
} note;
static _Atomic int asked; /* tid of who is to write; 0: nobody */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void on_asked(int number)
{
    int tid = (int)syscall(SYS_gettid), saved = errno;

    (void)number;
    if (atomic_compare_exchange_strong(&asked, &tid, 0)) {
        note.count = backtrace(note.calls, CALLS_MAX);
        (void)sem_post(&note.written);
    }
    errno = saved;
}

static bool is_written(void)
{
    struct timespec until;
    int err;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    while ((err = sem_timedwait(&note.written, &until)) < 0 && errno == EINTR)
        ;
    return err == 0;
}

/* "PID (NAME) STATE" */
static bool computes(int tid)
{
    char path[64], text[256];
    const char *end;
    size_t len = 0;
    FILE *f;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
    f = fopen(path, "re");
    if (f) {
        len = fread(text, 1, sizeof(text) - 1, f);
        (void)fclose(f);
    }
    text[len] = '\0';
    end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] == 'R';
}

/* @return whether its calls are in the note. */
static bool ask(int tid)
{
    struct sigaction action = {.sa_handler = on_asked, .sa_flags = SA_RESTART | SA_ONSTACK}, before;
    bool is_asked, has_answered;

    if (sigaction(ASKED, NULL, &before) < 0 || before.sa_flags & SA_SIGINFO ||
        (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN))
        return false;
    mk_duda_calls_prepare();
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(ASKED, &action, NULL);
    atomic_store(&asked, tid);
    is_asked = syscall(SYS_tgkill, getpid(), tid, ASKED) == 0;
    has_answered = is_asked && is_written();
    if (!has_answered && atomic_exchange(&asked, 0) == 0)
        has_answered = is_written(); /* it had just begun */
    (void)sigaction(ASKED, &before, NULL);
    return has_answered;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void write_calls(char *text, size_t size)
{
    size_t len = (size_t)snprintf(text, size, " stack=\"");

    for (int i = OWN_CALLS; i < note.count; i++) {
        struct mk_duda_call call;
        char word[128];
        int n;

        if (!mk_duda_call_find(&call, note.calls[i]))
            continue;
        n = snprintf(word, sizeof(word), "%s%s+0x%zx", i > OWN_CALLS ? " " : "", name_of(call.file),
                     call.offset);
        if (n < 0 || (size_t)n >= sizeof(word) || len + (size_t)n + 2 > size)
            break;
        memcpy(text + len, word, (size_t)n);
        len += (size_t)n;
    }
    text[len++] = '"';
    text[len] = '\0';
}

void mk_duda_stack_of(int tid, char *text, size_t size)
{
    if (size < sizeof(" stack=\"\"") || !computes(tid))
        return;
    (void)pthread_mutex_lock(&lock);
    (void)sem_init(&note.written, 0, 0);
    if (ask(tid))
        write_calls(text, size);
    (void)sem_destroy(&note.written);
    (void)pthread_mutex_unlock(&lock);
}

void mk_duda_blocked_enter(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, ASKED);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
