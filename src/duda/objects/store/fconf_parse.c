/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/store/fconf_parse.h"

#include <monkey/types.h>

#include <stdbool.h>

struct reading {
    struct duda_config *config;
    struct duda_config_section *section; /* NULL: none has begun */
    const char *indent;                  /* of the first entry, in its line; NULL: none yet */
    size_t indent_len;
};

static const char no_memory[] = "out of memory";

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct mk_str trimmed(struct mk_str s)
{
    while (s.len && is_blank(s.p[0]))
        s = (struct mk_str){s.p + 1, s.len - 1};
    while (s.len && (is_blank(s.p[s.len - 1]) || s.p[s.len - 1] == '\r'))
        s.len--;
    return s;
}

static size_t blanks(struct mk_str s)
{
    size_t n = 0;

    while (n < s.len && is_blank(s.p[n]))
        n++;
    return n;
}

static bool is_section_empty(const struct duda_config_section *section)
{
    return section && section->entries.next == &section->entries;
}

static const char *begin_section(struct reading *r, struct mk_str line)
{
    struct mk_str name = {line.p + 1, line.len - 2};
    struct duda_config_section *section;

    if (line.p[line.len - 1] != ']' || trimmed(name).len == 0)
        return "a section is a name in brackets";
    if (is_section_empty(r->section))
        return "the section before is empty";
    section = calloc(1, sizeof(*section));
    if (!section)
        return no_memory;
    mk_list_init(&section->entries);
    mk_list_add(&section->_head, &r->config->sections);
    r->section = section;
    section->name = strndup(trimmed(name).p, trimmed(name).len);
    return section->name ? NULL : no_memory;
}

static const char *add_entry(struct reading *r, struct mk_str line)
{
    struct duda_config_entry *entry;
    struct mk_str value;
    size_t n = 0;

    while (n < line.len && !is_blank(line.p[n]))
        n++;
    value = trimmed((struct mk_str){line.p + n, line.len - n});
    if (value.len == 0)
        return "a key without a value";
    entry = calloc(1, sizeof(*entry));
    if (!entry)
        return no_memory;
    mk_list_add(&entry->_head, &r->section->entries);
    entry->key = strndup(line.p, n);
    entry->val = strndup(value.p, value.len);
    return entry->key && entry->val ? NULL : no_memory;
}

static const char *read_indented(struct reading *r, struct mk_str line, size_t indent)
{
    if (line.p[indent] == '#')
        return NULL;
    if (!r->section)
        return "a key before the first section";
    if (!r->indent) {
        r->indent = line.p;
        r->indent_len = indent;
    }
    if (indent != r->indent_len || memcmp(line.p, r->indent, indent) != 0)
        return "indented unlike the first key";
    return add_entry(r, (struct mk_str){line.p + indent, line.len - indent});
}

static const char *read_line(struct reading *r, struct mk_str line)
{
    size_t indent = blanks(line);

    if (line.len > MK_DUDA_FCONF_LINE_MAX)
        return "longer than 254 bytes";
    if (trimmed(line).len == 0)
        return NULL;
    while (is_blank(line.p[line.len - 1]) || line.p[line.len - 1] == '\r')
        line.len--;
    if (indent > 0)
        return read_indented(r, line, indent);
    if (line.p[0] == '#')
        return NULL;
    return line.p[0] == '[' ? begin_section(r, line) : "a key that is not indented";
}

/* @return NULL, or what is wrong in the line of that number */
static const char *read_lines(struct reading *r, const char *text, unsigned *number)
{
    for (*number = 1; *text; (*number)++) {
        size_t len = strcspn(text, "\n");
        const char *wrong = read_line(r, (struct mk_str){text, len});

        if (wrong)
            return wrong;
        text += len;
        text += *text == '\n';
    }
    return is_section_empty(r->section) ? "the last section is empty" : NULL;
}

struct duda_config *mk_duda_fconf_parse(const char *file, const char *text,
                                        char why[MK_DUDA_FCONF_WHY_MAX])
{
    struct reading r = {.config = calloc(1, sizeof(*r.config))};
    unsigned number = 0;
    const char *wrong = no_memory;

    if (r.config) {
        mk_list_init(&r.config->sections);
        r.config->created = (int)time(NULL);
        r.config->file = strdup(file);
        if (r.config->file)
            wrong = read_lines(&r, text, &number);
    }
    if (!wrong)
        return r.config;
    (void)snprintf(why, MK_DUDA_FCONF_WHY_MAX, "line %u: %s", number, wrong);
    mk_duda_fconf_free(r.config);
    return NULL;
}

static void free_section(struct duda_config_section *section)
{
    struct mk_list *at, *next;

    mk_list_foreach_safe(at, next, &section->entries)
    {
        struct duda_config_entry *entry = mk_list_entry(at, struct duda_config_entry, _head);

        free(entry->key);
        free(entry->val);
        free(entry);
    }
    free(section->name);
    free(section);
}

void mk_duda_fconf_free(struct duda_config *config)
{
    struct mk_list *at, *next;

    if (!config)
        return;
    mk_list_foreach_safe(at, next, &config->sections)
    {
        free_section(mk_list_entry(at, struct duda_config_section, _head));
    }
    free(config->file);
    free(config);
}
