/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "http/escape.h"
#include "http/uri.h"
#include "http/uri_reading.h"
#include "kit/text/escape.h"

/*
 * Any bytes as a path and as an authority. A path that is accepted is normal: no empty and no
 * dot segment, no NUL; escaped and read again it is the same.
 */

static void check_segment(const char *p, size_t len, bool is_last)
{
    require(len > 0 || is_last);
    require(!(len == 1 && p[0] == '.'));
    require(!(len == 2 && p[0] == '.' && p[1] == '.'));
}

static void check_path(const char *path, size_t len)
{
    size_t segment = 1;

    require(len > 0 && path[0] == '/');
    require(memchr(path, '\0', len) == NULL);
    for (size_t i = 1; i <= len; i++) {
        if (i < len && path[i] != '/')
            continue;
        check_segment(path + segment, i - segment, i == len);
        segment = i + 1;
    }
}

static void check_escaped(const char *path, size_t len)
{
    char *escaped = malloc(len * MK_ESCAPE_URI_GROWTH + 1), *back;
    size_t n, back_len;

    require(escaped != NULL);
    n = mk_escape_path(escaped, (struct mk_str){path, len});
    require(n <= len * MK_ESCAPE_URI_GROWTH && mk_uri_is_target((struct mk_str){escaped, n}));
    back = malloc(n + 1);
    require(back != NULL);
    require(mk_uri_normalise((struct mk_str){escaped, n}, back, &back_len) == 0);
    require(back_len == len && memcmp(back, path, len) == 0);
    free(back);
    free(escaped);
}

/* However it is read, it is normal, and no longer; without anything to read in another way it is the same. */
static void check_readings(const char *path, size_t len)
{
    struct mk_str text = {path, len};
    unsigned found = mk_uri_readings(text);

    for (unsigned readings = 0; readings <= MK_READINGS; readings++) {
        char *dst = malloc(len);
        size_t n = mk_uri_read(text, readings, dst);

        require(dst != NULL && n <= len);
        check_path(dst, n);
        if (!(readings & found))
            require(n == len && memcmp(dst, path, len) == 0);
        free(dst);
    }
}

static void check_authority(struct mk_str text)
{
    struct mk_str host;
    unsigned port;

    if (mk_uri_authority(text, &host, &port) < 0)
        return;
    require(host.p == text.p && host.len <= text.len && port <= UINT16_MAX);
    require((host.len == 0) == (text.len == 0));
    for (size_t i = 0; i < host.len; i++)
        require(host.p[i] > 0x20 && host.p[i] < 0x7f && !strchr("/?#@\\\"<>", host.p[i]));
    require(host.len == 0 || host.p[0] == '[' || memchr(host.p, ':', host.len) == NULL);
}

static void check_html(struct mk_str text)
{
    char *out = malloc(text.len * TEXT_HTML_GROWTH + 1);
    size_t len;

    require(out != NULL);
    len = text_html(out, text);
    require(len <= text.len * TEXT_HTML_GROWTH);
    for (size_t i = 0; i < len; i++)
        require(!strchr("<>\"'", out[i]) && (unsigned char)out[i] >= 0x20);
    free(out);
}

static void check_log(struct mk_str text, size_t max)
{
    char *out = malloc(max + 1);
    size_t len;

    require(out != NULL);
    len = mk_escape_log(out, max, text);
    require(len <= max);
    for (size_t i = 0; i < len; i++)
        require(out[i] >= 0x20 && out[i] < 0x7f && out[i] != '"');
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *raw = exact_copy(data, size), *dst = exact_copy(data, size);
    struct mk_str text = {raw, size};
    size_t len = 0, same_len = 0;
    int err;

    check_authority(text);
    check_html(text);
    check_log(text, size ? data[0] : 0);
    err = mk_uri_normalise(text, dst, &len);
    require(mk_uri_normalise(text, raw, &same_len) == err);
    if (err == 0) {
        require(len <= size && same_len == len && memcmp(raw, dst, len) == 0);
        check_path(dst, len);
        check_readings(dst, len);
        check_escaped(dst, len);
    }
    free(dst);
    free(raw);
    return 0;
}
