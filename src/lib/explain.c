/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "base/str.h"
#include "http/uri.h"
#include "lib/explain_print.h"
#include "setup/config.h"

/* From a URL to the request that a client would send, and the address where it would send it. */

enum { HTTP_PORT = 80, HTTPS_PORT = 443 }; /* RFC 9110 section 4.2 */

struct url {
    struct mk_str authority; /* p NULL: a path alone */
    struct mk_str target;    /* may lack its first slash */
    unsigned port;           /* 0: none was written, or none that could be */
    bool is_https;
};

/* ---- the question ---- */

static bool take_scheme(struct mk_str *rest, struct mk_str scheme)
{
    if (rest->len < scheme.len || !mk_str_ieq((struct mk_str){rest->p, scheme.len}, scheme))
        return false;
    *rest = mk_str_skip(*rest, scheme.len);
    return true;
}

/* Clients keep a fragment for themselves: RFC 9110 section 4.2.5. */
static struct mk_str without_fragment(struct mk_str target)
{
    const char *mark = memchr(target.p, '#', target.len);

    return (struct mk_str){target.p, mark ? (size_t)(mark - target.p) : target.len};
}

/* @return whether it is one. What is wrong with its host or its path is for the server to say. */
static bool read_url(struct url *u, const char *text)
{
    struct mk_str rest = mk_str_from(text), host;

    *u = (struct url){.is_https = false};
    if (rest.len > 0 && rest.p[0] == '/') {
        u->target = without_fragment(rest);
        return true;
    }
    u->is_https = take_scheme(&rest, MK_STR("https://"));
    if (!u->is_https && !take_scheme(&rest, MK_STR("http://")))
        return false;
    u->authority = (struct mk_str){rest.p, strcspn(rest.p, "/?#")};
    u->target = without_fragment(mk_str_skip(rest, u->authority.len));
    if (mk_uri_authority(u->authority, &host, &u->port) < 0)
        u->port = 0;
    return u->authority.len > 0;
}

static bool is_host(const char *field)
{
    static const struct mk_str name = MK_STR_INIT("Host:");

    return strlen(field) >= name.len && mk_str_ieq((struct mk_str){field, name.len}, name);
}

/* @return NULL, or what was expected. */
static const char *judge_fields(const struct mk_explain_question *q)
{
    for (size_t i = 0; i < q->nfields; i++) {
        const char *colon = strchr(q->fields[i], ':');

        if (!colon || colon == q->fields[i] || strpbrk(q->fields[i], "\r\n"))
            return "a field such as \"Accept: text/html\"";
    }
    return NULL;
}

/* ---- the address ---- */

static bool is_secure(const struct mk_listen *l)
{
    return l->via.transport && l->via.transport->is_secure;
}

static bool is_unix(const struct mk_listen *l)
{
    return l->addr.sa.sa_family == AF_UNIX;
}

static const struct mk_listen *with_port(const struct mk_server_settings *set, unsigned port)
{
    for (size_t i = 0; i < set->nlistens; i++) {
        if (!is_unix(&set->listens[i]) && mk_addr_port(&set->listens[i].addr) == port)
            return &set->listens[i];
    }
    return NULL;
}

/* Ports of a URL are often another machine's, which passes requests on. */
static const struct mk_listen *next_best(const struct mk_server_settings *set, bool wants_tls)
{
    const struct mk_listen *best = NULL;

    for (size_t i = 0; i < set->nlistens; i++) {
        const struct mk_listen *l = &set->listens[i];

        if (is_unix(l))
            continue;
        if (is_secure(l) == wants_tls)
            return l;
        best = best ? best : l;
    }
    return best || set->nlistens == 0 ? best : &set->listens[0];
}

static void tell_address(struct mk_explain *e, const struct url *u, unsigned port, bool is_exact)
{
    const struct mk_listen *l = e->listen;
    const struct mk_origin *at = l->setting ? &l->setting->value_at : NULL;
    const char *tls = is_secure(l) ? " with TLS" : "";

    if (!u->authority.p)
        mk_explain_step(e, "address", NULL, at, "%s%s, the first", l->text, tls);
    else if (is_exact)
        mk_explain_step(e, "address", NULL, at, "%s%s, by port %u", l->text, tls, port);
    else
        mk_explain_step(e, "address", NULL, at, "%s%s, since no Listen line has port %u", l->text,
                        tls, port);
}

/* @return whether there is one that answers. */
static bool choose_address(struct mk_explain *e, const struct url *u)
{
    const struct mk_server_settings *set = &e->snapshot->set;
    const unsigned port = u->port ? u->port : u->is_https ? HTTPS_PORT : HTTP_PORT;
    const struct mk_listen *exact = u->authority.p ? with_port(set, port) : NULL;

    e->listen = exact || u->port ? exact : next_best(set, u->is_https);
    if (e->listen)
        tell_address(e, u, port, exact);
    else
        mk_explain_step(e, "address", "nobody answers", NULL, "no Listen line has port %u", port);
    return e->listen;
}

/* ---- the request ---- */

