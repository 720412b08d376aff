/* SPDX-License-Identifier: Apache-2.0 */
#include "make_cert.h"

#include "rng.h"

#include <mbedtls/error.h>
#include <mbedtls/oid.h>
#include <mbedtls/version.h>
#include <mbedtls/x509_crt.h>
#include <stdio.h>

/* The extKeyUsage with id-kp-serverAuth alone (RFC 5280 section 4.2.1.12), as DER. */
static const unsigned char for_servers[] = {0x30, 0x0a, 0x06, 0x08, 0x2b, 0x06,
                                            0x01, 0x05, 0x05, 0x07, 0x03, 0x01};

struct maker {
    mbedtls_ctr_drbg_context rng;
    mbedtls_pk_context key;
    mbedtls_x509write_cert cert;
};

static int make_key(struct maker *m)
{
    int err = mbedtls_pk_setup(&m->key, mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY));

    return err ? err
               : mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1, mbedtls_pk_ec(m->key),
                                     mbedtls_ctr_drbg_random, &m->rng);
}

static int set_serial(struct maker *m, const struct tls_cert_plan *plan)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03040000
    unsigned char serial[sizeof(plan->serial)];

    memcpy(serial, plan->serial, sizeof(serial)); /* it takes no constant */
    return mbedtls_x509write_crt_set_serial_raw(&m->cert, serial, sizeof(serial));
#else
    mbedtls_mpi serial;
    int err;

    mbedtls_mpi_init(&serial);
    err = mbedtls_mpi_read_binary(&serial, plan->serial, sizeof(plan->serial));
    if (!err)
        err = mbedtls_x509write_crt_set_serial(&m->cert, &serial);
    mbedtls_mpi_free(&serial);
    return err;
#endif
}

static int set_validity(struct maker *m, const struct tls_cert_plan *plan)
{
    char from[16], until[16];
    struct tm tm;

    if (!gmtime_r(&plan->from, &tm) || strftime(from, sizeof(from), "%Y%m%d%H%M%S", &tm) == 0 ||
        !gmtime_r(&plan->until, &tm) || strftime(until, sizeof(until), "%Y%m%d%H%M%S", &tm) == 0)
        return MBEDTLS_ERR_X509_INVALID_DATE;
    return mbedtls_x509write_crt_set_validity(&m->cert, from, until);
}

static int set_subject(struct maker *m, const struct tls_cert_plan *plan)
{
    char name[sizeof("CN=") + 64];
    int err;

    (void)snprintf(name, sizeof(name), "CN=%s", plan->common_name);
    mbedtls_x509write_crt_set_subject_key(&m->cert, &m->key);
    mbedtls_x509write_crt_set_issuer_key(&m->cert, &m->key);
    err = mbedtls_x509write_crt_set_subject_name(&m->cert, name);
    return err ? err : mbedtls_x509write_crt_set_issuer_name(&m->cert, name);
}

static int add_extension(struct maker *m, const char *oid, size_t oid_len, const unsigned char *der,
                         size_t len)
{
    return mbedtls_x509write_crt_set_extension(&m->cert, oid, oid_len, 0, der, len);
}

static int set_extensions(struct maker *m, const struct tls_cert_plan *plan)
{
    int err = mbedtls_x509write_crt_set_basic_constraints(&m->cert, 0, -1);

    if (!err)
        err = mbedtls_x509write_crt_set_key_usage(&m->cert, MBEDTLS_X509_KU_DIGITAL_SIGNATURE);
    if (!err)
        err = mbedtls_x509write_crt_set_subject_key_identifier(&m->cert);
    if (!err)
        err = add_extension(m, MBEDTLS_OID_EXTENDED_KEY_USAGE,
                            MBEDTLS_OID_SIZE(MBEDTLS_OID_EXTENDED_KEY_USAGE), for_servers,
                            sizeof(for_servers));
    if (!err)
        err = add_extension(m, MBEDTLS_OID_SUBJECT_ALT_NAME,
                            MBEDTLS_OID_SIZE(MBEDTLS_OID_SUBJECT_ALT_NAME), plan->names.der,
                            plan->names.len);
    return err;
}

static int make(struct maker *m, const struct tls_cert_plan *plan, struct tls_cert_pair *pair)
{
    int err = make_key(m);

    mbedtls_x509write_crt_set_version(&m->cert, MBEDTLS_X509_CRT_VERSION_3);
    mbedtls_x509write_crt_set_md_alg(&m->cert, MBEDTLS_MD_SHA256);
    if (!err)
        err = set_serial(m, plan);
    if (!err)
        err = set_validity(m, plan);
    if (!err)
        err = set_subject(m, plan);
    if (!err)
        err = set_extensions(m, plan);
    if (!err)
        err = mbedtls_pk_write_key_pem(&m->key, (unsigned char *)pair->key, sizeof(pair->key));
    if (!err)
        err =
            mbedtls_x509write_crt_pem(&m->cert, (unsigned char *)pair->certificate,
                                      sizeof(pair->certificate), mbedtls_ctr_drbg_random, &m->rng);
    return err;
}

int mbed_make_cert(const struct tls_cert_plan *plan, struct tls_cert_pair *pair, char *why,
                   size_t size)
{
    char reason[128] = "no random bytes";
    struct maker m;
    int err;

    mbedtls_pk_init(&m.key);
    mbedtls_x509write_crt_init(&m.cert);
    err = mbed_rng_init(&m.rng);
    if (err == 0 && (err = make(&m, plan, pair)) != 0)
        mbedtls_strerror(err, reason, sizeof(reason));
    if (err)
        (void)snprintf(why, size, "cannot make a certificate: %s", reason);
    mbedtls_x509write_crt_free(&m.cert);
    mbedtls_pk_free(&m.key);
    mbedtls_ctr_drbg_free(&m.rng);
    return err ? MK_E_SYS : 0;
}
