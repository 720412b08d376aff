/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "http/accept.h"

/*
 * Any bytes as Accept-Encoding: weights stay in their range, a coding that is excluded stays excluded whatever
 * follows, and blanks around commas change nothing (RFC 9110 sections 5.6.1 and 12.5.3).
 */

static const struct mk_str codings[] = {MK_STR_INIT("br"), MK_STR_INIT("zstd"), MK_STR_INIT("gzip"),
                                        MK_STR_INIT("identity")};

/* The same list with blanks behind its commas. */
static struct mk_str spaced(struct mk_str list)
{
    char *text = malloc(list.len * 2 + 1);
    size_t len = 0;

    require(text != NULL);
    for (size_t i = 0; i < list.len; i++) {
        text[len++] = list.p[i];
        if (list.p[i] == ',')
            text[len++] = '\t';
    }
    return (struct mk_str){text, len};
}

/* Before the list, an exact name decides. */
static void check_exclusion(struct mk_str list, struct mk_str coding)
{
    static const char excluded[] = ";q=0,";
    size_t len = coding.len + sizeof(excluded) - 1 + list.len;
    char *text = malloc(len);

    require(text != NULL);
    memcpy(text, coding.p, coding.len);
    memcpy(text + coding.len, excluded, sizeof(excluded) - 1);
    if (list.len > 0)
        memcpy(text + coding.len + sizeof(excluded) - 1, list.p, list.len);
    require(mk_accept_encoding((struct mk_str){text, len}, coding) == 0);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = exact_copy(data, size);
    struct mk_str list = {bytes, size}, wide = spaced(list);

    for (size_t i = 0; i < sizeof(codings) / sizeof(codings[0]); i++) {
        unsigned weight = mk_accept_encoding(list, codings[i]);

        require(weight <= 1000);
        require(mk_accept_encoding(wide, codings[i]) == weight);
        check_exclusion(list, codings[i]);
    }
    free((void *)(uintptr_t)wide.p);
    free(bytes);
    return 0;
}
