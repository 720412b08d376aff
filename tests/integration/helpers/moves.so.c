/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: the name moving.test has the numeric address that the file named in MOVES says at that time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*lookup)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **found)
{
    lookup real;
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    char address[64] = "";
    FILE *file = name && strcmp(name, "moving.test") == 0 ? fopen(getenv("MOVES"), "r") : NULL;

    memcpy(&real, &symbol, sizeof(real));
    if (file) {
        if (!fgets(address, sizeof(address), file))
            address[0] = '\0';
        fclose(file);
    }
    return real(address[0] ? address : name, service, hints, found);
}
