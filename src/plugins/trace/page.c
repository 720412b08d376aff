/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include "context.h"

#include <monkey/plugin.h>

static const char mark[] = "$request_id";
enum { MARK_LEN = sizeof(mark) - 1 };

/* src/server/answer/error_page.c */
static const char own[] = "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\">"
                          "<meta name=\"viewport\" content=\"width=device-width\">"
                          "<meta name=\"color-scheme\" content=\"light dark\">";
enum { OWN_LEN = sizeof(own) - 1 };

struct out {
    char *at, *end;
};

static void put(struct out *o, const char *p, size_t len)
{
    memcpy(o->at, p, len);
    o->at += len;
}

static void put_line(struct out *o, struct trace_page *page)
{
    static const char before[] = "<p><code>", after[] = "</code></p>\n";

    put(o, before, sizeof(before) - 1);
    put(o, page->id.p, page->id.len);
    put(o, after, sizeof(after) - 1);
}

static void take_byte(struct out *o, struct trace_page *page, char c)
{
    if (page->seen < OWN_LEN && c != own[page->seen])
        page->is_other = true;
    page->seen++;
    if (page->held > 0 && c != mark[page->held]) { /* `$` is at its beginning alone */
        put(o, mark, page->held);
        page->held = 0;
    }
    if (c != mark[page->held]) {
        *o->at++ = c;
    } else if (++page->held == MARK_LEN) {
        put(o, page->id.p, page->id.len);
        page->held = 0;
        page->is_written = true;
    }
}

/* Room for what one byte may bring, and for the end. */
static bool has_room(const struct out *o)
{
    return o->end - o->at > MARK_LEN + TRACE_NAME_MAX + 32;
}

static bool is_own(const struct trace_page *page)
{
    return page->seen >= OWN_LEN && !page->is_other;
}

int trace_page_filter(void *arg, const char *in, size_t *in_len, char *out, size_t *out_len,
                      bool last)
{
    struct trace_page *page = arg;
    struct out o = {.at = out, .end = out + *out_len};
    size_t used = 0;
    bool is_end;

    while (used < *in_len && has_room(&o))
        take_byte(&o, page, in[used++]);
    is_end = last && used == *in_len && has_room(&o);
    if (is_end) {
        put(&o, mark, page->held);
        page->held = 0;
        if (is_own(page) && !page->is_written)
            put_line(&o, page);
        page->is_written = true;
    }
    *in_len = used;
    *out_len = (size_t)(o.at - out);
    if (is_end)
        return MK_FILTER_DONE;
    return page->held > 0 ? MK_FILTER_HOLDS : MK_FILTER_MORE;
}
