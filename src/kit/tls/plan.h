/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TLS_PLAN_H
#define KIT_TLS_PLAN_H

#include "kit/counted/counted.h"
#include "kit/tls/census.h"
#include "kit/tls/files.h"
#include "kit/tls/names.h"
#include "kit/tls/tickets.h"

/*
 * From sections to what links work with. In check and check_site the plan of a configuration is made and each
 * certificate is tried; in start all is built once more and becomes a struct tls_live, which links hold, so
 * that they live on when their configuration has gone. A reload that finds something wrong stops in
 * the check: what was in force stays, live and all.
 *
 * A plugin sets its engine, and calls from its hooks:
 *
 *     check        tls_plan_check(setup, &engine)        worker_start  tls_live_ref(tls_plan_live(ctx))
 *     check_site   tls_plan_check_site(setup)            worker_stop   tls_live_put
 *     start, stop  tls_plan_start, tls_plan_stop         on_request    tls_judge
 *
 * and in its transport's open: tls_plan_live(ctx), then for accepted links tls_live_site (with no name at first,
 * with the client's when it came), for others tls_live_backend.
 */

/** Bytes that tell one site from another. */
struct tls_identity {
    uint8_t
        policy[32]; /* what is asked of clients: CheckClientCert, the bytes of CAFile and CRLFile */
    uint8_t session[32]; /* that and the site's names: a session goes on only where it began */
};

/** A TLS library. Objects are used by all workers at once, and read only. */
struct tls_engine {
    /**
     * Judge a section and make what its handshakes need: certificates with keys, versions, ciphers, parameters. Keys
     * that do not fit and settings that the library cannot do are faults. Certificates that expired or whose time is still
     * to come are warnings: other sites and addresses must not wait for them, and a device may not know the time yet.
     * When they expire is noted in r->not_after.
     * @param s, f  borrowed for the call
     * @param id    copied; all zero in a check
     * @return 0; MK_E_INVALID: at least one fault was noted; MK_E_NOMEM.
     */
    int (*server_new)(void **object, const struct tls_settings *s, const struct tls_files *f,
                      const struct tls_identity *id, struct tls_report *r);
    void (*server_free)(void *object);
    /** Is one of its certificates for this host name? @param object  of a check, and freed afterwards */
    bool (*server_has_name)(void *object, const char *name);
    /** The same for the client's side. */
    int (*client_new)(void **object, const struct tls_backend_settings *s,
                      const struct tls_files *f, struct tls_report *r);
    void (*client_free)(void *object);
    /** SHA-256. */
    void (*digest)(const void *bytes, size_t len, uint8_t out[32]);
};

/** What one [TLS] came to. */
struct tls_site {
    void *object; /* the engine's */
    struct tls_identity id;
    enum tls_client_cert client_cert;
};

/** All of one configuration. Read only, but its count. */
struct tls_live {
    struct counted refs;
    const struct tls_engine *engine;
    struct tls_tickets *tickets;
    struct tls_census *census;
    struct tls_site *sites;
    size_t nsites;
    unsigned fallback; /* the site for names that nobody has; meaningless without sites */
    struct tls_names names;
    void **backends; /* the engine's client objects; the last one for all that no other names */
    size_t nbackends;
    struct tls_names backend_names;
};

/* ---- hooks ---- */

int tls_plan_check(struct mk_setup *setup, const struct tls_engine *engine) MK_MUST_USE;
/** Keeps the site's object for tls_judge, and says whether on_request is to act there. */
int tls_plan_check_site(struct mk_setup *setup) MK_MUST_USE;
/** Warn of sites whose names the certificate that they share does not have. */
int tls_plan_check_end(struct mk_setup *setup) MK_MUST_USE;
int tls_plan_start(const struct mk_context *ctx, const struct mk_context *old) MK_MUST_USE;
void tls_plan_stop(const struct mk_context *ctx);
/** The hook `metrics`. @param names  as for tls_census_tell, then that of when certificates expire */
void tls_plan_metrics(const struct mk_context *ctx, const char *const names[3], mk_metric_fn tell,
                      void *arg);
/** From start to stop, borrowed. */
struct tls_live *tls_plan_live(const struct mk_context *ctx);

/**
 * A request for a site that asks for certificates of clients may have come over a connection of which less was asked,
 * because its handshake named another site. Such a request is misdirected (421, RFC 9110 section 15.5.20),
 * and one that comes in the clear is refused (403) where a certificate must be there.
 * @param transport  the plugin's own
 * @param policy_of  of a link of it: tls_identity.policy of the site whose handshake it had
 */
enum mk_verdict tls_judge(struct mk_request *r, const struct mk_context *ctx, const char *transport,
                          const uint8_t *(*policy_of)(const struct mk_link *l));

/* ---- links ---- */

struct tls_live *tls_live_ref(struct tls_live *live);
/** NULL is allowed. Any thread. */
void tls_live_put(struct tls_live *live);

/** Whose handshake it is. @param name  the client's wish; p NULL: none (yet) @return NULL: there is no certificate at all. */
const struct tls_site *tls_live_site(const struct tls_live *live, struct mk_str name);
/** The engine's object for a backend. @param name  may be NULL. Never NULL. */
void *tls_live_backend(const struct tls_live *live, const char *name);

#endif
