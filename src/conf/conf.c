/* SPDX-License-Identifier: Apache-2.0 */
#include "conf/conf.h"

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
    const struct source *from; /* the file that includes this one */
    unsigned depth;            /* files above this one */
    struct mk_conf_file file;
    const char *name;  /* for messages */
    struct mk_str dir; /* where its includes start; {NULL, 0}: it may have none */
    struct mk_section *section;
    bool skips;           /* no usable section head yet, and a fault said so */
    struct mk_str indent; /* of the first indented line; empty before it */
    unsigned indent_line;
    unsigned binary_lines;
};

static struct mk_origin origin_at(const struct source *src, const struct mk_scan *scan,
                                  struct mk_str line, const char *p)
{
    return (struct mk_origin){src->name, scan->line, (unsigned)(p - line.p) + 1, line};
}

/* A head that cannot be used: what follows it would only make more faults. */
static void skip_section(struct source *src)
{
    src->section = NULL;
    src->skips = true;
}

/* @return whether the line is text of a sane length. */
static bool check_bytes(struct reader *r, struct source *src, const struct mk_scan *scan,
                        struct mk_str line)
{
    size_t bad = mk_scan_bad_byte(line);
    struct mk_origin at = origin_at(src, scan, line, line.p + bad);

    if (line.len > MK_LIMIT_CONF_LINE) {
        at.column = MK_LIMIT_CONF_LINE + 1;
        mk_fault_add(r->faults, &at, "line of %zu bytes; expected at most %d", line.len,
                     MK_LIMIT_CONF_LINE);
    } else if (bad < line.len) {
        src->binary_lines++;
        mk_fault_add(
            r->faults, &at, "control byte 0x%02x; expected text%s", (unsigned char)line.p[bad],
            src->binary_lines < BINARY_LINES ? "" : " (the rest of this file is not read)");
    } else {
        return true;
    }
    if (line.p[0] == '[')
        skip_section(src);
    return false;
}

static int read_head(struct reader *r, struct source *src, const struct mk_scan *scan,
                     struct mk_str line)
{
    const char *open = memchr(line.p, '[', line.len);
    struct mk_str rest = mk_str_skip(line, (size_t)(open - line.p) + 1);
    const char *close = memchr(rest.p, ']', rest.len);
    struct mk_str name =
        mk_str_trim((struct mk_str){rest.p, close ? (size_t)(close - rest.p) : rest.len});
    struct mk_origin at = origin_at(src, scan, line, open);

    if (open > line.p)
        mk_fault_add(r->faults, &at, "indented section head; expected it in the first column");
    if (!close) {
        struct mk_origin end = origin_at(src, scan, line, line.p + line.len);

        mk_fault_add(r->faults, &end, "section head without end; expected \"]\"");
    } else {
        struct mk_str after = mk_str_trim(mk_str_skip(rest, (size_t)(close - rest.p) + 1));
        struct mk_origin there = origin_at(src, scan, line, after.p);

        if (after.len > 0)
            mk_fault_add(r->faults, &there,
                         "text behind a section head; expected nothing after \"]\"");
    }
    if (name.len == 0) {
        mk_fault_add(r->faults, &at, "empty section name; expected a name such as [SERVER]");
        skip_section(src);
        return 0;
    }
    src->section = mk_tree_add_section(r->tree, name, &at);
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

static void check_indent(struct reader *r, struct source *src, const struct mk_scan *scan,
                         struct mk_str line, struct mk_str indent)
{
    struct mk_origin at = origin_at(src, scan, line, line.p + indent.len);
    char found[32], expected[32];

    if (src->indent.len == 0) {
        src->indent = indent;
        src->indent_line = scan->line;
    } else if (!mk_str_eq(indent, src->indent)) {
        mk_fault_add(r->faults, &at, "indented by %s; expected %s as in line %u",
                     describe_indent(indent, found, sizeof(found)),
                     describe_indent(src->indent, expected, sizeof(expected)), src->indent_line);
    }
}

static int read_setting(struct reader *r, struct source *src, const struct mk_scan *scan,
                        struct mk_str line, const struct mk_conf_line *parts)
{
    struct mk_origin key_at = origin_at(src, scan, line, parts->key.p);
    struct mk_origin value_at = origin_at(src, scan, line, parts->value.p);

    if (parts->indent.len == 0)
        mk_fault_add(
            r->faults, &key_at,
            "\"%.*s%s\" is not indented; expected a [SECTION], a # comment or an indented key",
            QUOTE(parts->key));
    if (src->section)
        return mk_tree_add(r->tree, src->section, parts->key, parts->value, &key_at, &value_at)
                   ? 0
                   : MK_E_NOMEM;
    if (!src->skips && parts->indent.len > 0)
        mk_fault_add(r->faults, &key_at,
                     "\"%.*s%s\" comes before any section; expected a [SECTION] first",
                     QUOTE(parts->key));
    if (parts->indent.len > 0)
        src->skips = true; /* one fault is enough until the next head */
    return 0;
}

static int read_path(struct reader *r, const struct source *from, const struct mk_origin *at,
                     const char *path);

static int include_glob(struct reader *r, const struct source *src, const struct mk_origin *at,
                        struct mk_str pattern)
{
    const char *const *paths = NULL;
    int n = mk_include_expand(r->tree->arena, src->dir, pattern, &paths);
    int err = 0;

