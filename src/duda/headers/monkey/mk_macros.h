/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of packages at level 2 include it by this name. */
#include "../mk_core.h"
