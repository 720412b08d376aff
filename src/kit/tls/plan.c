/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/plan.h"

#include <fcntl.h>
#include <stdlib.h>

/* One [TLS] of a configuration, and which sites it serves. Lives with the settings. */
struct planned {
    struct planned *next;
    unsigned index;
    const struct tls_settings *settings;
    const struct mk_words *names; /* of the site that wrote it; NULL: the plugin's file did */
    uint8_t policy[32];           /* from start on, as what follows */
    int64_t not_after[TLS_PAIRS_MAX];
};

struct named {
    struct named *next;
    struct mk_str name;
    unsigned index;
};

struct tls_plan {
    const struct tls_engine *engine;
    struct planned *first, **last;
    struct named *names;
    unsigned count;
    struct planned *of_file;  /* the plugin's own [TLS], when it names a certificate */
    struct planned *fallback; /* the default site's; NULL: there is none */
    bool has_default_site;    /* it was checked */
    const struct tls_backend_settings **backends; /* the last one names none */
    size_t nbackends;
    struct tls_live *live; /* from start to stop */
};

/* ---- who is who ---- */

static void identify(const struct tls_engine *engine, const struct planned *p,
                     const struct tls_files *f, struct tls_identity *id)
{
    uint8_t text[65] = {(uint8_t)p->settings->client_cert};

    if (p->settings->client_cert != TLS_CLIENT_CERT_OFF) {
        engine->digest(f->ca.bytes, f->ca.len, text + 1);
        for (size_t i = 0; i < f->ncrls; i++) {
            engine->digest(f->crls[i].bytes, f->crls[i].len, text + 33);
            engine->digest(text, sizeof(text), text + 1);
        }
    }
    engine->digest(text, 33, id->policy);
    memcpy(text, id->policy, 32);
    for (size_t i = 0; p->names && i < p->names->count; i++) {
        engine->digest(p->names->items[i].p, p->names->items[i].len, text + 32);
        engine->digest(text, 64, text);
    }
    text[64] = p->names != NULL;
    engine->digest(text, 65, id->session);
}

/* ---- check ---- */

static int open_in_check(void *arg, const char *path)
{
    return mk_setup_open(arg, path);
}

/* Certificates have addresses elsewhere, and few have any. */
static bool is_address(struct mk_str name)
{
    size_t i = 0;

    while (i < name.len && ((name.p[i] >= '0' && name.p[i] <= '9') || name.p[i] == '.'))
        i++;
    return i == name.len || name.p[0] == '[';
}

static bool has_name(const struct tls_engine *engine, void *object, struct mk_str name)
{
    char text[TLS_NAME_MAX + 1];

    if (name.len > TLS_NAME_MAX || is_address(name))
        return true;
    memcpy(text, name.p, name.len);
    text[name.len] = '\0';
    if (text[0] == '*')
        text[0] = 'x'; /* one of them */
    return engine->server_has_name(object, text);
}

/* Clients refuse a certificate that has not the name they asked for. */
static void check_names(struct tls_report *report, const struct tls_engine *engine, void *object,
                        const struct mk_words *names)
{
    struct mk_str first = {NULL, 0};
    unsigned count = 0;

    for (size_t i = 0; names && i < names->count; i++) {
        if (has_name(engine, object, names->items[i]))
            continue;
        if (count++ == 0)
            first = names->items[i];
    }
    if (count == 1)
        tls_warn(report, "CertificateFile: it is not for the ServerName %.*s", (int)first.len,
                 first.p);
    else if (count > 1)
        tls_warn(report, "CertificateFile: it is not for %u names of ServerName, such as %.*s",
                 count, (int)first.len, first.p);
}

/* Build it, to see whether it can be. @return 0 or MK_E_NOMEM: what is wrong was said. */
static int try_server(struct mk_setup *setup, const struct tls_engine *engine,
                      const struct tls_settings *s, const struct mk_words *names)
{
    struct tls_report report = {.setup = setup, .settings = s};
    const struct tls_identity nobody = {0};
    struct tls_files files;
    void *object;
    int err = tls_files_read(&files, s, open_in_check, setup, &report);

    if (err == 0) {
        err = engine->server_new(&object, s, &files, &nobody, &report);
        tls_files_free(&files);
        if (err == 0) {
            check_names(&report, engine, object, names);
            engine->server_free(object);
        }
    }
    return err == MK_E_NOMEM ? err : tls_files_need(setup, s);
}

