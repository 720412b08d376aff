/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_COMPAT_2012_MKLIB_INT_H
#define MK_COMPAT_2012_MKLIB_INT_H

#include "compat/context.h"

#include <monkey/libmonkey.h>

/* A context of the 2012 interface. */

/** A folder and never a file, so no folder has an index. */
#define MK_MKLIB_NO_INDEX "."

struct mk_mklib_vhost {
    struct mk_mklib_vhost *next; /* in the order of the server's sites */
    struct mklib_vhost is;       /* strings owned; the empty document root is NULL here */
};

struct mk_mklib_mime {
    struct mk_mklib_mime *next;
    struct mklib_mime is; /* strings owned */
};

struct mk_mklib {
    struct mk_compat c;
    cb_ipcheck ipcheck;
    cb_urlcheck urlcheck;
    cb_data data;
    cb_close close;
    struct mk_mklib_vhost *vhosts; /* the default first */
    struct mk_mklib_mime *mimes;   /* of the program */
    atomic_int *pids;              /* of the workers, while a server runs */
    /* lists that the program has; each in one block */
    struct mklib_vhost **vhost_list;
    struct mklib_worker_info **worker_list;
    struct mklib_mime **mime_list;
};

/** The plugin by which a context answers; its argument is the context. */
extern const struct mk_plugin mk_mklib_plugin;

/** Set the media types that every context knows. @return whether there was memory. */
bool mk_mklib_set_mimes(struct mk_compat *c) MK_MUST_USE;
/** @return whether the extension is known already. */
bool mk_mklib_has_mime(const struct mk_mklib *m, const char *name);

void mk_mklib_free_lists(struct mk_mklib *m);

static inline struct mk_mklib *mk_mklib_of(struct mk_compat *c)
{
    return (struct mk_mklib *)(void *)c;
}

#endif
