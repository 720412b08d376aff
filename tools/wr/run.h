/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_H
#define WR_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One run: what one target cost while the command ran once. A figure that could not be read is NAN;
 * it is null in JSON, and in no table.
 */

/** name, with its unit; what of it is better; what it is */
#define WR_FIGURES(X)                                                                              \
    X(WINDOW, "window_s", NONE, "length of the run")                                               \
    X(REQUESTS, "requests", NONE, "requests answered, as the generator says")                      \
    X(ERRORS, "errors", LESS, "errors that the generator saw")                                     \
    X(RATE, "requests_per_s", MORE, "requests a second")                                           \
    X(CPU_A_REQUEST, "cpu_us_per_request", LESS, "CPU a request")                                  \
    X(CPU, "cpu_ms", NONE, "CPU of the target, children that ended included")                      \
    X(USER, "user_ms", NONE, "of that in the program")                                             \
    X(KERNEL, "kernel_ms", NONE, "of that in the kernel")                                          \
    X(SPLIT_ERROR, "split_error_ms", NONE,                                                         \
      "one standard error of the two: they are samples of the tick")                               \
    X(DELAY, "delay_ms", NONE, "ready to run, but without a processor")                            \
    X(VOLUNTARY, "voluntary_switches", NONE, "context switches because it waited")                 \
    X(INVOLUNTARY, "involuntary_switches", NONE, "context switches because others ran")            \
    X(MINOR, "minor_faults", NONE, "page faults without I/O")                                      \
    X(MAJOR, "major_faults", NONE, "page faults with I/O")                                         \
    X(READ, "read_bytes", NONE, "bytes that read calls returned")                                  \
    X(WRITTEN, "written_bytes", NONE, "bytes given to write calls")                                \
    X(DISK_READ, "disk_read_bytes", NONE, "bytes fetched from storage")                            \
    X(DISK_WRITTEN, "disk_written_bytes", NONE, "bytes sent to storage")                           \
    X(RSS_PEAK, "rss_peak_kb", LESS, "resident memory, the most")                                  \
    X(RSS_MEAN, "rss_mean_kb", NONE, "resident memory, mean of the samples")                       \
    X(PSS, "pss_kb", NONE, "proportional memory after the run")                                    \
    X(PRIVATE, "private_kb", LESS, "private memory after the run")                                 \
    X(SWAP, "swap_kb", NONE, "swapped out after the run")                                          \
    X(PROCESSES, "processes", NONE, "processes, the most")                                         \
    X(THREADS, "threads", NONE, "threads, the most")                                               \
    X(DESCRIPTORS, "descriptors", NONE, "open descriptors, the most")                              \
    X(P50, "p50_us", LESS, "median latency, as the generator says")                                \
    X(P90, "p90_us", LESS, "90th percentile")                                                      \
    X(P99, "p99_us", LESS, "99th percentile")                                                      \
    X(MAX, "max_us", NONE, "longest latency")                                                      \
    X(RETRANSMITS, "tcp_retransmits", NONE, "TCP segments sent again, of all programs")            \
    X(OVERFLOWS, "listen_overflows", NONE,                                                         \
      "connections refused by full listen queues, of all programs")                                \
    X(GROUP_CPU, "cgroup_cpu_ms", NONE, "CPU of the target's control group")                       \
    X(THROTTLED, "cgroup_throttled", NONE, "periods in which the group had to stop")               \
    X(THROTTLED_MS, "cgroup_throttled_ms", NONE, "for how long")                                   \
    X(GROUP_PEAK, "cgroup_memory_peak_kb", NONE, "the group's memory, the most since it was made") \
    X(ENERGY, "energy_mj", NONE, "energy of the processor, of all programs")                       \
    X(USER_INSTRUCTIONS, "user_instructions", NONE, "instructions in the program")                 \
    X(KERNEL_INSTRUCTIONS, "kernel_instructions", NONE, "instructions in the kernel")              \
    X(CACHE_MISSES, "cache_misses", NONE, "misses of the last cache")                              \
    X(CALLS, "system_calls", NONE, "system calls")                                                 \
    X(CALLS_A_REQUEST, "system_calls_per_request", LESS, "system calls a request")                 \
    X(CLIENT_CPU, "client_cpu_ms", NONE, "CPU of the generator")                                   \
    X(FOREIGN_CPU, "foreign_cpu_ms", NONE, "CPU of all other processes")                           \
    X(STEAL, "steal_ms", NONE, "time that a hypervisor gave to others")                            \
    X(WR_CPU, "wr_cpu_ms", NONE, "CPU of wr itself")

enum wr_better { WR_NONE, WR_LESS, WR_MORE };

#define WR_FIGURE_ENUM(name, text, better, meaning) WR_F_##name,
enum wr_figure { WR_FIGURES(WR_FIGURE_ENUM) WR_FIGURE_COUNT };

const char *wr_figure_name(int figure);
const char *wr_figure_meaning(int figure);
enum wr_better wr_figure_better(int figure);

/** What makes a run doubtful: name, sentence. */
#define WR_FLAGS(X)                                                                                \
    X(ERRORS, "errors", "the generator saw errors")                                                \
    X(FAILED, "failed", "the command failed")                                                      \
    X(UNCOUNTED, "uncounted", "the number of requests is not known: see --requests-regex")         \
    X(CLIENT_BOUND, "client_bound",                                                                \
      "the generator was the bottleneck: requests a second say nothing of the server")             \
    X(FOREIGN, "foreign_load", "other processes took more than 3 % of a core")                     \
    X(STOLEN, "stolen", "the hypervisor took more than 1 % of the time")                           \
    X(DIED, "died", "no process of the target was left at the end")                                \
    X(TRACED, "traced", "system calls were traced, which slows the server: only they are exact")   \
    X(CUT, "cut", "the run was ended before its time")

#define WR_FLAG_ENUM(name, text, sentence) WR_FLAG_##name,
enum wr_flag { WR_FLAGS(WR_FLAG_ENUM) WR_FLAG_COUNT };

const char *wr_flag_name(int flag);
const char *wr_flag_sentence(int flag);

/** A text of a list of them, each ended by NUL: lists of pointers would be relocated at each start. */
const char *wr_text(const char *list, int number);

struct sample {
    uint32_t at_ms, cpu_ms; /* since the run began */
    uint32_t rss_kb, processes, threads;
};

/** Names are borrowed from what the options or a file said. */
struct run {
    const char *target, *server; /* server: what its answer says of it, or NULL */
    const char *tool;            /* static, or NULL */
    bool is_open_loop;
    int round, order, concurrency; /* from 1; concurrency 0: not stepped */
    double figures[WR_FIGURE_COUNT];
    char *calls;            /* owned; system calls by name, an object of JSON, or NULL */
    unsigned flags;         /* 1 << enum wr_flag */
    struct sample *samples; /* owned */
    size_t nsamples, room;
};

struct runs {
    struct run *items; /* owned */
    size_t count, room;
};

/** All unknown. */
void run_init(struct run *r);

/** When it cannot grow, every other sample is dropped: a recorder may run for days. */
void run_sample(struct run *r, const struct sample *s);

/** @return the new last one, or NULL without memory; it stays until the next is added */
struct run *runs_add(struct runs *all, const struct run *taken);
void runs_fini(struct runs *all);

#endif
