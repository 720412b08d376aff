/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"

#include <stdint.h>
#include <sys/mman.h>

enum { PAGE = 4096 }; /* or more: then a little more is given back, and comes again */

/* Of the linker, for the library or executable that this is in; no border where it was not linked by layout.ld. */
extern const char program_begin[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char mk_start_code_end[] __attribute__((visibility("hidden"), weak));

void mk_code_give_back(void)
{
    void *begin = (void *)(uintptr_t)program_begin;
    size_t len = (size_t)(mk_start_code_end - program_begin) & ~(size_t)(PAGE - 1);

    if (!mk_start_code_end)
        return;
    /*
     * The kernel fetches a missing page together with those around it, as far as they are mapped alike: whoever needs one
     * behind the border shall not fetch these. Any difference would do, and a dump of memory never holds code.
     */
    (void)madvise(begin, len, MADV_DONTDUMP);
    (void)madvise(begin, len, MADV_DONTNEED);
}
