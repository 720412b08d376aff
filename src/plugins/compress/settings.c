/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include "types.h"

#include "kit/text/words.h"

#define SETTING(member) .offset = offsetof(struct compress_settings, member)

static const struct mk_field fields[] = {
    {.name = "Encodings", .type = MK_FIELD_WORDS, SETTING(encodings), .fallback = "br gzip zstd"},
    {.name = "Types",
     .type = MK_FIELD_WORDS,
     .flags = MK_FIELD_REPEAT,
     SETTING(types),
     .fallback = "text/* application/json application/javascript application/xml *+json *+xml"},
    {.name = "Level", .type = MK_FIELD_INT, SETTING(level), .min = 1, .max = 9, .fallback = "5"},
    {.name = "BusyLevel",
     .type = MK_FIELD_INT,
     SETTING(busy_level),
     .min = 1,
     .max = 9,
     .fallback = "1"},
    {.name = "MinSize", .type = MK_FIELD_SIZE, SETTING(min_size), .fallback = "1K"},
    {.name = "Memory", .type = MK_FIELD_SIZE, SETTING(memory), .max = INT32_MAX, .fallback = "32M"},
    {.name = "Cookies", .type = MK_FIELD_BOOL, SETTING(cookies), .fallback = "off"},
};

static const struct mk_section_spec section =
    MK_SECTION("COMPRESS", MK_SECTION_FILE | MK_SECTION_SITE | MK_SECTION_INHERIT,
               struct compress_settings, fields);
const struct mk_section_spec *const compress_sections[] = {&section, NULL};

/* ---- checks ---- */

/* Codings that this server could have, had their libraries been there. */
static bool is_known(struct mk_str coding)
{
    return text_is_word(coding, MK_STR("br")) || text_is_word(coding, MK_STR("gzip")) ||
           text_is_word(coding, MK_STR("zstd"));
}

static bool is_offered(const struct compress_settings *s, unsigned number)
{
    for (unsigned i = 0; i < s->noffers; i++) {
        if (s->numbers[i] == number)
            return true;
    }
    return false;
}

static void add_coding(struct mk_setup *setup, struct compress_settings *s, struct mk_str word)
{
    const struct mk_origin *at = mk_setup_place(setup, s, "Encodings");
    unsigned number = compress_encoder_find(word);

    if (number == ENCODERS_MAX && is_known(word)) {
        if (mk_setup_origin(setup, s) && at != mk_setup_origin(setup, s))
            mk_setup_warn(setup, at, "Encodings: %s was left out of this build", word.p);
    } else if (number == ENCODERS_MAX) {
        mk_setup_fault(setup, at, "Encodings: expected br, gzip, zstd or off, got %s", word.p);
    } else if (is_offered(s, number)) {
        mk_setup_fault(setup, at, "Encodings: %s is there twice", word.p);
    } else {
        s->numbers[s->noffers] = (unsigned char)number;
        s->offers[s->noffers++] = compress_encoder_at(number)->coding;
    }
}

static void check_settings(struct mk_setup *setup, struct compress_settings *s)
{
    const struct mk_words *words = &s->encodings;
    bool is_off = words->count == 1 && text_is_word(words->items[0], MK_STR("off"));

    s->noffers = 0;
    for (size_t i = 0; !is_off && i < words->count; i++)
        add_coding(setup, s, words->items[i]);
    for (size_t i = 0; i < s->types.count; i++) {
        if (!compress_types_is_pattern(s->types.items[i]))
            mk_setup_fault(setup, mk_setup_place(setup, s, "Types"),
                           "Types: expected text/html, text/*, *+json or *, got %s",
                           s->types.items[i].p);
    }
}

const struct compress_settings *compress_settings_of_files(struct mk_setup *setup)
{
    struct compress_settings *s = mk_setup_section(setup, &section, NULL);

    if (!s || !mk_setup_origin(setup, s))
        return NULL;
    check_settings(setup, s);
    return s;
}

struct compress_settings *compress_settings_of_site(struct mk_setup *setup, bool *is_written)
{
    struct compress_settings *s = mk_setup_section(setup, &section, NULL);

    *is_written = s && mk_setup_origin(setup, s);
    if (s)
        check_settings(setup, s);
    return s;
}
