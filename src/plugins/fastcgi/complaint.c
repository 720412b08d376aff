/* SPDX-License-Identifier: Apache-2.0 */
#include "complaint.h"

char *complaint_escape(char *dst, struct mk_str text)
{
    static const char digits[] = "0123456789ABCDEF";
    char *at = dst;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
            *at++ = (char)c;
            continue;
        }
        *at++ = '\\';
        *at++ = 'x';
        *at++ = digits[c >> 4];
        *at++ = digits[c & 15];
    }
    *at = '\0';
    return dst;
}

static void write_line(struct complaint *c, const struct mk_request *r, const char *server)
{
    char text[4 * COMPLAINT_LINE + 1];
    struct mk_str line = {c->line, c->len};

    while (line.len > 0 && (line.p[line.len - 1] == '\r' || line.p[line.len - 1] == ' '))
        line.len--;
    c->len = 0;
    if (line.len == 0 || c->lines > COMPLAINT_LINES)
        return;
    if (c->lines++ < COMPLAINT_LINES)
        mk_request_log(r, MK_LOG_ERROR, "fastcgi stderr server=%s text=\"%s\"", server,
                       complaint_escape(text, line));
    else
        mk_request_log(r, MK_LOG_ERROR, "fastcgi stderr server=%s more=\"not shown\"", server);
}

void complaint_add(struct complaint *c, struct mk_request *r, const char *server,
                   struct mk_str bytes)
{
    if (!c->line)
        c->line = mk_request_alloc(r, COMPLAINT_LINE);
    if (!c->line || c->lines > COMPLAINT_LINES)
        return;
    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.p[i] != '\n')
            c->line[c->len++] = bytes.p[i];
        if (bytes.p[i] == '\n' || c->len == COMPLAINT_LINE)
            write_line(c, r, server);
    }
}

void complaint_end(struct complaint *c, const struct mk_request *r, const char *server)
{
    if (c->len > 0)
        write_line(c, r, server);
}
