/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include "proc.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_SIZE = 4096, CLOCK_SCHED = 2 };

static uint64_t ns_of_ticks(uint64_t ticks)
{
    return ticks * (1000000000U / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* The clock of a process, of which clock_getcpuclockid(3) would give the same for those that we may trace. */
static bool cpu_of(int pid, uint64_t *ns)
{
    clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | CLOCK_SCHED);
    struct timespec t;

    if (clock_gettime(clock, &t) < 0)
        return false;
    *ns = (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
    return true;
}

static bool read_stat(int dir, struct proc_stat *s)
{
    const char *text = source_text(dir, "stat");

    return text && proc_parse_stat(text, s);
}

static void take_stat(struct member *m, const struct proc_stat *s)
{
    uint64_t *own = m->ledger.own, *children = m->ledger.children;
    long page_kb = sysconf(_SC_PAGESIZE) / 1024;
    uint64_t ns;

    m->parent = s->parent;
    m->rss = s->rss * (uint64_t)page_kb;
    m->threads = s->threads;
    m->is_here = s->state != 'Z' && s->state != 'X';
    own[WR_USER] = ns_of_ticks(s->user);
    own[WR_KERNEL] = ns_of_ticks(s->kernel);
    own[WR_MINOR] = s->minor;
    own[WR_MAJOR] = s->major;
    children[WR_USER] = ns_of_ticks(s->cuser);
    children[WR_KERNEL] = ns_of_ticks(s->ckernel);
    children[WR_CPU] = children[WR_USER] + children[WR_KERNEL];
    children[WR_MINOR] = s->cminor;
    children[WR_MAJOR] = s->cmajor;
    if (!cpu_of(m->pid, &ns))
        ns = own[WR_USER] + own[WR_KERNEL];
    if (ns > own[WR_CPU])
        own[WR_CPU] = ns;
}

/* ---- what each thread has ---- */

/* Sums over threads fall when one ends: what was last seen of it stays. */
static void take_task_sums(struct member *m, const uint64_t *sums)
{
    static const enum wr_counter of_tasks[] = {WR_DELAY, WR_VOLUNTARY, WR_INVOLUNTARY};

    for (size_t i = 0; i < sizeof(of_tasks) / sizeof(*of_tasks); i++) {
        enum wr_counter c = of_tasks[i];

        if (sums[c] > m->tasks_seen[c])
            m->ledger.own[c] += sums[c] - m->tasks_seen[c];
        m->tasks_seen[c] = sums[c];
    }
}

static void read_task(struct tree *t, int tasks, const char *tid, uint64_t *sums)
{
    const char *text = source_text(tasks, "%s/schedstat", tid);
    uint64_t ran, delay, number;

    if (text && proc_parse_schedstat(text, &ran, &delay))
        sums[WR_DELAY] += delay;
    else if (errno != ENOENT && errno != ESRCH)
        t->is_refused[WR_DELAY] = true;
    text = source_text(tasks, "%s/status", tid);
    if (!text)
        return;
    if (proc_find(text, "voluntary_ctxt_switches:", &number))
        sums[WR_VOLUNTARY] += number;
    if (proc_find(text, "nonvoluntary_ctxt_switches:", &number))
        sums[WR_INVOLUNTARY] += number;
}

static struct member *member_of(const struct tree *t, int pid)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->members[i].pid == pid)
            return &t->members[i];
    return NULL;
}

static void add_child(struct tree *t, int pid)
{
    if (pid != t->except[0] && pid != t->except[1] && !member_of(t, pid))
        (void)tree_add(t, pid);
}

static void add_children(struct tree *t, int tasks, const char *tid)
{
    char name[64], text[4 * TEXT_SIZE];
    const char *at = text;

    (void)snprintf(name, sizeof(name), "%s/children", tid);
    if (source_read(tasks, name, text, sizeof(text)) <= 0)
        return;
    for (int pid; (pid = proc_next_pid(&at)) != 0;)
        add_child(t, pid);
}

/* Adds members, so that no pointer to one is kept over it. */
static void scan_tasks(struct tree *t, size_t i, enum tree_depth depth)
{
    DIR *tasks = source_folder(t->members[i].dir, "task");
    uint64_t sums[WR_COUNTER_COUNT] = {0};

    if (!tasks)
        return;
    for (const struct dirent *e; (e = readdir(tasks));) {
        if (e->d_name[0] == '.')
            continue;
        add_children(t, dirfd(tasks), e->d_name);
        if (depth == TREE_FULL)
            read_task(t, dirfd(tasks), e->d_name, sums);
    }
    if (depth == TREE_FULL)
        take_task_sums(&t->members[i], sums);
    (void)closedir(tasks);
}

static void read_io(struct tree *t, struct member *m)
{
    static const struct {
        const char *key;
        enum wr_counter counter;
    } rows[] = {{"rchar:", WR_READ},
                {"wchar:", WR_WRITTEN},
                {"read_bytes:", WR_DISK_READ},
                {"write_bytes:", WR_DISK_WRITTEN}};
    const char *text = source_text(m->dir, "io");
    bool is_gone = !text && errno == ESRCH;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (!is_gone && (!text || !proc_find(text, rows[i].key, &m->ledger.own[rows[i].counter])))
            t->is_refused[rows[i].counter] = true;
}

/* ---- members that come and go ---- */

static int grow(struct tree *t)
{
    size_t room = t->room ? 2 * t->room : 16;
    struct member *members = realloc(t->members, room * sizeof(*members));

    if (!members)
        return -1;
    t->members = members;
    t->room = room;
    return 0;
}

