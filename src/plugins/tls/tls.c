/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"
#include "make_cert.h"

/* TLS 1.2 and 1.3 on OpenSSL: a transport for listeners and for backends. */

static int tls_check(struct mk_setup *setup)
{
    return tls_plan_check(setup, &openssl_engine);
}

static int openssl_worker_start(const struct mk_context *ctx, void **local)
{
    *local = openssl_worker_new(ctx->worker, tls_plan_live(ctx));
    return *local ? 0 : MK_E_NOMEM;
}

static void openssl_worker_stop(const struct mk_context *ctx)
{
    openssl_worker_put(ctx->local);
}

static enum mk_verdict tls_on_request(struct mk_request *r, const struct mk_context *ctx)
{
    return tls_judge(r, ctx, openssl_transport.name, tls_link_policy);
}

static void tls_metrics(const struct mk_context *ctx, mk_metric_fn tell, void *arg)
{
    static const char *const names[] = {"monkey_tls_handshakes_total",
                                        "monkey_tls_handshakes_failed_total",
                                        "monkey_tls_certificate_not_after_seconds"};

    tls_plan_metrics(ctx, names, tell, arg);
}

static int tls_command(const char *const *words, char *text, size_t size)
{
    return tls_make_cert_command(words, openssl_pair_make, text, size);
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("tls", "TLS 1.2 and 1.3 (OpenSSL)"),
    .sections = tls_sections,
    .check = tls_check,
    .check_site = tls_plan_check_site,
    .check_end = tls_plan_check_end,
    .start = tls_plan_start,
    .stop = tls_plan_stop,
    .worker_start = openssl_worker_start,
    .worker_stop = openssl_worker_stop,
    .on_request = tls_on_request,
    .transport = &openssl_transport,
    .command = tls_command,
    .metrics = tls_metrics,
};
MK_PLUGIN_EXPORT(plugin);
