/* SPDX-License-Identifier: Apache-2.0 */
#include "http/field.h"

#include "base/str.h"
#include "http/chars_int.h"

bool mk_field_is_name(struct mk_str name)
{
    return name.len > 0 && mk_chars_all(name, MK_CHAR_TOKEN);
}

bool mk_field_is_value(struct mk_str value)
{
    return value.len == 0 ||
           mk_chars_skip_text(value.p, value.p + value.len) == value.p + value.len;
}

bool mk_field_next_line(struct mk_str *rest, struct mk_str *line, struct mk_str *name,
                        struct mk_str *value)
{
    const char *end = rest->len > 0 ? memchr(rest->p, '\n', rest->len) : NULL;
    const char *colon;

    if (!end)
        return false;
    *line = (struct mk_str){rest->p, (size_t)(end - rest->p) + 1};
    colon = memchr(line->p, ':', line->len);
    if (!colon || line->len < 2 || end[-1] != '\r')
        return false;
    *name = (struct mk_str){line->p, (size_t)(colon - line->p)};
    *value = mk_str_trim((struct mk_str){colon + 1, (size_t)(end - 1 - (colon + 1))});
    if (!mk_field_is_name(*name) || !mk_field_is_value(*value))
        return false;
    *rest = mk_str_skip(*rest, line->len);
    return true;
}

static bool is_of(const char *line, const char *end, struct mk_str name)
{
    return (size_t)(end - line) > name.len && line[name.len] == ':' &&
           mk_str_ieq((struct mk_str){line, name.len}, name);
}

char *mk_field_drop(char *from, char *end, struct mk_str name)
{
    for (char *line = from; line < end;) {
        char *next = memchr(line, '\n', (size_t)(end - line));

        next = next ? next + 1 : end;
        if (is_of(line, end, name)) {
            memmove(line, next, (size_t)(end - next));
            end -= next - line;
        } else {
            line = next;
        }
    }
    return end;
}