int tree_add(struct tree *t, int pid)
{
    struct member m = {.pid = pid};
    struct proc_stat s;
    char path[32];

    if (t->count == t->room && grow(t) < 0)
        return -1;
    (void)snprintf(path, sizeof(path), "/proc/%d", pid);
    m.dir = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (m.dir < 0)
        return -1;
    if (!read_stat(m.dir, &s)) {
        (void)close(m.dir);
        errno = ESRCH;
        return -1;
    }
    m.start = s.start;
    take_stat(&m, &s);
    t->members[t->count++] = m;
    return 0;
}

/* The youngest first: what a child leaves is with its parent before that itself is taken away. */
static void remove_member(struct tree *t, size_t i)
{
    struct member m = t->members[i];
    struct member *parent;

    memmove(&t->members[i], &t->members[i + 1], (--t->count - i) * sizeof(m));
    parent = member_of(t, m.parent);
    if (parent)
        ledger_inherit(&parent->ledger, &m.ledger);
    for (int c = 0; !parent && c < WR_COUNTER_COUNT; c++)
        t->gone[c] += ledger_value(&m.ledger, (enum wr_counter)c);
    (void)close(m.dir);
}

static void adopt_own_children(struct tree *t)
{
    char self[32];

    (void)snprintf(self, sizeof(self), "/proc/self/task/%d", (int)getpid());
    add_children(t, AT_FDCWD, self);
}

void tree_scan(struct tree *t, enum tree_depth depth)
{
    struct proc_stat s;

    if (t->has_own_children)
        adopt_own_children(t);
    for (size_t i = 0; i < t->count; i++) /* grows meanwhile: children are looked at too */
        scan_tasks(t, i, depth);
    for (size_t i = t->count; i-- > 0;) {
        struct member *m = &t->members[i];

        if (!read_stat(m->dir, &s) || s.start != m->start) {
            remove_member(t, i);
            continue;
        }
        take_stat(m, &s);
        if (depth == TREE_FULL)
            read_io(t, m);
    }
}

void tree_begin(struct tree *t)
{
    tree_scan(t, TREE_FULL);
    memset(t->gone, 0, sizeof(t->gone));
    for (size_t i = 0; i < t->count; i++)
        ledger_begin(&t->members[i].ledger);
}

/* ---- sums ---- */

size_t tree_living(const struct tree *t)
{
    size_t living = 0;

    for (size_t i = 0; i < t->count; i++)
        living += t->members[i].is_here;
    return living;
}

uint64_t tree_used(const struct tree *t, enum wr_counter c)
{
    uint64_t sum = t->gone[c];

    for (size_t i = 0; i < t->count; i++)
        sum += ledger_value(&t->members[i].ledger, c);
    return sum;
}

/* Since Linux 6.2 their number is the size of the folder. */
static uint64_t descriptors_of(const struct member *m)
{
    struct stat st;
    uint64_t count = 0;
    DIR *d;

    if (fstatat(m->dir, "fd", &st, 0) == 0 && st.st_size > 0)
        return (uint64_t)st.st_size;
    d = source_folder(m->dir, "fd");
    if (!d)
        return 0;
    for (const struct dirent *e; (e = readdir(d));)
        count += e->d_name[0] != '.';
    (void)closedir(d);
    return count;
}

uint64_t tree_gauge(const struct tree *t, enum wr_gauge g)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < t->count; i++) {
        const struct member *m = &t->members[i];

        if (!m->is_here)
            continue;
        switch (g) {
        case WR_RSS_KB:
            sum += m->rss;
            break;
        case WR_THREADS:
            sum += m->threads;
            break;
        case WR_DESCRIPTORS:
            sum += descriptors_of(m);
            break;
        default:
            sum++;
        }
    }
    return sum;
}

static uint64_t line_of(const char *text, const char *key)
{
    uint64_t number;

    return proc_find(text, key, &number) ? number : 0;
}

bool tree_memory(const struct tree *t, uint64_t kb[WR_MEMORY_COUNT])
{
    const char *text;

    memset(kb, 0, WR_MEMORY_COUNT * sizeof(*kb));
    for (size_t i = 0; i < t->count; i++) {
        if (!t->members[i].is_here)
            continue;
        text = source_text(t->members[i].dir, "smaps_rollup");
        if (!text)
            return false;
        kb[WR_PSS_KB] += line_of(text, "Pss:");
        kb[WR_PRIVATE_KB] += line_of(text, "Private_Clean:") + line_of(text, "Private_Dirty:");
        kb[WR_SWAP_KB] += line_of(text, "Swap:");
    }
    return true;
}

bool tree_peaks(const struct tree *t, uint64_t *kb)
{
    const char *text;

    *kb = 0;
    for (size_t i = 0; i < t->count; i++) {
        text = source_text(t->members[i].dir, "status");
        if (!text)
            return false;
        *kb += line_of(text, "VmHWM:");
    }
    return true;
}

bool tree_reset_peaks(const struct tree *t)
{
    for (size_t i = 0; i < t->count; i++) {
        int fd = openat(t->members[i].dir, "clear_refs", O_WRONLY | O_CLOEXEC);
        bool is_done = fd >= 0 && write(fd, "5", 1) == 1;

        if (fd >= 0)
            (void)close(fd);
        if (!is_done)
            return false;
    }
    return true;
}

void tree_fini(struct tree *t)
{
    for (size_t i = 0; i < t->count; i++)
        (void)close(t->members[i].dir);
    free(t->members);
    *t = (struct tree){0};
}
