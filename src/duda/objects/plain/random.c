/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/plain/random.h"

#include "kit/pure/hex.h"

#include <sys/random.h>
#include <sys/types.h>

bool mk_duda_random_text(char text[MK_DUDA_RANDOM_LEN + 1])
{
    unsigned char bits[MK_DUDA_RANDOM_LEN / 2];

    if (getrandom(bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
        return false;
    hex_write(text, bits, sizeof(bits));
    text[MK_DUDA_RANDOM_LEN] = '\0';
    return true;
}
