/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/pack.h"

/* A build without zlib: nothing is agreed on, so nothing else here is called. */

bool ws_pack_is_possible(void)
{
    return false;
}

struct ws_pack *ws_pack_new(const struct ws_deflate *agreed)
{
    (void)agreed;
    return NULL;
}

void ws_pack_free(struct ws_pack *p)
{
    (void)p;
}

bool ws_pack_is_shareable(const struct ws_pack *p)
{
    (void)p;
    return false;
}

int ws_pack_message(struct ws_pack *p, struct mk_str message, struct mk_str *packed)
{
    (void)p, (void)message, (void)packed;
    return 0;
}

void ws_pack_drop(struct mk_str packed)
{
    (void)packed;
}

void ws_pack_forget(struct ws_pack *p)
{
    (void)p;
}

size_t ws_pack_spent(struct ws_pack *p)
{
    (void)p;
    return 0;
}

int ws_unpack(struct ws_pack *p, struct mk_str *input, bool is_last, char dst[WS_UNPACKED_ROOM],
              size_t *len)
{
    (void)p, (void)input, (void)is_last, (void)dst;
    *len = 0;
    return MK_E_BAD;
}
