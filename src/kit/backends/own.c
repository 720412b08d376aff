/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/backends/own.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { HOST_MAX = 253 };

struct own {
    const struct backend_address *address;
    bool is_own;
};

static bool is_loopback(const char *host)
{
    return strcasecmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
           strcmp(host, "::1") == 0;
}

/* @param text  of Listen: "unix:/path", "[::]:80", "127.0.0.1:80"; where it has every address, those of loopback count */
static void compare_with_own(void *arg, const char *text, size_t len)
{
    struct own *own = arg;
    const struct backend_address *address = own->address;
    const char *colon = memrchr(text, ':', len);
    struct mk_str host = {text, colon ? (size_t)(colon - text) : 0};
    char copy[HOST_MAX + 3], port[12];

    if (strncmp(address->host, "unix:", 5) == 0) {
        own->is_own |= strlen(address->host) == len && memcmp(address->host, text, len) == 0;
        return;
    }
    (void)snprintf(port, sizeof(port), "%u", address->port);
    if (!colon || len - host.len - 1 != strlen(port) ||
        memcmp(colon + 1, port, strlen(port)) != 0 || host.len >= sizeof(copy))
        return;
    if (host.p[0] == '[')
        host = (struct mk_str){host.p + 1, host.len - 2};
    memcpy(copy, host.p, host.len);
    copy[host.len] = '\0';
    own->is_own |= strcmp(copy, address->host) == 0 ||
                   (is_loopback(address->host) &&
                    (strcmp(copy, "0.0.0.0") == 0 || strcmp(copy, "::") == 0 ||
                     (strcasecmp(address->host, "localhost") == 0 && is_loopback(copy))));
}

void backend_warn_of_own(struct mk_setup *setup, const struct mk_origin *at, const char *key,
                         const struct backend_address *address)
{
    struct own own = {.address = address};

    mk_setup_addresses(setup, compare_with_own, &own);
    if (own.is_own)
        mk_setup_warn(setup, at, "%s: %s is an address of this server, which would ask itself", key,
                      address->name);
}
