/* SPDX-License-Identifier: Apache-2.0 */
#include "crls.h"

#include "pairs.h"
#include "why.h"

#include <openssl/err.h>
#include <openssl/pem.h>

enum { NAME_TEXT = 256 };

static void warn_of_age(const X509_CRL *list, const struct tls_file *file, struct tls_report *r)
{
    const ASN1_TIME *until = X509_CRL_get0_nextUpdate(list);
    char text[PAIRS_DATE_TEXT];

    if (until && X509_cmp_current_time(until) <= 0)
        tls_warn(r, "%s: %s: expired on %s, so clients of its authority are refused", file->key,
                 file->path, openssl_pairs_date(until, text));
}

static bool add(X509_STORE *store, X509_CRL *list, const struct tls_file *file,
                struct tls_report *r)
{
    if (X509_STORE_add_crl(store, list) != 1) {
        tls_fault(r, "%s: %s: cannot be used: %s", file->key, file->path, openssl_why_failed());
        return false;
    }
    warn_of_age(list, file, r);
    return true;
}

/* A file may have the lists of several authorities. */
static bool add_file(X509_STORE *store, const struct tls_file *file, struct tls_report *r)
{
    BIO *bytes = BIO_new_mem_buf(file->bytes, (int)file->len);
    X509_CRL *list;
    bool ok = bytes;
    int count = 0;

    ERR_clear_error();
    while (ok && (list = PEM_read_bio_X509_CRL(bytes, NULL, NULL, NULL))) {
        ok = add(store, list, file, r);
        count++;
        X509_CRL_free(list);
    }
    BIO_free(bytes);
    if (ok && (count == 0 || ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)) {
        tls_fault(r, "%s: %s: is not a list of revoked certificates in PEM: %s", file->key,
                  file->path, openssl_why_failed());
        ok = false;
    }
    ERR_clear_error();
    return ok;
}

/* Its clients would all be refused, which the administrator should not learn from them. */
static void warn_of_missing(X509_STORE *store, struct tls_report *r)
{
    STACK_OF(X509_OBJECT) *objects = X509_STORE_get0_objects(store);

    for (int i = 0; i < sk_X509_OBJECT_num(objects); i++) {
        const X509 *authority = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i));
        char name[NAME_TEXT];

        if (!authority ||
            X509_OBJECT_retrieve_by_subject(objects, X509_LU_CRL, X509_get_subject_name(authority)))
            continue;
        (void)X509_NAME_oneline(X509_get_subject_name(authority), name, sizeof(name));
        tls_warn(r, "no CRLFile has a list of the authority \"%s\", so its clients are refused",
                 name[0] == '/' ? name + 1 : name);
    }
}

bool openssl_crls_use(SSL_CTX *ctx, const struct tls_files *f, struct tls_report *r)
{
    X509_STORE *store = SSL_CTX_get_cert_store(ctx);
    bool ok = true;

    for (size_t i = 0; i < f->ncrls; i++)
        ok = add_file(store, &f->crls[i], r) && ok;
    if (!ok || f->ncrls == 0)
        return ok;
    warn_of_missing(store, r);
    return X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL) == 1;
}
