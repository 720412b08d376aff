/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANSWER_TEXT_H
#define ANSWER_TEXT_H

#include <monkey/settings.h>
#include <monkey/variables.h>

/* The text of an answer: as it is written in the configuration, and with the values of a request. */

/**
 * Read a text with variables. In quotes, `\n`, `\t`, `\"` and `\\` are what they are elsewhere; without, each byte is itself.
 * @param t  out: lives as long as the settings
 * @return 0, MK_E_INVALID (the error is noted) or MK_E_NOMEM.
 */
int answer_text_read(struct mk_setup *setup, const struct mk_setting *s, struct mk_str written,
                     struct mk_template *t) MK_MUST_USE;

/**
 * Put the values of a request in. Those that a client chooses are percent-encoded where they would end a string or begin a
 * tag, so that the text may be JSON or HTML by a Content-Type of its own.
 * @return in the request's memory; p NULL: no memory, or it has more than the request may have.
 */
struct mk_str answer_text_fill(struct mk_request *r, const struct mk_template *t) MK_MUST_USE;

#endif
