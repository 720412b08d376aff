/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/session/session_values.h"

#include "kit/sessions/sessions.h"
#include "objects/session/session_value.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 256 << 10 }; /* of all names and values of one session */

void mk_duda_session_values_remove(struct mk_duda_session_values *values,
                                   struct mk_duda_session_value **at)
{
    struct mk_duda_session_value *value = *at;

    *at = value->next;
    values->n--;
    values->bytes -= value->bytes;
    explicit_bzero(value->name, value->bytes);
    free(value);
}

static struct mk_duda_session_value *new_value(const char *name, const char *text, int64_t expires)
{
    char prefix[MK_DUDA_SESSION_PREFIX_MAX];
    const size_t n = strlen(name) + 1, len = strlen(text) + 1;
    const size_t before = mk_duda_session_value_prefix(prefix, expires), bytes = n + before + len;
    struct mk_duda_session_value *value = malloc(sizeof(*value) + bytes);

    if (!value)
        return NULL;
    *value = (struct mk_duda_session_value){.expires = expires, .bytes = bytes};
    memcpy(value->name, name, n);
    value->field = value->name + n;
    value->text = value->field + before;
    memcpy(value->name + n, prefix, before);
    memcpy(value->name + n + before, text, len);
    return value;
}

struct mk_duda_session_value **mk_duda_session_values_find(struct mk_duda_session_values *values,
                                                           const char *name, int64_t now)
{
    struct mk_duda_session_value **at = &values->first;

    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    if (*at && (*at)->expires && (*at)->expires <= now) {
        mk_duda_session_values_remove(values, at);
        while (*at)
            at = &(*at)->next;
    }
    return at;
}

int mk_duda_session_values_add(struct mk_duda_session_values *values, const char *name,
                               const char *text, int64_t expires, int64_t now)
{
    struct mk_duda_session_value **old = mk_duda_session_values_find(values, name, now), *value;
    const size_t len = strlen(name) + strlen(text);

    if (len > SESSION_VALUE_MAX || values->bytes + len > BYTES_MAX ||
        (!*old && values->n >= SESSION_NAMES_MAX))
        return -1;
    value = new_value(name, text, expires);
    if (!value)
        return -1;
    value->state = !*old || (*old)->state == MK_DUDA_SESSION_VALUE_NEW
                       ? MK_DUDA_SESSION_VALUE_NEW
                       : MK_DUDA_SESSION_VALUE_CHANGED;
    value->origin = !*old || (*old)->origin == MK_DUDA_SESSION_ORIGIN_OWN
                        ? MK_DUDA_SESSION_ORIGIN_OWN
                        : MK_DUDA_SESSION_ORIGIN_CHANGED;
    if (*old)
        mk_duda_session_values_remove(values, old);
    value->next = values->first;
    values->first = value;
    values->n++;
    values->bytes += value->bytes;
    return 0;
}

int64_t mk_duda_session_values_ttl(const struct mk_duda_session_values *values, int64_t now,
                                   bool *is_idle)
{
    int64_t ttl = 1;

    *is_idle = false;
    for (const struct mk_duda_session_value *value = values->first; value; value = value->next) {
        const int64_t left = value->expires ? value->expires - now : SESSION_IDLE_S;

        *is_idle = *is_idle || !value->expires;
        ttl = left > ttl ? left : ttl;
    }
    return ttl;
}

void mk_duda_session_values_clear(struct mk_duda_session_values *values)
{
    while (values->first)
        mk_duda_session_values_remove(values, &values->first);
}
