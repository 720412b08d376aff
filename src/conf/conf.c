/* SPDX-License-Identifier: Apache-2.0 */
#include "conf/conf.h"

#include "base/code.h"
#include "base/limits.h"
#include "base/str.h"
#include "conf/file_int.h"
#include "conf/include_int.h"
#include "conf/scan_int.h"

#include <stdio.h>
#include <unistd.h>

enum {
    BINARY_LINES = 10, /* lines with control bytes after which a file is taken for binary */
    QUOTED = 60,       /* bytes of somebody's text that a message repeats */
};

#define QUOTE(s) (int)((s).len < QUOTED ? (s).len : QUOTED), (s).p, ((s).len < QUOTED ? "" : "...")

/* What all files of one call share. */
struct reader {
    struct mk_tree *tree;
    struct mk_faults *faults;
    const struct mk_conf_host *host;
    size_t *seen;
};

/* One file being read. */
struct source {
    const struct reader *all;
    const struct source *from; /* the file that includes this one */
    unsigned depth;            /* files above this one */
    struct mk_conf_file file;
    struct mk_str dir; /* where its includes start; {NULL, 0}: it may have none */
    struct mk_scan scan;
    struct mk_origin at; /* the line being read; the column is that of the last place() */
    struct mk_section *section;
    bool skips;           /* no usable section head yet, and a fault said so */
    struct mk_str indent; /* of the first indented line; empty before it */
    unsigned indent_line;
    unsigned binary_lines;
};

/* @return the origin of a byte of the line, good until the next call. */
static const struct mk_origin *place(struct source *src, const char *p)
{
    src->at.column = (unsigned)(p - src->at.text.p) + 1;
    return &src->at;
}

/* A head that cannot be used: what follows it would only make more faults. */
static void skip_section(struct source *src)
{
    src->section = NULL;
    src->skips = true;
}

/* @return whether the line is text of a sane length. */
static bool check_bytes(struct source *src)
{
    struct mk_str line = src->at.text;
    size_t bad = mk_scan_bad_byte(line);

    if (line.len > MK_LIMIT_CONF_LINE) {
        mk_fault_add(src->all->faults, place(src, line.p + MK_LIMIT_CONF_LINE),
                     "line of %zu bytes; expected at most %d", line.len, MK_LIMIT_CONF_LINE);
    } else if (bad < line.len) {
        src->binary_lines++;
        mk_fault_add(src->all->faults, place(src, line.p + bad),
                     "control byte 0x%02x; expected text%s", (unsigned char)line.p[bad],
                     src->binary_lines < BINARY_LINES ? ""
                                                      : " (the rest of this file is not read)");
    } else {
        return true;
    }
    if (line.p[0] == '[')
        skip_section(src);
    return false;
}

static int read_head(struct source *src, const char *open)
{
    struct mk_faults *faults = src->all->faults;
    struct mk_str line = src->at.text;
    const char *end = line.p + line.len;
    const char *close = memchr(open, ']', (size_t)(end - open));
    const char *stop = close ? close : end;
    struct mk_str name = mk_str_trim((struct mk_str){open + 1, (size_t)(stop - open) - 1});
    struct mk_str after = mk_str_trim(mk_str_skip(line, (size_t)(stop - line.p) + 1));

    if (open > line.p)
        mk_fault_add(faults, place(src, open),
                     "indented section head; expected it in the first column");
    if (!close)
        mk_fault_add(faults, place(src, end), "section head without end; expected \"]\"");
    else if (after.len > 0)
        mk_fault_add(faults, place(src, after.p),
                     "text after a section head; expected nothing after \"]\"");
    if (name.len == 0) {
        mk_fault_add(faults, place(src, open),
                     "empty section name; expected a name such as [SERVER]");
        skip_section(src);
        return 0;
    }
    src->section = mk_tree_add_section(src->all->tree, name, place(src, open));
    return src->section ? 0 : MK_E_NOMEM;
}

/* "4 spaces", in a buffer of the caller's. */
static const char *describe_indent(struct mk_str indent, char *text, size_t size)
{
    const char *kind = indent.p[0] == '\t' ? "tab" : "space";

    for (size_t i = 1; i < indent.len; i++) {
        if (indent.p[i] != indent.p[0])
            return "a mixture of tabs and spaces";
    }
    (void)snprintf(text, size, "%zu %s%s", indent.len, kind, indent.len == 1 ? "" : "s");
    return text;
}

