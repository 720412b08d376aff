/* SPDX-License-Identifier: Apache-2.0 */
#include "settings/fault.h"

#include "base/code.h"
#include "base/buf.h"
#include "base/limits.h"

#include <stdarg.h>

enum {
    SHOWN_BEFORE = 60, /* bytes of a long line shown before the column... */
    SHOWN_AFTER = 40,  /* ...and from it on */
};

void mk_faults_init(struct mk_faults *f, struct mk_arena *arena)
{
    *f = (struct mk_faults){.arena = arena};
}

static void note(struct mk_faults *f, const struct mk_origin *at, bool is_warning, const char *fmt,
                 va_list args) MK_PRINTF(4, 0);
MK_AT_START static void note(struct mk_faults *f, const struct mk_origin *at, bool is_warning,
                             const char *fmt, va_list args)
{
    struct mk_fault *fault;

    *(is_warning ? &f->warnings : &f->count) += 1;
    if (f->count + f->warnings > MK_LIMIT_CONF_FAULTS)
        return;
    fault = mk_arena_zalloc(f->arena, sizeof(*fault));
    if (fault)
        fault->message = mk_arena_vprintf(f->arena, fmt, args);
    if (!fault || !fault->message) {
        f->no_memory = true;
        return;
    }
    fault->is_warning = is_warning;
    if (at)
        fault->at = *at;
    if (f->last)
        f->last->next = fault;
    else
        f->first = fault;
    f->last = fault;
}

MK_AT_START void mk_fault_add(struct mk_faults *f, const struct mk_origin *at, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    note(f, at, false, fmt, args);
    va_end(args);
}

MK_AT_START void mk_fault_warn(struct mk_faults *f, const struct mk_origin *at, const char *fmt,
                               ...)
{
    va_list args;

    va_start(args, fmt);
    note(f, at, true, fmt, args);
    va_end(args);
}

/* Append with what a terminal could take for a command escaped. */
static void append_safe(struct mk_buf *b, struct mk_str s, bool ascii_only)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c == '\t')
            (void)mk_buf_append(b, " ", 1); /* one byte, one column: the caret stays below */
        else if (c < 0x20 || c == 0x7f || (ascii_only && c > 0x7f))
            (void)mk_buf_printf(b, "\\x%02x", c);
        else
            (void)mk_buf_append(b, &s.p[i], 1);
    }
}

static void append_place(struct mk_buf *b, const struct mk_origin *at)
{
    if (!at->file)
        return;
    append_safe(b, mk_str_from(at->file), false);
    if (at->line > 0)
        (void)mk_buf_printf(b, ":%u", at->line);
    if (at->line > 0 && at->column > 0)
        (void)mk_buf_printf(b, ":%u", at->column);
    (void)mk_buf_append(b, ": ", 2);
}

/* The line, clipped round the column, and a caret below. */
static void append_line(struct mk_buf *b, const struct mk_origin *at)
{
    const struct mk_str line = at->text;
    size_t start = b->len, column = at->column > 0 ? at->column - 1 : 0, from, to, width;

    if (column > line.len)
        column = line.len;
    from = column > SHOWN_BEFORE ? column - SHOWN_BEFORE : 0;
    to = line.len - column > SHOWN_AFTER ? column + SHOWN_AFTER : line.len;
    if (from > 0)
        (void)mk_buf_append(b, "...", 3);
    append_safe(b, (struct mk_str){line.p + from, column - from}, true);
    width = b->len - start;
    append_safe(b, (struct mk_str){line.p + column, to - column}, true);
    (void)mk_buf_append(b, to < line.len ? "...\n" : "\n", to < line.len ? 4 : 1);
    if (at->column > 0)
        (void)mk_buf_printf(b, "%*s^\n", (int)width, "");
}

char *mk_fault_text(const struct mk_fault *fault, struct mk_arena *arena)
{
    struct mk_buf b;
    char *text;

    mk_buf_init(&b, MK_LIMIT_FAULT_TEXT);
    append_place(&b, &fault->at);
    (void)mk_buf_printf(&b, "%s: ", fault->is_warning ? "warning" : "error");
    append_safe(&b, mk_str_from(fault->message), false);
    (void)mk_buf_append(&b, "\n", 1);
    if (fault->at.text.len > 0)
        append_line(&b, &fault->at);
    text = b.error ? NULL : mk_arena_strdup(arena, mk_buf_str(&b));
    mk_buf_fini(&b);
    return text;
}
