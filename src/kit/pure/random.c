/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/random.h"

#include "kit/pure/hex.h"

#include <sys/random.h>
#include <sys/types.h>

bool random_text(char text[RANDOM_TEXT_LEN + 1])
{
    unsigned char bits[RANDOM_TEXT_LEN / 2];

    if (getrandom(bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
        return false;
    hex_write(text, bits, sizeof(bits));
    text[RANDOM_TEXT_LEN] = '\0';
    return true;
}
