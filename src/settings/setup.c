/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "settings/field.h"

#include <stdarg.h>

/* What CUSTOM parsers and a plugin's checks may do with a configuration that is being read. */

enum { MESSAGE_MAX = 1024 };

MK_AT_START void *mk_setup_settings(const struct mk_setup *setup)
{
    return setup->settings;
}

MK_AT_START void *mk_setup_alloc(struct mk_setup *setup, size_t size)
{
    return mk_arena_zalloc(setup->arena, size);
}

MK_AT_START struct mk_str mk_setup_copy(struct mk_setup *setup, struct mk_str text)
{
    char *copy = mk_arena_strdup(setup->arena, text);

    return (struct mk_str){copy, copy ? text.len : 0};
}

MK_AT_START int mk_setup_refuse(struct mk_setup *setup, const struct mk_setting *s,
                                const char *expected)
{
    mk_fault_add(setup->faults, &s->value_at, "%s: expected %s, got \"%.60s\"%s", s->key.p,
                 expected, s->value.p, mk_value_hint(s->value));
    return MK_E_INVALID;
}

MK_AT_START const char *mk_setup_nearest(struct mk_str word, const char *const *names)
{
    return mk_nearest_name(word, names);
}

static void vnote(struct mk_setup *setup, const struct mk_origin *at,
                  void (*note)(struct mk_faults *, const struct mk_origin *, const char *, ...),
                  const char *fmt, va_list args) MK_PRINTF(4, 0);
static void vnote(struct mk_setup *setup, const struct mk_origin *at,
                  void (*note)(struct mk_faults *, const struct mk_origin *, const char *, ...),
                  const char *fmt, va_list args)
{
    const char *text = mk_arena_vprintf(setup->faults->arena, fmt, args);

    if (text)
        note(setup->faults, at, "%.*s", MESSAGE_MAX, text);
    else
        setup->faults->no_memory = true;
}

MK_AT_START void mk_setup_fault(struct mk_setup *setup, const struct mk_origin *at, const char *fmt,
                                ...)
{
    va_list args;

    va_start(args, fmt);
    vnote(setup, at, mk_fault_add, fmt, args);
    va_end(args);
}

MK_AT_START void mk_setup_warn(struct mk_setup *setup, const struct mk_origin *at, const char *fmt,
                               ...)
{
    va_list args;

    va_start(args, fmt);
    vnote(setup, at, mk_fault_warn, fmt, args);
    va_end(args);
}
