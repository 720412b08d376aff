/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_REPORT_H
#define MK_BIN_REPORT_H

#include <monkey/types.h>

#include <stdbool.h>

/* Where the program's own sentences go: stderr, or syslog once nobody reads stderr any more. */

/** Print on standard output, nothing held back. @return the bytes printed, or -1. */
int mk_print(const char *fmt, ...) MK_PRINTF(1, 2);

/** Has a print failed, the last one with what errno says? */
bool mk_print_has_failed(void);

/** Everything from now on goes to syslog. */
void mk_report_to_syslog(void);

/** One sentence, without a line end; clipped at about 1000 bytes. Keeps errno. */
void mk_report(const char *fmt, ...) MK_PRINTF(1, 2);

/** What errno means, for the end of a sentence. */
const char *mk_errno_text(void);

/** A text made elsewhere, such as a fault with its line; an mk_text_fn. */
void mk_report_text(void *arg, const char *text, size_t len);

#endif
