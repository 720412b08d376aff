/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include "kit/pure/percent.h"

/* ---- as it is written ---- */

static const char expected[] =
    "a text that ends with the quote that it begins with; in quotes, \\n, \\t, \\\" and \\\\ alone";

/* @return the byte that `\c` stands for; 0: none. */
static char escaped(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case '"':
    case '\\':
        return c;
    default:
        return '\0';
    }
}

/* @param dst  room for text.len bytes @return bytes; MK_E_INVALID: a quote within, or another byte after a backslash. */
static ssize_t unquote(char *dst, struct mk_str text)
{
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];

        if (c == '"' || (c == '\\' && i + 1 == text.len))
            return MK_E_INVALID;
        if (c == '\\')
            c = escaped(text.p[++i]);
        if (c == '\0')
            return MK_E_INVALID;
        dst[len++] = c;
    }
    return (ssize_t)len;
}

int answer_text_read(struct mk_setup *setup, const struct mk_setting *s, struct mk_str written,
                     struct mk_template *t)
{
    char *plain = mk_setup_alloc(setup, written.len + 1);
    ssize_t len;

    if (!plain)
        return MK_E_NOMEM;
    if (written.len == 0 || written.p[0] != '"')
        return mk_setup_template(setup, s, written, MK_TEMPLATE_PRICES, t);
    if (written.len < 2 || written.p[written.len - 1] != '"')
        return mk_setup_refuse(setup, s, expected);
    len = unquote(plain, (struct mk_str){written.p + 1, written.len - 2});
    if (len < 0)
        return mk_setup_refuse(setup, s, expected);
    return mk_setup_template(setup, s, (struct mk_str){plain, (size_t)len}, MK_TEMPLATE_PRICES, t);
}

/* ---- in an answer ---- */

/* Neither quotes, angle brackets, backslashes nor blanks; of what is encoded already the percent signs stay. */
static const char kept_in_path[] = "/:@!$&()*+,;=", kept_as_sent[] = "/:@!$&()*+,;=?%[]{}|^",
                  kept_in_words[] = " /:@+,;=";

static const char *kept_of(int which)
{
    switch (which) {
    case MK_VARIABLE_PATH:
        return kept_in_path;
    case MK_VARIABLE_TARGET:
    case MK_VARIABLE_QUERY:
    case MK_VARIABLE_HOST: /* "[::1]" */
    case MK_VARIABLE_HTTP_HOST:
        return kept_as_sent;
    default:
        return kept_in_words;
    }
}

static size_t put(char *dst, const struct mk_template_piece *piece, struct mk_str value)
{
    if (!mk_template_is_text(piece))
        return percent_encode(dst, value, kept_of(piece->which));
    if (value.len > 0)
        memcpy(dst, value.p, value.len);
    return value.len;
}

struct mk_str answer_text_fill(struct mk_request *r, const struct mk_template *t)
{
    char room[MK_VARIABLE_ROOM], *dst;
    size_t max = 1, len = 0;

    for (size_t i = 0; i < t->count; i++)
        max += mk_template_value(&t->pieces[i], r, room).len * PERCENT_GROWTH;
    dst = mk_request_alloc(r, max);
    for (size_t i = 0; dst && i < t->count; i++)
        len += put(dst + len, &t->pieces[i], mk_template_value(&t->pieces[i], r, room));
    return (struct mk_str){dst, len};
}