static void check_indent(struct source *src, struct mk_str indent)
{
    char found[32], expected[32];

    if (src->indent.len == 0) {
        src->indent = indent;
        src->indent_line = src->at.line;
    } else if (!mk_str_eq(indent, src->indent)) {
        mk_fault_add(src->all->faults, place(src, indent.p + indent.len),
                     "indented by %s; expected %s as in line %u",
                     describe_indent(indent, found, sizeof(found)),
                     describe_indent(src->indent, expected, sizeof(expected)), src->indent_line);
    }
}

/* Where a comment would be a part of the value. It is cut off, so that the rest is judged. */
static void refuse_comment(struct source *src, struct mk_str *value)
{
    const size_t at = mk_scan_comment(*value);

    if (at == value->len)
        return;
    mk_fault_add(src->all->faults, place(src, value->p + at),
                 "a comment needs a line of its own; write \\# for a # that belongs to the value");
    *value = mk_str_trim((struct mk_str){value->p, at});
}

static int add_setting(struct source *src, const struct mk_conf_line *parts)
{
    struct mk_origin key_at = *place(src, parts->key.p);
    const struct mk_str value = mk_scan_unescape(parts->value, src->all->tree->arena);

    return value.p && mk_tree_add(src->all->tree, src->section, parts->key, value, &key_at,
                                  place(src, parts->value.p))
               ? 0
               : MK_E_NOMEM;
}

/* A key that is not indented still counts, so that its own faults are found in the same run. */
static int read_setting(struct source *src, const struct mk_conf_line *parts)
{
    const struct mk_origin *at = place(src, parts->key.p);

    if (parts->indent.len == 0)
        mk_fault_add(
            src->all->faults, at,
            "\"%.*s%s\" is not indented; expected a [SECTION], a # comment or an indented key",
            QUOTE(parts->key));
    if (src->section)
        return add_setting(src, parts);
    if (parts->indent.len > 0 && !src->skips) {
        mk_fault_add(src->all->faults, at,
                     "\"%.*s%s\" comes before any section; expected a [SECTION] first",
                     QUOTE(parts->key));
        src->skips = true; /* one fault is enough until the next head */
    }
    return 0;
}

static int read_path(const struct reader *all, const struct source *from,
                     const struct mk_origin *at, const char *path);

static int include_glob(struct source *src, struct mk_str pattern)
{
    struct mk_faults *faults = src->all->faults;
    const struct mk_origin *at = place(src, pattern.p);
    const char *const *paths = NULL;
    int n = mk_include_expand(src->all->tree->arena, src->dir, pattern, &paths);
    int err = 0;

    if (n == MK_E_ACCESS) {
        mk_fault_add(faults, at, "cannot search for \"%.*s%s\"; expected a readable directory",
                     QUOTE(pattern));
        return 0;
    }
    if (n == 0)
        mk_fault_warn(faults, at, "no file matches \"%.*s%s\"", QUOTE(pattern));
    for (int i = 0; i < n && err == 0; i++)
        err = read_path(src->all, src, at, paths[i]);
    return n < 0 ? n : err;
}

static int read_include(struct source *src, struct mk_str what)
{
    struct mk_faults *faults = src->all->faults;
    const struct mk_origin *at = place(src, what.p);
    const char *path;

    if (what.len == 0) {
        mk_fault_add(faults, at, "@INCLUDE of nothing; expected a path");
    } else if (!src->dir.p) {
        mk_fault_add(faults, at, "@INCLUDE is not possible here; expected settings only");
    } else if (src->depth + 1 >= MK_LIMIT_CONF_DEPTH) {
        mk_fault_add(faults, at, "@INCLUDE inside %d files; expected fewer", MK_LIMIT_CONF_DEPTH);
    } else if (mk_include_is_glob(what)) {
        return include_glob(src, what);
    } else {
        path = mk_include_path(src->all->tree->arena, src->dir, what);
        return path ? read_path(src->all, src, at, path) : MK_E_NOMEM;
    }
    return 0;
}

