/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_CONFIGURE_H
#define MK_BIN_CONFIGURE_H

#include "options.h"

/**
 * The configuration that the command line asks for: the files, or the one directory, with its
 * overrides. Read anew on every reload, by the server and by its keeper.
 * @param host    kept by reference; NULL: plain opens
 * @param before  the one that it is to take the place of; NULL: none
 * @param config  out: the caller's, also when it has faults
 * @return 0: usable; > 0: number of faults, in config; MK_E_NOMEM: no config.
 */
int mk_configure(const struct mk_options *options, const struct mk_host *host,
                 const struct mk_config *before, struct mk_config **config) MK_MUST_USE;

#endif
