/* SPDX-License-Identifier: Apache-2.0 */
#include "sides.h"

#include "library.h"
#include "why.h"

#include <fcntl.h>
#include <mbedtls/sha256.h>
#include <stdlib.h>

enum { DH_BITS_MIN = 2048 };

/* ---- what the library cannot do ---- */

static int refuse_what_it_lacks(const struct tls_settings *s, struct tls_report *r)
{
    if (s->protocols & TLS_PROTOCOL_1_3)
        tls_fault(r, "Protocols: mbedtls speaks TLSv1.2 only; for TLSv1.3 use the plugin tls");
    if (s->ciphersuites)
        tls_fault(r,
                  "Ciphersuites: they are of TLSv1.3, which mbedtls does not speak; see Ciphers");
    if (s->ocsp.count > 0)
        tls_fault(r, "OCSPFile: mbedtls cannot staple; use the plugin tls");
    if (s->kernel)
        tls_fault(r, "KernelTLS: mbedtls cannot give its keys to the kernel; use the plugin tls");
    return r->has_fault ? MK_E_INVALID : 0;
}

/* ---- [TLS] ---- */

static int set_dh(struct mbed_front *front, const struct tls_file *file, struct tls_report *r)
{
    int err, bits;

    if (!file->bytes)
        return 0;
    err = mbedtls_dhm_parse_dhm(&front->dh, (const unsigned char *)file->bytes, file->len + 1);
    if (err != 0) {
        tls_fault(r, "%s: %s: has no DH parameters in PEM", file->key, file->path);
        return MK_E_INVALID;
    }
    bits = mbed_dh_bits(&front->dh);
    if (bits < DH_BITS_MIN) {
        tls_fault(r, "%s: %s: %d bits are too few; at least %d", file->key, file->path, bits,
                  DH_BITS_MIN);
        return MK_E_INVALID;
    }
    front->has_dh = true;
    return 0;
}

static int set_ciphers(struct mbed_front *front, const struct tls_settings *s, struct tls_report *r)
{
    struct mk_str unknown;
    int err = mbed_ciphers_parse(front->ciphers, s->ciphers ? s->ciphers : TLS_CIPHERS,
                                 front->has_dh, &unknown);

    if (err == MK_E_INVALID)
        tls_fault(r,
                  "Ciphers: mbedtls does not know \"%.*s\"; expected names such as "
                  "ECDHE-ECDSA-AES128-GCM-SHA256, separated by colons",
                  unknown.len < 60 ? (int)unknown.len : 60, unknown.p);
    else if (err < 0)
        tls_fault(r, "Ciphers: the list is empty without DHParameterFile");
    return err < 0 ? MK_E_INVALID : 0;
}

static int set_clients(struct mbed_front *front, const struct tls_settings *s,
                       const struct tls_files *f, struct tls_report *r)
{
    static const int modes[] = {
        [TLS_CLIENT_CERT_OFF] = MBEDTLS_SSL_VERIFY_NONE,
        [TLS_CLIENT_CERT_OPTIONAL] = MBEDTLS_SSL_VERIFY_OPTIONAL,
        [TLS_CLIENT_CERT_ON] = MBEDTLS_SSL_VERIFY_REQUIRED,
    };

    int err = 0;

    front->verify = modes[s->client_cert];
    if (s->client_cert != TLS_CLIENT_CERT_OFF)
        err = mbed_authorities_parse(&front->ca, &f->ca, r);
    if (s->client_cert != TLS_CLIENT_CERT_OFF && err == 0)
        err = mbed_crls_parse(&front->crls, &front->ca, f, r);
    return err;
}

static int worse(int a, int b)
{
    return a == MK_E_NOMEM || b == 0 ? a : b;
}

static void free_front(void *object)
{
    struct mbed_front *front = object;

    mbed_pairs_free(&front->pairs);
    mbedtls_x509_crt_free(&front->ca);
    mbedtls_x509_crl_free(&front->crls);
    mbedtls_dhm_free(&front->dh);
    free(front);
}

