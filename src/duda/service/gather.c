/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gather.h"

#include "kit/unnamed/unnamed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST = 4096, PIECE = 16384 };

/* ---- in memory ---- */

/* Room for a byte more than the body: services find it terminated. */
static bool grow(struct mk_duda_body *b, struct mk_request *r)
{
    const size_t size = b->size ? b->size * 2 : FIRST;
    char *bytes = realloc(b->bytes, size);

    if (!bytes)
        return false;
    b->bytes = bytes;
    b->size = size;
    mk_request_hold(r, size);
    return true;
}

/* ---- in a file ---- */

static int spool(struct mk_duda_body *b, struct mk_request *r, const char *dir)
{
    b->fd = unnamed_open(dir);
    if (b->fd < 0 || !unnamed_write(b->fd, b->bytes, b->len))
        return MK_E_SYS;
    free(b->bytes);
    b->bytes = NULL;
    b->size = 0;
    mk_request_hold(r, 0);
    return 0;
}

/* Its pages belong to the file, and memory has them only as long as there is room; those that a service writes to are its own. */
static int map(struct mk_duda_body *b)
{
    void *at;

    if (!unnamed_write(b->fd, "", 1)) /* the end of the text */
        return MK_E_SYS;
    at = mmap(NULL, b->len + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, b->fd, 0);
    if (at == MAP_FAILED)
        return MK_E_NOMEM;
    close(b->fd);
    b->fd = -1;
    b->bytes = at;
    b->is_mapped = true;
    return 0;
}

/* ---- both ---- */

static int add(struct mk_duda_body *b, struct mk_request *r, const char *bytes, size_t len,
               const char *dir)
{
    if (b->fd < 0 && b->len + len > MK_DUDA_BODY_MEMORY && spool(b, r, dir) < 0)
        return MK_E_SYS;
    if (b->fd >= 0 && !unnamed_write(b->fd, bytes, len))
        return MK_E_SYS;
    while (b->fd < 0 && b->len + len >= b->size) {
        if (!grow(b, r))
            return MK_E_NOMEM;
    }
    if (b->fd < 0)
        memcpy(b->bytes + b->len, bytes, len);
    b->len += len;
    return 0;
}

ssize_t mk_duda_gather(struct mk_duda_body *b, struct mk_request *r, const char *dir)
{
    char piece[PIECE];
    ssize_t n = mk_request_read(r, piece, sizeof(piece));

    while (n > 0) {
        const int err = add(b, r, piece, (size_t)n, dir);

        if (err < 0)
            return err;
        n = mk_request_read(r, piece, sizeof(piece));
    }
    if (n == 0 && b->fd >= 0)
        return map(b);
    if (n == 0 && b->bytes)
        b->bytes[b->len] = '\0';
    return n;
}

void mk_duda_body_fini(struct mk_duda_body *b)
{
    if (b->is_mapped)
        (void)munmap(b->bytes, b->len + 1);
    else
        free(b->bytes);
    if (b->fd >= 0)
        close(b->fd);
    *b = (struct mk_duda_body){.fd = -1};
}
