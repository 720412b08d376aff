/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_PAGE_H
#define KIT_PAGE_H

#include <monkey/types.h>

#include <stdbool.h>
#include <stdint.h>

/* A text that grows up to PAGE_MAX. What does not fit, or finds no memory, makes it fail as a whole. */

enum { PAGE_MAX = 8 << 20 };

struct page {
    char *p; /* owned: malloc; NULL while empty */
    size_t len, room;
    bool failed;
};

void page_free(struct page *page);
/** Our own text. */
void page_put(struct page *page, const char *text);
/** The same, by its length. */
void page_bytes(struct page *page, struct mk_str bytes);
void page_printf(struct page *page, const char *fmt, ...) MK_PRINTF(2, 3);
/** Text of others for HTML, in an attribute too: text_html. */
void page_html(struct page *page, struct mk_str text);
/** Text of others as a JSON string, with its quotes: text_json. */
void page_json(struct page *page, struct mk_str text);
/** What stands before the value of a JSON member: its name, which is ours, and a comma unless the member is the first. */
void page_member(struct page *page, const char *name);
/** Members of a JSON object, texts of others and numbers. */
void page_member_text(struct page *page, const char *name, const char *value);
void page_member_number(struct page *page, const char *name, uint64_t value);

#endif
