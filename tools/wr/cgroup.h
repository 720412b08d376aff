/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CGROUP_H
#define WR_CGROUP_H

/** What a control group (version 2) says of all its processes, the target's and others. What it does not have is NAN. */
struct cgroup {
    double cpu_ms, throttled, throttled_ms; /* throttled: how often */
    double peak_kb;                         /* since the group was made */
};

enum { CGROUP_PATH_SIZE = 256 };

/** The group of a process, below the mount of groups, with its leading slash; empty: it has none. */
void cgroup_find(int pid, char path[CGROUP_PATH_SIZE]);

/** As it is now. @param sys  where /sys is mounted */
struct cgroup cgroup_read(const char *sys, const char *path);

#endif
