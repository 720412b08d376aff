/* SPDX-License-Identifier: Apache-2.0 */
#include "statistics/order.h"

#include "backends/drain.h"
#include "backends/facts.h"
#include "kit/text/words.h"

#include <stdio.h>

/* Orders of administrators, and what they are told. */

enum { TEXT = 512 };

static void tell_text(mk_order_fn tell, void *arg, const char *key, const char *text)
{
    tell(arg, key, mk_str_from(text));
}

/* "1: shop 10.0.0.1:80 up, drained, 3 requests" */
static void tell_backend(const struct proxy_entry *e, unsigned i, unsigned number, mk_order_fn tell,
                         void *arg)
{
    char key[16], text[TEXT];
    struct proxy_facts f;

    proxy_facts(e, i, &f);
    (void)snprintf(key, sizeof(key), "%u", number);
    (void)snprintf(text, sizeof(text), "%.200s %.200s %s%s%s, %u requests", e->name, f.name,
                   proxy_health_name(f.health.state), f.is_backup ? ", backup" : "",
                   f.is_drained ? ", drained" : "", f.active);
    tell_text(tell, arg, key, text);
}

static void tell_all(const struct proxy_config *config, mk_order_fn tell, void *arg)
{
    unsigned number = 0;

    for (const struct proxy_entry *e = config->entries; e; e = e->next) {
        for (unsigned i = 0; i < proxy_facts_count(e); i++)
            tell_backend(e, i, ++number, tell, arg);
    }
}

static int refuse(mk_order_fn tell, void *arg, const char *what, struct mk_str word)
{
    char text[TEXT];

    (void)snprintf(text, sizeof(text), "%s \"%.*s\"", what, (int)(word.len < 60 ? word.len : 60),
                   word.p);
    tell_text(tell, arg, "error", text);
    return MK_E_NOENT;
}

static const struct proxy_entry *find_entry(const struct proxy_config *config, struct mk_str name)
{
    const struct proxy_entry *e = config->entries;

    while (e && !text_is_word(name, mk_str_from(e->name)))
        e = e->next;
    return e;
}

/* By its word in ServerList. @return the count of backends: none. */
static unsigned find_backend(const struct proxy_entry *e, struct mk_str name)
{
    struct proxy_facts f;
    unsigned i;

    for (i = 0; i < proxy_facts_count(e); i++) {
        proxy_facts(e, i, &f);
        if (text_is(name, mk_str_from(f.name)))
            break;
    }
    return i;
}

static void tell_drained(const struct proxy_entry *e, unsigned i, mk_order_fn tell, void *arg)
{
    struct proxy_facts f;
    char digits[16];

    proxy_facts(e, i, &f);
    (void)snprintf(digits, sizeof(digits), "%u", f.active);
    tell_text(tell, arg, "entry", e->name);
    tell_text(tell, arg, "backend", f.name);
    tell_text(tell, arg, "drained", f.is_drained ? "yes" : "no");
    tell_text(tell, arg, "requests", digits);
    if (f.is_drained)
        tell_text(tell, arg, "free", f.active == 0 ? "yes" : "no");
}

int proxy_order(const struct mk_context *ctx, const struct mk_str *words, size_t nwords,
                mk_order_fn tell, void *arg)
{
    const struct proxy_config *config = ctx->config;
    const bool drains = nwords > 0 && text_is(words[0], MK_STR("drain"));
    const struct proxy_entry *e;
    unsigned i;

    if (nwords == 0) {
        tell_all(config, tell, arg);
        return 0;
    }
    if (nwords != 3 || (!drains && !text_is(words[0], MK_STR("undrain")))) {
        tell_text(tell, arg, "error",
                  "expected drain or undrain, an entry, and a server as it is in its ServerList");
        return MK_E_INVALID;
    }
    e = find_entry(config, words[1]);
    if (!e)
        return refuse(tell, arg, "there is no entry", words[1]);
    i = find_backend(e, words[2]);
    if (i == proxy_facts_count(e))
        return refuse(tell, arg, "the entry has no server", words[2]);
    proxy_drain(e, i, drains);
    tell_drained(e, i, tell, arg);
    return 0;
}
