/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_BACK_H
#define PROXY_BACK_H

#include <monkey/types.h>

#include <stdbool.h>

/* The way back of `Rewrite /from /to`: paths of the backend in fields of its answer become those that clients know. */

struct proxy_back {
    struct mk_str from, to; /* of Rewrite */
    /* a URL with one of these is of the backend, and becomes a path */
    struct mk_str authority; /* as in a Host field */
    struct mk_str
        told; /* the Host that it got in place of the client's; p NULL: it got the client's */
    struct mk_str host; /* of the client's request: a URL with it stays one; p NULL: none */
};

/** @return whether fields of this name have paths: Location, Content-Location, Refresh, Set-Cookie. */
bool proxy_back_knows(struct mk_str name);
/** @return room that proxy_back_value needs. */
size_t proxy_back_room(const struct proxy_back *b, struct mk_str value);
/** @param name  one that proxy_back_knows. @return bytes of the new value in dst; 0: the value stays. */
size_t proxy_back_value(const struct proxy_back *b, struct mk_str name, struct mk_str value,
                        char *dst);

#endif
