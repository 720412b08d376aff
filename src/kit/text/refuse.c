/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/refuse.h"

int text_refuse_word(struct mk_setup *setup, const struct mk_setting *s, const char *expected,
                     struct mk_str word, const char *const *names)
{
    const char *near = mk_setup_nearest(word, names);

    mk_setup_fault(setup, &s->value_at, "%s: expected %s, got \"%.*s\"%s%s%s", s->key.p, expected,
                   (int)word.len, word.p, near ? ", did you mean " : "", near ? near : "",
                   near ? "?" : "");
    return MK_E_INVALID;
}
