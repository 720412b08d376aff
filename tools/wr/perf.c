/* SPDX-License-Identifier: Apache-2.0 */
#include "perf.h"

#include "proc.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(const struct perf_event *e, int tid)
{
    struct perf_event_attr a = {
        .type = e->type,
        .size = sizeof(a),
        .config = e->config,
        .inherit = 1,
        .exclude_user = e->is_user_left_out,
        .exclude_kernel = e->is_kernel_left_out,
        .exclude_hv = 1,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };

    return (int)syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void add(struct perf *p, const struct perf_event *e, int tid)
{
    int *fds = realloc(p->fds, (p->count + 1) * sizeof(*fds));
    int fd = fds ? open_event(e, tid) : -1;

    if (fds)
        p->fds = fds;
    if (fd >= 0)
        p->fds[p->count++] = fd;
    else if (errno != ESRCH)
        p->is_refused = true;
}

uint64_t perf_tracepoint(const char *sys)
{
    const char *text =
        source_text(AT_FDCWD, "%s/kernel/tracing/events/raw_syscalls/sys_enter/id", sys);
    uint64_t id;

    return text && proc_find(text, "", &id) ? id : UINT64_MAX;
}

void perf_begin(struct perf *p, const struct tree *t, const struct perf_event *event)
{
    *p = (struct perf){0};
    for (size_t i = 0; i < t->count; i++) {
        DIR *tasks = source_folder(t->members[i].dir, "task");

        if (!tasks)
            continue;
        for (const struct dirent *e; !p->is_refused && (e = readdir(tasks));)
            if (e->d_name[0] != '.')
                add(p, event, (int)strtoll(e->d_name, NULL, 10));
        (void)closedir(tasks);
    }
}

bool perf_end(struct perf *p, double *sum)
{
    struct {
        uint64_t value, enabled, running;
    } got;
    bool is_known = !p->is_refused && p->count > 0;

    *sum = 0;
    for (size_t i = 0; i < p->count; i++) {
        bool is_read = read(p->fds[i], &got, sizeof(got)) == (ssize_t)sizeof(got);

        if (is_read && got.running > 0)
            *sum += (double)got.value * (double)got.enabled / (double)got.running;
        else if (!is_read || got.enabled > 0) /* no counter was ever free */
            is_known = false;
        (void)close(p->fds[i]);
    }
    free(p->fds);
    *p = (struct perf){0};
    return is_known;
}
