/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include <stdlib.h>

/* What the kit's link has the library do. */

enum {
    SMALL_WRITE = 3072
}; /* a record of so many bytes stays in the first page of the library's buffer */

static struct mk_str mbed_agreed(const struct tls_link *t)
{
    return mk_str_from(mbedtls_ssl_get_alpn_protocol(&((const struct mbed_link *)t)->ssl));
}

static enum tls_step mbed_read(struct tls_link *t, void *buf, size_t len, size_t *got)
{
    struct mbed_link *own = mbed_link_of(t);
    int n = mbedtls_ssl_read(&own->ssl, buf, len);

    if (n > 0) {
        *got = (size_t)n;
        return TLS_STEP_DONE;
    }
    own->error = n;
    switch (n) {
    case MBEDTLS_ERR_SSL_WANT_READ:
        return TLS_STEP_AGAIN;
    case MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY:
        return TLS_STEP_END;
    case 0:
    case MBEDTLS_ERR_SSL_CONN_EOF:
        return TLS_STEP_CUT;
    default:
        return TLS_STEP_FAIL;
    }
}

/* The library's buffer is empty between two calls, so it takes a record each time. */
static ssize_t mbed_write(struct tls_link *t, const char *bytes, size_t len)
{
    struct mbed_link *own = mbed_link_of(t);
    int n = mbedtls_ssl_write(&own->ssl, (const unsigned char *)bytes, len);

    own->has_touched |= len > SMALL_WRITE;
    if (n > 0)
        return n;
    own->error = n;
    return MK_E_PEER;
}

static bool mbed_has_input(const struct tls_link *t)
{
    const struct mbed_link *own = (const struct mbed_link *)t;

    return own->in_len > 0 || mbedtls_ssl_check_pending(&own->ssl);
}

static void mbed_say_end(struct tls_link *t)
{
    (void)mbedtls_ssl_close_notify(&mbed_link_of(t)->ssl);
}

static void mbed_rest(struct tls_link *t)
{
    mbed_trim(mbed_link_of(t));
}

static void mbed_free(struct tls_link *t)
{
    struct mbed_link *own = mbed_link_of(t);
    struct mbed_worker *w = mbed_worker_of(t);

    if (own->has_ssl)
        mbedtls_ssl_free(&own->ssl);
    free(own->name);
    explicit_bzero(own->in, sizeof(own->in));
    free(own);
    mbed_worker_put(w);
}

const struct tls_link_engine mbed_link_engine = {
    .name = "mbedtls",
    .shake = mbed_shake,
    .agreed = mbed_agreed,
    .read = mbed_read,
    .write = mbed_write,
    .has_input = mbed_has_input,
    .say_end = mbed_say_end,
    .rest = mbed_rest,
    .why = mbed_link_why,
    .why_refused = mbed_link_why_refused,
    .free = mbed_free,
};
