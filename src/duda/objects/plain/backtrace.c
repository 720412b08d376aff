/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/plain/backtrace.h"

#include <stdio.h>
#include <unistd.h>

#if __has_include(<execinfo.h>)
#include <execinfo.h>

enum { BACKTRACE_MAX = 64 };

void mk_duda_backtrace(void)
{
    void *calls[BACKTRACE_MAX];
    int n = backtrace(calls, BACKTRACE_MAX);

    (void)fflush(stdout);
    backtrace_symbols_fd(calls, n, STDOUT_FILENO);
}
#else
void mk_duda_backtrace(void)
{
}
#endif