static int try_client(struct mk_setup *setup, const struct tls_engine *engine,
                      const struct tls_backend_settings *s)
{
    struct tls_report report = {.setup = setup, .settings = s};
    struct tls_files files;
    void *object;
    int err = tls_files_read_backend(&files, s, open_in_check, setup, &report);

    if (err == 0) {
        err = engine->client_new(&object, s, &files, &report);
        tls_files_free(&files);
        if (err == 0)
            engine->client_free(object);
    }
    return err == MK_E_NOMEM ? err : tls_files_need_backend(setup, s);
}

static struct planned *add_planned(struct mk_setup *setup, struct tls_plan *plan,
                                   const struct tls_settings *s, const struct mk_words *names)
{
    struct planned *p = mk_setup_alloc(setup, sizeof(*p));

    if (!p || try_server(setup, plan->engine, s, names) < 0)
        return NULL;
    p->index = plan->count++;
    p->settings = s;
    p->names = names;
    *plan->last = p;
    plan->last = &p->next;
    return p;
}

/* A section that only sets defaults for sites names none. */
static bool names_certificate(const struct tls_settings *s)
{
    return s->certificates.count > 0 || s->keys.count > 0;
}

static int refuse_name(struct mk_setup *setup, const struct tls_backend_settings *s,
                       struct mk_str name)
{
    mk_setup_fault(setup, mk_setup_place(setup, s, "Backend"),
                   "Backend: \"%.*s\" is neither a name nor *.name", (int)name.len, name.p);
    return 0;
}

static int check_backend_names(struct mk_setup *setup, const struct tls_backend_settings *s)
{
    struct tls_names names = {0};
    int err = 0;

    for (size_t i = 0; err == 0 && i < s->names.count; i++) {
        err = tls_names_add(&names, s->names.items[i], 0);
        if (err == MK_E_INVALID)
            err = refuse_name(setup, s, s->names.items[i]);
    }
    tls_names_fini(&names);
    return err;
}

/* For backends that no section speaks of: verified, with the system's authorities. */
static const struct tls_backend_settings other_backends = {.verify = true};

static int check_backends(struct mk_setup *setup, struct tls_plan *plan)
{
    const struct tls_backend_settings *others = NULL;
    size_t count = 0;
    void *s;

    for (s = NULL; (s = mk_setup_section(setup, &tls_backend_section, s));)
        count++;
    plan->backends = mk_setup_alloc(setup, (count + 1) * sizeof(struct tls_backend_settings *));
    if (!plan->backends)
        return MK_E_NOMEM;
    for (s = NULL; (s = mk_setup_section(setup, &tls_backend_section, s));) {
        const struct tls_backend_settings *b = s;

        if (try_client(setup, plan->engine, b) < 0 || check_backend_names(setup, b) < 0)
            return MK_E_NOMEM;
        if (b->names.count > 0)
            plan->backends[plan->nbackends++] = b;
        else if (others)
            mk_setup_fault(
                setup, mk_setup_place(setup, b, "Backend"),
                "another [TLS_BACKEND] without Backend is already for all other backends");
        else
            others = b;
    }
    plan->backends[plan->nbackends++] = others ? others : &other_backends;
    return 0;
}

int tls_plan_check(struct mk_setup *setup, const struct tls_engine *engine)
{
    struct tls_plan *plan = mk_setup_alloc(setup, sizeof(*plan));
    const struct tls_settings *s = mk_setup_section(setup, &tls_section, NULL);

    if (!plan)
        return MK_E_NOMEM;
    plan->engine = engine;
    plan->last = &plan->first;
    mk_setup_keep(setup, plan);
    if (s && names_certificate(s)) {
        plan->of_file = add_planned(setup, plan, s, NULL);
        if (!plan->of_file)
            return MK_E_NOMEM;
    }
    return check_backends(setup, plan);
}

/* ---- check_site ---- */

static int add_names(struct mk_setup *setup, struct tls_plan *plan, const struct planned *p)
{
    const struct mk_words *names = mk_setup_site_names(setup);

    for (size_t i = 0; i < names->count; i++) {
        struct named *named = mk_setup_alloc(setup, sizeof(*named));

        if (!named)
            return MK_E_NOMEM;
        *named = (struct named){.next = plan->names, .name = names->items[i], .index = p->index};
        plan->names = named;
    }
    return 0;
}

