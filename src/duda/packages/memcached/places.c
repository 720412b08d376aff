/* SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

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

/* @return what is wrong; NULL: nothing */
static const char *read_all(const char *text, struct remote_place *places, int n)
{
    for (int i = 0; i < n; i++) {
        const char *begin = text + strspn(text, blanks), *why;
        const size_t len = strcspn(begin, blanks);

        why = remote_place_read(&places[i], begin, len, &scheme);
        if (why)
            return why;
        if (is_among(places, i, &places[i]))
            return "a server is there twice";
        text = begin + len;
    }
    return NULL;
}

int memc_places_read(const char *text, struct remote_place **places, const char **why)
{
    const int n = text ? count_words(text) : 0;

    *places = NULL;
    *why = "there are 1 to 64 servers";
    if (n < 1 || n > MEMC_SERVERS_MAX)
        return -1;
    *places = calloc((size_t)n, sizeof(**places));
    *why = *places ? read_all(text, *places, n) : "no memory";
    if (!*why)
        return n;
    free(*places);
    *places = NULL;
    return -1;
}
