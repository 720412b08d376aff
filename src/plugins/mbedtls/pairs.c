/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs.h"

#include "library.h"
#include "why.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    RSA_BITS_MIN = 2048, /* what the other plugin's library asks for as well */
    KEY_DER_MAX =
        16384, /* RSA with 16384 bits, the longest that the library works with, needs 9300 */
};

/* ---- reading ---- */

/* The library takes text with the NUL behind it. */
static int parse_certificates(mbedtls_x509_crt *to, const struct tls_file *file,
                              struct tls_report *r)
{
    int err = mbedtls_x509_crt_parse(to, (const unsigned char *)file->bytes, file->len + 1);
    char text[MBED_WHY_MAX];

    if (err == 0)
        return 0;
    if (err == MBEDTLS_ERR_X509_ALLOC_FAILED)
        return MK_E_NOMEM;
    if (err > 0)
        tls_fault(r, "%s: %s: %d of its certificates cannot be read", file->key, file->path, err);
    else
        tls_fault(r, "%s: %s: is not a certificate in PEM: %s", file->key, file->path,
                  mbed_why(err, text));
    return MK_E_INVALID;
}

static int parse_key(mbedtls_pk_context *key, const struct tls_file *file,
                     mbedtls_ctr_drbg_context *rng, struct tls_report *r)
{
    int err = mbed_parse_key(key, (const unsigned char *)file->bytes, file->len + 1, rng);
    char text[MBED_WHY_MAX];

    if (err == 0)
        return 0;
    if (err == MBEDTLS_ERR_PK_ALLOC_FAILED)
        return MK_E_NOMEM;
    if (err == MBEDTLS_ERR_PK_PASSWORD_REQUIRED || err == MBEDTLS_ERR_PK_PASSWORD_MISMATCH)
        tls_fault(r, "%s: %s: has a password, which nobody can type here", file->key, file->path);
    else
        tls_fault(r, "%s: %s: is not a private key in PEM that mbedTLS can use: %s", file->key,
                  file->path, mbed_why(err, text));
    return MK_E_INVALID;
}

int mbed_authorities_parse(mbedtls_x509_crt *to, const struct tls_file *file, struct tls_report *r)
{
    return parse_certificates(to, file, r);
}

/* ---- judging ---- */

/* "Feb  1 09:30:00 2024 GMT": as certificates are shown everywhere. */
static const char *date(const mbedtls_x509_time *t, char *text, size_t size)
{
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

    (void)snprintf(text, size, "%s %2d %02d:%02d:%02d %d GMT", months[(t->mon + 11) % 12], t->day,
                   t->hour, t->min, t->sec, t->year);
    return text;
}

static bool is_by(const mbedtls_x509_crl *list, const mbedtls_x509_crt *authority)
{
    return list->issuer_raw.len == authority->subject_raw.len &&
           memcmp(list->issuer_raw.p, authority->subject_raw.p, list->issuer_raw.len) == 0;
}

static void warn_of_missing(const mbedtls_x509_crl *lists, const mbedtls_x509_crt *ca,
                            struct tls_report *r)
{
    for (const mbedtls_x509_crt *authority = ca; authority; authority = authority->next) {
        const mbedtls_x509_crl *list = lists;
        char name[256];

        while (list && !is_by(list, authority))
            list = list->next;
        if (!list && mbedtls_x509_dn_gets(name, sizeof(name), &authority->subject) > 0)
            tls_warn(
                r, "no CRLFile has a list of the authority \"%s\", so its clients are not checked",
                name);
    }
}

static void warn_of_age(const mbedtls_x509_crl *lists, const struct tls_file *file,
                        struct tls_report *r)
{
    char text[80];

    for (const mbedtls_x509_crl *list = lists; list; list = list->next) {
        if (list->next_update.year > 0 && mbedtls_x509_time_is_past(&list->next_update))
            tls_warn(r, "%s: %s: expired on %s, so clients of its authority are refused", file->key,
                     file->path, date(&list->next_update, text, sizeof(text)));
    }
}

/* One file at a time, so that each is named in what is said of it. */
static int parse_list(mbedtls_x509_crl *to, const struct tls_file *file, struct tls_report *r)
{
    mbedtls_x509_crl alone;
    char text[MBED_WHY_MAX];
    int err;

    mbedtls_x509_crl_init(&alone);
    err = mbedtls_x509_crl_parse(&alone, (const unsigned char *)file->bytes, file->len + 1);
    if (err == 0)
        warn_of_age(&alone, file, r);
    mbedtls_x509_crl_free(&alone);
    if (err == 0)
        err = mbedtls_x509_crl_parse(to, (const unsigned char *)file->bytes, file->len + 1);
    if (err == 0)
        return 0;
    if (err == MBEDTLS_ERR_X509_ALLOC_FAILED)
        return MK_E_NOMEM;
    tls_fault(r, "%s: %s: is not a list of revoked certificates in PEM: %s", file->key, file->path,
              mbed_why(err, text));
    return MK_E_INVALID;
}

int mbed_crls_parse(mbedtls_x509_crl *to, const mbedtls_x509_crt *ca, const struct tls_files *f,
                    struct tls_report *r)
{
    for (size_t i = 0; i < f->ncrls; i++) {
        int err = parse_list(to, &f->crls[i], r);

        if (err < 0)
            return err;
    }
    if (f->ncrls > 0)
        warn_of_missing(to, ca, r);
    return 0;
}

static int64_t seconds_of(const mbedtls_x509_time *t)
{
    struct tm tm = {.tm_year = t->year - 1900,
                    .tm_mon = t->mon - 1,
                    .tm_mday = t->day,
                    .tm_hour = t->hour,
                    .tm_min = t->min,
                    .tm_sec = t->sec};

    return timegm(&tm);
}

