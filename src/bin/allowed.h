/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_ALLOWED_H
#define MK_BIN_ALLOWED_H

#include <monkey/server.h>

#include <stdbool.h>

/* The names that a keeper may be asked for: those of the configuration, as one block of text. */

enum { MK_ALLOWED_BYTES_MAX = 4 << 20 };

struct mk_allowed {
    char *text; /* kind, name, NUL, again and again; owned */
    size_t len, room;
    bool incomplete; /* out of memory, or more than MK_ALLOWED_BYTES_MAX */
};

/** Add a name; fits mk_config_resources with a struct mk_allowed as its argument. */
void mk_allowed_add(void *allowed, enum mk_resource kind, const char *name);
/** Give every name of a kind to fn. */
void mk_allowed_each(const struct mk_allowed *allowed, enum mk_resource kind,
                     void (*fn)(const char *name));
bool mk_allowed_has(const struct mk_allowed *allowed, enum mk_resource kind, const char *name);
void mk_allowed_fini(struct mk_allowed *allowed);

#endif
