/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include "source.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#define FACT_NAME(name, text) text,
const char *const wr_facts[] = {WR_FACTS(FACT_NAME)};

/* The file's first line; a tab between two numbers becomes a blank. */
static void take_file(struct machine *m, enum wr_fact fact, const char *path)
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
    take_file(m, WR_FACT_GOVERNOR, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    take_file(m, WR_FACT_SOMAXCONN, "/proc/sys/net/core/somaxconn");
    take_file(m, WR_FACT_SYN_BACKLOG, "/proc/sys/net/ipv4/tcp_max_syn_backlog");
    take_file(m, WR_FACT_PORTS, "/proc/sys/net/ipv4/ip_local_port_range");
}
