/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_SESSIONS_H
#define KIT_SESSIONS_H

#include <monkey/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Sessions in memory, for all workers: an identity of 128 random bits, and values by name that expire.
 * The store is bounded: a new session takes the place of one that was replaced, else of one that has nothing but a secret of
 * the server's own (a value whose name begins with `_`), else of the one that was unused longest. Any thread.
 */

enum {
    SESSIONS_MAX = 65536,
    SESSIONS_BYTES_MAX = 32 << 20,
    SESSION_VALUE_MAX = 65536, /* bytes of one, with its name */
    SESSION_NAMES_MAX = 64,    /* of one session */
    SESSION_IDLE_S = 86400,
    SESSION_REPLACED_S = 30, /* an identity that was replaced is still known for so long */
};

/** What a store is made of; of the first three the values above are usual. */
struct sessions_limits {
    size_t sessions;
    size_t bytes;   /* of all names and values */
    int64_t idle_s; /* a value without a time of its own expires so long after its last use */
    bool is_whole;  /* a use of one value is one of all; an identity that was replaced finds none */
};

/** Random bits in hexadecimal, as the cookie has them. */
enum { SESSION_ID_LEN = 32 };
struct session_id {
    char text[SESSION_ID_LEN + 1];
};

struct sessions;

/** @param limits  copied. @return a store; NULL without memory or random bytes. */
struct sessions *sessions_new(const struct sessions_limits *limits);
/** Free it, and its file as it is. NULL is allowed. */
void sessions_free(struct sessions *store);

/** A value of a file; texts are borrowed for the call. */
typedef void (*sessions_row_fn)(void *arg, const char *id, const char *name, const char *value,
                                int64_t expires, int64_t used);

/** A file that has the values, too. Its calls are of one thread at a time. */
struct sessions_file {
    /** Call row for each value, those that were unused longest first. */
    void (*each)(void *file, sessions_row_fn row, void *arg);
    /** Insert or replace. @return 0; -1: it is not in the file, for example because the disk is full. */
    int (*put)(void *file, const char *id, const char *name, const char *value, int64_t expires,
               int64_t used);
    void (*remove)(void *file, const char *id, const char *name);
    /** The values of an identity go to another one. */
    void (*rename)(void *file, const char *from, const char *to);
    /** Remove the values that have expired: by a time of their own, or idle_s after their last use. */
    void (*forget)(void *file, int64_t idle_s, int64_t now);
    void (*close)(void *file);
};

/** Read the values of a file, and write changes to it from now on. Before other threads have the store. @param file  taken */
void sessions_keep(struct sessions *store, const struct sessions_file *calls, void *file,
                   int64_t now);

/** What a value of a name is to the session of an identity. */
enum session_fit {
    SESSION_NONE,     /* there is no such session */
    SESSION_NEW_NAME, /* it has no value of that name */
    SESSION_CHANGED,  /* it has another one */
    SESSION_SAME      /* it has this one */
};
/** @param is_replaced  out: the session has another identity already */
enum session_fit sessions_fit(struct sessions *store, const char *id, const char *name,
                              const char *value, int64_t now, bool *is_replaced);

/**
 * Begin a session. The values of another one go to it. Requests of the same browser are on their way with the old identity, so
 * for SESSION_REPLACED_S that finds the values that the session had until now, and never what comes later: who has
 * planted it learns of no log-in. What is set of these values, or removed, changes in both. Of one session there are 16
 * identities at most: the one that was replaced longest ago ends; if none was, the oldest has no kin any more.
 * @param old  NULL: none
 * @return 0; -1: without memory or random bytes.
 */
int sessions_begin(struct sessions *store, const char *old, int64_t now, struct session_id *id);
/**
 * Set a value.
 * @param expires  in seconds since 1970; 0: idle_s after its last use
 * @return 0; MK_E_NOENT: there is no such session; MK_E_LIMIT: a bound is exceeded; MK_E_NOMEM; MK_E_PEER: it cannot be written to the
 *         file.
 */
int sessions_put(struct sessions *store, const char *id, const char *name, const char *value,
                 int64_t expires, int64_t now);
/** @return the value, owned by the caller; NULL: unknown or expired. */
char *sessions_get(struct sessions *store, const char *id, const char *name, int64_t now);

/** Takes a value, borrowed during the call, in which the store is locked. */
typedef void (*sessions_take_fn)(void *arg, const char *value);
/** The same without a copy. @return false: unknown or expired, and take was not called */
bool sessions_take(struct sessions *store, const char *id, const char *name, int64_t now,
                   sessions_take_fn take, void *arg);
bool sessions_has(struct sessions *store, const char *id, const char *name, int64_t now);
/**
 * Remove a value from all identities of the session; one without values ends.
 * @return how many values are left, of a replaced session in the one that has its place; -1: there was none of that name.
 */
int sessions_remove(struct sessions *store, const char *id, const char *name, int64_t now);
/** @return false: there is no such session, or all of its values have expired. @param is_replaced  out, as of sessions_fit */
bool sessions_is_there(struct sessions *store, const char *id, int64_t now, bool *is_replaced);
/** End a session under all of its identities. @return false: there is none */
bool sessions_end(struct sessions *store, const char *id, int64_t now);
/** @return 128 random bits in hexadecimal that last as long as what the store keeps; for signatures. */
const char *sessions_key(const struct sessions *store);
/** @return sessions in the store, also those whose values have expired and that were not looked at since. */
size_t sessions_count(struct sessions *store);

#endif
