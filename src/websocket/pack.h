/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBSOCKET_PACK_H
#define WEBSOCKET_PACK_H

#include "websocket/extension.h"

/*
 * Compression of the messages of a connection (RFC 7692 section 7.2). Memory is taken by the first message of a direction and
 * given back after each one, unless the window is kept.
 */

struct ws_pack;

enum { WS_UNPACKED_ROOM = 8192 };

/** Has this build zlib? Without it nothing is agreed on. */
bool ws_pack_is_possible(void);

/** @return NULL: no memory. */
struct ws_pack *ws_pack_new(const struct ws_deflate *agreed);
/** NULL is allowed. */
void ws_pack_free(struct ws_pack *p);

/** Does a message leave no trace, so that one copy is right for all such connections? */
bool ws_pack_is_shareable(const struct ws_pack *p);

/**
 * Compress a message.
 * @param packed  out: of malloc, which the caller frees
 * @return 1; 0: it is sent as it is, because there is no memory, or because it would become larger
 */
int ws_pack_message(struct ws_pack *p, struct mk_str message, struct mk_str *packed) MK_MUST_USE;

/** Free what ws_pack_message gave. */
void ws_pack_drop(struct mk_str packed);
/** The last message was not sent: the next one must not refer to it. */
void ws_pack_forget(struct ws_pack *p);

/**
 * Decompress what has come of a message: call it until it returns MK_E_AGAIN, or 0 after the last piece.
 * @param input    in: what has come; out: what of it is left
 * @param is_last  it ends the message
 * @param len      out: bytes written to dst
 * @return 1: dst has bytes, and there may be more; MK_E_AGAIN: all of the input was used; 0: so it was, and the message is over;
 *         MK_E_BAD: invalid; MK_E_NOMEM
 */
int ws_unpack(struct ws_pack *p, struct mk_str *input, bool is_last, char dst[WS_UNPACKED_ROOM],
              size_t *len) MK_MUST_USE;

/**
 * How much work ws_unpack did since the last call, in bytes that came out. A few bytes may become many, or many streams of
 * blocks that say they are the last: these count too.
 */
size_t ws_pack_spent(struct ws_pack *p);

#endif