static int new_front(void **object, const struct tls_settings *s, const struct tls_files *f,
                     const struct tls_identity *id, struct tls_report *r)
{
    struct mbed_front *front = calloc(1, sizeof(*front));
    int err;

    if (!front)
        return MK_E_NOMEM;
    mbedtls_x509_crt_init(&front->ca);
    mbedtls_x509_crl_init(&front->crls);
    mbedtls_dhm_init(&front->dh);
    front->has_tickets = s->tickets;
    memcpy(front->session, id->session, sizeof(front->session));
    err = refuse_what_it_lacks(s, r);
    err = worse(err, set_dh(front, &f->dh, r));
    err = worse(err, set_ciphers(front, s, r));
    err = worse(err, set_clients(front, s, f, r));
    err = worse(err, mbed_pairs_parse(&front->pairs, f, r));
    if (err < 0)
        free_front(front);
    else
        *object = front;
    return err;
}

/* ---- [TLS_BACKEND] ---- */

static int open_file(void *arg, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    (void)arg;
    return fd >= 0 ? fd : MK_E_NOENT;
}

/* The bundles of Debian, Alpine and OpenWrt, Fedora. Certificates of a kind that the library does not know are passed over. */
static int read_system_ca(mbedtls_x509_crt *to)
{
    static const char *const places[] = {"/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/cert.pem",
                                         "/etc/pki/tls/certs/ca-bundle.crt"};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const struct tls_backend_settings s = {.ca = places[i]};
        struct tls_report nobody = {0};
        struct tls_files f;
        int err = tls_files_read_backend(&f, &s, open_file, NULL, &nobody);

        if (err == MK_E_NOMEM)
            return err;
        if (err < 0)
            continue;
        err = mbedtls_x509_crt_parse(to, (const unsigned char *)f.ca.bytes, f.ca.len + 1);
        tls_files_free(&f);
        if (err == MBEDTLS_ERR_X509_ALLOC_FAILED)
            return MK_E_NOMEM;
        if (to->version > 0)
            return 0;
    }
    return MK_E_NOENT;
}

int mbed_back_need_ca(struct mbed_back *back)
{
    int err = 0;

    pthread_mutex_lock(&back->lock);
    if (back->verify && !back->has_ca) {
        err = read_system_ca(&back->ca);
        if (err < 0)
            mbedtls_x509_crt_free(&back->ca); /* half of it may be there; it is as new then */
        back->has_ca = err == 0;
    }
    pthread_mutex_unlock(&back->lock);
    return err;
}

static void free_back(void *object)
{
    struct mbed_back *back = object;

    mbed_pairs_free(&back->pairs);
    mbedtls_x509_crt_free(&back->ca);
    pthread_mutex_destroy(&back->lock);
    free(back);
}

static int new_back(void **object, const struct tls_backend_settings *s, const struct tls_files *f,
                    struct tls_report *r)
{
    struct mbed_back *back = calloc(1, sizeof(*back));
    struct mk_str unknown;
    int err;

    if (!back)
        return MK_E_NOMEM;
    if (pthread_mutex_init(&back->lock, NULL) != 0) {
        free(back);
        return MK_E_NOMEM;
    }
    mbedtls_x509_crt_init(&back->ca);
    back->verify = s->verify;
    back->has_ca = s->ca;
    err = mbed_ciphers_parse(back->ciphers, TLS_CIPHERS, true, &unknown);
    if (s->ca)
        err = worse(err, mbed_authorities_parse(&back->ca, &f->ca, r));
    err = worse(err, mbed_pairs_parse(&back->pairs, f, r));
    if (err < 0)
        free_back(back);
    else
        *object = back;
    return err;
}

/* ---- */

static void digest(const void *bytes, size_t len, uint8_t out[32])
{
    mbed_sha256(bytes, len, out);
}

/* The library compares names only where it verifies a chain: who signed it does not matter here. */
static bool front_has_name(void *object, const char *name)
{
    struct mbed_front *front = object;

    for (size_t i = 0; i < front->pairs.count; i++) {
        mbedtls_x509_crt *chain = &front->pairs.chains[i];
        uint32_t flags = 0;
        const int err = mbedtls_x509_crt_verify(chain, chain, NULL, name, &flags, NULL, NULL);

        if (!(flags & MBEDTLS_X509_BADCERT_CN_MISMATCH) ||
            (err != 0 && err != MBEDTLS_ERR_X509_CERT_VERIFY_FAILED))
            return true;
    }
    return false;
}

const struct tls_engine mbed_engine = {
    .server_new = new_front,
    .server_free = free_front,
    .server_has_name = front_has_name,
    .client_new = new_back,
    .client_free = free_back,
    .digest = digest,
};
