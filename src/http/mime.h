/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_MIME_H
#define MK_HTTP_MIME_H

#include <monkey/types.h>

#include <stdbool.h>

/* A table from file extension to media type; filled once, then read by all threads. */

struct mk_mime_entry {
    struct mk_str ext;  /* lower case, without the dot */
    struct mk_str type; /* as it is sent, charset included when it gets one */
};

struct mk_mime {
    struct mk_mime_entry *entries; /* caller's array; sorted by mk_mime_sort */
    size_t count;
    struct mk_str fallback; /* for names without a known extension */
};

/** Bring the entries in the order that mk_mime_of needs. Of equal extensions the last one given wins. */
void mk_mime_sort(struct mk_mime *m);

/** @return the type for a file name (its last extension, in any case), or m->fallback. */
struct mk_str mk_mime_of(const struct mk_mime *m, struct mk_str name);

/** Does this type get a charset parameter: text types, and application/javascript, json, xml and +xml kin that have none? */
bool mk_mime_is_text(struct mk_str type);

/** Is it type "/" subtype of tokens, parameters allowed after `;`? */
bool mk_mime_is_valid(struct mk_str type);

#endif
