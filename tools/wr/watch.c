/* SPDX-License-Identifier: Apache-2.0 */
/* The guarded ppoll() of glibc 2.36 takes times of 32 bits where those of its callers have 64: all waits were over at once. */
#if __SIZEOF_LONG__ == 4
#undef _FORTIFY_SOURCE
#endif

#include "watch.h"

#include "cgroup.h"
#include "client.h"
#include "energy.h"
#include "number.h"
#include "perf.h"
#include "proc.h"
#include "source.h"
#include "trace.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FULL_MS = 1000, COUNTERS = WR_F_CALLS - WR_F_USER_INSTRUCTIONS + 1 };

volatile sig_atomic_t watch_is_interrupted;

/* What is not of a target. Nanoseconds, or counts. */
struct around {
    double at_ms;
    uint64_t busy, steal, own, children;
    uint64_t retransmits, overflows;
    struct energy energy;
    struct cgroup groups[TARGETS_MAX];
    bool has_machine, has_tcp;
};

/* What happened meanwhile. */
struct course {
    struct around before;
    struct perf counters[TARGETS_MAX][COUNTERS];
    char groups[TARGETS_MAX][CGROUP_PATH_SIZE];
    struct child tracers[TARGETS_MAX];
    double next_full_ms, rss_sum[TARGETS_MAX], client_threads;
    uint64_t most[TARGETS_MAX][WR_GAUGE_COUNT];
    bool has_peaks[TARGETS_MAX];
    size_t nsamples;
};

static void on_signal(int signal)
{
    if (signal != SIGCHLD)
        watch_is_interrupted = 1;
}

