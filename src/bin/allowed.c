/* SPDX-License-Identifier: Apache-2.0 */
#include "allowed.h"

#include <stdlib.h>

static bool make_room(struct mk_allowed *a, size_t more)
{
    size_t room = a->room ? a->room : 1024;
    char *text;

    while (room < a->len + more)
        room *= 2;
    if (room > MK_ALLOWED_BYTES_MAX)
        return false;
    if (room == a->room)
        return true;
    text = realloc(a->text, room);
    if (!text)
        return false;
    a->text = text;
    a->room = room;
    return true;
}

void mk_allowed_add(void *allowed, enum mk_resource kind, const char *name)
{
    struct mk_allowed *a = allowed;
    size_t len = strlen(name) + 1;

    if (len > MK_ALLOWED_BYTES_MAX / 2 || !make_room(a, len + 1)) {
        a->incomplete = true;
        return;
    }
    a->text[a->len] = (char)kind;
    memcpy(a->text + a->len + 1, name, len);
    a->len += len + 1;
}

/* The entry after at; at the end NULL. */
static const char *next(const struct mk_allowed *a, const char *at)
{
    if (a->len == 0)
        return NULL;
    at = at ? at + strlen(at + 1) + 2 : a->text;
    return at == a->text + a->len ? NULL : at;
}

void mk_allowed_each(const struct mk_allowed *allowed, enum mk_resource kind,
                     void (*fn)(const char *name))
{
    for (const char *at = next(allowed, NULL); at; at = next(allowed, at)) {
        if (*at == (char)kind)
            fn(at + 1);
    }
}

bool mk_allowed_has(const struct mk_allowed *allowed, enum mk_resource kind, const char *name)
{
    for (const char *at = next(allowed, NULL); at; at = next(allowed, at)) {
        if (*at == (char)kind && strcmp(at + 1, name) == 0)
            return true;
    }
    return false;
}

void mk_allowed_fini(struct mk_allowed *allowed)
{
    free(allowed->text);
    *allowed = (struct mk_allowed){0};
}
