/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PLUGINS_REPLY_H
#define TESTS_PLUGINS_REPLY_H

#include <monkey/request.h>

/* A whole answer of text that lives as long as the request. */
static inline enum mk_verdict reply_text(struct mk_request *r, struct mk_str text)
{
    struct mk_reply p;

    if (mk_reply_begin(&p, r, 200) < 0)
        return MK_VERDICT_CLOSE;
    mk_reply_line(&p, MK_STR("Content-Type"), MK_STR("text/plain"));
    if (mk_reply_end(&p, (int64_t)text.len) < 0 || mk_reply_memory(r, text) < 0)
        return MK_VERDICT_CLOSE;
    return MK_VERDICT_DONE;
}

#endif
