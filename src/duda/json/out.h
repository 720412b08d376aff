/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_JSON_OUT_H
#define MK_DUDA_JSON_OUT_H

#include "json/tree.h"

/** @return room for len bytes at the end of the text, after giving whole pieces away; NULL: it has failed */
char *json_make_room(struct json_out *out, size_t len);

/** The same, quick while there is room: a text is in order of a few pieces before it is given. */
static inline char *json_room(struct json_out *out, size_t len)
{
    enum { GATHERED = 4096 };

    if (out->room - out->len < len || out->has_failed || (out->give && out->len >= GATHERED))
        return json_make_room(out, len);
    return out->text + out->len;
}

/** json_put() of a few bytes, whose number the compiler knows. */
static inline void json_put_few(struct json_out *out, const char *bytes, size_t len)
{
    char *to = json_room(out, len);

    if (!to)
        return;
    memcpy(to, bytes, len);
    out->len += len;
}

#define JSON_PUT(out, text) json_put_few(out, text, sizeof(text) - 1)

#endif
