/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AUTH_SOURCE_H
#define AUTH_SOURCE_H

#include "users.h"

#include "kit/counted/counted.h"

#include <monkey/plugin.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

/*
 * A file of users that is read again when it changes. It is looked at once a second at most, off the
 * workers; while it cannot be read or is malformed, what was read before stays in force.
 */
struct source {
    struct counted refs;
    struct mk_server *server;
    atomic_bool busy;          /* somebody is looking at the file */
    _Atomic int64_t looked_ms; /* when it was looked at last */
    pthread_mutex_t lock;      /* users */
    struct users *users;
    struct stat seen; /* of what was read, or found wrong, last; whoever is busy looks */
    char path[];
};

/**
 * Read a file for the first time. Control thread.
 * @param fault  out: why not; fault->why is NULL without memory
 * @return it, with one reference, or NULL.
 */
struct source *auth_source_open(struct mk_server *server, const char *path,
                                struct users_fault *fault);
/**
 * Read users from an open file.
 * @param seen  out: which file that was; may be NULL
 * @return them, with one reference; NULL with fault->why, or without memory with fault->why NULL.
 */
struct users *auth_source_read(int fd, struct stat *seen, struct users_fault *fault);
/** Any thread. NULL is allowed. */
void auth_source_put(struct source *s);

/** The users as they are known now, with a reference. Looks at the file again if that was a second ago. */
struct users *auth_source_users(struct source *s, struct mk_worker *w);

#endif
