/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <monkey/web/choice.h>

/*
 * Any bytes as Accept and Accept-Language: the choice is an offer or none, and what is chosen among
 * others is chosen alone too.
 */

static const struct mk_str types[] = {MK_STR_INIT("a/b"), MK_STR_INIT("text/html; x=\"y\""),
                                      MK_STR_INIT("text/plain")};
static const struct mk_str tags[] = {MK_STR_INIT("en"), MK_STR_INIT("de-CH"), MK_STR_INIT("de")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = exact_copy(data, size);
    const struct mk_str accept = {text, size};
    int type = mk_choose_type(accept, types, 3), tag = mk_choose_language(accept, tags, 3);

    require(type >= -1 && type < 3 && tag >= -1 && tag < 3);
    if (tag >= 0)
        require(mk_choose_language(accept, tags + tag, 1) == 0);
    if (type >= 0)
        require(mk_choose_type(accept, types + type, 1) == 0);
    free(text);
    return 0;
}
