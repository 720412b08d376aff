/* SPDX-License-Identifier: Apache-2.0 */
#include "why.h"

#include <openssl/err.h>

const char *openssl_why_failed(void)
{
    unsigned long error = ERR_peek_last_error();
    const char *text = error ? ERR_reason_error_string(error) : NULL;

    ERR_clear_error();
    return text ? text : "no reason was given";
}
