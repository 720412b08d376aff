/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_MAKE_CERT_H
#define MK_BIN_MAKE_CERT_H

#include "options.h"

/**
 * monkey --make-cert: what it made goes to standard output, and why it did not to standard error.
 * @return 0 or -1.
 */
int mk_make_cert(const struct mk_options *options) MK_MUST_USE;

#endif
