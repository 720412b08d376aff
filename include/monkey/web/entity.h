/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_ENTITY_H
#define MONKEY_WEB_ENTITY_H

/*
 * Answers that a client may have already, or want in parts: validators, preconditions (RFC 9110 section 13) and ranges
 * (section 14) of what a handler makes.
 *
 *     struct mk_entity e = {.size = sizeof(e), .type = "text/csv", .length = table->bytes};
 *
 *     e.etag = mk_etag_write(text, table->version, false);
 *     return mk_reply_entity(r, &e, read_table, table);
 */

#include <monkey/request.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What stands under a path now. Texts are borrowed for the call. */
struct mk_entity {
    size_t size;        /* sizeof(struct mk_entity) */
    struct mk_str etag; /* with its quotes, weak with W/ before them; p NULL: none */
    bool has_modified;
    int64_t modified; /* seconds since 1970; only with has_modified */
    bool is_missing;  /* there is nothing yet: a PUT would create it */
    const char *type; /* media type; NULL: none */
    int64_t length;   /* bytes; -1: unknown, and ranges are ignored */
};

enum { MK_ETAG_TEXT = 40 };

/**
 * Make an entity tag of bytes: a hash of the whole content, or of what changes with it, such as a version or a time.
 * @param dst      room; terminated
 * @param is_weak  the same tag may stand for contents that are as good as the same, but not byte by byte: no ranges
 * @return the tag, in dst. Any thread. Equal bytes give equal tags on all machines; it is no cryptographic hash.
 */
MK_API struct mk_str mk_etag_write(char dst[MK_ETAG_TEXT], struct mk_str bytes, bool is_weak);

/**
 * Compare the preconditions of a request with what there is, before acting on it.
 * @return 200: carry on; 304: the client has it (GET and HEAD only); 412: do not act.
 */
MK_API unsigned mk_entity_check(const struct mk_request *r, const struct mk_entity *e);

/** Answer 304 with the validators, or 412. @param status  of mk_entity_check */
MK_API enum mk_verdict mk_reply_unchanged(struct mk_request *r, const struct mk_entity *e,
                                          unsigned status) MK_MUST_USE;

/**
 * Give bytes of the content from an offset on. Within a range, offsets follow each other without gaps.
 * @return > 0: bytes written to dst; MK_E_AGAIN as for mk_produce_fn; 0: the end, of a content of unknown length, otherwise an
 *         error; another error breaks the answer off.
 */
typedef ssize_t (*mk_entity_fn)(struct mk_request *r, void *arg, uint64_t at, char *dst,
                                size_t len);

/**
 * Answer GET or HEAD with a content: 304 or 412 by mk_entity_check, 206 for ranges of a known length (If-Range
 * obeyed), 416, or 200. Several ranges become multipart/byteranges: one after the other, as the request names them; more than
 * eight are answered with all of it. With Accept-Ranges, ETag, Last-Modified and Content-Type.
 * @param arg  lives as long as the request
 * @return MK_VERDICT_DONE.
 */
MK_API enum mk_verdict mk_reply_entity(struct mk_request *r, const struct mk_entity *e,
                                       mk_entity_fn give, void *arg);

#ifdef __cplusplus
}
#endif

#endif
