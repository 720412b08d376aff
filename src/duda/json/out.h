/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_JSON_OUT_H
#define MK_DUDA_JSON_OUT_H

#include "json/tree.h"
#include "kit/json/write.h"

enum { JSON_PIECE = 4096 };

/** A text that grows, or leaves in pieces of at most JSON_PIECE bytes. It stays where it is. */
struct json_out {
    struct mk_json j;
    json_put_fn give; /* NULL: all of it stays in j.p, memory of json_memory */
    void *user;
};

/** Begin a text in memory that grows. */
void json_out_grow(struct json_out *out);
/** Begin a text that is given away. @param piece  where it is gathered, borrowed */
void json_out_give(struct json_out *out, char piece[JSON_PIECE], json_put_fn give_piece,
                   void *user);
/** Give what is gathered. */
void json_out_flush(struct json_out *out);

/** With quotes and escapes; NULL is an empty string. */
void json_put_string(struct mk_json *j, const char *text);
/** A tree, where a value may stand. */
void json_put_item(struct mk_json *j, const json_t *item);

#endif