/* They come only while we wait, so that none is missed between a look and the wait. */
void watch_init(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t mask;

    (void)sigemptyset(&mask);
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
        (void)sigaction(signals[i], &action, NULL);
        (void)sigaddset(&mask, signals[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &mask, NULL);
}

static double ms_of(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

double watch_now_ms(void)
{
    return ms_of(CLOCK_MONOTONIC);
}

double watch_now_s(void)
{
    return ms_of(CLOCK_REALTIME) / 1e3;
}

void watch_pause(int ms)
{
    struct timespec left = {.tv_nsec = ms * 1000000L};
    sigset_t none;

    (void)sigemptyset(&none);
    (void)ppoll(NULL, 0, &left, &none);
}

/* ---- around the targets ---- */

static uint64_t ns_of(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_usec * 1000U;
}

static void look_at_tcp(struct around *a)
{
    const char *text;

    a->has_tcp = (text = source_text(AT_FDCWD, "/proc/net/snmp")) &&
                 proc_find_column(text, "Tcp:", "RetransSegs", &a->retransmits) &&
                 (text = source_text(AT_FDCWD, "/proc/net/netstat")) &&
                 proc_find_column(text, "TcpExt:", "ListenOverflows", &a->overflows);
}

static struct around look_around(const struct watched *w, const struct course *course)
{
    const bool *asks = w->options->asks;
    struct around a = {.at_ms = watch_now_ms(),
                       .own = (uint64_t)(ms_of(CLOCK_PROCESS_CPUTIME_ID) * 1e6)};
    uint64_t tick_ns = 1000000000U / (uint64_t)sysconf(_SC_CLK_TCK);
    const char *text;
    struct proc_machine m;
    struct rusage children;

    (void)getrusage(RUSAGE_CHILDREN, &children);
    a.children = ns_of(children.ru_utime) + ns_of(children.ru_stime);
    text = source_text(AT_FDCWD, "/proc/stat");
    a.has_machine = text && proc_parse_machine(text, &m);
    if (a.has_machine) {
        a.busy = m.busy * tick_ns;
        a.steal = m.steal * tick_ns;
    }
    if (asks[WR_F_RETRANSMITS])
        look_at_tcp(&a);
    if (asks[WR_F_ENERGY])
        a.energy = energy_read(w->options->sys);
    for (size_t i = 0; asks[WR_F_GROUP_CPU] && i < w->ntargets; i++)
        a.groups[i] = cgroup_read(w->options->sys, course->groups[i]);
    return a;
}

static double ms_between(uint64_t before, uint64_t after)
{
    return after > before ? (double)(after - before) / 1e6 : 0;
}

/* ---- while it runs ---- */

static void count_client_threads(struct course *course, pid_t pid)
{
    const char *text = source_text(AT_FDCWD, "/proc/%d/stat", (int)pid);
    struct proc_stat s;

    if (text && proc_parse_stat(text, &s) && (double)s.threads > course->client_threads)
        course->client_threads = (double)s.threads;
}

static void take_sample(const struct watched *w, struct course *course, struct run *runs,
                        enum tree_depth depth)
{
    course->nsamples++;
    for (size_t i = 0; i < w->ntargets; i++) {
        struct tree *t = &w->targets[i].tree;
        uint64_t now[WR_GAUGE_COUNT];

        tree_scan(t, depth);
        for (int g = 0; g < WR_GAUGE_COUNT; g++) {
            now[g] = tree_gauge(t, (enum wr_gauge)g);
            if (now[g] > course->most[i][g])
                course->most[i][g] = now[g];
        }
        course->rss_sum[i] += (double)now[WR_RSS_KB];
        run_sample(&runs[i],
                   &(struct sample){.at_ms = (uint32_t)(watch_now_ms() - course->before.at_ms),
                                    .cpu_ms = (uint32_t)(tree_used(t, WR_CPU) / 1000000),
                                    .rss_kb = (uint32_t)now[WR_RSS_KB],
                                    .processes = (uint32_t)now[WR_PROCESSES],
                                    .threads = (uint32_t)now[WR_THREADS]});
    }
    if (w->argv)
        count_client_threads(course, w->child->pid);
}

static bool is_over(const struct watched *w, double at_ms)
{
    size_t living = 0;

    if (watch_is_interrupted || (w->limit_ms > 0 && at_ms >= w->limit_ms))
        return true;
    if (w->argv)
        return w->child->is_over;
    for (size_t i = 0; i < w->ntargets; i++)
        living += tree_living(&w->targets[i].tree);
    return living == 0;
}

static void wait_until(const struct watched *w, double at_ms)
{
    double ms = number_larger(at_ms - watch_now_ms(), 0);
    struct timespec left = {.tv_sec = (time_t)(ms / 1e3)};
    struct pollfd out = {.fd = w->argv ? w->child->out : -1, .events = POLLIN};
    sigset_t none;

    left.tv_nsec = (long)((ms - (double)left.tv_sec * 1e3) * 1e6);
    (void)sigemptyset(&none);
    (void)ppoll(&out, 1, &left, &none);
    if (w->argv)
        child_turn(w->child, w->options->is_verbose);
}

static void follow(const struct watched *w, struct course *course, struct run *runs)
{
    double begin = course->before.at_ms, next = begin;

    while (!is_over(w, watch_now_ms() - begin)) {
        double now = watch_now_ms();

        if (now >= next) {
            bool is_full = now >= course->next_full_ms;

            take_sample(w, course, runs, is_full ? TREE_FULL : TREE_QUICK);
            if (is_full)
                course->next_full_ms = now + FULL_MS;
            while (next <= now)
                next += w->options->interval_ms;
        }
        wait_until(w, w->limit_ms > 0 ? number_smaller(next, begin + w->limit_ms) : next);
    }
}

/* ---- what it comes to ---- */

static void take_counters(struct run *r, const struct tree *t, double hz)
{
    static const struct {
        enum wr_figure figure;
        enum wr_counter counter;
        double unit;
    } rows[] = {
        {WR_F_CPU, WR_CPU, 1e6},           {WR_F_DELAY, WR_DELAY, 1e6},
        {WR_F_VOLUNTARY, WR_VOLUNTARY, 1}, {WR_F_INVOLUNTARY, WR_INVOLUNTARY, 1},
        {WR_F_MINOR, WR_MINOR, 1},         {WR_F_MAJOR, WR_MAJOR, 1},
        {WR_F_READ, WR_READ, 1},           {WR_F_WRITTEN, WR_WRITTEN, 1},
        {WR_F_DISK_READ, WR_DISK_READ, 1}, {WR_F_DISK_WRITTEN, WR_DISK_WRITTEN, 1},
    };
    double user = (double)tree_used(t, WR_USER), kernel = (double)tree_used(t, WR_KERNEL);

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (!t->is_refused[rows[i].counter])
            r->figures[rows[i].figure] = (double)tree_used(t, rows[i].counter) / rows[i].unit;
    if (user + kernel > 0) {
        double cpu_ms = r->figures[WR_F_CPU], share = user / (user + kernel);

        r->figures[WR_F_USER] = cpu_ms * share;
        r->figures[WR_F_KERNEL] = cpu_ms - cpu_ms * share;
        r->figures[WR_F_SPLIT_ERROR] = sqrt(share * (1 - share) * cpu_ms * 1e3 / hz);
    }
}

static void take_memory(struct run *r, const struct course *course, size_t i, const struct tree *t)
{
    uint64_t peaks, kb[WR_MEMORY_COUNT];
    double most = (double)course->most[i][WR_RSS_KB];

    if (course->nsamples == 0)
        return;
    /* The sum of what each had at most is more than all had at once; of one process it is exact. */
    if (course->has_peaks[i] && course->most[i][WR_PROCESSES] == 1 && tree_peaks(t, &peaks))
        most = number_larger(most, (double)peaks);
    r->figures[WR_F_RSS_PEAK] = most;
    r->figures[WR_F_RSS_MEAN] = course->rss_sum[i] / (double)course->nsamples;
    r->figures[WR_F_PROCESSES] = (double)course->most[i][WR_PROCESSES];
    r->figures[WR_F_THREADS] = (double)course->most[i][WR_THREADS];
    if (course->most[i][WR_DESCRIPTORS] > 0)
        r->figures[WR_F_DESCRIPTORS] = (double)course->most[i][WR_DESCRIPTORS];
    if (tree_living(t) > 0 && tree_memory(t, kb)) {
        r->figures[WR_F_PSS] = (double)kb[WR_PSS_KB];
        r->figures[WR_F_PRIVATE] = (double)kb[WR_PRIVATE_KB];
        r->figures[WR_F_SWAP] = (double)kb[WR_SWAP_KB];
    }
}

static void take_around(struct run *r, const struct around *before, const struct around *after,
                        double targets_ms)
{
    double *f = r->figures, own = ms_between(before->own, after->own);

    f[WR_F_WINDOW] = (after->at_ms - before->at_ms) / 1e3;
    f[WR_F_WR_CPU] = own;
    f[WR_F_CLIENT_CPU] = ms_between(before->children, after->children);
    if (before->has_machine && after->has_machine) {
        double busy = ms_between(before->busy, after->busy);

        f[WR_F_FOREIGN_CPU] = number_larger(busy - targets_ms - f[WR_F_CLIENT_CPU] - own, 0);
        f[WR_F_STEAL] = ms_between(before->steal, after->steal);
    }
    if (before->has_tcp && after->has_tcp) {
        f[WR_F_RETRANSMITS] = (double)(after->retransmits - before->retransmits);
        f[WR_F_OVERFLOWS] = (double)(after->overflows - before->overflows);
    }
}

static void take_group(double *f, const struct cgroup *before, const struct cgroup *after)
{
    f[WR_F_GROUP_CPU] = after->cpu_ms - before->cpu_ms;
    f[WR_F_THROTTLED] = after->throttled - before->throttled;
    f[WR_F_THROTTLED_MS] = after->throttled_ms - before->throttled_ms;
    f[WR_F_GROUP_PEAK] = after->peak_kb;
}

static void begin_counters(const struct watched *w, struct course *course)
{
    const struct perf_event events[COUNTERS] = {
        {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false, true},
        {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, true, false},
        {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false, false},
        {PERF_TYPE_TRACEPOINT, perf_tracepoint(w->options->sys), false, false},
    };

    for (size_t i = 0; i < w->ntargets; i++)
        for (size_t c = 0; c < COUNTERS; c++)
            if (w->options->asks[WR_F_USER_INSTRUCTIONS + c])
                perf_begin(&course->counters[i][c], &w->targets[i].tree, &events[c]);
}

static void end_counters(const struct watched *w, struct course *course, struct run *runs)
{
    double sum;

    for (size_t i = 0; i < w->ntargets; i++)
        for (int c = 0; c < COUNTERS; c++)
            if (perf_end(&course->counters[i][c], &sum))
                runs[i].figures[WR_F_USER_INSTRUCTIONS + c] = sum;
}

static unsigned flag(enum wr_flag f, bool is_so)
{
    return is_so ? 1U << f : 0;
}

/* Each target has its tracer. One that does not count says why, and the figure is left out. */
static void begin_traces(const struct watched *w, struct course *course)
{
    for (size_t i = 0; w->options->is_traced && i < w->ntargets; i++) {
        struct tree *t = &w->targets[i].tree;

        (void)trace_begin(&course->tracers[i], t);
        t->except[1] = course->tracers[i].pid;
    }
}

static void end_traces(const struct watched *w, struct course *course, struct run *runs)
{
    for (size_t i = 0; w->options->is_traced && i < w->ntargets; i++) {
        runs[i].calls = trace_end(&course->tracers[i]);
        runs[i].flags |= flag(WR_FLAG_TRACED, runs[i].calls);
    }
}

static void take_client(struct run *r, const struct client_result *c)
{
    double *f = r->figures;

    r->tool = c->tool;
    r->is_open_loop = c->is_open_loop;
    f[WR_F_REQUESTS] = c->values[CLIENT_REQUESTS];
    f[WR_F_ERRORS] = c->values[CLIENT_ERRORS];
    f[WR_F_P50] = c->values[CLIENT_P50_US];
    f[WR_F_P90] = c->values[CLIENT_P90_US];
    f[WR_F_P99] = c->values[CLIENT_P99_US];
    f[WR_F_MAX] = c->values[CLIENT_MAX_US];
    if (f[WR_F_REQUESTS] > 0) {
        double us = c->values[CLIENT_US];

        f[WR_F_RATE] = f[WR_F_REQUESTS] / (us > 0 ? us / 1e6 : f[WR_F_WINDOW]);
        f[WR_F_CALLS_A_REQUEST] = f[WR_F_CALLS] / f[WR_F_REQUESTS];
        f[WR_F_CPU_A_REQUEST] = f[WR_F_CPU] * 1e3 / f[WR_F_REQUESTS];
    }
}

static bool read_client(const struct watched *w, struct client_result *c)
{
    const char *text = w->child->text;

    if (w->options->requests_regex)
        return client_parse_by(w->options->requests_regex, text, c) == 0;
    return client_parse(text, c);
}

/* Of its cores a generator can use no more than it has threads. */
static bool is_client_bound(const struct course *course, const struct run *r)
{
    double ms = r->figures[WR_F_WINDOW] * 1e3, cores = (double)sysconf(_SC_NPROCESSORS_ONLN);
    double client = r->figures[WR_F_CLIENT_CPU] /
                    (ms * number_smaller(number_larger(course->client_threads, 1), cores));
    double server = r->figures[WR_F_CPU] /
                    (ms * number_smaller(number_larger(r->figures[WR_F_THREADS], 1), cores));

    return client > 0.9 && server < 0.7;
}

static unsigned flags_of(const struct watched *w, const struct course *course, const struct run *r,
                         bool is_counted)
{
    const double *f = r->figures, ms = f[WR_F_WINDOW] * 1e3;
    unsigned flags = flag(WR_FLAG_FOREIGN, f[WR_F_FOREIGN_CPU] > 0.03 * ms) |
                     flag(WR_FLAG_STOLEN, f[WR_F_STEAL] > 0.01 * ms) |
                     flag(WR_FLAG_CUT, watch_is_interrupted);

    if (!w->argv)
        return flags;
    return flags | flag(WR_FLAG_ERRORS, f[WR_F_ERRORS] > 0) |
           flag(WR_FLAG_FAILED, !w->child->is_over || w->child->status != 0) |
           flag(WR_FLAG_UNCOUNTED, !is_counted) |
           flag(WR_FLAG_CLIENT_BOUND, is_client_bound(course, r));
}

static void conclude(const struct watched *w, struct course *course, struct run *runs)
{
    struct around after = look_around(w, course);
    struct client_result client;
    bool is_counted = w->argv && read_client(w, &client);
    double all_ms = 0;

    for (size_t i = 0; i < w->ntargets; i++) {
        take_counters(&runs[i], &w->targets[i].tree, (double)sysconf(_SC_CLK_TCK));
        all_ms += runs[i].figures[WR_F_CPU];
    }
    for (size_t i = 0; i < w->ntargets; i++) {
        take_around(&runs[i], &course->before, &after, all_ms);
        if (w->options->asks[WR_F_GROUP_CPU])
            take_group(runs[i].figures, &course->before.groups[i], &after.groups[i]);
        if (course->before.energy.count > 0)
            runs[i].figures[WR_F_ENERGY] = energy_between(&course->before.energy, &after.energy);
        take_memory(&runs[i], course, i, &w->targets[i].tree);
        if (!w->argv)
            runs[i].figures[WR_F_CLIENT_CPU] = NAN;
        if (is_counted)
            take_client(&runs[i], &client);
        runs[i].flags |= flags_of(w, course, &runs[i], is_counted) |
                         flag(WR_FLAG_DIED, w->argv && tree_living(&w->targets[i].tree) == 0);
    }
}

int watch_run(const struct watched *w, struct run *runs)
{
    struct course course = {0};

    for (size_t i = 0; i < w->ntargets; i++) {
        course.has_peaks[i] = tree_reset_peaks(&w->targets[i].tree);
        tree_begin(&w->targets[i].tree);
        if (w->targets[i].tree.count > 0) /* the first process stands for its target */
            cgroup_find(w->targets[i].tree.members[0].pid, course.groups[i]);
    }
    begin_traces(w, &course);
    begin_counters(w, &course);
    course.before = look_around(w, &course);
    if (w->argv && child_start(w->child, w->argv) < 0) {
        end_counters(w, &course, runs);
        end_traces(w, &course, runs);
        return -1;
    }
    for (size_t i = 0; w->argv && i < w->ntargets; i++)
        w->targets[i].tree.except[0] = w->child->pid;
    follow(w, &course, runs);
    if (w->argv && !w->child->is_over)
        child_stop(w->child, SIGINT);
    end_counters(w, &course, runs);
    end_traces(w, &course, runs);
    take_sample(w, &course, runs, TREE_FULL);
    conclude(w, &course, runs);
    return 0;
}
