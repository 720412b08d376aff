/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CORE_LOG_H
#define MK_CORE_LOG_H

#include <monkey/types.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/*
 * The error log: one event a line,
 *
 *     2026-11-21T10:00:00.123Z level=warn in=conn event text key=value ...
 *
 * to a file, to stderr or to syslog. Whoever logs peer bytes has escaped them. Any thread. Nobody waits for a
 * reader that does not keep up: what it does not take at once is lost, and counted in the next line that it takes.
 */

/** Parts of the server whose traces can be switched on alone. */
#define MK_LOG_COMPONENTS(X)                                                                       \
    X(SERVER, "server")                                                                            \
    X(CONF, "conf")                                                                                \
    X(LISTEN, "listen")                                                                            \
    X(WORKER, "worker")                                                                            \
    X(CONN, "conn")                                                                                \
    X(HTTP, "http")                                                                                \
    X(FILE, "file")                                                                                \
    X(PLUGIN, "plugin")

enum mk_log_component {
#define MK_LOG_ENUM(name, text) MK_LOG_##name,
    MK_LOG_COMPONENTS(MK_LOG_ENUM)
#undef MK_LOG_ENUM
        MK_LOG_COMPONENT_COUNT
};

/** Names in the order of the enums, NULL-terminated. */
extern const char *const mk_log_level_names[];
extern const char *const mk_log_component_names[];

struct mk_log {
    atomic_int level;   /* enum mk_log_level: what all components log */
    atomic_uint traced; /* bit i: component i logs at traced_level instead */
    atomic_int traced_level;
    /* Takes lines in place of fd and syslog, whatever they are; set before others log. NULL: nobody does. */
    void (*take)(void *arg, enum mk_log_level level, const char *component, const char *message);
    void *take_arg;
    atomic_uint traces; /* bit i: component i logs traces, as the three above have it */
    int fd;             /* under lock; -1: syslog */
    bool own_fd;
    bool torn;               /* the last line was cut off in the middle */
    unsigned lost;           /* lines that were not taken since the last one that was */
    int syslog_fd;           /* -1: not connected */
    const char *syslog_path; /* of the daemon's socket */
    pthread_mutex_t lock;    /* all from fd on, and the allowance of peer lines */
    long window_s;           /* second of the current allowance */
    unsigned peer_lines, suppressed;
};

/** Logs to stderr at level info. */
void mk_log_init(struct mk_log *log);
void mk_log_fini(struct mk_log *log);

/** What is logged from now on: enum mk_log_level twice. @param traced  bit i: component i logs at traced_level instead */
void mk_log_set_levels(struct mk_log *log, int level, unsigned traced, int traced_level);

/** Log to fd from now on (taken; -1: syslog). The one before is closed. */
void mk_log_set_fd(struct mk_log *log, int fd);

static inline bool mk_log_wants(struct mk_log *log, enum mk_log_level level,
                                enum mk_log_component in)
{
    if ((int)level <= atomic_load_explicit(&log->level, memory_order_relaxed))
        return true;
    return (atomic_load_explicit(&log->traced, memory_order_relaxed) & (1U << in)) &&
           (int)level <= atomic_load_explicit(&log->traced_level, memory_order_relaxed);
}

/** The same for MK_LOG_TRACE, as cheap as it can be: for what happens several times in each request. */
static inline bool mk_log_traces(struct mk_log *log, enum mk_log_component in)
{
    return atomic_load_explicit(&log->traces, memory_order_relaxed) & (1U << in);
}

/** Write a line if its level is wanted; text above MK_LIMIT_LOG_LINE is clipped. Keeps errno. */
void mk_log(struct mk_log *log, enum mk_log_level level, enum mk_log_component in, const char *fmt,
            ...) MK_PRINTF(4, 5);

/** The same for a line that a peer can provoke: at most MK_LIMIT_LOG_PEER_LINES a second. */
void mk_log_peer(struct mk_log *log, enum mk_log_level level, enum mk_log_component in,
                 const char *fmt, ...) MK_PRINTF(4, 5);

#endif
