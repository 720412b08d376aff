/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/explain_print.h"

#include "base/code.h"
#include "http/status.h"

enum { COLUMN = 10 }; /* where texts begin */

/* ---- for people ---- */

static void put_place(struct mk_buf *out, const char *file, unsigned line)
{
    if (file && line > 0)
        (void)mk_buf_printf(out, "  (%s:%u)", file, line);
    else if (file)
        (void)mk_buf_printf(out, "  (%s)", file);
    (void)mk_buf_append_str(out, MK_STR("\n"));
}

static void put_step(struct mk_buf *out, const struct mk_explain_step *step)
{
    const char *verdict = step->verdict ? step->verdict : "";

    (void)mk_buf_printf(out, "%-*s %s%s%s", COLUMN - 1, step->what, verdict,
                        *verdict && *step->text ? ": " : "", step->text);
    put_place(out, step->file, step->line);
}

static void put_answer(struct mk_buf *out, const struct mk_explain *e)
{
    const struct mk_str reason = mk_status_reason(e->status);

    (void)mk_buf_printf(out, "%-*s ", COLUMN - 1, "answer");
    if (e->is_open)
        (void)mk_buf_append_str(out, MK_STR("what its handler says\n"));
    else if (e->status == 0)
        (void)mk_buf_append_str(out, MK_STR("none\n"));
    else
        (void)mk_buf_printf(out, "%u %.*s\n", e->status, (int)reason.len, reason.p);
}

MK_AT_START void mk_explain_print(struct mk_buf *out, const struct mk_explain *e,
                                  const struct mk_explain_asked *asked)
{
    (void)mk_buf_printf(out, "%s %s, from %s\n\n", asked->method, asked->url, asked->from);
    for (const struct mk_explain_step *step = e->first; step; step = step->next)
        put_step(out, step);
    put_answer(out, e);
    for (const struct mk_explain_field *field = e->fields; field; field = field->next) {
        (void)mk_buf_printf(out, "%*s %s: %s", COLUMN - 1, "", field->name, field->value);
        put_place(out, field->file, field->line);
    }
}

/* ---- for programs ---- */

/* All texts are printable ASCII: RFC 8259 section 7 wants no other escapes. */
static void put_string(struct mk_buf *out, const char *text)
{
    (void)mk_buf_append_str(out, MK_STR("\""));
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            (void)mk_buf_append(out, "\\", 1);
        (void)mk_buf_append(out, text, 1);
    }
    (void)mk_buf_append_str(out, MK_STR("\""));
}

/* @param before  what stands in front of the member: "{", ",", "" */
static void put_member(struct mk_buf *out, const char *before, const char *name, const char *value)
{
    (void)mk_buf_printf(out, "%s\"%s\":", before, name);
    if (value)
        put_string(out, value);
    else
        (void)mk_buf_append_str(out, MK_STR("null"));
}

static void put_json_place(struct mk_buf *out, const char *file, unsigned line)
{
    put_member(out, ",", "file", file);
    if (line > 0)
        (void)mk_buf_printf(out, ",\"line\":%u}", line);
    else
        (void)mk_buf_append_str(out, MK_STR(",\"line\":null}"));
}

static void put_json_steps(struct mk_buf *out, const struct mk_explain *e)
{
    const char *before = "[{";

    (void)mk_buf_append_str(out, MK_STR(",\n\"steps\":"));
    for (const struct mk_explain_step *step = e->first; step; step = step->next) {
        put_member(out, before, "step", step->what);
        put_member(out, ",", "verdict", step->verdict);
        put_member(out, ",", "text", step->text);
        put_json_place(out, step->file, step->line);
        before = ",\n{";
    }
    (void)mk_buf_append_str(out, e->first ? MK_STR("]") : MK_STR("[]"));
}

static void put_json_fields(struct mk_buf *out, const struct mk_explain *e)
{
    const char *before = "[{";

    (void)mk_buf_append_str(out, MK_STR(",\n\"fields\":"));
    for (const struct mk_explain_field *field = e->fields; field; field = field->next) {
        put_member(out, before, "name", field->name);
        put_member(out, ",", "value", field->value);
        put_json_place(out, field->file, field->line);
        before = ",\n{";
    }
    (void)mk_buf_append_str(out, e->fields ? MK_STR("]") : MK_STR("[]"));
}

MK_AT_START void mk_explain_print_json(struct mk_buf *out, const struct mk_explain *e,
                                       const struct mk_explain_asked *asked)
{
    put_member(out, "{", "method", asked->method);
    put_member(out, ",", "url", asked->url);
    put_member(out, ",", "from", asked->from);
    put_json_steps(out, e);
    if (e->status > 0 && !e->is_open)
        (void)mk_buf_printf(out, ",\n\"status\":%u", e->status);
    else
        (void)mk_buf_append_str(out, MK_STR(",\n\"status\":null"));
    (void)mk_buf_printf(out, ",\"handler\":%s", e->is_open ? "true" : "false");
    put_json_fields(out, e);
    (void)mk_buf_append_str(out, MK_STR("}\n"));
}
