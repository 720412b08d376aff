/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MBED_RNG_H
#define MBED_RNG_H

#include <monkey/types.h>

#include <mbedtls/ctr_drbg.h>

/*
 * Random numbers: the kernel's, stretched by the library's generator. One a worker, so that nobody waits for another.
 */

/** Make a generator. @return 0 or MK_E_SYS; to be freed (mbedtls_ctr_drbg_free) either way. */
int mbed_rng_init(mbedtls_ctr_drbg_context *rng) MK_MUST_USE;

#endif
