/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_SERVICE_H
#define MK_DUDA_SERVICE_SERVICE_H

/*
 * A service that is loaded, and the thread on which it runs.
 *
 * A service is a shared object of a site. What belongs to it is reachable from its struct mk_duda_service; what it has on
 * one worker, from its seat there. The files of objects keep their state in parts (service/part.h).
 */

#include "webservice.h"

#include "service/part.h"

#include "kit/counted/counted.h"

#include <monkey/plugin.h>

#include <sys/stat.h>
#include <time.h>

struct mk_duda_block;
struct mk_duda_package;
struct mk_duda_request;
struct mk_duda_routes;
struct mk_duda_session_steps;
struct mk_duda_worker;

/** The identity of a file. */
struct mk_duda_file {
    dev_t device;
    ino_t inode;
    struct timespec changed;
};

/** What the configuration says of a service. Texts live as long as the service; directories end in a slash, NULL: unset. */
struct mk_duda_spec {
    const char *name; /* of its file */
    const char *site; /* the first ServerName of its site, "" without one */
    const char *docroot, *confdir, *datadir, *logdir;
    struct mk_duda_file file; /* when it was loaded */
    bool is_root;
};

#define MK_DUDA_STATES(X)                                                                          \
    X(NEW, "new", "its duda_main() has not returned")                                              \
    X(READY, "ready", "it takes requests")                                                         \
    X(SKIPPED, "skipped", "its duda_main() failed, or a package is missing")

enum mk_duda_state {
#define MK_DUDA_STATE_ENUM(name, text, meaning) MK_DUDA_##name,
    MK_DUDA_STATES(MK_DUDA_STATE_ENUM)
#undef MK_DUDA_STATE_ENUM
};

/** A service on one worker: the state of the parts there. */
struct mk_duda_seat {
    struct mk_duda_service *service;
    struct mk_duda_worker *worker;
    unsigned refs; /* configurations that serve with it on this worker */
    void *parts[MK_DUDA_PARTS];
};

struct mk_duda_service {
    struct web_service ws; /* first: what `self` of the service points to */
    struct mk_duda_spec spec;
    struct duda_api_objects
        objects; /* what its duda_main() is given; a part may put its own table in, in load */
    struct mk_server *server;
    void *
        library; /* of dlopen; never closed: its threads and destructors may run until the process ends */
    int level;                   /* DUDA_API_LEVEL for which it was compiled */
    uint8_t state;               /* enum mk_duda_state */
    unsigned nseats;             /* workers of the server */
    struct mk_duda_seat **seats; /* by the worker's number; NULL: not started there */
    void *parts[MK_DUDA_PARTS];
    struct mk_duda_routes *routes;                /* service/routes.h */
    const struct mk_duda_session_steps *sessions; /* service/session_steps.h; NULL: it has none */
    struct mk_duda_package *packages;             /* package/package.h */
    unsigned wait_ms;             /* of a request that wait() has parked; WaitTimeout */
    const char *packages_root;    /* folder of .dpkg files, with a trailing slash */
    const char *tls;              /* the transport of https to other servers; NULL: none */
    const char *spool_dir;        /* for files of large bodies */
    bool checks_answers;          /* of routes that say which they give */
    const char *session_file;     /* of objects/session/session.c; NULL: none */
    const char *session_url;      /* likewise; both NULL: sessions are in memory alone */
    const char *backplane_url;    /* for the package websocket; NULL: none */
    struct mk_duda_block *blocks; /* mk_duda_alloc */
    char why[256];                /* mk_duda_refuse */
    struct counted refs;          /* configurations that have it */
    void (*end)(struct mk_duda_service *s); /* after the last one; of host/load.c */
    /* Threads of its own run until the process ends: what they reach is not freed, and says that it is over. */
    atomic_bool is_outlived;
};

