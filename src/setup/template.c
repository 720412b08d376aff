/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "base/str.h"
#include "http/field.h"
#include "setup/settings_int.h"

#include <monkey/variables.h>

#include <stdlib.h>

/* Texts of settings with variables, taken apart: <monkey/variables.h>. */

MK_AT_START static int refuse_variable(struct mk_setup *ctx, const struct mk_setting *s,
                                       struct mk_str wrong)
{
    const char *names[MK_VARIABLE_NAMES], *near = NULL;
    int which = 0;

    do {
        near = mk_variable_next_name(near, &which);
        names[which - 1] = near;
    } while (near);
    near = mk_setup_nearest(mk_str_skip(wrong, 1), names);
    mk_fault_add(ctx->faults, &s->value_at, "%s: unknown variable \"%.*s\"%s%s%s", s->key.p,
                 wrong.len < 60 ? (int)wrong.len : 60, wrong.p,
                 near ? "; did you mean \"$" : "; monkey.conf(5) lists those there are",
                 near ? near : "", near ? "\"?" : "");
    return MK_E_INVALID;
}

/* @param text  in: the name; out: the value. Texts are copied, so that they outlive the file. */
MK_AT_START static int take_environment(struct mk_setup *ctx, const struct mk_setting *s,
                                        struct mk_str *text)
{
    struct mk_str name = mk_setup_copy(ctx, *text), value;

    if (!name.p)
        return MK_E_NOMEM;
    value = mk_str_from(getenv(name.p));
    if (value.len == 0 || value.len > MK_ENVIRONMENT_VALUE_MAX || !mk_field_is_value(value)) {
        mk_fault_add(ctx->faults, &s->value_at, "%s: ${%s} %s in the environment", s->key.p, name.p,
                     value.len == 0 ? "has no value" : "is too long or has control characters");
        return MK_E_INVALID;
    }
    *text = mk_setup_copy(ctx, value);
    return text->p ? 0 : MK_E_NOMEM;
}

MK_AT_START int mk_setup_template(struct mk_setup *ctx, const struct mk_setting *s,
                                  struct mk_str text, unsigned flags, struct mk_template *t)
{
    struct mk_template_piece read[MK_TEMPLATE_MAX], *pieces;
    struct mk_str wrong;
    int err;

    text = mk_setup_copy(ctx, text);
    if (!text.p)
        return MK_E_NOMEM;
    err = mk_template_read(read, &t->count, text, flags, &wrong);
    if (err == MK_E_NOENT)
        return refuse_variable(ctx, s, wrong);
    if (err < 0)
        return mk_setup_refuse(ctx, s, "at most 64 variables and texts between them");
    pieces = mk_setup_alloc(ctx, (t->count + 1) * sizeof(*pieces));
    if (!pieces)
        return MK_E_NOMEM;
    t->pieces = pieces;
    for (size_t i = 0; err == 0 && i < t->count; i++) {
        pieces[i] = read[i];
        if (pieces[i].which == MK_VARIABLE_ENVIRONMENT)
            err = take_environment(ctx, s, &pieces[i].text);
    }
    return err;
}

MK_AT_START struct mk_str mk_template_text(struct mk_setup *ctx, const struct mk_template *t)
{
    size_t len = 0;
    char *text;

    for (size_t i = 0; i < t->count; i++)
        len += t->pieces[i].text.len;
    text = mk_setup_alloc(ctx, len + 1);
    if (!text)
        return (struct mk_str){NULL, 0};
    len = 0;
    for (size_t i = 0; i < t->count; i++) {
        memcpy(text + len, t->pieces[i].text.p, t->pieces[i].text.len);
        len += t->pieces[i].text.len;
    }
    return (struct mk_str){text, len};
}
