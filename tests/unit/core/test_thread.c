/* SPDX-License-Identifier: Apache-2.0 */
#include "core_test.h"

#include "core/thread.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

struct report {
    atomic_bool is_set_up;
    char name[16];
    int cpus;
    size_t guard;
    sigset_t blocked;
};

static void *look_around(void *arg)
{
    struct report *r = arg;
    pthread_attr_t attr;
    cpu_set_t cpus;

    /* The name and the CPU are given by the starter, after this may have begun. */
    while (!atomic_load(&r->is_set_up))
        (void)sched_yield();
    (void)pthread_getname_np(pthread_self(), r->name, sizeof(r->name));
    (void)sched_getaffinity(0, sizeof(cpus), &cpus);
    r->cpus = CPU_COUNT(&cpus);
    (void)pthread_sigmask(SIG_BLOCK, NULL, &r->blocked);
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        (void)pthread_attr_getguardsize(&attr, &r->guard);
        pthread_attr_destroy(&attr);
    }
    return NULL;
}

static int first_cpu(void)
{
    cpu_set_t cpus;
    int cpu = 0;

    assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
    while (!CPU_ISSET(cpu, &cpus))
        cpu++;
    return cpu;
}

static void threads_have_names_and_no_signals(void **state)
{
    const int cpus[] = {-1, first_cpu(), 1000000};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(cpus); i++) {
        struct report r = {.cpus = 0};
        sigset_t before, after;
        pthread_t thread;

        (void)pthread_sigmask(SIG_BLOCK, NULL, &before);
        assert_int_equal(mk_thread_start(&thread, "mk-test", cpus[i], look_around, &r), 0);
        atomic_store(&r.is_set_up, true);
        (void)pthread_sigmask(SIG_BLOCK, NULL, &after);
        pthread_join(thread, NULL);
        assert_string_equal(r.name, "mk-test");
        assert_int_equal(r.cpus, i == 1 ? 1 : (int)mk_thread_cpus());
        assert_true(r.guard >= 64 << 10); /* a large frame does not step over it */
        assert_true(sigismember(&r.blocked, SIGTERM));
        assert_true(sigismember(&r.blocked, SIGPIPE));
        assert_int_equal(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
    }
}

static void there_is_a_cpu(void **state)
{
    (void)state;
    assert_true(mk_thread_cpus() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_have_names_and_no_signals),
        cmocka_unit_test(there_is_a_cpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
