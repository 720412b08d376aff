/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/plain.h"

#define SENTENCE "This port speaks TLS. Write https:// in front of the address.\n"

_Static_assert(sizeof(SENTENCE) - 1 == 62, "Content-Length below");

struct mk_str tls_plain_answer(void)
{
    return MK_STR("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 62\r\n"
                  "Connection: close\r\n\r\n" SENTENCE);
}
