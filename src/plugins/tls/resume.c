/* SPDX-License-Identifier: Apache-2.0 */
#include "resume.h"

#include "link.h"

#include <openssl/core_names.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

enum { REFUSED = 0, USED = 1, RENEWED = 2, FAILED = -1 };

static bool set_mac(EVP_MAC_CTX *mac, struct tls_ticket_key *key)
{
    char sha256[] = "SHA256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key->mac, sizeof(key->mac)),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, sha256, 0),
        OSSL_PARAM_construct_end(),
    };

    return EVP_MAC_CTX_set_params(mac, parameters) == 1;
}

static int issue(struct tls_link *t, unsigned char name[16], unsigned char *iv,
                 EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac)
{
    struct tls_ticket_key key;
    int result = FAILED;

    if (!tls_tickets_issue(t->local->live->tickets, openssl_now_s(t), &key))
        return REFUSED;
    memcpy(name, key.name, sizeof(key.name));
    if (RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) == 1 &&
        EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, key.cipher, iv) == 1 &&
        set_mac(mac, &key))
        result = USED;
    OPENSSL_cleanse(&key, sizeof(key));
    return result;
}

/* In TLS 1.3 a ticket is for one use, so each brings the next (RFC 8446 appendix C.4). */
static int find(struct tls_link *t, const unsigned char name[16], const unsigned char *iv,
                EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac)
{
    struct tls_ticket_key key;
    bool is_current;
    int result = FAILED;

    if (!tls_tickets_find(t->local->live->tickets, openssl_now_s(t), name, &key, &is_current))
        return REFUSED;
    if (set_mac(mac, &key) &&
        EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, key.cipher, iv) == 1)
        result = is_current && SSL_version(openssl_ssl_of(t)) < TLS1_3_VERSION ? USED : RENEWED;
    OPENSSL_cleanse(&key, sizeof(key));
    return result;
}

static int on_ticket(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
                     EVP_MAC_CTX *mac, int issuing)
{
    struct tls_link *t = openssl_link_of(ssl);

    return issuing ? issue(t, name, iv, cipher, mac) : find(t, name, iv, cipher, mac);
}

/* Each resumption brings a new ticket, so that a session could go on for ever: not longer than its client's certificate. */
static SSL_TICKET_RETURN on_session(SSL *ssl, SSL_SESSION *session, const unsigned char *name,
                                    size_t len, SSL_TICKET_STATUS status, void *arg)
{
    const X509 *peer = session ? SSL_SESSION_get0_peer(session) : NULL;

    (void)ssl;
    (void)name;
    (void)len;
    (void)arg;
    if (status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW)
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    if (peer && X509_cmp_current_time(X509_get0_notAfter(peer)) <= 0)
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

bool openssl_resume_use(SSL_CTX *ctx)
{
    SSL_CTX_set_timeout(ctx, TLS_TICKET_LIFE_S);
    return SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, on_ticket) == 1 &&
           SSL_CTX_set_session_ticket_cb(ctx, NULL, on_session, NULL) == 1;
}
