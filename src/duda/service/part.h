/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_PART_H
#define MK_DUDA_SERVICE_PART_H

#include <stddef.h>

struct mk_duda_service;
struct mk_duda_worker;

/*
 * How the file of an object gets its state and learns of the life of services: it defines a part, and has a row here.
 * Parts are asked in the order of the rows, and in reverse at ends.
 */
#define MK_DUDA_PART_ROWS(X)                                                                       \
    X(MAP, mk_duda_map_part)                                                                       \
    X(ROUTE, mk_duda_route_part)                                                                   \
    X(INPUT, mk_duda_input_part)                                                                   \
    X(MONKEY, mk_duda_monkey_part)                                                                 \
    X(DIRS, mk_duda_dirs_part)                                                                     \
    X(LOGS, mk_duda_logs_part)                                                                     \
    X(JOURNAL, mk_duda_journal_part)                                                               \
    X(METRICS, mk_duda_metrics_part)                                                               \
    X(CACHE, mk_duda_cache_part)                                                                   \
    X(GUARD, mk_duda_guard_part)                                                                   \
    X(GLOBAL, mk_duda_global_part)                                                                 \
    X(TIMER, mk_duda_timer_part)                                                                   \
    X(HTTP, mk_duda_http_part)                                                                     \
    X(WORKER, mk_duda_worker_part)                                                                 \
    X(WATCH, mk_duda_watch_part)                                                                   \
    X(SIGNAL, mk_duda_signal_part)                                                                 \
    X(SESSION, mk_duda_session_part)

enum mk_duda_part_index {
#define MK_DUDA_PART_ENUM(name, part) MK_DUDA_PART_##name,
    MK_DUDA_PART_ROWS(MK_DUDA_PART_ENUM)
#undef MK_DUDA_PART_ENUM
        MK_DUDA_PARTS
};

/** Every member may be 0 or NULL. */
struct mk_duda_part {
    size_t service_size; /* of its state in each service, zeroed: mk_duda_state */
    size_t local_size;   /* of its state of each service on each worker, zeroed: mk_duda_local */
    /** Before duda_main(). Control thread. @return 0; -1: the start is refused (mk_duda_refuse). */
    int (*load)(struct mk_duda_service *s);
    /** duda_main() has returned 0: names can be resolved, threads started. Control thread. @return as load. */
    int (*ready)(struct mk_duda_service *s);
    /** A worker is about to serve with it; on that worker, which mk_duda_here knows. @return as load. */
    int (*worker_start)(struct mk_duda_service *s, struct mk_duda_worker *w);
    /** That worker does not serve with it any more. On that worker or, when the server is freed, after its thread has ended. */
    void (*worker_stop)(struct mk_duda_service *s, struct mk_duda_worker *w);
    /** After duda_exit(), or of a service that was skipped; no worker has it any more. Any thread. */
    void (*exit)(struct mk_duda_service *s);
};

#define MK_DUDA_PART_EXTERN(name, part) extern const struct mk_duda_part part;
MK_DUDA_PART_ROWS(MK_DUDA_PART_EXTERN)
#undef MK_DUDA_PART_EXTERN

#endif
