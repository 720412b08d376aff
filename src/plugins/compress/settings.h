/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPRESS_SETTINGS_H
#define COMPRESS_SETTINGS_H

#include "encoder.h"

/** A [COMPRESS] section, as it is in force for a site. */
struct compress_settings {
    struct mk_words encodings; /* as written */
    struct mk_words types;
    int64_t level, busy_level; /* 1 to ENCODER_LEVELS */
    int64_t min_size;
    int64_t memory; /* of all streams of a worker */
    bool cookies;
    /* the codings that were built, the favourite first */
    unsigned char numbers[ENCODERS_MAX]; /* of compress_encoder_at */
    struct mk_str offers[ENCODERS_MAX];
    unsigned noffers; /* 0: nothing is compressed */
};

extern const struct mk_section_spec *const compress_sections[];

/** Of the plugin's own files, with its errors noted. @return NULL: there is no section in them. */
const struct compress_settings *compress_settings_of_files(struct mk_setup *setup);

/**
 * Of a site, with its errors noted.
 * @param is_written  out: the site has a section of its own
 */
struct compress_settings *compress_settings_of_site(struct mk_setup *setup, bool *is_written);

#endif