static void write_fields(struct mk_buf *head, const struct url *u,
                         const struct mk_explain_question *q)
{
    bool has_host = false;

    for (size_t i = 0; i < q->nfields; i++)
        has_host = has_host || is_host(q->fields[i]);
    if (!has_host) {
        (void)mk_buf_append_str(head, MK_STR("Host: "));
        (void)mk_buf_append_str(head, u->authority.p ? u->authority : MK_STR("localhost"));
        (void)mk_buf_append_str(head, MK_STR("\r\n"));
    }
    for (size_t i = 0; i < q->nfields; i++) {
        (void)mk_buf_append_str(head, mk_str_from(q->fields[i]));
        (void)mk_buf_append_str(head, MK_STR("\r\n"));
    }
}

/* As a client would that does not look at what it sends. Errors stay in the buffer. */
static void write_head(struct mk_buf *head, const struct url *u,
                       const struct mk_explain_question *q)
{
    (void)mk_buf_append_str(head, mk_str_from(q->method ? q->method : "GET"));
    (void)mk_buf_append_str(head, MK_STR(" "));
    if (u->target.len == 0 || u->target.p[0] != '/')
        (void)mk_buf_append_str(head, MK_STR("/"));
    (void)mk_buf_append_str(head, u->target);
    (void)mk_buf_append_str(head, MK_STR(" HTTP/1.1\r\n"));
    write_fields(head, u, q);
    (void)mk_buf_append_str(head, MK_STR("\r\n"));
}

/* ---- all of it ---- */

static void print(struct mk_explain *e, const struct mk_explain_question *q, struct mk_buf *out)
{
    char from[MK_ADDR_TEXT];
    const struct mk_explain_asked asked = {
        .method = mk_explain_clean(e, mk_str_from(q->method ? q->method : "GET")),
        .url = mk_explain_clean(e, mk_str_from(q->url)),
        .from = from,
    };

    (void)mk_peer_format(&e->from, from);
    if (q->as_json)
        mk_explain_print_json(out, e, &asked);
    else
        mk_explain_print(out, e, &asked);
}

static int ask(struct mk_explain *e, const struct url *u, const struct mk_explain_question *q)
{
    struct mk_buf head;
    int err;

    mk_buf_init(&head, SIZE_MAX / 4);
    write_head(&head, u, q);
    e->head = mk_buf_str(&head);
    err = head.error ? head.error : mk_explain_ask(e);
    mk_buf_fini(&head);
    return err;
}

/* @return what the whole came to, as mk_config_explain. */
static int explain(struct mk_explain *e, const struct url *u, const struct mk_explain_question *q)
{
    int err;

    if (!choose_address(e, u))
        return MK_E_PEER;
    if (!q->from && is_unix(e->listen))
        e->from.is_unix = true;
    err = ask(e, u, q);
    if (err < 0)
        return err == MK_E_NOMEM ? err : MK_E_PEER;
    if (e->is_open)
        return 0;
    return e->status > 0 ? (int)e->status : MK_E_PEER;
}

/* @return NULL, or what was expected. */
static const char *judge(const struct mk_config *config, const struct mk_explain_question *q,
                         struct url *u, struct mk_peer *from)
{
    if (!mk_config_is_free(config) || !config->checked || config->check_result != 0)
        return "a configuration without errors";
    if (!q->url || !read_url(u, q->url))
        return "a URL such as http://HOST/PATH, https://HOST/PATH or /PATH";
    if (mk_ip_parse(mk_str_from(q->from ? q->from : "127.0.0.1"), from->ip) < 0)
        return "an IPv4 or IPv6 address after --from";
    return judge_fields(q);
}

/* What an older caller does not know is zero. */
static struct mk_explain_question copy(const struct mk_explain_question *from)
{
    struct mk_explain_question q = {0};

    memcpy(&q, from, from->size < sizeof(q) ? from->size : sizeof(q));
    return q;
}

MK_AT_START int mk_config_explain(struct mk_config *config,
                                  const struct mk_explain_question *question, mk_text_fn fn,
                                  void *arg, const char **why)
{
    struct mk_explain e = {.listen = NULL};
    struct mk_explain_question q;
    struct mk_buf out;
    struct url u;
    int result;

    if (!question || !fn || !why)
        return MK_E_INVALID;
    q = copy(question);
    *why = judge(config, &q, &u, &e.from);
    if (*why)
        return MK_E_INVALID;
    e.snapshot = &config->snapshot;
    e.source = &config->source;
    e.host = config->host;
    e.on_ready = q.on_ready;
    e.arg = q.arg;
    mk_arena_init(&e.arena, NULL, 0, SIZE_MAX);
    mk_buf_init(&out, SIZE_MAX / 4);
    result = explain(&e, &u, &q);
    if (result != MK_E_NOMEM)
        print(&e, &q, &out);
    if (out.error)
        result = MK_E_NOMEM;
    if (result != MK_E_NOMEM)
        fn(arg, out.p, out.len);
    mk_buf_fini(&out);
    mk_arena_fini(&e.arena);
    return result;
}
