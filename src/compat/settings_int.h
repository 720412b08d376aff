/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_COMPAT_SETTINGS_INT_H
#define MK_COMPAT_SETTINGS_INT_H

#include "compat/context.h"

/** @return a configuration with the settings and the plugin of the context, not checked; NULL after a warning. */
struct mk_config *mk_compat_config(const struct mk_compat *c, const char *call);

void mk_compat_warn_of_faults(const struct mk_config *config, const char *call);

#endif
