/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_GATHER_H
#define MK_DUDA_SERVICE_GATHER_H

#include "service/service.h"

#include <sys/types.h>

struct mk_request;

/* The body of a request as one text: in memory, or, of more than MK_DUDA_BODY_MEMORY bytes, in a file without a name that is mapped. */

enum { MK_DUDA_BODY_MEMORY = 256 << 10 };

/** Zeroed at first, but for the descriptor. */
struct mk_duda_body {
    char *bytes; /* terminated once it is whole; NULL: none, or still in the file alone */
    size_t len;
    size_t size; /* of the memory, 0 once it is in a file */
    int fd;      /* of the file while bytes arrive; -1: none */
    bool is_mapped;
};

/**
 * Take what has come.
 * @param dir  of the file
 * @return 0: it is whole; MK_E_SYS: the file cannot be made or written, with errno; MK_E_NOMEM; or as mk_request_read
 */
ssize_t mk_duda_gather(struct mk_duda_body *b, struct mk_request *r, const char *dir) MK_MUST_USE;

void mk_duda_body_fini(struct mk_duda_body *b);

#endif
