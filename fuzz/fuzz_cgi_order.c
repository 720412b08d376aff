/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "palm/order.h"

/* What the spawner is told: every text of an order that is accepted has its end within the packet. */

static size_t inside(const char *text, const char *packet, size_t len)
{
    require(text >= packet && text < packet + len);
    return strlen(text); /* a sanitizer sees who reads on */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *packet = exact_copy(data, size);
    struct order o;
    size_t total = sizeof(struct palm_order), count = 2;

    if (order_parse(&o, packet, size)) {
        total += inside(o.directory, packet, size) + inside(o.program, packet, size);
        require(o.arguments[0] != NULL);
        for (int i = 0; o.arguments[i]; i++, count++)
            total += inside(o.arguments[i], packet, size);
        for (int i = 0; o.variables[i]; i++, count++)
            total += inside(o.variables[i], packet, size);
        require(total + count == size);
    }
    free(packet);
    return 0;
}
