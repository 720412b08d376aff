/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/wants.h"

#include "base/code.h"
#include "base/limits.h"
#include "base/str.h"
#include "setup/known.h"
#include "setup/settings_int.h"

#include <limits.h>

/* Each name once. What is named beyond the bound is reported where it is missing. */
static int add(struct mk_snapshot_source *source, struct mk_arena *arena, struct mk_want want)
{
    struct mk_setup ctx = {.arena = arena};
    struct mk_want *added;

    for (size_t i = 0; i < source->nwants; i++) {
        if (source->wants[i].is_section == want.is_section &&
            mk_str_ieq(source->wants[i].name, want.name))
            return 0;
    }
    if (source->nwants >= MK_LIMIT_PLUGINS)
        return 0;
    added = MK_SETTINGS_APPEND(&ctx, source, wants, nwants);
    if (!added)
        return MK_E_NOMEM;
    *added = want;
    return 0;
}

MK_AT_START bool mk_known_next(const char **at, struct mk_known *row)
{
    row->name = *at;
    if (!*row->name)
        return false;
    row->plugin = row->name + strlen(row->name) + 1;
    *at = row->plugin + strlen(row->plugin) + 1;
    return true;
}

MK_AT_START const char *mk_wants_plugin_of_key(struct mk_str key)
{
    const char *at = mk_known_keys;
    struct mk_known row;

    while (mk_known_next(&at, &row)) {
        if (mk_str_ieq(mk_str_from(row.name), key))
            return row.plugin;
    }
    return NULL;
}

static bool is(struct mk_str a, const char *b)
{
    return mk_str_ieq(a, mk_str_from(b));
}

/* Which words of a line name plugins: past the first skip, at most so many. */
struct words {
    struct mk_str rest;
    unsigned skip, most;
};

static struct words words_of(struct mk_str section, const struct mk_setting *s)
{
    const bool is_place = is(section, "HOST") || is(section, "LOCATION");
    const char *of_key = is_place && is(s->key, "Answer") ? "answer"
                         : is_place                       ? mk_wants_plugin_of_key(s->key)
                                                          : NULL;

    if (of_key)
        return (struct words){mk_str_from(of_key), 0, 1};
    if ((is_place || is(section, "SERVER")) && is(s->key, "Listen"))
        return (struct words){s->value, 1, UINT_MAX};
    if (is(section, "HANDLERS"))
        return (struct words){s->value, 1, 1};
    return (struct words){s->value, 0,
                          is(s->key, is_place ? "Handler" : "TransportLayer") ||
                              is(s->key, "Transport")};
}

/* Of flags of an address some are the server's own, and one is called by its protocol. */
static struct mk_str plugin_of(struct mk_str word)
{
    if (mk_str_ieq(word, MK_STR("h2")))
        return MK_STR("http2");
    return word.p[0] == '!' || mk_str_ieq(word, MK_STR("proxy")) ? MK_STR("liana") : word;
}

static int want_words(struct mk_snapshot_source *source, struct mk_arena *arena,
                      const struct mk_section *section, const struct mk_setting *s)
{
    struct words w = words_of(section->name, s);
    struct mk_str word;
    int err = 0;

    while (err == 0 && w.most > 0 && mk_str_next_word(&w.rest, &word)) {
        if (w.skip > 0) {
            w.skip--;
            continue;
        }
        w.most--;
        err = add(source, arena, (struct mk_want){plugin_of(word), false, &s->value_at});
    }
    return err;
}

MK_AT_START int mk_wants_gather(struct mk_snapshot_source *source, const struct mk_tree *tree,
                                struct mk_arena *arena)
{
    int err = 0;

    for (const struct mk_section *s = tree->first; err == 0 && s; s = s->next) {
        err = add(source, arena, (struct mk_want){s->name, true, &s->at});
        for (const struct mk_setting *each = s->first; err == 0 && each; each = each->next)
            err = want_words(source, arena, s, each);
    }
    return err;
}
