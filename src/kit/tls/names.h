/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TLS_NAMES_H
#define KIT_TLS_NAMES_H

#include <monkey/types.h>

#include <stdbool.h>

/*
 * Which of several things a name stands for: the site whose certificate a client asks for (RFC 6066
 * section 3), or the settings for a backend. Names are written as in ServerName: "a.example", or "*.example"
 * for all names below it, of which the longest wins; any case. Pure: no locks, no clock.
 */

enum { TLS_NAME_MAX = 255 };

struct tls_name {
    char *name; /* lower case; a wildcard's without its asterisk: ".example" */
    size_t len;
    unsigned value; /* whose */
};

struct tls_names {
    struct tls_name *exact, *below; /* sorted once complete */
    size_t nexact, nbelow;
};

/** Add a name. One that is added twice stays its first owner's. @return 0; MK_E_INVALID: it is none; MK_E_NOMEM. */
int tls_names_add(struct tls_names *n, struct mk_str name, unsigned value) MK_MUST_USE;
/** All are added: from now on it is only read, by any thread. */
void tls_names_sort(struct tls_names *n);
/** @param name  as a peer gave it @return whether somebody has it, and then *value. */
bool tls_names_find(const struct tls_names *n, struct mk_str name, unsigned *value);
void tls_names_fini(struct tls_names *n);

/**
 * A name as client hellos and certificates have it: without the dot behind it, which keeps a resolver from searching other
 * domains (RFC 6066 section 3).
 * @param name  may be NULL @return it, or what text has now.
 */
const char *tls_name_without_dot(const char *name, char text[TLS_NAME_MAX + 1]);

#endif
