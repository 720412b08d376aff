/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PROC_H
#define WR_PROC_H

/* What the files of /proc say: text in, numbers out. Nothing here opens a file. proc(5). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A line of /proc/PID/stat; times in clock ticks, memory in pages. What begins with c is of children that were waited for. */
struct proc_stat {
    char name[64];
    char state;
    int pid, parent;
    uint64_t minor, cminor, major, cmajor;
    uint64_t user, kernel, cuser, ckernel;
    uint64_t threads, start, rss;
};

/** /proc/stat: ticks of all cores together since the boot. */
struct proc_machine {
    uint64_t busy, steal;
};

/** A listening socket of /proc/net/tcp or tcp6. */
struct proc_listener {
    unsigned port;
    uint64_t inode;
};

/** @return false: not such a line. A name may have blanks and parentheses: it ends at the last one. */
bool proc_parse_stat(const char *text, struct proc_stat *s);

/** /proc/PID/schedstat: ns on a processor, and ns ready without one. */
bool proc_parse_schedstat(const char *text, uint64_t *ran, uint64_t *waited);

bool proc_parse_machine(const char *text, struct proc_machine *m);

/** One line; @return false: not a listening socket. */
bool proc_parse_listener(const char *line, struct proc_listener *l);

/** The number of the line that begins with key, which ends with its colon or blank ("VmHWM:", "usage_usec "). */
bool proc_find(const char *text, const char *key, uint64_t *number);

/** The next number of a list of them. @return 0: there is none; *at then stays. */
int proc_next_pid(const char **at);

/** Whether a path of /proc/PID/cgroup has the unit as one of its parts, as in 0::/system.slice/nginx.service. */
bool proc_is_in_unit(const char *text, const char *unit);

/**
 * A counter of /proc/net/netstat or snmp, where a line of names stands above its line of numbers.
 * @param group  as the lines begin, with its colon ("TcpExt:")
 */
bool proc_find_column(const char *text, const char *group, const char *name, uint64_t *number);

#endif
