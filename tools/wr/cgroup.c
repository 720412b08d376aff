/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup.h"

#include "proc.h"
#include "source.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void cgroup_find(int pid, char path[CGROUP_PATH_SIZE])
{
    const char *text = source_text(AT_FDCWD, "/proc/%d/cgroup", pid);
    const char *at = text && strncmp(text, "0::/", 4) != 0 ? strstr(text, "\n0::/") : text;

    path[0] = '\0';
    if (!at)
        return;
    at = strchr(at, '/');
    if (snprintf(path, CGROUP_PATH_SIZE, "%.*s", (int)strcspn(at, "\n"), at) >= CGROUP_PATH_SIZE)
        path[0] = '\0';
}

static double number_of(const char *text, const char *key, double unit)
{
    uint64_t number;

    return text && proc_find(text, key, &number) ? (double)number / unit : NAN;
}

struct cgroup cgroup_read(const char *sys, const char *path)
{
    struct cgroup g;
    const char *text = path[0] ? source_text(AT_FDCWD, "%s/fs/cgroup%s/cpu.stat", sys, path) : NULL;

    g.cpu_ms = number_of(text, "usage_usec ", 1e3);
    g.throttled = number_of(text, "nr_throttled ", 1);
    g.throttled_ms = number_of(text, "throttled_usec ", 1e3);
    text = path[0] ? source_text(AT_FDCWD, "%s/fs/cgroup%s/memory.peak", sys, path) : NULL;
    g.peak_kb = number_of(text, "", 1024);
    return g;
}
