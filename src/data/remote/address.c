/* SPDX-License-Identifier: Apache-2.0 */
#include "data/remote/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* @return 0: no port */
static unsigned read_port(const char *text)
{
    const size_t len = strspn(text, "0123456789");
    const long port = len > 0 && len <= 5 && text[len] == '\0' ? strtol(text, NULL, 10) : 0;

    return port <= 65535 ? (unsigned)port : 0;
}

static int set_v4(struct address *a, const char *host, unsigned port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    if (inet_pton(AF_INET, host, &in.sin_addr) != 1)
        return -1;
    memcpy(&a->place, &in, sizeof(in));
    a->len = sizeof(in);
    return 0;
}

static int set_v6(struct address *a, const char *host, unsigned port)
{
    struct sockaddr_in6 in = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};

    if (inet_pton(AF_INET6, host, &in.sin6_addr) != 1)
        return -1;
    memcpy(&a->place, &in, sizeof(in));
    a->len = sizeof(in);
    return 0;
}

int address_read(struct address *a, const char *text, size_t len)
{
    char host[ADDRESS_TEXT_MAX], *colon, *end;
    unsigned port;

    if (len >= sizeof(host))
        return -1;
    memcpy(host, text, len);
    host[len] = '\0';
    memcpy(a->text, host, len + 1);
    colon = strrchr(host, ':');
    port = colon ? read_port(colon + 1) : 0;
    if (port == 0)
        return -1;
    *colon = '\0';
    if (host[0] != '[')
        return set_v4(a, host, port);
    end = strchr(host, ']');
    if (!end || end + 1 != colon)
        return -1;
    *end = '\0';
    return set_v6(a, host + 1, port);
}

bool address_is_numeric(const char *host, size_t len)
{
    char text[INET6_ADDRSTRLEN], parsed[sizeof(struct in6_addr)];

    if (len >= sizeof(text))
        return false;
    memcpy(text, host, len);
    text[len] = '\0';
    return inet_pton(AF_INET, text, parsed) == 1 || inet_pton(AF_INET6, text, parsed) == 1;
}
