/* SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* @return 0: no port */
static unsigned read_port(const char *text)
{
    const size_t len = strspn(text, "0123456789");
    const long port = len > 0 && len <= 5 && text[len] == '\0' ? strtol(text, NULL, 10) : 0;

    return port <= 65535 ? (unsigned)port : 0;
}

static int set_v4(struct memc_place *p, const char *host, unsigned port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    if (inet_pton(AF_INET, host, &in.sin_addr) != 1)
        return -1;
    memcpy(&p->address, &in, sizeof(in));
    p->len = sizeof(in);
    return 0;
}

static int set_v6(struct memc_place *p, const char *host, unsigned port)
{
    struct sockaddr_in6 in = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};

    if (inet_pton(AF_INET6, host, &in.sin6_addr) != 1)
        return -1;
    memcpy(&p->address, &in, sizeof(in));
    p->len = sizeof(in);
    return 0;
}

static int read_place(struct memc_place *p, const char *text, size_t len)
{
    char host[MEMC_ADDRESS_MAX], *colon, *end;
    unsigned port;

    if (len >= sizeof(host))
        return -1;
    memcpy(host, text, len);
    host[len] = '\0';
    memcpy(p->text, host, len + 1);
    colon = strrchr(host, ':');
    port = colon ? read_port(colon + 1) : 0;
    if (port == 0)
        return -1;
    *colon = '\0';
    if (host[0] != '[')
        return set_v4(p, host, port);
    end = strchr(host, ']');
    if (!end || end + 1 != colon)
        return -1;
    *end = '\0';
    return set_v6(p, host + 1, port);
}

static bool is_among(const struct memc_place *places, int n, const struct memc_place *p)
{
    for (int i = 0; i < n; i++) {
        if (places[i].len == p->len && memcmp(&places[i].address, &p->address, p->len) == 0)
            return true;
    }
    return false;
}

int memc_places_read(const char *text, struct memc_place *places)
{
    static const char blanks[] = " \t\r\n";
    int n = 0;

    if (!text)
        return -1;
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        const size_t len = strcspn(text, blanks);

        if (n == MEMC_SERVERS_MAX || read_place(&places[n], text, len) < 0 ||
            is_among(places, n, &places[n]))
            return -1;
        n++;
        text += len;
    }
    return n > 0 ? n : -1;
}
