/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/buffers.h"

#include <stdlib.h>

char *fastcgi_buffers_take(struct buffers *b)
{
    return b->count > 0 ? b->kept[--b->count] : malloc(BUFFER_SIZE);
}

void fastcgi_buffers_give(struct buffers *b, char *buffer)
{
    if (buffer && b->count < BUFFERS_KEPT)
        b->kept[b->count++] = buffer;
    else
        free(buffer);
}

void fastcgi_buffers_fini(struct buffers *b)
{
    while (b->count > 0)
        free(b->kept[--b->count]);
}
