/* SPDX-License-Identifier: Apache-2.0 */
#include "kv.h" /* services may name this header as well */
