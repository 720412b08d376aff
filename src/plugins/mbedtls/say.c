/* SPDX-License-Identifier: Apache-2.0 */
#include "link_int.h"
#include "why.h"

enum { LOG_EVERY_S = 1 };

/* A peer can make such lines come as fast as it connects. */
void mbed_complain(struct mbed_link *t, enum mk_log_level level, const char *what,
                   const char *reason)
{
    struct mbed_worker *w = t->worker;
    int64_t now_s = mk_worker_now_ms(w->worker) / 1000;
    int64_t *logged_s = &w->logged_s[t->site ? 0 : 1];

    if (*logged_s >= 0 && now_s - *logged_s < LOG_EVERY_S)
        return;
    *logged_s = now_s;
    mk_server_log(mk_worker_server(w->worker), level, "mbedtls: %s: %s", what, reason);
}

static const char *why_unverified(const struct mbed_link *t, char *text, size_t size)
{
    uint32_t flags = mbedtls_ssl_get_verify_result(&t->ssl);
    int len =
        flags != 0 && flags != UINT32_MAX ? mbedtls_x509_crt_verify_info(text, size, "", flags) : 0;

    if (len <= 0)
        return NULL;
    text[strcspn(text, "\n")] = '\0';
    return text;
}

void mbed_complain_of_handshake(struct mbed_link *t, int err)
{
    char text[MBED_WHY_MAX];
    const char *reason = why_unverified(t, text, sizeof(text));

    if (t->has_ended)
        reason = "the peer closed the connection";
    if (!reason)
        reason = mbed_why(err, text);
    mbed_complain(t, t->site ? MK_LOG_DEBUG : MK_LOG_ERROR,
                  t->site ? "handshake failed" : "handshake with a backend failed", reason);
}

/* What was written, an alert perhaps, leaves or is given up: the worker's buffer is for the next one. */
ssize_t mbed_fail(struct mbed_link *t, const char *what, const char *reason)
{
    size_t told = 0;

    mbed_complain(t, MK_LOG_DEBUG, what, reason);
    t->state = MBED_BROKEN;
    if (mbed_wire_flush(t, 0, false, &told) < 0)
        tls_outlet_fini(&t->outlet); /* nobody comes to send it */
    return MK_E_PEER;
}

ssize_t mbed_fail_by(struct mbed_link *t, const char *what, int err)
{
    char text[MBED_WHY_MAX];

    return mbed_fail(t, what, mbed_why(err, text));
}
