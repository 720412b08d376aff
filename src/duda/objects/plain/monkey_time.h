/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_MONKEY_TIME_H
#define MK_DUDA_OBJECTS_MONKEY_TIME_H

#include "objects/objects.h"

enum { MK_DUDA_TIME_HUMAN_MAX = 32 };

/** Write a local time as "[20/Nov/2026 20:50:23 +0000]", terminated. @return bytes; 0: it cannot be written. */
size_t mk_duda_time_text(char dst[MK_DUDA_TIME_HUMAN_MAX], time_t t);

int mk_duda_time_unix(void);
/**
 * Write "Tue, 01 Jan 2030 00:00:00 GMT\r\n", terminated.
 * @param buf  *buf has room for 32 bytes, or is NULL: memory that the caller owns is put there
 * @param t    0: now
 * @return bytes, or -1.
 */
int mk_duda_time_to_gmt(char **buf, time_t t);
/** The current time as mk_duda_time_text writes it. @return borrowed until the thread's next call. */
mk_pointer *mk_duda_time_human(void);

#endif
