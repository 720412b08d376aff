/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/plain/random.h"

#include <stdio.h>
#include <sys/random.h>
#include <sys/types.h>

bool mk_duda_random_text(char text[MK_DUDA_RANDOM_LEN + 1])
{
    unsigned char bits[MK_DUDA_RANDOM_LEN / 2];

    if (getrandom(bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
        return false;
    for (unsigned i = 0; i < sizeof(bits); i++)
        (void)snprintf(text + (size_t)2 * i, 3, "%02x", bits[i]);
    return true;
}
