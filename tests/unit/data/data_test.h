/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DATA_TEST_H
#define DATA_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NUMBER_OF(rows) (sizeof(rows) / sizeof((rows)[0]))

#endif
