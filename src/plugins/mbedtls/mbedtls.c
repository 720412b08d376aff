/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"
#include "make_cert.h"

/* TLS 1.2 on mbedTLS, for devices: a transport for listeners and for backends. */

static int mbed_check(struct mk_setup *setup)
{
    return tls_plan_check(setup, &mbed_engine);
}

static int mbed_worker_start(const struct mk_context *ctx, void **local)
{
    *local = mbed_worker_new(ctx->worker, tls_plan_live(ctx));
    return *local ? 0 : MK_E_NOMEM;
}

static void mbed_worker_stop(const struct mk_context *ctx)
{
    mbed_worker_put(ctx->local);
}

static enum mk_verdict mbed_on_request(struct mk_request *r, const struct mk_context *ctx)
{
    return tls_judge(r, ctx, mbed_transport.name, tls_link_policy);
}

static void mbed_metrics(const struct mk_context *ctx, mk_metric_fn tell, void *arg)
{
    static const char *const names[] = {"monkey_mbedtls_handshakes_total",
                                        "monkey_mbedtls_handshakes_failed_total",
                                        "monkey_mbedtls_certificate_not_after_seconds"};

    tls_plan_metrics(ctx, names, tell, arg);
}

static int mbed_command(const char *const *words, char *text, size_t size)
{
    return tls_make_cert_command(words, mbed_make_cert, text, size);
}

static const struct mk_plugin mbed_plugin = {
    MK_PLUGIN("mbedtls", "TLS 1.2 (mbedTLS)"),
    .sections = tls_sections,
    .check = mbed_check,
    .check_site = tls_plan_check_site,
    .check_end = tls_plan_check_end,
    .start = tls_plan_start,
    .stop = tls_plan_stop,
    .worker_start = mbed_worker_start,
    .worker_stop = mbed_worker_stop,
    .on_request = mbed_on_request,
    .transport = &mbed_transport,
    .command = mbed_command,
    .metrics = mbed_metrics,
};
MK_PLUGIN_EXPORT(mbed_plugin);
