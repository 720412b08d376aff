/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_CALLS_H
#define MK_DUDA_SERVICE_CALLS_H

/* The calls that a thread is in, for reports of its signal handlers. */

#include "service/library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else
static inline int backtrace(void **calls, int max)
{
    (void)calls;
    return max - max;
}
#endif

/** The first call of backtrace() loads a library, which must not happen in a signal handler. */
static inline void mk_duda_calls_prepare(void)
{
    void *call[1];

    (void)backtrace(call, 1);
}

struct mk_duda_call {
    const char *file; /* borrowed */
    size_t offset;    /* within it, in bytes */
};

/** @return false: no file has this address. */
static inline bool mk_duda_call_find(struct mk_duda_call *call, const void *at)
{
    Dl_info info;

    if (dladdr(at, &info) == 0 || !info.dli_fname)
        return false;
    call->file = mk_duda_library_file(info.dli_fname);
    call->offset = (size_t)((const char *)at - (const char *)info.dli_fbase);
    return true;
}

#endif
