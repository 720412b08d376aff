/* SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r\n";
static const struct remote_scheme scheme = {"memcached", MEMC_PORT_USUAL};

static bool is_among(const struct remote_place *places, int n, const struct remote_place *p)
{
    for (int i = 0; i < n; i++) {
        if (remote_place_is_same(&places[i], p))
            return true;
    }
    return false;
}

static int count_words(const char *text)
{
    int n = 0;

    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        text += strcspn(text, blanks);
        n++;
    }
    return n;
}

static int refuse(char why[MEMC_WHY_MAX], const char *text, size_t len, const char *reason)
{
    (void)snprintf(why, MEMC_WHY_MAX, "%.*s: %s", (int)len, text, reason);
    return -1;
}

static int read_all(const char *text, struct remote_place *places, int n, char why[MEMC_WHY_MAX])
{
    for (int i = 0; i < n; i++) {
        const char *begin = text + strspn(text, blanks);
        const size_t len = strcspn(begin, blanks);
        const char *reason = remote_place_read(&places[i], begin, len, &scheme);

        if (!reason && is_among(places, i, &places[i]))
            reason = "this server is there twice";
        if (reason)
            return refuse(why, begin, len < REMOTE_TEXT_MAX ? len : REMOTE_TEXT_MAX, reason);
        text = begin + len;
    }
    return n;
}

int memc_places_read(const char *text, struct remote_place **places, char why[MEMC_WHY_MAX])
{
    static const char option[] = "servers";
    const int n = text ? count_words(text) : 0;

    *places = NULL;
    if (n < 1 || n > MEMC_SERVERS_MAX)
        return refuse(why, option, strlen(option), "there are 1 to 64");
    *places = calloc((size_t)n, sizeof(**places));
    if (!*places)
        return refuse(why, option, strlen(option), "no memory");
    if (read_all(text, *places, n, why) == n)
        return n;
    free(*places);
    *places = NULL;
    return -1;
}
