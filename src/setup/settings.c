/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/settings_int.h"

#include "base/code.h"
#include "base/invariant.h"
#include "base/limits.h"
#include "http/mime.h"
#include "base/str.h"

MK_AT_START void *mk_settings_grow(struct mk_arena *arena, void *items, size_t count, size_t size)
{
    char *list = items;

    if ((count & (count - 1)) == 0) { /* full at 0, 1, 2, 4, 8, ... */
        list = mk_arena_alloc(arena, (count ? count * 2 : 1) * size);
        if (!list)
            return NULL;
        if (count > 0)
            memcpy(list, items, count * size);
    }
    memset(list + count * size, 0, size);
    return list;
}

int mk_settings_index(const char *const *names, struct mk_str name)
{
    for (int i = 0; names[i]; i++) {
        if (mk_str_ieq(mk_str_from(names[i]), name))
            return i;
    }
    return -1;
}

MK_AT_START static int parse_mime_line(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct mk_mime_settings *set = ctx->settings;
    struct mk_mime_line *line;
    char *ext;

    if (!mk_mime_is_valid(s->value))
        return mk_setup_refuse(ctx, s, "a media type such as text/html");
    line = MK_SETTINGS_APPEND(ctx, set, lines, nlines);
    ext = mk_arena_strdup(ctx->arena, s->key);
    if (!line || !ext)
        return MK_E_NOMEM;
    for (size_t i = 0; i < s->key.len; i++)
        ext[i] = mk_char_lower(ext[i]);
    line->ext = (struct mk_str){ext, s->key.len};
    line->type = mk_setup_copy(ctx, s->value);
    return line->type.p ? 0 : MK_E_NOMEM;
}

static const struct mk_field mime_fields[] = {
    {.name = "html",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT | MK_FIELD_ANY_KEY,
     .parse = parse_mime_line},
};

const struct mk_section_spec mk_spec_mime =
    MK_SECTION("MIMETYPES", 0, struct mk_mime_settings, mime_fields);

MK_AT_START static int parse_load(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct mk_plugin_settings *set = ctx->settings;
    struct mk_load_line *line;

    if (set->nloads >= MK_LIMIT_PLUGINS || s->value.len == 0)
        return mk_setup_refuse(ctx, s, "the name or the path of a plugin, at most 64 of them");
    line = MK_SETTINGS_APPEND(ctx, set, loads, nloads);
    if (!line)
        return MK_E_NOMEM;
    *line = (struct mk_load_line){mk_setup_copy(ctx, s->value), s};
    return line->what.p ? 0 : MK_E_NOMEM;
}

static const struct mk_field plugin_fields[] = {
    {.name = "Load", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = parse_load},
};

const struct mk_section_spec mk_spec_plugins =
    MK_SECTION("PLUGINS", 0, struct mk_plugin_settings, plugin_fields);
