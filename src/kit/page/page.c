/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/page/page.h"

#include "kit/text/escape.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_ROOM = 4096, PIECE_MAX = 512 };

void page_free(struct page *page)
{
    free(page->p);
    *page = (struct page){0};
}

static bool make_page_room(struct page *page, size_t len)
{
    size_t room = page->room ? page->room : FIRST_ROOM;
    char *p;

    if (page->failed || len > PAGE_MAX - page->len) {
        page->failed = true;
        return false;
    }
    while (room - page->len < len)
        room *= 2;
    if (room == page->room)
        return true;
    p = realloc(page->p, room);
    if (!p) {
        page->failed = true;
        return false;
    }
    page->p = p;
    page->room = room;
    return true;
}

void page_bytes(struct page *page, struct mk_str bytes)
{
    if (bytes.len == 0 || !make_page_room(page, bytes.len))
        return;
    memcpy(page->p + page->len, bytes.p, bytes.len);
    page->len += bytes.len;
}

void page_put(struct page *page, const char *text)
{
    page_bytes(page, mk_str_from(text));
}

void page_printf(struct page *page, const char *fmt, ...)
{
    char piece[PIECE_MAX];
    va_list args;
    int len;

    va_start(args, fmt);
    len = vsnprintf(piece, sizeof(piece), fmt, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof(piece))
        page->failed = true;
    else
        page_bytes(page, (struct mk_str){piece, (size_t)len});
}

void page_html(struct page *page, struct mk_str text)
{
    if (make_page_room(page, text.len * TEXT_HTML_GROWTH))
        page->len += text_html(page->p + page->len, text);
}

void page_json(struct page *page, struct mk_str text)
{
    page_put(page, "\"");
    if (make_page_room(page, text.len * TEXT_JSON_GROWTH))
        page->len += text_json(page->p + page->len, text);
    page_put(page, "\"");
}

void page_member(struct page *page, const char *name)
{
    const bool is_first = page->len > 0 && page->p[page->len - 1] == '{';

    page_put(page, is_first ? "\"" : ", \"");
    page_put(page, name);
    page_put(page, "\": ");
}

void page_member_text(struct page *page, const char *name, const char *value)
{
    page_member(page, name);
    page_json(page, mk_str_from(value));
}

void page_member_number(struct page *page, const char *name, uint64_t value)
{
    page_member(page, name);
    page_printf(page, "%" PRIu64, value);
}
