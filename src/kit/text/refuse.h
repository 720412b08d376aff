/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TEXT_REFUSE_H
#define KIT_TEXT_REFUSE_H

#include <monkey/settings.h>

/**
 * Note the error "Key: expected EXPECTED, got WORD" at a setting's value, with the nearest name if one is near.
 * @param names  NULL-terminated
 * @return MK_E_INVALID.
 */
int text_refuse_word(struct mk_setup *setup, const struct mk_setting *s, const char *expected,
                     struct mk_str word, const char *const *names);

#endif
