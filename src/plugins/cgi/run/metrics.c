/* SPDX-License-Identifier: Apache-2.0 */
#include "run/metrics.h"

#include "entry/settings.h"
#include "yard/pool.h"

#include "kit/text/words.h"

static double running(const struct pool_facts *f)
{
    return f->used;
}

static double waiting(const struct pool_facts *f)
{
    return f->waiting;
}

static double started(const struct pool_facts *f)
{
    return (double)f->granted;
}

static double refused(const struct pool_facts *f)
{
    return (double)f->refused;
}

static const struct family {
    const char *name, *help;
    bool is_counter;
    double (*value)(const struct pool_facts *f);
} families[] = {
    {"monkey_cgi_running", "Scripts that run, or hold a place to.", false, running},
    {"monkey_cgi_waiting", "Requests that wait for a place.", false, waiting},
    {"monkey_cgi_started_total", "Requests that got a place for their script.", true, started},
    {"monkey_cgi_refused_total", "Requests refused because too many waited.", true, refused},
};

/* "shared", "site example.org"; "site" for a site without a name. */
static struct mk_str name_of(const struct cgi_site *site)
{
    return text_trim(mk_str_from(*site->pool_name ? site->pool_name : "shared"));
}

/* Sites share pools: each is told of once. */
static bool is_first(const struct cgi_config *config, const struct cgi_site *site)
{
    const struct cgi_site *other = config->sites;

    while (other->pool != site->pool)
        other = other->next;
    return other == site;
}

static void tell_family(const struct cgi_config *config, const struct family *family,
                        mk_metric_fn tell, void *arg)
{
    for (const struct cgi_site *site = config->sites; site; site = site->next) {
        struct mk_metric m = {
            .size = sizeof(m),
            .name = family->name,
            .help = family->help,
            .is_counter = family->is_counter,
            .is_brief = true,
            .nlabels = 1,
            .labels = {{"pool", name_of(site)}},
        };
        struct pool_facts facts;

        if (!is_first(config, site))
            continue;
        cgi_pool_facts(site->pool, &facts);
        m.value = family->value(&facts);
        tell(arg, &m);
    }
}

void cgi_metrics(const struct mk_context *ctx, mk_metric_fn tell, void *arg)
{
    const struct cgi_config *config = ctx->config;

    if (!config->has_routes)
        return;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        tell_family(config, &families[i], tell, arg);
}