/** A worker of the server, for all services. It survives reloads. */
struct mk_duda_worker {
    struct mk_worker *worker;
    unsigned index;
    unsigned refs;                      /* configurations */
    struct mk_duda_table *requests;     /* service/table.h: those that live on this worker */
    struct mk_duda_listener *listeners; /* objects/events/signal.c: the services on this worker */
    void *crash_stack;                  /* host/crash.h; NULL: crashes are not reported */
};

/** The service whose `self` this is. */
static inline struct mk_duda_service *mk_duda_service_of(struct web_service *ws)
{
    return (struct mk_duda_service *)(void *)ws;
}

/* ---- who runs on this thread ---- */

/** The service that runs on this thread, and the worker whose thread it is. The one static state: calls of services carry neither. */
struct mk_duda_here {
    struct mk_duda_service *service; /* NULL: none */
    struct mk_duda_worker *worker;   /* NULL: not a worker's thread */
    const struct mk_duda_request
        *request; /* whose call-back runs; NULL: another function of the service */
};

/** @return borrowed, never NULL; of the calling thread. */
const struct mk_duda_here *mk_duda_here(void);

/** On a worker's thread, once: what it calls is reported when it does not return. */
void mk_duda_watch_here(struct mk_worker *worker);

/** Say who runs from now on; around every call into a service. @return for mk_duda_leave. */
struct mk_duda_here mk_duda_enter(struct mk_duda_service *service, struct mk_duda_worker *worker);
void mk_duda_leave(struct mk_duda_here before);

/* ---- for the files of objects ---- */

/** @return zeroed memory that lives as long as the service; NULL without memory. Control thread, or a lock of the caller's. */
void *mk_duda_alloc(struct mk_duda_service *s, size_t size) MK_MUST_USE;
/** @return a terminated copy of len bytes that lives as long as the service; NULL without memory. */
char *mk_duda_copy(struct mk_duda_service *s, const char *text, size_t len) MK_MUST_USE;

/** Free all that mk_duda_alloc gave. */
void mk_duda_free_blocks(struct mk_duda_block *blocks);

/**
 * Keep the service from its end, for threads of its own, which hold no reference; mk_duda_put gives it back. Any thread.
 * @return false: it is over, and its server may be gone
 */
bool mk_duda_try_get(struct mk_duda_service *s) MK_MUST_USE;

/** Give back a reference; after the last one duda_exit() is called. Any thread. NULL is allowed. */
void mk_duda_put(struct mk_duda_service *s);

/** Write a line to the error log, with the service's name before it. Any thread. */
void mk_duda_log(const struct mk_duda_service *s, enum mk_log_level level, const char *fmt, ...)
    MK_PRINTF(3, 4);

/** Set the sentence with which the start is refused. Control thread, while it is loaded. @return -1. */
int mk_duda_refuse(struct mk_duda_service *s, const char *fmt, ...) MK_PRINTF(2, 3);

/** May it still be set up: does its duda_main() run? A call for that alone is logged when it comes later. @param call  "map->static_add" */
bool mk_duda_is_set_up(const struct mk_duda_service *s, const char *call);

/** @return the state of a part in a service. */
static inline void *mk_duda_state(const struct mk_duda_service *s, enum mk_duda_part_index part)
{
    return s->parts[part];
}

/** @return the state of a part of a service on a worker; NULL: it is not started there. */
static inline void *mk_duda_local(const struct mk_duda_service *s, const struct mk_duda_worker *w,
                                  enum mk_duda_part_index part)
{
    struct mk_duda_seat *seat = w && w->index < s->nseats ? s->seats[w->index] : NULL;

    return seat ? seat->parts[part] : NULL;
}

/** @return what a worker of the server is here; the service is started on it. */
static inline struct mk_duda_worker *mk_duda_worker_of(const struct mk_duda_service *s,
                                                       const struct mk_worker *worker)
{
    return s->seats[mk_worker_index(worker)]->worker;
}

#endif
