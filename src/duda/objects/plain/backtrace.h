/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_BACKTRACE_H
#define MK_DUDA_OBJECTS_BACKTRACE_H

/** Write the calls that led here to standard output, a line each; nothing where the C library cannot tell. */
void mk_duda_backtrace(void);

#endif
