/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_MEMCACHED_COMMAND_H
#define MK_DUDA_MEMCACHED_COMMAND_H

#include "object.h"
#include "reader.h"

#include "data/remote/client.h"
#include "remote/parking.h"

#include <stdint.h>

/* Commands in the words of the protocol. X(name, word, kind of answer) */
#define MEMC_COMMANDS(X)                                                                           \
    X(GET, "get", MEMC_GET)                                                                        \
    X(SET, "set", MEMC_STORE)                                                                      \
    X(ADD, "add", MEMC_STORE)                                                                      \
    X(REPLACE, "replace", MEMC_STORE)                                                              \
    X(DROP, "delete", MEMC_DELETE)                                                                 \
    X(INCR, "incr", MEMC_NUMBER)                                                                   \
    X(DECR, "decr", MEMC_NUMBER)                                                                   \
    X(TOUCH, "touch", MEMC_TOUCH)                                                                  \
    X(VERSION, "version", MEMC_PROBE)

enum memc_verb {
#define MEMC_VERB(name, word, kind) MEMC_VERB_##name,
    MEMC_COMMANDS(MEMC_VERB)
#undef MEMC_VERB
};

/* What a command is made of. */
struct memc_order {
    enum memc_verb verb;
    const char *key;   /* not of MEMC_VERB_VERSION */
    const void *value; /* of MEMC_STORE, with its length */
    size_t len;
    uint64_t number; /* seconds, or what is added or subtracted */
};

/* A command and its bytes, in one block. */
struct memc_command {
    struct remote_call call; /* first */
    struct parking *parking; /* of its request; NULL: it has none */
    memcached_fn fn;         /* NULL: nobody waits for the answer */
    void *arg;
    enum memc_kind kind;
    uint32_t hash;
    size_t key_at, key_len;
    char bytes[];
};

/**
 * @param value_max  bytes of a value
 * @return owned by the caller; NULL: the key or value is refused, or, with is_refused false, there is no memory
 */
struct memc_command *memc_command_new(const struct memc_order *order, size_t value_max,
                                      bool *is_refused);

#endif
