/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include "child.h"
#include "run.h"
#include "source.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { VERSION_TURNS = 100, VERSION_TURN_MS = 10 };

#define FACT_NAME(name, text) text "\0"

const char *wr_fact_name(int fact)
{
    return wr_text(WR_FACTS(FACT_NAME), fact);
}

/* In the order of the facts from GOVERNOR on. */
static const char fact_files[] = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor\0"
                                 "/proc/sys/net/core/somaxconn\0"
                                 "/proc/sys/net/ipv4/tcp_max_syn_backlog\0"
                                 "/proc/sys/net/ipv4/ip_local_port_range\0"
                                 "/proc/sys/net/ipv4/tcp_tw_reuse\0"
                                 "/proc/sys/net/ipv4/tcp_congestion_control\0"
                                 "/sys/kernel/mm/transparent_hugepage/enabled\0"
                                 "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/* The file's first line; a tab between two numbers becomes a blank. */
static void take_file(struct machine *m, int fact, const char *path)
{
    char *text = m->facts[fact];

    if (source_read(AT_FDCWD, path, text, sizeof(m->facts[fact])) < 0)
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    for (char *tab; (tab = strchr(text, '\t'));)
        *tab = ' ';
}

static void take_cpu(struct machine *m)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];

    if (!file)
        return;
    while (m->facts[WR_FACT_CPU][0] == '\0' && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':');

        if (colon && (strncmp(line, "model name", 10) == 0 || strncmp(line, "Model", 5) == 0))
            (void)snprintf(m->facts[WR_FACT_CPU], sizeof(m->facts[0]), "%.*s",
                           (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    (void)fclose(file);
}

void machine_read(struct machine *m)
{
    struct utsname name;
    struct rlimit files;

    *m = (struct machine){0};
    take_cpu(m);
    (void)snprintf(m->facts[WR_FACT_CORES], sizeof(m->facts[0]), "%ld",
                   sysconf(_SC_NPROCESSORS_ONLN));
    if (uname(&name) == 0) {
        (void)snprintf(m->facts[WR_FACT_ARCH], sizeof(m->facts[0]), "%s", name.machine);
        (void)snprintf(m->facts[WR_FACT_KERNEL], sizeof(m->facts[0]), "%s", name.release);
    }
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        (void)snprintf(m->facts[WR_FACT_FILES], sizeof(m->facts[0]), "%llu",
                       (unsigned long long)files.rlim_cur);
    for (int f = WR_FACT_GOVERNOR; f <= WR_FACT_CLOCK; f++)
        take_file(m, f, wr_text(fact_files, f - WR_FACT_GOVERNOR));
}

/* The word that makes it say its version, or NULL. */
static const char *word_for_version(const char *program)
{
    static const char words[][2][10] = {
        {"ab", "-V"},         {"siege", "-V"},        {"wrk", "-v"},
        {"wrk2", "-v"},       {"weighttp", "-v"},     {"h2load", "--version"},
        {"oha", "--version"}, {"vegeta", "-version"}, {"k6", "version"},
    };
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(name, words[i][0]) == 0)
            return words[i][1];
    return NULL;
}

void machine_ask_client(struct machine *m, char *const *words)
{
    const char *word = NULL;
    struct child child = {.out = -1};
    char *fact = m->facts[WR_FACT_CLIENT];

    while (*words && !(word = word_for_version(*words)))
        words++;

    char *const argv[] = {*words, (char *)(uintptr_t)word, NULL};

    if (word && child_start(&child, argv) == 0) {
        for (int turn = 0; !child.is_over && turn < VERSION_TURNS; turn++) {
            (void)poll(NULL, 0, VERSION_TURN_MS);
            child_turn(&child, false);
        }
        child_stop(&child, SIGKILL);
        (void)snprintf(fact, sizeof(m->facts[0]), "%.*s", (int)strcspn(child.text, "\n"),
                       child.text);
    }
    child_fini(&child);
}
