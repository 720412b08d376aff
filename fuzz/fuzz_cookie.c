/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <monkey/web/cookie.h>

/*
 * Any bytes as a Cookie field: names and values lie within it in order. What can be written as a cookie is read back the same.
 */

static void write_back(struct mk_str name, struct mk_str value)
{
    const struct mk_cookie cookie = {
        .size = sizeof(cookie), .name = name, .value = value, .secure = true};
    char text[2 * MK_COOKIE_PAIR];
    ssize_t len = mk_cookie_write(text, sizeof(text), &cookie, NULL);
    struct mk_str rest = {text, (size_t)len}, same_name, same_value;

    if (len < 0)
        return;
    require(mk_cookie_next(&rest, &same_name, &same_value));
    require(same_name.len == name.len && memcmp(same_name.p, name.p, name.len) == 0);
    require(same_value.len == value.len &&
            (value.len == 0 || memcmp(same_value.p, value.p, value.len) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = exact_copy(data, size);
    struct mk_str rest = {text, size}, name, value;

    for (const char *at = text; mk_cookie_next(&rest, &name, &value); at = value.p + value.len) {
        require(name.p >= at && value.p >= name.p && value.p + value.len <= text + size);
        require(!memchr(value.p, ';', value.len));
        write_back(name, value);
    }
    free(text);
    return 0;
}
