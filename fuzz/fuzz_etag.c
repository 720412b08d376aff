/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "http/preconditions.h"

/*
 * Any bytes as a list of entity tags, against a tag that may stand in it: what matches strongly matches weakly, a
 * weak tag never matches strongly, the tag alone always matches, and If-Range never holds for less than the whole
 * tag (RFC 9110 sections 8.8.3.2 and 13.1).
 * Input: one byte, how much of the rest is the tag between its quotes; the list.
 */

static bool fails_if_match(struct mk_str list, const struct mk_validators *v)
{
    const struct mk_preconditions p = {.if_match = list};

    return mk_preconditions_eval(&p, v, true) == MK_PRECONDITION_FAILED;
}

static bool matches_weakly(struct mk_str list, const struct mk_validators *v)
{
    const struct mk_preconditions p = {.if_none_match = list};
    enum mk_precondition read = mk_preconditions_eval(&p, v, true);
    enum mk_precondition write = mk_preconditions_eval(&p, v, false);

    require((read == MK_PRECONDITION_NOT_MODIFIED) == (write == MK_PRECONDITION_FAILED));
    return read != MK_PRECONDITION_PASS;
}

/* "W/", the bytes in quotes; without a quote among them it is one tag. */
static char *quoted(const char *bytes, size_t len)
{
    char *tag = malloc(len + 4);

    require(tag != NULL);
    memcpy(tag, "W/\"", 3);
    if (len > 0)
        memcpy(tag + 3, bytes, len);
    tag[3 + len] = '"';
    return tag;
}

static void check(struct mk_str list, const char *tag, size_t len)
{
    const struct mk_validators weak = {.etag = {tag, len + 4}, .now = 1};
    const struct mk_validators strong = {.etag = {tag + 2, len + 2}, .now = 1};

    require(fails_if_match(list, &weak) || (list.len > 0 && memchr(list.p, '*', list.len)));
    if (!fails_if_match(list, &strong))
        require(matches_weakly(list, &strong));
    require(matches_weakly(list, &strong) == matches_weakly(list, &weak));
    require(matches_weakly(weak.etag, &strong) && !fails_if_match(strong.etag, &strong));
    if (list.len > 0 && list.p[0] == '"' && mk_if_range_holds(list, &strong))
        require(list.len == strong.etag.len && memcmp(list.p, strong.etag.p, list.len) == 0);
    require(!mk_if_range_holds(weak.etag, &weak));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t len = take_byte(&data, &size);
    char *list, *bytes, *tag;

    len = len < size ? len : size;
    bytes = exact_copy(data, len);
    list = exact_copy(data + len, size - len);
    tag = quoted(bytes, len);
    if (len == 0 || !memchr(bytes, '"', len))
        check((struct mk_str){list, size - len}, tag, len);
    free(tag);
    free(list);
    free(bytes);
    return 0;
}
