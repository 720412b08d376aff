/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/str.h"
#include "http/field.h"
#include "server/answer/reply.h"
#include "server/request/fill.h"
#include "setup/snapshot.h"

/*
 * Lines of Header that are not the same in all answers. What a client has sent is in them, so each is looked at as a whole
 * before it is sent; one without a value, or too long, is left out.
 */

static void put_line(struct mk_reply *p, const struct mk_header_line *h)
{
    const struct mk_str value = mk_str_trim(mk_template_fill(p->r, &h->template, MK_FILL_LINE));

    if (value.len == 0 || value.len > MK_LIMIT_SITE_LINES || !mk_field_is_value(value))
        return;
    mk_reply_lines(p, h->name);
    mk_reply_lines(p, MK_STR(": "));
    mk_reply_lines(p, value);
    mk_reply_lines(p, MK_STR("\r\n"));
}

void mk_reply_late_lines(struct mk_reply *p)
{
    const struct mk_site *site = p->r->site;

    if (p->r->is_secure)
        mk_reply_lines(p, site->secure_lines);
    for (size_t i = 0; i < site->set.nheaders; i++) {
        const struct mk_header_line *h = &site->set.headers[i];

        if (h->varies)
            put_line(p, h);
    }
}
