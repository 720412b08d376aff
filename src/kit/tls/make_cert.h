/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TLS_MAKE_CERT_H
#define KIT_TLS_MAKE_CERT_H

#include "kit/tls/alt_names.h"

#include <time.h>

/*
 * `monkey --make-cert DIR [NAME...]`: a self-signed certificate and its key, for a server that has no better
 * one yet. Names, times and files are the same for every library; making the key and signing is the library's.
 */

/** What the certificate is to say. */
struct tls_cert_plan {
    const char *common_name; /* of subject and issuer, at most 64 bytes */
    struct tls_alt_names names;
    uint8_t serial[16]; /* positive, not zero */
    time_t from, until;
};

/** Both as PEM, terminated. */
struct tls_cert_pair {
    char key[1024];
    char certificate[8192];
};

/**
 * Make a key on P-256 and a certificate for it, signed by itself with SHA-256, that is for servers and for no
 * authority: basicConstraints, keyUsage digitalSignature, extKeyUsage serverAuth, subjectKeyIdentifier.
 * @return 0; an error with a sentence in why.
 */
typedef int (*tls_cert_sign_fn)(const struct tls_cert_plan *plan, struct tls_cert_pair *pair,
                                char *why, size_t size);

/**
 * The hook `command` of a plugin for TLS. DIR is made when it is missing; cert.pem and key.pem in it, the key
 * with mode 0600. Neither is written over, and one is not left without the other.
 * @return as the hook.
 */
int tls_make_cert_command(const char *const *words, tls_cert_sign_fn sign, char *text,
                          size_t size) MK_MUST_USE;

#endif
