/* SPDX-License-Identifier: Apache-2.0 */
#include "hello.h"

#include "link.h"
#include "sni.h"

/* ---- which site ---- */

/* Earlier than the name's own call-back: versions, sessions and certificates of clients depend on the site. */
static int on_hello(SSL *ssl, int *alert, void *arg)
{
    struct tls_link *t = openssl_link_of(ssl);
    const unsigned char *bytes;
    size_t len;

    (void)arg;
    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &bytes, &len) == 1)
        t->site = tls_live_site(t->local->live, openssl_sni_parse(bytes, len));
    if (openssl_front_apply(ssl, t->site->object))
        return SSL_CLIENT_HELLO_SUCCESS;
    *alert = SSL_AD_INTERNAL_ERROR;
    return SSL_CLIENT_HELLO_ERROR;
}

/* ---- which protocol ---- */

/* What is always spoken, the best first. The last one is all that curl -0 offers. */
static const struct mk_str protocols[] = {MK_STR_INIT("http/1.1"), MK_STR_INIT("http/1.0")};

static bool choose(const unsigned char **out, unsigned char *out_len, const unsigned char *in,
                   unsigned len, struct mk_str name)
{
    for (unsigned at = 0; at < len && at + 1 + in[at] <= len; at += 1U + in[at]) {
        if (in[at] != name.len || memcmp(in + at + 1, name.p, name.len) != 0)
            continue;
        *out = in + at + 1;
        *out_len = in[at];
        return true;
    }
    return false;
}

/* Who offers only what is not spoken here is told so: no_application_protocol, RFC 7301 section 3.2. */
static int on_protocols(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                        const unsigned char *in, unsigned in_len, void *arg)
{
    const struct openssl_link *own = (const struct openssl_link *)openssl_link_of(ssl);

    (void)arg;
    if (own->offer.p && choose(out, out_len, in, in_len, own->offer))
        return SSL_TLSEXT_ERR_OK;
    for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++) {
        if (choose(out, out_len, in, in_len, protocols[i]))
            return SSL_TLSEXT_ERR_OK;
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* Tells OpenSSL that the name was looked at, so that the server hello says so and sessions remember it. */
static int on_name(SSL *ssl, int *alert, void *arg)
{
    (void)alert;
    (void)arg;
    return SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) ? SSL_TLSEXT_ERR_OK
                                                              : SSL_TLSEXT_ERR_NOACK;
}

void openssl_hello_use(SSL_CTX *ctx)
{
    SSL_CTX_set_client_hello_cb(ctx, on_hello, NULL);
    SSL_CTX_set_tlsext_servername_callback(ctx, on_name);
    SSL_CTX_set_alpn_select_cb(ctx, on_protocols, NULL);
}