/* A device that does not know the time yet is to start, and so are other sites; clients judge for themselves. */
static void judge_time(const mbedtls_x509_crt *leaf, const struct tls_file *file,
                       int64_t *not_after, struct tls_report *r)
{
    char text[80];

    *not_after = seconds_of(&leaf->valid_to);
    if (mbedtls_x509_time_is_past(&leaf->valid_to))
        tls_warn(r, "%s: %s: expired on %s; clients will refuse it", file->key, file->path,
                 date(&leaf->valid_to, text, sizeof(text)));
    if (mbedtls_x509_time_is_future(&leaf->valid_from))
        tls_warn(r, "%s: %s: is not valid before %s; if that has passed, the clock is wrong",
                 file->key, file->path, date(&leaf->valid_from, text, sizeof(text)));
}

static bool is_strong(const mbedtls_pk_context *key, const struct tls_file *file,
                      struct tls_report *r)
{
    size_t bits = mbedtls_pk_get_bitlen(key);

    if (!mbedtls_pk_can_do(key, MBEDTLS_PK_RSA) || bits >= RSA_BITS_MIN)
        return true;
    tls_fault(r, "%s: %s: RSA with %zu bits is too weak; at least %d", file->key, file->path, bits,
              RSA_BITS_MIN);
    return false;
}

static bool fits(const struct mbed_pairs *p, size_t i, const struct tls_files *f,
                 mbedtls_ctr_drbg_context *rng, struct tls_report *r)
{
    if (mbed_check_pair(&p->chains[i].pk, &p->keys[i], rng) == 0)
        return true;
    tls_fault(r, "KeyFile: %s: is not the key of the certificate in %s", f->keys[i].path,
              f->certificates[i].path);
    return false;
}

static bool is_doubled(const struct mbed_pairs *p, size_t i, const struct tls_files *f,
                       struct tls_report *r)
{
    for (size_t at = 0; at < i; at++) {
        if (mbedtls_pk_get_type(&p->keys[at]) != mbedtls_pk_get_type(&p->keys[i]))
            continue;
        tls_fault(r, "CertificateFile: %s: there is a certificate for this kind of key already",
                  f->certificates[i].path);
        return true;
    }
    return false;
}

/* ---- chains ---- */

/* A chain may begin with the leaf, which is there already: it is not sent twice. */
static void drop_doubled_leaf(mbedtls_x509_crt *chain)
{
    for (mbedtls_x509_crt *at = chain; at->next; at = at->next) {
        mbedtls_x509_crt *next = at->next;

        if (next->raw.len != chain->raw.len ||
            memcmp(next->raw.p, chain->raw.p, chain->raw.len) != 0)
            continue;
        at->next = next->next;
        next->next = NULL;
        mbedtls_x509_crt_free(next);
        free(next);
        return;
    }
}

static int add_chain(mbedtls_x509_crt *chain, const struct tls_file *file, struct tls_report *r)
{
    int err = file->bytes ? parse_certificates(chain, file, r) : 0;

    if (err == 0)
        drop_doubled_leaf(chain);
    return err;
}

/* ---- */

static int parse_pair(struct mbed_pairs *p, size_t i, const struct tls_files *f,
                      mbedtls_ctr_drbg_context *rng, struct tls_report *r)
{
    int err = parse_certificates(&p->chains[i], &f->certificates[i], r);
    int key_err = parse_key(&p->keys[i], &f->keys[i], rng, r);
    bool strong;

    if (err < 0 || key_err < 0)
        return err == MK_E_NOMEM || key_err == MK_E_NOMEM ? MK_E_NOMEM : MK_E_INVALID;
    judge_time(&p->chains[i], &f->certificates[i], &r->not_after[i], r);
    strong = is_strong(&p->keys[i], &f->keys[i], r); /* both are worth saying */
    if (!fits(p, i, f, rng, r) || !strong || is_doubled(p, i, f, r))
        return MK_E_INVALID;
    return add_chain(&p->chains[i], &f->chain, r);
}

int mbed_pairs_parse(struct mbed_pairs *p, const struct tls_files *f, struct tls_report *r)
{
    mbedtls_ctr_drbg_context rng;
    int err;

    for (size_t i = 0; i < f->npairs; i++) {
        mbedtls_x509_crt_init(&p->chains[i]);
        mbedtls_pk_init(&p->keys[i]);
    }
    p->count = f->npairs;
    err = mbed_rng_init(&rng);
    for (size_t i = 0; i < f->npairs && err != MK_E_NOMEM && err != MK_E_SYS; i++) {
        int one = parse_pair(p, i, f, &rng, r);

        err = one < 0 ? one : err;
    }
    mbedtls_ctr_drbg_free(&rng);
    return err;
}

void mbed_pairs_free(struct mbed_pairs *p)
{
    for (size_t i = 0; i < p->count; i++) {
        mbedtls_x509_crt_free(&p->chains[i]);
        mbedtls_pk_free(&p->keys[i]);
    }
    p->count = 0;
}

/* The library writes DER at the end of the room that it is given. */
int mbed_key_copy(mbedtls_pk_context *to, mbedtls_pk_context *from, mbedtls_ctr_drbg_context *rng)
{
    unsigned char *der = malloc(KEY_DER_MAX);
    int len = der ? mbedtls_pk_write_key_der(from, der, KEY_DER_MAX) : -1, err = -1;

    mbedtls_pk_init(to);
    if (len > 0)
        err = mbed_parse_key(to, der + KEY_DER_MAX - len, (size_t)len, rng);
    if (len > 0)
        explicit_bzero(der + KEY_DER_MAX - len, (size_t)len);
    free(der);
    return err == 0 ? 0 : MK_E_NOMEM;
}
