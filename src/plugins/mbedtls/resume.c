/* SPDX-License-Identifier: Apache-2.0 */
#include "resume.h"

#include "face.h"
#include "link.h"

#include <mbedtls/gcm.h>

enum {
    HEAD = MBED_TICKET_NAME + MBED_TICKET_IV,
    AROUND = HEAD + MBED_TICKET_TAG, /* bytes of a ticket beside the session */
};

static int64_t now_s(const struct mbed_face *face)
{
    return mk_worker_now_ms(face->worker->local.worker) / 1000;
}

static int begin(mbedtls_gcm_context *gcm, struct tls_ticket_key *key)
{
    int err;

    mbedtls_gcm_init(gcm);
    err = mbedtls_gcm_setkey(gcm, MBEDTLS_CIPHER_ID_AES, key->cipher, 8 * sizeof(key->cipher));
    explicit_bzero(key, sizeof(*key));
    return err;
}

static int lock(struct mbed_face *face, struct tls_ticket_key *key, unsigned char *ticket,
                size_t len)
{
    unsigned char *iv = ticket + MBED_TICKET_NAME, *body = ticket + HEAD;
    mbedtls_gcm_context gcm;
    int err;

    memcpy(ticket, key->name, MBED_TICKET_NAME);
    err = begin(&gcm, key);
    if (err == 0)
        err = mbedtls_ctr_drbg_random(&face->worker->rng, iv, MBED_TICKET_IV);
    if (err == 0)
        err = mbedtls_gcm_crypt_and_tag(&gcm, MBEDTLS_GCM_ENCRYPT, len, iv, MBED_TICKET_IV,
                                        face->front->session, sizeof(face->front->session), body,
                                        body, MBED_TICKET_TAG, body + len);
    mbedtls_gcm_free(&gcm);
    return err;
}

int mbed_resume_issue(void *arg, const mbedtls_ssl_session *session, unsigned char *start,
                      const unsigned char *end, size_t *len, uint32_t *lifetime_s)
{
    struct mbed_face *face = arg;
    struct tls_ticket_key key;
    size_t room = (size_t)(end - start);
    int err;

    if (room < AROUND || !tls_tickets_issue(face->worker->local.live->tickets, now_s(face), &key))
        return MBEDTLS_ERR_SSL_BUFFER_TOO_SMALL;
    err = mbedtls_ssl_session_save(session, start + HEAD, room - AROUND, len);
    if (err == 0)
        err = lock(face, &key, start, *len);
    explicit_bzero(&key, sizeof(key));
    *len += AROUND;
    *lifetime_s = TLS_TICKET_LIFE_S;
    return err;
}

static int unlock(struct mbed_face *face, struct tls_ticket_key *key, unsigned char *ticket,
                  size_t len)
{
    unsigned char *body = ticket + HEAD;
    mbedtls_gcm_context gcm;
    int err = begin(&gcm, key);

    if (err == 0)
        err = mbedtls_gcm_auth_decrypt(&gcm, len, ticket + MBED_TICKET_NAME, MBED_TICKET_IV,
                                       face->front->session, sizeof(face->front->session),
                                       body + len, MBED_TICKET_TAG, body, body);
    mbedtls_gcm_free(&gcm);
    return err;
}

int mbed_resume_find(void *arg, mbedtls_ssl_session *session, unsigned char *bytes, size_t len)
{
    struct mbed_face *face = arg;
    struct tls_ticket_key key;
    bool is_current;
    int err;

    if (len < AROUND ||
        !tls_tickets_find(face->worker->local.live->tickets, now_s(face), bytes, &key, &is_current))
        return MBEDTLS_ERR_SSL_INVALID_MAC;
    err = unlock(face, &key, bytes, len - AROUND);
    if (err == 0)
        err = mbedtls_ssl_session_load(session, bytes + HEAD, len - AROUND);
    explicit_bzero(bytes, len);
    face->has_resumed = err == 0;
    return err == 0 ? 0 : MBEDTLS_ERR_SSL_INVALID_MAC;
}
