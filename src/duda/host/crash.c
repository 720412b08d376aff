/* SPDX-License-Identifier: Apache-2.0 */
#include "host/crash.h"

#include "service/calls.h"
#include "service/request.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CALLS_MAX = 64,
    LINE_BYTES = 1024, /* longer lines are cut */
    STACK_BYTES = 64 * 1024,
    OWN_CALLS = 2 /* the handler, and that which the kernel puts below it */
};

static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static struct sigaction before[NUMBERS]; /* of the program, which may have a handler too */

/* ---- the report: memory may be broken, so nothing is allocated ---- */

static void write_line(const char *text, int len)
{
    size_t left = len < 0 ? 0 : len < LINE_BYTES ? (size_t)len : LINE_BYTES - 1;

    while (left > 0) {
        ssize_t n = write(STDERR_FILENO, text, left);

        if (n <= 0)
            return;
        text += n;
        left -= (size_t)n;
    }
}

static const char *name_of(const char *text)
{
    return text ? text : "";
}

static void report_head(int number)
{
    const struct mk_duda_here *here = mk_duda_here();
    const struct mk_duda_request *rq = here->request;
    struct mk_request_facts facts = {.size = sizeof(facts)};
    char line[LINE_BYTES];

    if (rq && rq->r)
        mk_request_facts(rq->r, &facts);
    write_line(line,
               snprintf(line, sizeof(line),
                        "crash signal=%d service=%s callback=%s request=\"%.*s%s%.*s\"\n", number,
                        here->service ? here->service->spec.name : "",
                        rq ? name_of(rq->callback) : "", (int)facts.method.len,
                        name_of(facts.method.p), facts.target.len > 0 ? " " : "",
                        facts.target.len < LINE_BYTES / 2 ? (int)facts.target.len : LINE_BYTES / 2,
                        name_of(facts.target.p)));
}

static void report_call(const void *at)
{
    char line[LINE_BYTES];
    struct mk_duda_call call;

    if (mk_duda_call_find(&call, at))
        write_line(line,
                   snprintf(line, sizeof(line), "crash at=%s+0x%zx\n", call.file, call.offset));
}

static void set_back(int number)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        if (numbers[i] == number)
            (void)sigaction(number, &before[i], NULL);
    }
}

/*
 * Afterwards the signal is the program's again: when this returns, what has crashed does it again, and the program's own handler,
 * or the kernel, ends the process.
 */
static void on_crash(int number, siginfo_t *info, void *context)
{
    void *calls[CALLS_MAX];
    int n;

    (void)context;
    set_back(number);
    report_head(number);
    n = backtrace(calls, CALLS_MAX); /* which crashes itself after a jump to nowhere */
    for (int i = OWN_CALLS; i < n; i++)
        report_call(calls[i]);
    if (info->si_code <= 0) /* somebody has sent it */
        (void)raise(number);
}

/* ---- the process ---- */

/* A sanitizer reports more than this. */
static bool is_taken(const struct sigaction *action)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return action->sa_handler != SIG_DFL;
#else
    return action->sa_sigaction == on_crash;
#endif
}

void mk_duda_crash_watch(void)
{
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction now;

    mk_duda_calls_prepare();
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < NUMBERS; i++) {
        if (sigaction(numbers[i], NULL, &now) < 0 || is_taken(&now))
            continue;
        before[i] = now;
        (void)sigaction(numbers[i], &action, NULL);
    }
}

void mk_duda_crash_unwatch(void)
{
    struct sigaction now;

    for (size_t i = 0; i < NUMBERS; i++) {
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_sigaction == on_crash)
            (void)sigaction(numbers[i], &before[i], NULL);
    }
}

/* ---- a thread ---- */

/* A signal that is blocked ends the process without its handler; threads of the server may be those of an older library. */
static void unblock(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < NUMBERS; i++)
        (void)sigaddset(&set, numbers[i]);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void *mk_duda_crash_enter(void)
{
    stack_t stack = {.ss_size = STACK_BYTES}, old;

    unblock();
    if (sigaltstack(NULL, &old) == 0 && !(old.ss_flags & SS_DISABLE))
        return NULL; /* a sanitizer has one here */
    stack.ss_sp = malloc(STACK_BYTES);
    if (stack.ss_sp && sigaltstack(&stack, NULL) < 0) {
        free(stack.ss_sp);
        return NULL;
    }
    return stack.ss_sp;
}

void mk_duda_crash_leave(void *stack)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    stack_t old;

    if (!stack)
        return;
    if (sigaltstack(NULL, &old) == 0 && old.ss_sp == stack)
        (void)sigaltstack(&none, NULL);
    free(stack);
}
