/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_CORE_TEST_H
#define TESTS_CORE_TEST_H

/* What cmocka wants before it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/invariant.h"

#endif