static int read_line(struct source *src)
{
    struct mk_conf_line parts;

    if (!check_bytes(src) || !mk_scan_parts(src->at.text, &parts))
        return 0;
    if (parts.key.p[0] == '[')
        return read_head(src, parts.key.p);
    if (parts.indent.len > 0)
        check_indent(src, parts.indent);
    refuse_comment(src, &parts.value);
    if (mk_str_ieq(parts.key, MK_STR("@INCLUDE")))
        return read_include(src, parts.value);
    if (parts.key.p[0] != '@')
        return read_setting(src, &parts);
    mk_fault_add(src->all->faults, place(src, parts.key.p),
                 "unknown directive \"%.*s%s\"; expected @INCLUDE", QUOTE(parts.key));
    return 0;
}

static int read_source(struct source *src, struct mk_str text)
{
    int err = 0;

    mk_scan_init(&src->scan, text);
    while (err == 0 && src->binary_lines < BINARY_LINES &&
           mk_scan_line(&src->scan, &src->at.text)) {
        src->at.line = src->scan.line;
        err = read_line(src);
    }
    return err;
}

static bool is_being_read(const struct source *src, const struct mk_conf_file *file)
{
    while (src && (src->file.dev != file->dev || src->file.ino != file->ino))
        src = src->from;
    return src;
}

/* The file is closed before its lines are read: a deep nest of includes holds one descriptor. */
static int load(struct source *src, struct mk_str *text, const char **why)
{
    int err = mk_conf_file_open(src->all->host, src->at.file, &src->file, why);

    if (err < 0)
        return err;
    if (is_being_read(src->from, &src->file)) {
        *why = "@INCLUDE leads back to this file";
        err = MK_E_INVALID;
    } else {
        err = mk_conf_file_load(&src->file, src->all->tree->arena, text, why);
    }
    (void)close(src->file.fd);
    return err;
}

/* path lives in the arena; at is where it was asked for. */
MK_AT_START static int read_path(const struct reader *all, const struct source *from,
                                 const struct mk_origin *at, const char *path)
{
    struct source src = {.all = all, .from = from, .depth = from ? from->depth + 1 : 0};
    struct mk_str text;
    const char *why = "a configuration has at most 4096 files";
    int err = *all->seen < MK_LIMIT_CONF_FILES ? 0 : MK_E_LIMIT;

    *all->seen += 1;
    src.at.file = path;
    src.dir = mk_include_dir(path);
    if (err == 0)
        err = load(&src, &text, &why);
    why = err == 0 ? mk_scan_foreign(text) : why;
    if (err == 0 && !why)
        return read_source(&src, text);
    if (err == MK_E_NOMEM)
        return err;
    if (err == 0)
        mk_fault_add(all->faults, &src.at, "this file was written for %s", why);
    else if (*all->seen <= MK_LIMIT_CONF_FILES + 1) /* one fault for all the others */
        mk_fault_add(all->faults, at, "cannot read \"%s\": %s", path, why);
    return 0;
}

int mk_conf_read_file(struct mk_tree *tree, struct mk_faults *faults, const char *path,
                      const struct mk_conf_host *host, size_t *seen)
{
    size_t own_seen = 0;
    struct reader all = {tree, faults, host, seen ? seen : &own_seen};
    const char *name = mk_arena_strdup(tree->arena, mk_str_from(path));
    struct mk_origin at = {.file = name};

    return name ? read_path(&all, NULL, &at, name) : MK_E_NOMEM;
}

int mk_conf_read_text(struct mk_tree *tree, struct mk_faults *faults, struct mk_str text,
                      const char *name, const char *dir, const struct mk_conf_host *host)
{
    size_t seen = 0;
    struct reader all = {tree, faults, host, &seen};
    struct source src = {.all = &all};
    const char *copy = mk_arena_strdup(tree->arena, text);

    src.at.file = mk_arena_strdup(tree->arena, mk_str_from(name));
    if (!copy || !src.at.file)
        return MK_E_NOMEM;
    if (dir) {
        src.dir = mk_str_from(mk_arena_printf(tree->arena, "%s%s", dir, *dir ? "/" : ""));
        if (!src.dir.p)
            return MK_E_NOMEM;
    }
    return read_source(&src, (struct mk_str){copy, text.len});
}
