/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <monkey/web/query.h>

/* Any bytes as pairs of a query: pairs lie within the text in order, and decoding writes no more than it reads and no NUL. */

static void decode(struct mk_str text)
{
    char *dst = exact_copy(text.p, text.len);
    ssize_t len = mk_pair_decode(dst, (struct mk_str){dst, text.len});

    require(len == MK_E_BAD || ((size_t)len <= text.len && !memchr(dst, 0, (size_t)len)));
    free(dst);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = exact_copy(data, size);
    struct mk_str rest = {text, size}, name, value;

    for (const char *at = text; mk_pair_next(&rest, &name, &value); at = name.p + name.len) {
        require(name.p >= at && name.p + name.len <= text + size);
        require(!memchr(name.p, '&', name.len) && !memchr(name.p, '=', name.len));
        decode(name);
        if (value.p)
            decode(value);
    }
    free(text);
    return 0;
}
