/* SPDX-License-Identifier: Apache-2.0 */
#include "face.h"

#include "library.h"
#include "link.h"
#include "resume.h"

/* Mozilla's "intermediate", and the one curve above it that certificates may have. */
static const mbedtls_ecp_group_id curves[] = {MBEDTLS_ECP_DP_CURVE25519, MBEDTLS_ECP_DP_SECP256R1,
                                              MBEDTLS_ECP_DP_SECP384R1, MBEDTLS_ECP_DP_SECP521R1,
                                              MBEDTLS_ECP_DP_NONE};
static const int hashes[] = {MBEDTLS_MD_SHA256, MBEDTLS_MD_SHA384, MBEDTLS_MD_SHA512,
                             MBEDTLS_MD_NONE};
/* What we speak, the best first; of backends only the newer is asked. The library takes no const; nobody writes them. */
static const char *protocols[] = {"http/1.1", "http/1.0", NULL};
static const char *more_protocols[] = {"h2", "http/1.1", "http/1.0", NULL};
static const char *backend_protocols[] = {"http/1.1", NULL};

void mbed_face_offer(struct mbed_face *face, bool has_h2)
{
    (void)mbedtls_ssl_conf_alpn_protocols(&face->conf, has_h2 ? more_protocols : protocols);
}

void mbed_face_ask(struct mbed_face *face, const char **asked)
{
    (void)mbedtls_ssl_conf_alpn_protocols(&face->conf, asked ? asked : backend_protocols);
}

static int use_keys(struct mbed_face *face, struct mbed_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        if (mbed_key_copy(&face->keys[i], &pairs->keys[i], &face->worker->rng) < 0)
            return MK_E_NOMEM;
        face->nkeys = i + 1;
        if (mbedtls_ssl_conf_own_cert(&face->conf, &pairs->chains[i], &face->keys[i]) != 0)
            return MK_E_NOMEM;
    }
    return 0;
}

static int begin(struct mbed_face *face, struct mbed_worker *w, int side, const int *ciphers)
{
    memset(face, 0, sizeof(*face));
    face->worker = w;
    face->is_made = true;
    mbedtls_ssl_config_init(&face->conf);
    if (mbedtls_ssl_config_defaults(&face->conf, side, MBEDTLS_SSL_TRANSPORT_STREAM,
                                    MBEDTLS_SSL_PRESET_DEFAULT) != 0 ||
        mbedtls_ssl_conf_alpn_protocols(
            &face->conf, side == MBEDTLS_SSL_IS_SERVER ? protocols : backend_protocols) != 0)
        return MK_E_NOMEM;
    mbedtls_ssl_conf_rng(&face->conf, mbedtls_ctr_drbg_random, &w->rng);
    mbedtls_ssl_conf_min_version(&face->conf, MBEDTLS_SSL_MAJOR_VERSION_3,
                                 MBEDTLS_SSL_MINOR_VERSION_3);
    mbedtls_ssl_conf_max_version(&face->conf, MBEDTLS_SSL_MAJOR_VERSION_3,
                                 MBEDTLS_SSL_MINOR_VERSION_3);
    mbedtls_ssl_conf_ciphersuites(&face->conf, ciphers);
    mbedtls_ssl_conf_curves(&face->conf, curves);
    mbedtls_ssl_conf_sig_hashes(&face->conf, hashes);
    mbedtls_ssl_conf_renegotiation(&face->conf, MBEDTLS_SSL_RENEGOTIATION_DISABLED);
    return 0;
}

int mbed_face_of_front(struct mbed_face *face, struct mbed_worker *w, struct mbed_front *front)
{
    int err = begin(face, w, MBEDTLS_SSL_IS_SERVER, front->ciphers);

    face->front = front;
    if (err == 0)
        err = use_keys(face, &front->pairs);
    if (err == 0 && front->has_dh && mbedtls_ssl_conf_dh_param_ctx(&face->conf, &front->dh) != 0)
        err = MK_E_NOMEM;
    if (err < 0) {
        mbed_face_fini(face);
        return err;
    }
    mbedtls_ssl_conf_authmode(&face->conf, front->verify);
    if (front->verify != MBEDTLS_SSL_VERIFY_NONE)
        mbedtls_ssl_conf_ca_chain(&face->conf, &front->ca, &front->crls);
    mbedtls_ssl_conf_sni(&face->conf, mbed_link_on_name, w);
    if (front->has_tickets)
        mbedtls_ssl_conf_session_tickets_cb(&face->conf, mbed_resume_issue, mbed_resume_find, face);
    return 0;
}

int mbed_face_of_back(struct mbed_face *face, struct mbed_worker *w, struct mbed_back *back)
{
    int err = begin(face, w, MBEDTLS_SSL_IS_CLIENT, back->ciphers);

    if (err == 0)
        err = use_keys(face, &back->pairs);
    if (err == 0)
        err = mbed_back_need_ca(back);
    if (err < 0) {
        mbed_face_fini(face);
        return err;
    }
    mbedtls_ssl_conf_session_tickets(&face->conf, MBEDTLS_SSL_SESSION_TICKETS_DISABLED);
    mbedtls_ssl_conf_authmode(&face->conf,
                              back->verify ? MBEDTLS_SSL_VERIFY_REQUIRED : MBEDTLS_SSL_VERIFY_NONE);
    if (back->verify)
        mbedtls_ssl_conf_ca_chain(&face->conf, &back->ca, NULL);
    return 0;
}

void mbed_face_fini(struct mbed_face *face)
{
    if (!face->is_made)
        return;
    mbedtls_ssl_config_free(&face->conf);
    for (size_t i = 0; i < face->nkeys; i++)
        mbedtls_pk_free(&face->keys[i]);
    memset(face, 0, sizeof(*face));
}
