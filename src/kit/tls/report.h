/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TLS_REPORT_H
#define KIT_TLS_REPORT_H

#include "kit/tls/settings.h"

#include <monkey/plugin.h>

/*
 * What is wrong with certificates and keys is said in two places: with the line of the section while a
 * configuration is checked, and in one sentence when files changed between the check and the start. Beside it stands what
 * was read of them and is for people only.
 */
struct tls_report {
    struct mk_setup *setup; /* in check and check_site; NULL in start */
    const void *settings;   /* of the section; NULL in start */
    bool has_fault;
    char why[512]; /* the first fault; for start */
    int64_t
        not_after[TLS_PAIRS_MAX]; /* of each certificate: when it expires, in seconds since 1970 */
};

/** One sentence without full stop, which begins with "KEY: " where a key is at fault. The configuration is refused. */
void tls_fault(struct tls_report *r, const char *fmt, ...) MK_PRINTF(2, 3);
/** What is only worth saying; said in the check, not again at the start. */
void tls_warn(struct tls_report *r, const char *fmt, ...) MK_PRINTF(2, 3);

#endif
