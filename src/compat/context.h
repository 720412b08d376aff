/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_COMPAT_CONTEXT_H
#define MK_COMPAT_CONTEXT_H

#include <monkey/server.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/*
 * What the contexts of both older interfaces have in common: settings until the start, then a server. A program has a handle
 * instead of the address, so that a call with a context that was freed is found out. Each call takes the context by its
 * handle and gives it back; in between it holds the mutex, except while a server starts or stops. Any thread.
 */

enum mk_compat_state {
    MK_COMPAT_IDLE,    /* may be configured */
    MK_COMPAT_BUSY,    /* starts or stops */
    MK_COMPAT_RUNNING, /* has a server */
};

struct mk_compat_setting;

struct mk_compat {
    struct mk_compat *next; /* of all contexts */
    uintptr_t handle;
    unsigned users; /* calls that have it, and the list of contexts; under the list's mutex */
    pthread_mutex_t mutex;
    enum mk_compat_state state;
    bool is_closed;
    struct mk_compat_setting *settings; /* the newest first */
    struct mk_server *server;           /* while RUNNING */
    /* set by the interface before mk_compat_open */
    const struct mk_plugin *plugin;
    void (*free)(struct mk_compat *c);
};

/** Write a warning to standard error, where programs of the older libraries found them. Any thread. */
void mk_compat_warn(const char *call, const char *fmt, ...) MK_PRINTF(2, 3);

/** Enter a context into the list. @return its handle, never 0. */
uintptr_t mk_compat_open(struct mk_compat *c);
/**
 * Take a context for a call, locked.
 * @param call  the name of the program's call, for warnings
 * @return it, for mk_compat_put; NULL: there is none of this handle, and a warning was written
 */
struct mk_compat *mk_compat_get(uintptr_t handle, const char *call);
/** The same for a call that configures: with a server that runs, a warning and NULL. */
struct mk_compat *mk_compat_get_idle(uintptr_t handle, const char *call);
/** Give a context back, unlocked. The last one to do so after mk_compat_close frees it. */
void mk_compat_put(struct mk_compat *c);
/** Take a context out of the list. Locked, in state BUSY or IDLE. */
void mk_compat_close(struct mk_compat *c);

/* ---- settings; the context is locked and IDLE ---- */

/**
 * @param site   for mk_config_set_site; NULL: mk_config_set
 * @param value  NULL: the key has its default again
 * @param adds   the key may have several values; otherwise the newest counts
 * @return whether there was memory.
 */
bool mk_compat_set(struct mk_compat *c, const char *site, const char *section, const char *key,
                   const char *value, bool adds) MK_MUST_USE;
/** Remove the settings that are newer than this one, which c->settings was before them. */
void mk_compat_forget(struct mk_compat *c, struct mk_compat_setting *before);
/**
 * Check the configuration as it is now. Errors are written as warnings of the call.
 * @param before  c->settings of a time when it was correct: with errors, newer settings are removed
 */
bool mk_compat_check(struct mk_compat *c, struct mk_compat_setting *before,
                     const char *call) MK_MUST_USE;
/**
 * End a call that configures: give the context back, with its settings as they were before if they are not correct now.
 * @param done  false: the call has failed already @return whether its settings are kept.
 */
bool mk_compat_finish(struct mk_compat *c, struct mk_compat_setting *before, bool done,
                      const char *call) MK_MUST_USE;

/* ---- the server; the context is locked, but for the time of starting and stopping ---- */

/** IDLE to RUNNING. @return false: a warning was written, and the context is IDLE. */
bool mk_compat_start(struct mk_compat *c, const char *call) MK_MUST_USE;
/** RUNNING to IDLE; requests in flight have a second. @return false in a callback of this server, which goes on. */
bool mk_compat_stop(struct mk_compat *c, const char *call) MK_MUST_USE;

/** Mark that this thread is in a callback of the program: a server cannot be stopped from there. @return for mk_compat_leave. */
const struct mk_compat *mk_compat_enter(const struct mk_compat *c);
void mk_compat_leave(const struct mk_compat *before);

#endif
