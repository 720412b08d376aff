/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_VERDICT_H
#define MK_BIN_VERDICT_H

#include <monkey/server.h>

#include <stdbool.h>

/*
 * What is wrong with a configuration, for people on standard error, or as one JSON object on standard output
 * (docs/test-result.schema.json). Begin, tell what there is, end.
 */

void mk_verdict_begin(bool is_json);

/** Errors and warnings of a configuration. */
void mk_verdict_faults(const struct mk_config *config);
/** An error of a key of [SERVER] that the program found. @param message  one sentence without full stop */
void mk_verdict_of_key(const struct mk_config *config, const char *key, const char *message);
/** An error that has no place. */
void mk_verdict_error(const char *message);
/** A warning that has no place, with a line end; an mk_text_fn. */
void mk_verdict_warning(void *arg, const char *text, size_t len);

/** @param warnings  that were told, for people */
void mk_verdict_end(bool is_fine, size_t warnings);

#endif
