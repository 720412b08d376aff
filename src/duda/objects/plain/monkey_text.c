/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/plain/monkey_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <strings.h>

void mk_duda_pointer_set(mk_pointer *p, char *str)
{
    if (p)
        *p = (mk_pointer){.data = str, .len = str ? strlen(str) : 0};
}

void mk_duda_pointer_print(mk_pointer p)
{
    (void)printf("\nDEBUG POINTER: '%.*s'", p.data ? (int)p.len : 0, p.data ? p.data : "");
    (void)fflush(stdout);
}

char *mk_duda_pointer_to_buf(mk_pointer p)
{
    char *copy = p.data || !p.len ? malloc(p.len + 1) : NULL;

    if (!copy)
        return NULL;
    if (p.len)
        memcpy(copy, p.data, p.len);
    copy[p.len] = 0;
    return copy;
}

int mk_duda_str_itop(uint64_t value, mk_pointer *p)
{
    enum { ROOM = 24 };

    if (!p || !p->data)
        return -1;
    p->len = (unsigned long)snprintf(p->data, ROOM, "%" PRIu64 "\r\n", value);
    return 0;
}

int mk_duda_str_search(const char *hay, const char *needle, int sensitive)
{
    return mk_duda_str_search_n(hay, needle, sensitive, -1);
}

int mk_duda_str_search_n(const char *hay, const char *needle, int sensitive, int len)
{
    size_t n, all;

    if (!hay || !needle)
        return -1;
    n = strlen(needle);
    all = len < 0 ? strlen(hay) : strnlen(hay, (size_t)len);
    for (size_t i = 0; i + n <= all; i++) {
        bool is_same = sensitive == MK_STR_SENSITIVE ? memcmp(hay + i, needle, n) == 0
                                                     : strncasecmp(hay + i, needle, n) == 0;
        if (is_same)
            return (int)i;
    }
    return -1;
}

int mk_duda_str_char_search(const char *str, int c, int len)
{
    const char *found;

    if (!str)
        return -1;
    found = memchr(str, c, len < 0 ? strlen(str) : strnlen(str, (size_t)len));
    return found ? (int)(found - str) : -1;
}

char *mk_duda_str_build(char **buf, unsigned long *len, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    int n;

    va_start(args, fmt);
    n = fmt ? vasprintf(&text, fmt, args) : -1;
    va_end(args);
    if (n < 0)
        return NULL;
    if (len)
        *len = (unsigned long)n;
    if (buf)
        *buf = text;
    return text;
}

char *mk_duda_str_dup(const char *str)
{
    return str ? strdup(str) : NULL;
}

char *mk_duda_str_copy_substr(const char *str, int from, int to)
{
    size_t len = str ? strlen(str) : 0;

    if (!str || from < 0 || to < from || (size_t)from > len)
        return NULL;
    if ((size_t)to > len)
        to = (int)len;
    return strndup(str + from, (size_t)(to - from));
}

static bool add_word(struct mk_list *list, const char *word, size_t len)
{
    struct mk_string_line *line = calloc(1, sizeof(*line));

    if (!line)
        return false;
    line->val = strndup(word, len);
    line->len = (int)len;
    mk_list_add(&line->_head, list);
    return line->val != NULL;
}

struct mk_list *mk_duda_str_split_line(const char *line)
{
    static const char blanks[] = " \t\r\n";
    struct mk_list *list = line ? malloc(sizeof(*list)) : NULL;

    if (!list)
        return NULL;
    mk_list_init(list);
    for (line += strspn(line, blanks); *line; line += strspn(line, blanks)) {
        size_t len = strcspn(line, blanks);

        if (!add_word(list, line, len)) {
            mk_duda_str_split_free(list);
            return NULL;
        }
        line += len;
    }
    return list;
}

void mk_duda_str_split_free(struct mk_list *list)
{
    struct mk_list *at, *next;

    if (!list)
        return;
    mk_list_foreach_safe(at, next, list)
    {
        struct mk_string_line *line = mk_list_entry(at, struct mk_string_line, _head);

        free(line->val);
        free(line);
    }
    free(list);
}
