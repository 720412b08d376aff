/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_TESTS_SAMPLE_H
#define MK_TESTS_SAMPLE_H

#include "settings/field.h"

#include "base/invariant.h"
#include "base/str.h"

/* A section with a field of each type, for the tests of settings and conf and for the fuzzer. */

struct sample {
    bool keep_alive;
    int64_t workers, headers, timeout_ms, size, small;
    int scheduler;
    const char *user;
    struct mk_words index;
    size_t nlisten;
};

static int sample_listen(struct mk_setup *ctx, const struct mk_setting *s)
{
    struct sample *sample = ctx->settings;

    if (s->value.len == 0) {
        mk_fault_add(ctx->faults, &s->value_at, "Listen: expected a port");
        return MK_E_INVALID;
    }
    if (mk_str_eq(s->value, MK_STR("mute"))) /* a careless parser: no fault noted */
        return MK_E_INVALID;
    sample->nlisten++;
    return 0;
}

static const char *const sample_schedulers[] = {"Fair", "ReusePort", "Third", NULL};

static const struct mk_field sample_fields[] = {
    {.name = "KeepAlive",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct sample, keep_alive),
     .fallback = "on"},
    {.name = "Workers",
     .type = MK_FIELD_INT,
     .offset = offsetof(struct sample, workers),
     .max = 256,
     .fallback = "0"},
    {.name = "MaxHeaders",
     .type = MK_FIELD_INT,
     .offset = offsetof(struct sample, headers),
     .fallback = "100"},
    {.name = "Timeout",
     .type = MK_FIELD_TIME,
     .offset = offsetof(struct sample, timeout_ms),
     .min = 1000,
     .max = 86400000,
     .fallback = "15"},
    {.name = "MaxRequestSize",
     .type = MK_FIELD_SIZE,
     .offset = offsetof(struct sample, size),
     .min = 1024,
     .flags = MK_FIELD_KB,
     .fallback = "32"},
    {.name = "FileCache",
     .type = MK_FIELD_SIZE,
     .offset = offsetof(struct sample, small),
     .fallback = "256K"},
    {.name = "Scheduler",
     .type = MK_FIELD_ENUM,
     .offset = offsetof(struct sample, scheduler),
     .names = sample_schedulers,
     .fallback = "ReusePort"},
    {.name = "User", .type = MK_FIELD_STRING, .offset = offsetof(struct sample, user)},
    {.name = "Indexfile",
     .type = MK_FIELD_WORDS,
     .offset = offsetof(struct sample, index),
     .flags = MK_FIELD_REPEAT,
     .fallback = "index.html index.htm"},
    {.name = "Listen",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = sample_listen,
     .alias = "Port"},
};

static const struct mk_section_spec sample_server =
    MK_SECTION("SERVER", 0, struct sample, sample_fields);

static const struct mk_field sample_any_fields[] = {
    {.type = MK_FIELD_CUSTOM, .flags = MK_FIELD_ANY_KEY, .parse = sample_listen},
};

static const struct mk_section_spec sample_types =
    MK_SECTION("MIMETYPES", MK_SECTION_REPEAT, struct sample, sample_any_fields);

static const struct mk_section_spec *const sample_specs[] = {&sample_server, &sample_types};

/* All that a start-up does with a tree. @return 0 or MK_E_NOMEM. */
static inline int sample_apply(struct mk_tree *t, struct mk_faults *faults, struct sample *sample)
{
    struct mk_setup ctx = {.arena = t->arena, .faults = faults};

    mk_sections_check(t, sample_specs, MK_ARRAY_LEN(sample_specs), faults);
    if (mk_fields_defaults(&sample_server, sample, &ctx) < 0)
        return MK_E_NOMEM;
    for (struct mk_section *s = t->first; s; s = s->next) {
        const struct mk_section_spec *spec = NULL;

        for (size_t i = 0; i < MK_ARRAY_LEN(sample_specs); i++) {
            if (mk_str_ieq(s->name, mk_str_from(sample_specs[i]->name)))
                spec = sample_specs[i];
        }
        if (spec && mk_fields_apply(spec, s, sample, &ctx) < 0)
            return MK_E_NOMEM;
    }
    return 0;
}

#endif