/* Sites that say nothing share what the plugin's file says, or what the default site says. */
static int plan_of_site(struct mk_setup *setup, struct tls_plan *plan, struct planned **p)
{
    const struct tls_settings *s = mk_setup_section(setup, &tls_section, NULL);

    if (s && mk_setup_origin(setup, s)) {
        *p = add_planned(setup, plan, s, mk_setup_site_names(setup));
        return *p ? 0 : MK_E_NOMEM;
    }
    *p = plan->of_file ? plan->of_file : plan->fallback;
    return 0;
}

int tls_plan_check_site(struct mk_setup *setup)
{
    struct tls_plan *plan = mk_setup_config(setup);
    struct planned *p;

    if (plan_of_site(setup, plan, &p) < 0)
        return MK_E_NOMEM;
    if (!plan->has_default_site) { /* the first one that is checked */
        plan->has_default_site = true;
        plan->fallback = p;
        if (!p && mk_setup_carries(setup))
            mk_setup_fault(setup, NULL,
                           "an address uses TLS, but no [TLS] of the plugin's file or of the "
                           "default site names CertificateFile and KeyFile");
    }
    mk_setup_keep(setup, p);
    mk_setup_act(setup, p && p->settings->client_cert != TLS_CLIENT_CERT_OFF ? MK_ACTS_REQUEST : 0);
    return p ? add_names(setup, plan, p) : 0;
}

/* ---- check_end ---- */

/* Names of sites that use a section which others wrote: its own site's were compared when it was checked. */
static int list_borrowers(const struct tls_plan *plan, const struct planned *p,
                          struct mk_setup *setup, struct mk_words *names)
{
    const struct mk_words *own = p->names;
    size_t count = 0;

    for (const struct named *n = plan->names; n; n = n->next)
        count += n->index == p->index;
    names->items = mk_setup_alloc(setup, (count + 1) * sizeof(*names->items));
    if (!names->items)
        return MK_E_NOMEM;
    for (const struct named *n = plan->names; n; n = n->next) {
        size_t i = 0;

        while (own && i < own->count && own->items[i].p != n->name.p)
            i++;
        if (n->index == p->index && (!own || i == own->count))
            names->items[names->count++] = n->name;
    }
    return 0;
}

/* Who asks a site by TLS that says nothing of certificates gets this one. */
int tls_plan_check_end(struct mk_setup *setup)
{
    struct tls_plan *plan = mk_setup_config(setup);
    const struct planned *p = plan->of_file ? plan->of_file : plan->fallback;
    struct mk_words names = {0};

    if (!p || !mk_setup_carries(setup))
        return 0;
    if (list_borrowers(plan, p, setup, &names) < 0)
        return MK_E_NOMEM;
    return names.count > 0 ? try_server(setup, plan->engine, p->settings, &names) : 0;
}

/* ---- start ---- */

static int open_in_start(void *arg, const char *path)
{
    return mk_server_open_file(arg, path, O_RDONLY, 0);
}

static int build_site(const struct mk_context *ctx, struct tls_live *live, struct planned *p,
                      struct tls_report *r)
{
    struct tls_site *site = &live->sites[live->nsites];
    struct tls_files files;
    int err = tls_files_read(&files, p->settings, open_in_start, ctx->server, r);

    if (err < 0)
        return err;
    identify(live->engine, p, &files, &site->id);
    memcpy(p->policy, site->id.policy, sizeof(p->policy));
    site->client_cert = (enum tls_client_cert)p->settings->client_cert;
    memset(r->not_after, 0, sizeof(r->not_after));
    err = live->engine->server_new(&site->object, p->settings, &files, &site->id, r);
    tls_files_free(&files);
    memcpy(p->not_after, r->not_after, sizeof(p->not_after));
    live->nsites += err == 0;
    return err;
}

static int build_backend(const struct mk_context *ctx, struct tls_live *live,
                         const struct tls_backend_settings *s, struct tls_report *r)
{
    unsigned index = (unsigned)live->nbackends;
    struct tls_files files;
    int err = tls_files_read_backend(&files, s, open_in_start, ctx->server, r);

    if (err < 0)
        return err;
    err = live->engine->client_new(&live->backends[index], s, &files, r);
    tls_files_free(&files);
    live->nbackends += err == 0;
    for (size_t i = 0; err == 0 && i < s->names.count; i++)
        err = tls_names_add(&live->backend_names, s->names.items[i], index);
    return err;
}

