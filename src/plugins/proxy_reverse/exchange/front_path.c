/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/front.h"

#include "kit/pure/hex.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- names ---- */

/* @return the byte that begins at text[*at]; -1: an escape that is none. */
static int next_byte(struct mk_str text, size_t *at)
{
    int high, low;
    char c = text.p[(*at)++];

    if (c != '%')
        return (unsigned char)c;
    if (text.len - *at < 2)
        return -1;
    high = hex_value(text.p[(*at)++]);
    low = hex_value(text.p[(*at)++]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static bool is_good_segment(const char *p, size_t len)
{
    return !(len == 1 && p[0] == '.') && !(len == 2 && p[0] == '.' && p[1] == '.');
}

/* Each segment has a name; the first may be empty, before a slash, and the last, behind one. */
static bool has_good_segments(struct mk_str path)
{
    size_t begin = 0;

    for (size_t i = 0; i <= path.len; i++) {
        if (i < path.len && path.p[i] != '/')
            continue;
        if (!is_good_segment(path.p + begin, i - begin) || (i == begin && i > 0 && i < path.len))
            return false;
        begin = i + 1;
    }
    return path.len > 0;
}

ssize_t proxy_front_decode(char *dst, struct mk_str text)
{
    size_t n = 0, at = 0;

    while (at < text.len) {
        int c = next_byte(text, &at);

        if (c < ' ' || c == 0x7f)
            return MK_E_BAD;
        dst[n++] = (char)c;
    }
    dst[n] = '\0';
    return has_good_segments((struct mk_str){dst, n}) ? (ssize_t)n : MK_E_BAD;
}

struct mk_str proxy_front_beneath(char *dst, struct mk_str text, const char *root)
{
    const struct mk_str none = {NULL, 0};
    size_t root_len = strlen(root);
    ssize_t n;

    while (root_len > 0 && root[root_len - 1] == '/')
        root_len--;
    dst[0] = '/';
    n = proxy_front_decode(dst + 1, text);
    if (n <= 0 || dst[n] == '/')
        return none;
    if (dst[1] != '/')
        return (struct mk_str){dst, (size_t)n + 1};
    if ((size_t)n <= root_len + 1 || memcmp(dst + 1, root, root_len) != 0 ||
        dst[1 + root_len] != '/')
        return none;
    return (struct mk_str){dst + 1 + root_len, (size_t)n - root_len};
}

/* ---- links ---- */

const char *proxy_front_follow(char *dst, const char *root, struct mk_str *path)
{
    char whole[PATH_MAX], real_root[PATH_MAX];
    int len = snprintf(whole, sizeof(whole), "%s%s", root, path->p);
    size_t root_len;

    if (len < 0 || (size_t)len >= sizeof(whole))
        return "the name of the file is too long";
    if (!realpath(root, real_root) || !realpath(whole, dst))
        return NULL; /* there is nothing */
    root_len = strcmp(real_root, "/") == 0 ? 0 : strlen(real_root);
    if (strncmp(dst, real_root, root_len) != 0 || dst[root_len] != '/')
        return "a symbolic link leads out of SendfileRoot";
    *path = mk_str_from(dst + root_len);
    return NULL;
}
