/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/target/target.h"

#include "kit/text/escape.h"

const char *target_text(const struct mk_request *r, char text[TARGET_TEXT])
{
    static const char cut[] = "...";
    struct mk_request_facts f = {.size = sizeof(f)};
    char *at = text, *end = text + TARGET_TEXT - TEXT_LINE_GROWTH - sizeof(cut);

    mk_request_facts(r, &f);
    for (size_t i = 0; i < f.target.len; i++) {
        if (at > end) {
            memcpy(at, cut, sizeof(cut));
            return text;
        }
        at += text_line_byte(at, (unsigned char)f.target.p[i]);
    }
    *at = '\0';
    return text;
}
