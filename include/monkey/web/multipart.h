/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_MULTIPART_H
#define MONKEY_WEB_MULTIPART_H

/*
 * multipart/form-data part by part, as the bytes arrive, in constant memory (RFC 7578, RFC 2046 section 5.1). Strict: line ends
 * are CR LF; each part has one Content-Disposition of form-data with one name; no field is folded; no content is encoded for
 * transfer. Two programs that read a form differently let a client hide values from one of them.
 *
 * For forms that fit into memory and temporary files, <monkey/web/form.h> is simpler.
 */

#include <monkey/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bounds: of a boundary (RFC 2046 section 5.1.1), and of the fields of one part, in bytes. */
enum { MK_MULTIPART_BOUNDARY = 70, MK_MULTIPART_HEAD = 4096 };

/** The head of a part. Texts are borrowed until its last bytes were given. */
struct mk_part {
    size_t size;        /* sizeof(struct mk_part) */
    struct mk_str name; /* %22, %0D and %0A are decoded, as browsers escape them; not empty */
    /* the same; p NULL: a value, not a file. A hint of the client's, never a path; filename* is ignored (RFC 7578 section 4.2) */
    struct mk_str filename;
    struct mk_str type; /* Content-Type as sent; p NULL: absent, text/plain */
};

/** Each returns 0, or an error, which mk_multipart_feed then returns. */
struct mk_multipart_calls {
    size_t size; /* sizeof(struct mk_multipart_calls) */
    /** A part begins. */
    int (*part)(void *arg, const struct mk_part *part);
    /** Its next bytes, borrowed for the call; none for an empty part. */
    int (*data)(void *arg, struct mk_str bytes);
    /** It is complete. */
    int (*end)(void *arg);
};

struct mk_multipart;

/**
 * @param content_type  of the request
 * @param calls         borrowed until mk_multipart_free
 * @return 0; MK_E_UNSUPPORTED: another type; MK_E_BAD: no boundary, or a malformed one; MK_E_NOMEM.
 */
MK_API int mk_multipart_new(struct mk_multipart **m, struct mk_str content_type,
                            const struct mk_multipart_calls *calls, void *arg) MK_MUST_USE;
/** NULL is allowed. */
MK_API void mk_multipart_free(struct mk_multipart *m);

/**
 * Take the next bytes, cut anywhere. What stands before the first boundary and after the last one is ignored.
 * @return 0; MK_E_BAD; MK_E_LIMIT: the fields of a part are too long; the error of a call. After an error the object can only
 *         be freed.
 */
MK_API int mk_multipart_feed(struct mk_multipart *m, const char *bytes, size_t len) MK_MUST_USE;

/** The body has ended. @return 0; MK_E_BAD: the last boundary has not come. */
MK_API int mk_multipart_end(const struct mk_multipart *m) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