static int build_names(const struct tls_plan *plan, struct tls_live *live)
{
    int err = 0;

    for (const struct named *n = plan->names; n && err == 0; n = n->next) {
        err = tls_names_add(&live->names, n->name, n->index);
        if (err == MK_E_INVALID) /* no name that a client could ask for */
            err = 0;
    }
    tls_names_sort(&live->names);
    tls_names_sort(&live->backend_names);
    return err;
}

static int build(const struct mk_context *ctx, const struct tls_plan *plan, struct tls_live *live,
                 struct tls_report *r)
{
    int err = 0;

    live->sites = calloc(plan->count + 1, sizeof(*live->sites));
    live->backends = calloc(plan->nbackends, sizeof(*live->backends));
    if (!live->tickets || !live->census || !live->sites || !live->backends)
        return MK_E_NOMEM;
    for (struct planned *p = plan->first; p && err == 0; p = p->next)
        err = build_site(ctx, live, p, r);
    for (size_t i = 0; i < plan->nbackends && err == 0; i++)
        err = build_backend(ctx, live, plan->backends[i], r);
    return err < 0 ? err : build_names(plan, live);
}

int tls_plan_start(const struct mk_context *ctx, const struct mk_context *old)
{
    struct tls_plan *plan = ctx->config;
    const struct tls_plan *before = old ? old->config : NULL;
    struct tls_live *live = calloc(1, sizeof(*live));
    struct tls_report report = {0};
    int err;

    if (!live)
        return MK_E_NOMEM;
    counted_init(&live->refs, 1);
    live->engine = plan->engine;
    live->fallback = plan->fallback ? plan->fallback->index : 0;
    live->tickets =
        before && before->live ? tls_tickets_ref(before->live->tickets) : tls_tickets_new();
    live->census = before && before->live ? tls_census_ref(before->live->census) : tls_census_new();
    err = build(ctx, plan, live, &report);
    if (err == 0) {
        plan->live = live;
        return 0;
    }
    tls_live_put(live);
    if (report.has_fault)
        mk_plugin_why(ctx, "%s", report.why);
    return err;
}

void tls_plan_stop(const struct mk_context *ctx)
{
    struct tls_plan *plan = ctx->config;

    tls_live_put(plan->live);
    plan->live = NULL;
}

/* With the site that names the file, unless the plugin's own file does. */
static void tell_certificates(const struct planned *p, const char *name, mk_metric_fn tell,
                              void *arg)
{
    const struct mk_words *paths = &p->settings->certificates;
    struct mk_metric m = {
        .size = sizeof(m),
        .name = name,
        .help = "When a certificate expires, in seconds since 1970.",
        .nlabels = 1,
        .labels = {{.name = "file"}, {.name = "site"}},
    };

    if (p->names && p->names->count > 0) {
        m.nlabels = 2;
        m.labels[1].value = p->names->items[0];
    }
    for (size_t i = 0; i < paths->count && i < TLS_PAIRS_MAX; i++) {
        m.value = (double)p->not_after[i];
        m.labels[0].value = paths->items[i];
        tell(arg, &m);
    }
}

void tls_plan_metrics(const struct mk_context *ctx, const char *const names[3], mk_metric_fn tell,
                      void *arg)
{
    const struct tls_plan *plan = ctx->config;

    tls_census_tell(plan->live->census, names, tell, arg);
    for (const struct planned *p = plan->first; p; p = p->next)
        tell_certificates(p, names[2], tell, arg);
}

struct tls_live *tls_plan_live(const struct mk_context *ctx)
{
    const struct tls_plan *plan = ctx->config;

    return plan->live;
}

/* ---- on_request ---- */

enum mk_verdict tls_judge(struct mk_request *r, const struct mk_context *ctx, const char *transport,
                          const uint8_t *(*policy_of)(const struct mk_link *l))
{
    const struct planned *p = ctx->site;
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_conn_facts conn = {.size = sizeof(conn)};

    mk_request_facts(r, &facts);
    mk_conn_facts(facts.conn, &conn);
    if (strcmp(conn.transport, transport) == 0)
        return memcmp(policy_of(mk_conn_link(facts.conn)), p->policy, sizeof(p->policy)) == 0
                   ? MK_VERDICT_PASS
                   : mk_reply_error(r, 421, NULL);
    if (conn.tls_version || p->settings->client_cert != TLS_CLIENT_CERT_ON)
        return MK_VERDICT_PASS; /* another plugin for TLS judges its own */
    return mk_reply_error(r, 403, NULL);
}
