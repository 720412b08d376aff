/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/secret.h>

#include "kit/digest/digest.h"

bool mk_secret_eq(struct mk_str secret, struct mk_str text)
{
    return secret.p && text.p && secret.len == text.len &&
           digest_is_same(secret.p, text.p, secret.len);
}
