/* SPDX-License-Identifier: Apache-2.0 */
#include "rng.h"

#include <errno.h>
#include <sys/random.h>

static int from_kernel(void *arg, unsigned char *bytes, size_t len)
{
    (void)arg;
    while (len > 0) {
        ssize_t n = getrandom(bytes, len, 0);

        if (n < 0 && errno != EINTR)
            return MBEDTLS_ERR_CTR_DRBG_ENTROPY_SOURCE_FAILED;
        bytes += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int mbed_rng_init(mbedtls_ctr_drbg_context *rng)
{
    mbedtls_ctr_drbg_init(rng);
    return mbedtls_ctr_drbg_seed(rng, from_kernel, NULL, NULL, 0) == 0 ? 0 : MK_E_SYS;
}
