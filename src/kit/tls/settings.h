/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TLS_SETTINGS_H
#define KIT_TLS_SETTINGS_H

#include <monkey/settings.h>

/*
 * What the sections of a TLS plugin say, whichever library it stands on. [TLS] is in the plugin's own file and in
 * sites, which inherit what they do not say; [TLS_BACKEND] is in the plugin's file, once for each kind of
 * backend. An engine that cannot do what a key asks for refuses it with a sentence.
 */

enum {
    TLS_PAIRS_MAX = 4, /* certificates side by side, each of another kind of key */
    TLS_CRLS_MAX = 16,
};

enum tls_client_cert { TLS_CLIENT_CERT_OFF, TLS_CLIENT_CERT_OPTIONAL, TLS_CLIENT_CERT_ON };

/** Bits of tls_settings.protocols. */
enum tls_protocol { TLS_PROTOCOL_1_2 = 1, TLS_PROTOCOL_1_3 = 2 };

/** [TLS]. Unset texts are NULL. */
struct tls_settings {
    struct mk_words certificates; /* CertificateFile: paths; the leaf first, its chain may follow */
    struct mk_words keys;         /* KeyFile, RSAKeyFile: as many, in the same order */
    struct mk_words ocsp;         /* OCSPFile: each is about one of the certificates */
    const char *chain;            /* CertificateChainFile */
    const char *dh;               /* DHParameterFile; without one no DHE */
    const char *ca;               /* CAFile: who signs certificates of clients */
    struct mk_words crls;         /* CRLFile: which of them were revoked */
    int client_cert;              /* enum tls_client_cert */
    unsigned protocols;           /* enum tls_protocol; 0: unsaid, all that the engine has */
    const char *ciphers;          /* of TLS 1.2, as OpenSSL writes lists; NULL: TLS_CIPHERS */
    const char *ciphersuites;     /* of TLS 1.3; NULL: TLS_CIPHERSUITES */
    bool tickets;                 /* SessionTickets */
    bool kernel;                  /* KernelTLS */
};

/** [TLS_BACKEND]: how backends prove who they are. */
struct tls_backend_settings {
    struct mk_words names; /* Backend: names or *.names; none: all that no other section names */
    bool verify;
    const char *ca;          /* NULL: the system's */
    const char *certificate; /* to show to the backend; NULL: none */
    const char *key;
};

/** Mozilla's "intermediate" for TLS 1.2, in its order, which decides; on OpenSSL ChaCha20 comes first for who wants it first. DHE needs DHParameterFile. */
#define TLS_CIPHERS                                                                                \
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"     \
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"       \
    "DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-CHACHA20-POLY1305"

/** The same for TLS 1.3. AES-128 needs ten rounds where AES-256 needs fourteen, and no attack tells them apart. */
#define TLS_CIPHERSUITES                                                                           \
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"

extern const struct mk_section_spec tls_section;         /* [TLS] */
extern const struct mk_section_spec tls_backend_section; /* [TLS_BACKEND] */
/** Both, NULL-terminated: mk_plugin.sections. */
extern const struct mk_section_spec *const tls_sections[];

#endif
