/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of packages include it by this name. */
#include "duda_api.h"
