/* SPDX-License-Identifier: Apache-2.0 */
#include "encoder.h"

#include "kit/text/words.h"

static const struct encoder *const encoders[] = {
#ifdef COMPRESS_HAS_BR
    &compress_encoder_br,
#endif
#ifdef COMPRESS_HAS_GZIP
    &compress_encoder_gzip,
#endif
#ifdef COMPRESS_HAS_ZSTD
    &compress_encoder_zstd,
#endif
};
enum { COUNT = sizeof(encoders) / sizeof(encoders[0]) };

const struct encoder *compress_encoder_at(unsigned number)
{
    return number < COUNT ? encoders[number] : NULL;
}

unsigned compress_encoder_find(struct mk_str coding)
{
    for (unsigned i = 0; i < COUNT; i++) {
        if (text_is_word(encoders[i]->coding, coding))
            return i;
    }
    return ENCODERS_MAX;
}
