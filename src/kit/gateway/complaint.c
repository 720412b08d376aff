/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/gateway/complaint.h"

#include "kit/text/escape.h"

static void end_line(struct gateway_complaint *c, void (*line)(void *arg, const char *text),
                     void *arg)
{
    bool is_empty = c->len == 0;

    c->text[c->len] = '\0';
    c->len = 0;
    c->cut = false;
    if (is_empty || c->lines > GATEWAY_COMPLAINT_LINES)
        return;
    line(arg, c->lines < GATEWAY_COMPLAINT_LINES ? c->text : "...");
    c->lines++;
}

void gateway_complaint_add(struct gateway_complaint *c, const char *bytes, size_t len,
                           void (*line)(void *arg, const char *text), void *arg)
{
    for (size_t i = 0; i < len; i++) {
        char piece[TEXT_LINE_GROWTH];
        size_t n;

        if (bytes[i] == '\n') {
            end_line(c, line, arg);
            continue;
        }
        if (c->cut || bytes[i] == '\r')
            continue;
        n = text_line_byte(piece, (unsigned char)bytes[i]);
        c->cut = n > GATEWAY_COMPLAINT_LINE - c->len;
        if (c->cut)
            continue;
        memcpy(c->text + c->len, piece, n);
        c->len += (unsigned)n;
    }
}

void gateway_complaint_end(struct gateway_complaint *c, void (*line)(void *arg, const char *text),
                           void *arg)
{
    if (c->len > 0)
        end_line(c, line, arg);
}

size_t gateway_complaint_escape(char *dst, size_t room, struct mk_str bytes)
{
    size_t at = 0;

    for (size_t i = 0; i < bytes.len; i++) {
        char piece[TEXT_LINE_GROWTH];
        size_t n = text_line_byte(piece, (unsigned char)bytes.p[i]);

        if (n >= room - at)
            break;
        memcpy(dst + at, piece, n);
        at += n;
    }
    dst[at] = '\0';
    return at;
}
