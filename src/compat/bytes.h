/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_COMPAT_BYTES_H
#define MK_COMPAT_BYTES_H

#include <monkey/request.h>

#include <stdbool.h>

/* Bytes that grow, on the heap as long as a request: its body, or that of its answer. Zeroed at first. */
struct mk_compat_bytes {
    char *p; /* terminated when not NULL */
    size_t len, room;
};

/** Add bytes at the end. @return whether there was memory. The caller frees p by mk_compat_bytes_free. */
bool mk_compat_bytes_add(struct mk_compat_bytes *b, const char *p, size_t len) MK_MUST_USE;
/** @param bytes  a struct mk_compat_bytes, for mk_request_on_end */
void mk_compat_bytes_free(void *bytes);

/**
 * Read the body of a request whole, in on_handle.
 * @return PASS: it is complete; LATER: return that, and call again; DONE: it was refused, and the request is answered; CLOSE
 */
enum mk_verdict mk_compat_body(struct mk_compat_bytes *b, struct mk_request *r);

#endif
