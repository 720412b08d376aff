/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "context.h"

/*
 * Any bytes as the value of a traceparent field: what is read has lower-case ids that are not zero, which stand in the
 * value, and is written as version 00, which reads the same; bytes behind it have a dash before them and another version.
 */

static void check_id(struct mk_str value, const char *id, size_t len)
{
    bool is_zero = true;

    for (size_t i = 0; i < len; i++) {
        require((id[i] >= '0' && id[i] <= '9') || (id[i] >= 'a' && id[i] <= 'f'));
        is_zero = is_zero && id[i] == '0';
    }
    require(!is_zero && memmem(value.p, value.len, id, len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = exact_copy(data, size), text[TRACE_PARENT_TEXT];
    const struct mk_str value = {bytes, size};
    struct trace_context c, again;

    if (trace_context_read(&c, value) == 0) {
        require(size >= TRACE_PARENT_TEXT && size <= TRACE_PARENT_MAX);
        require(size == TRACE_PARENT_TEXT ||
                (bytes[TRACE_PARENT_TEXT] == '-' && memcmp(bytes, "00", 2) != 0));
        check_id(value, c.trace, sizeof(c.trace));
        check_id(value, c.span, sizeof(c.span));
        require(trace_context_write(text, &c) == TRACE_PARENT_TEXT);
        require(trace_context_read(&again, (struct mk_str){text, sizeof(text)}) == 0);
        require(memcmp(&c, &again, sizeof(c)) == 0);
    }
    if (trace_is_name(value)) {
        for (size_t i = 0; i < size; i++)
            require(bytes[i] > ' ' && (unsigned char)bytes[i] < 0x7f &&
                    !strchr("\"'<>&\\", bytes[i]));
        require(size > 0 && size <= TRACE_NAME_MAX);
    }
    free(bytes);
    return 0;
}
