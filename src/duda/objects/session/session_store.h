/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_SESSION_STORE_H
#define MK_DUDA_OBJECTS_SESSION_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The sessions of a service in memory, for all workers: an identity of 128 random bits, and values by name that expire.
 * The store is bounded: a new session takes the place of one that was replaced, else of one that has nothing but a secret of
 * the server's own (a value whose name begins with `_`), else of the one that was unused longest. Any thread.
 */

enum {
    MK_DUDA_SESSIONS_MAX = 65536,
    MK_DUDA_SESSION_BYTES_MAX = 32 << 20, /* of all names and values */
    MK_DUDA_SESSION_VALUE_MAX = 65536,    /* of one */
    MK_DUDA_SESSION_NAMES_MAX = 64,       /* of one session */
    MK_DUDA_SESSION_IDLE_S =
        86400, /* a value without a time of its own expires so long after its last use */
    MK_DUDA_SESSION_REPLACED_S = 30, /* an identity that was replaced still finds the session */
};

/** Random bits in hexadecimal, as the cookie has them. */
enum { MK_DUDA_SESSION_ID_LEN = 32 };
struct mk_duda_session_id {
    char text[MK_DUDA_SESSION_ID_LEN + 1];
};

struct mk_duda_sessions;

struct mk_duda_session_file;

/** @return a store; NULL without memory. @param max  sessions; at most MK_DUDA_SESSIONS_MAX */
struct mk_duda_sessions *mk_duda_sessions_new(size_t max);
/** Free it, and its file as it is. */
void mk_duda_sessions_free(struct mk_duda_sessions *store);
/** Read the values of a file, and write changes to it from now on. Before other threads have the store. @param file  taken */
void mk_duda_sessions_keep(struct mk_duda_sessions *store, struct mk_duda_session_file *file,
                           int64_t now);

/** What a value of a name is to the session of an identity. */
enum mk_duda_session_fit {
    MK_DUDA_SESSION_NONE,     /* there is no such session */
    MK_DUDA_SESSION_NEW_NAME, /* it has no value of that name */
    MK_DUDA_SESSION_CHANGED,  /* it has another one */
    MK_DUDA_SESSION_SAME      /* it has this one */
};
/** @param is_replaced  out: the session has another identity already */
enum mk_duda_session_fit mk_duda_session_fit(struct mk_duda_sessions *store, const char *id,
                                             const char *name, const char *value, int64_t now,
                                             bool *is_replaced);

/**
 * Begin a session. The values of another one go to it. Requests of the same browser are on their way with the old identity, so
 * for MK_DUDA_SESSION_REPLACED_S that finds the values that the session had until now, and never what comes later: who has
 * planted it learns of no log-in. What is set of these values, or removed, changes in both. Of one session there are 16
 * identities at most: the one that was replaced longest ago ends; if none was, the oldest has no kin any more.
 * @param old  NULL: none
 * @return 0; -1: without memory or random bytes.
 */
int mk_duda_session_begin(struct mk_duda_sessions *store, const char *old, int64_t now,
                          struct mk_duda_session_id *id);
/**
 * Set a value.
 * @param expires  in seconds since 1970; 0: MK_DUDA_SESSION_IDLE_S after its last use
 * @return 0; -1: there is no such session, a bound is exceeded, or it cannot be written to the file.
 */
int mk_duda_session_put(struct mk_duda_sessions *store, const char *id, const char *name,
                        const char *value, int64_t expires, int64_t now);
/** @return the value, owned by the caller; NULL: unknown or expired. */
char *mk_duda_session_get(struct mk_duda_sessions *store, const char *id, const char *name,
                          int64_t now);
bool mk_duda_session_has(struct mk_duda_sessions *store, const char *id, const char *name,
                         int64_t now);
/**
 * Remove a value from all identities of the session; one without values ends.
 * @return how many values are left, of a replaced session in the one that has its place; -1: there was none of that name.
 */
int mk_duda_session_remove(struct mk_duda_sessions *store, const char *id, const char *name,
                           int64_t now);
/** @return 128 random bits in hexadecimal that last as long as what the store keeps; for signatures. */
const char *mk_duda_sessions_key(const struct mk_duda_sessions *store);
/** @return sessions in the store, also those whose values have expired and that were not looked at since. */
size_t mk_duda_sessions_count(struct mk_duda_sessions *store);

#endif
