/* SPDX-License-Identifier: Apache-2.0 */
#include "json/tree.h"

#include <limits.h>

/* RFC 6901: a slash and a token for each level; in a token ~1 is a slash, ~0 a tilde. */

/* @return whether the token of len bytes stands for this key */
static bool names(const char *token, size_t len, const char *key)
{
    for (const char *end = token + len; token < end; token++, key++) {
        char c = *token;

        if (c == '~') {
            if (++token == end || (*token != '0' && *token != '1'))
                return false;
            c = *token == '0' ? '~' : '/';
        }
        if (*key != c)
            return false;
    }
    return *key == '\0';
}

/* @return the index; -1: it is none, as one with a leading zero is */
static int index_of(const char *token, size_t len)
{
    int index = 0;

    if (len == 0 || (len > 1 && *token == '0'))
        return -1;
    for (size_t i = 0; i < len; i++) {
        const int digit = token[i] - '0';

        if (digit < 0 || digit > 9 || index > (INT_MAX - digit) / 10)
            return -1;
        index = index * 10 + digit;
    }
    return index;
}

static json_t *step(json_t *list, const char *token, size_t len)
{
    json_t *item = list->child;

    if ((list->type & JSON_TYPE) == cJSON_Array)
        return json_item(list, index_of(token, len));
    if ((list->type & JSON_TYPE) != cJSON_Object)
        return NULL;
    while (item && (!item->string || !names(token, len, item->string)))
        item = item->next;
    return item;
}

json_t *json_pointer(json_t *item, const char *path)
{
    if (!path)
        return NULL;
    while (item && *path == '/') {
        const size_t len = strcspn(++path, "/");

        item = step(item, path, len);
        path += len;
    }
    return *path == '\0' ? item : NULL;
}
