/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/limits.h"
#include "base/str.h"
#include "http/escape.h"
#include "http/field.h"
#include "server/answer/reply.h"
#include "setup/snapshot.h"

/*
 * Lines of Header that are not the same in all answers. What a client has sent is in them, so each is looked at as a whole
 * before it is sent; one without a value, or too long, is left out.
 */

static void put_path(struct mk_buf *b, struct mk_str path)
{
    char *at = mk_buf_reserve(b, path.len * MK_ESCAPE_URI_GROWTH);

    if (at)
        b->len += mk_escape_path(at, path);
}

static void put_value(struct mk_buf *b, const struct mk_request *r, const struct mk_template *t)
{
    char room[MK_VARIABLE_ROOM];

    for (size_t i = 0; i < t->count; i++) {
        const struct mk_str text = mk_template_value(&t->pieces[i], r, room);

        if (t->pieces[i].which == MK_VARIABLE_PATH)
            put_path(b, text);
        else
            (void)mk_buf_append_str(b, text);
    }
}

static void put_line(struct mk_reply *p, const struct mk_header_line *h)
{
    struct mk_buf b;
    struct mk_str value;

    mk_buf_init(&b, MK_LIMIT_SITE_LINES);
    put_value(&b, p->r, &h->template);
    value = mk_str_trim(mk_buf_str(&b));
    if (b.error == 0 && value.len > 0 && mk_field_is_value(value))
        mk_reply_lines(p,
                       mk_str_from(mk_arena_printf(&p->r->arena, "%.*s: %.*s\r\n", (int)h->name.len,
                                                   h->name.p, (int)value.len, value.p)));
    mk_buf_fini(&b);
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
