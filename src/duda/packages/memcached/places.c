/* SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include <stdbool.h>
#include <string.h>

static bool is_among(const struct address *places, int n, const struct address *p)
{
    for (int i = 0; i < n; i++) {
        if (places[i].len == p->len && memcmp(&places[i].place, &p->place, p->len) == 0)
            return true;
    }
    return false;
}

int memc_places_read(const char *text, struct address *places)
{
    static const char blanks[] = " \t\r\n";
    int n = 0;

    if (!text)
        return -1;
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        const size_t len = strcspn(text, blanks);

        if (n == MEMC_SERVERS_MAX || address_read(&places[n], text, len) < 0 ||
            is_among(places, n, &places[n]))
            return -1;
        n++;
        text += len;
    }
    return n > 0 ? n : -1;
}