    if (n == MK_E_ACCESS) {
        mk_fault_add(r->faults, at, "cannot search for \"%.*s%s\"; expected a readable directory",
                     QUOTE(pattern));
        return 0;
    }
    if (n == 0)
        mk_fault_warn(r->faults, at, "no file matches \"%.*s%s\"", QUOTE(pattern));
    for (int i = 0; i < n && err == 0; i++)
        err = read_path(r, src, at, paths[i]);
    return n < 0 ? n : err;
}

static int read_include(struct reader *r, const struct source *src, const struct mk_scan *scan,
                        struct mk_str line, const struct mk_conf_line *parts)
{
    struct mk_origin at = origin_at(src, scan, line, parts->value.p);
    const char *path;

    if (parts->value.len == 0)
        mk_fault_add(r->faults, &at, "@INCLUDE of nothing; expected a path");
    else if (!src->dir.p)
        mk_fault_add(r->faults, &at, "@INCLUDE is not possible here; expected settings only");
    else if (src->depth + 1 >= MK_LIMIT_CONF_DEPTH)
        mk_fault_add(r->faults, &at, "@INCLUDE inside %d files; expected fewer",
                     MK_LIMIT_CONF_DEPTH);
    else if (mk_include_is_glob(parts->value))
        return include_glob(r, src, &at, parts->value);
    else {
        path = mk_include_path(r->tree->arena, src->dir, parts->value);
        return path ? read_path(r, src, &at, path) : MK_E_NOMEM;
    }
    return 0;
}

static int read_line(struct reader *r, struct source *src, const struct mk_scan *scan,
                     struct mk_str line)
{
    struct mk_conf_line parts;

    if (!check_bytes(r, src, scan, line) || !mk_scan_parts(line, &parts))
        return 0;
    if (parts.key.p[0] == '[')
        return read_head(r, src, scan, line);
    if (parts.indent.len > 0)
        check_indent(r, src, scan, line, parts.indent);
    if (mk_str_ieq(parts.key, MK_STR("@INCLUDE")))
        return read_include(r, src, scan, line, &parts);
    if (parts.key.p[0] == '@') {
        struct mk_origin at = origin_at(src, scan, line, parts.key.p);

        mk_fault_add(r->faults, &at, "unknown directive \"%.*s%s\"; expected @INCLUDE",
                     QUOTE(parts.key));
        return 0;
    }
    return read_setting(r, src, scan, line, &parts);
}

static int read_source(struct reader *r, struct source *src, struct mk_str text)
{
    struct mk_scan scan;
    struct mk_str line;
    int err = 0;

    mk_scan_init(&scan, text);
    while (err == 0 && src->binary_lines < BINARY_LINES && mk_scan_line(&scan, &line))
        err = read_line(r, src, &scan, line);
    return err;
}

static bool is_being_read(const struct source *src, const struct mk_conf_file *file)
{
    while (src && (src->file.dev != file->dev || src->file.ino != file->ino))
        src = src->from;
    return src;
}

/* The file is closed before its lines are read: a deep nest of includes holds one descriptor. */
static int load(struct reader *r, struct source *src, struct mk_str *text, const char **why)
{
    int err = mk_conf_file_open(r->host, src->name, &src->file, why);

    if (err < 0)
        return err;
    if (is_being_read(src->from, &src->file)) {
        *why = "it is being read already, @INCLUDE goes in a circle";
        err = MK_E_INVALID;
    } else {
        err = mk_conf_file_load(&src->file, r->tree->arena, text, why);
    }
    (void)close(src->file.fd);
    return err;
}

/* path lives in the arena; at is where it was asked for. */
static int read_path(struct reader *r, const struct source *from, const struct mk_origin *at,
                     const char *path)
{
    struct source src = {.from = from, .name = path, .depth = from ? from->depth + 1 : 0};
    struct mk_str text;
    const char *why = "there are too many configuration files";
    int err = *r->seen < MK_LIMIT_CONF_FILES ? 0 : MK_E_LIMIT;

    *r->seen += 1;
    src.dir = mk_include_dir(path);
    if (err == 0)
        err = load(r, &src, &text, &why);
    if (err == MK_E_NOMEM)
        return err;
    if (err == 0)
        return read_source(r, &src, text);
    mk_fault_add(r->faults, at, "cannot read \"%s\": %s", path, why);
    return 0;
}

int mk_conf_read_file(struct mk_tree *tree, struct mk_faults *faults, const char *path,
                      const struct mk_conf_host *host, size_t *seen)
{
    size_t own_seen = 0;
    struct reader r = {tree, faults, host, seen ? seen : &own_seen};
    const char *name = mk_arena_strdup(tree->arena, mk_str_from(path));
    struct mk_origin at = {.file = name};

    return name ? read_path(&r, NULL, &at, name) : MK_E_NOMEM;
}

int mk_conf_read_text(struct mk_tree *tree, struct mk_faults *faults, struct mk_str text,
                      const char *name, const char *dir, const struct mk_conf_host *host)
{
    size_t seen = 0;
    struct reader r = {tree, faults, host, &seen};
    struct source src = {.name = mk_arena_strdup(tree->arena, mk_str_from(name))};
    const char *copy = mk_arena_strdup(tree->arena, text);

    if (dir) {
        src.dir.p = mk_arena_printf(tree->arena, "%s%s", dir, *dir ? "/" : "");
        if (!src.dir.p)
            return MK_E_NOMEM;
        src.dir.len = strlen(src.dir.p);
    }
    if (!src.name || !copy)
        return MK_E_NOMEM;
    return read_source(&r, &src, (struct mk_str){copy, text.len});
}
