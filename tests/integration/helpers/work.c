/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * work MODE: for each line read, use a known amount of processor time or memory, and say on standard output how much: us
 * of CPU, of the process and all below it. What it says it has measured itself.
 */

/* Children use more: what they used is known from their parent in ticks of 10 ms. */
enum { BURN_MS = 300, CHILDREN_MS = 1200, PARTS = 6, MEMORY = 48 << 20, CALLS = 5000 };

static long long cpu_us(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static long long burn(clockid_t clock, int ms)
{
    long long begin = cpu_us(clock), now;

    do {
        now = cpu_us(clock);
    } while (now < begin + ms * 1000LL);
    return now - begin;
}

static void *burn_in_thread(void *arg)
{
    burn(CLOCK_THREAD_CPUTIME_ID, BURN_MS / PARTS);
    return arg;
}

static void threads(void)
{
    pthread_t started[PARTS];

    for (int i = 0; i < PARTS; i++)
        pthread_create(&started[i], NULL, burn_in_thread, NULL);
    for (int i = 0; i < PARTS; i++)
        pthread_join(started[i], NULL);
}

/* @return what the children used; they stay for a while when nobody waits for them */
static long long children(int stay_s)
{
    long long sum = 0, part;
    int fds[2];

    if (pipe(fds) < 0)
        exit(1);
    for (int i = 0; i < PARTS; i++) {
        if (fork() == 0) {
            burn(CLOCK_PROCESS_CPUTIME_ID, CHILDREN_MS / PARTS);
            part = cpu_us(CLOCK_PROCESS_CPUTIME_ID);
            if (write(fds[1], &part, sizeof(part)) != sizeof(part))
                _exit(1);
            sleep((unsigned)stay_s);
            _exit(0);
        }
        if (read(fds[0], &part, sizeof(part)) == sizeof(part))
            sum += part;
    }
    while (wait(NULL) > 0)
        continue;
    close(fds[0]);
    close(fds[1]);
    return sum;
}

static void memory(void)
{
    char *bytes = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (bytes == MAP_FAILED)
        exit(1);
    memset(bytes, 1, MEMORY);
    munmap(bytes, MEMORY);
}

/* Half of them in a child that it waits for. */
static void calls(void)
{
    pid_t child = fork();

    for (int i = 0; i < CALLS / 2; i++)
        getppid();
    if (child == 0)
        _exit(0);
    wait(NULL);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "burn";
    char line[16];

    if (strcmp(mode, "unwaited") == 0)
        signal(SIGCHLD, SIG_IGN);
    while (fgets(line, sizeof(line), stdin)) {
        long long begin = cpu_us(CLOCK_PROCESS_CPUTIME_ID), below = 0;

        if (strcmp(mode, "threads") == 0)
            threads();
        else if (strcmp(mode, "children") == 0 || strcmp(mode, "unwaited") == 0)
            below = children(mode[0] == 'u');
        else if (strcmp(mode, "memory") == 0)
            memory();
        else if (strcmp(mode, "calls") == 0)
            calls();
        else
            burn(CLOCK_PROCESS_CPUTIME_ID, BURN_MS);
        if (strcmp(mode, "rename") == 0)
            prctl(PR_SET_NAME, "a) R 1 (b");
        printf("cpu_us: %lld\n", cpu_us(CLOCK_PROCESS_CPUTIME_ID) - begin + below);
        fflush(stdout);
        if (strcmp(mode, "die") == 0)
            return 0;
    }
    return 0;
}
