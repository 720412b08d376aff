/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "guesses.h"
#include "password.h"
#include "source.h"

#include "kit/guard/guard.h"
#include "kit/guard/recent.h"
#include "kit/nets/net_list.h"
#include "kit/pure/base64.h"
#include "kit/text/words.h"

#include <monkey/explain.h>

#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

/*
 * Basic authentication (RFC 7617). A request below a Location goes on only with a user and a password of
 * its file. Slow hashes are checked on the offload pool while the request waits.
 */

/** One [AUTH] section. */
struct location {
    struct guard guard;
    const char *users;
    struct source *source; /* from start to stop */
    const char *challenge; /* the WWW-Authenticate line */
    /* addresses that need no password */
    struct net_list exempted;
    struct nets exempt;
    bool has_unix;
};

struct auth {
    struct guards locations; /* of all sites */
    struct guesses *guesses; /* of all configurations of a server */
};

struct local {
    struct recent recent;
    struct checks checks;
};

/* ---- settings ---- */

static int add_exempt(struct mk_setup *setup, const struct mk_setting *s, struct mk_str word)
{
    struct location *l = mk_setup_settings(setup);
    struct net net;
    bool loose = false;

    if (text_is_word(word, MK_STR("unix"))) {
        l->has_unix = true;
        return 0;
    }
    if (net_parse(word, &net, &loose) < 0 || loose)
        return mk_setup_refuse(setup, s,
                               "addresses, networks such as 10.0.0.0/8 or fe80::/10, or unix");
    return net_list_add(setup, &l->exempted, &net);
}

static int parse_exempt(struct mk_setup *setup, const struct mk_setting *s)
{
    struct mk_str rest = s->value;
    int err;

    do {
        err = add_exempt(setup, s, text_next_word(&rest));
        rest = text_trim(rest);
    } while (err == 0 && rest.len > 0);
    return err;
}

static const struct mk_field fields[] = {
    {.name = "Location",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct location, guard.path),
     .fallback = "/"},
    {.name = "Title",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct location, guard.title),
     .fallback = "Restricted"},
    {.name = "Users", .type = MK_FIELD_PATH, .offset = offsetof(struct location, users)},
    {.name = "NoPasswordFrom",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = parse_exempt},
};

static const struct mk_section_spec auth_section =
    MK_SECTION("AUTH", MK_SECTION_SITE | MK_SECTION_REPEAT, struct location, fields);
static const struct mk_section_spec *const sections[] = {&auth_section, NULL};

/* ---- a configuration ---- */

static int make_challenge(struct mk_setup *setup, struct location *l)
{
    static const char before[] = "WWW-Authenticate: Basic realm=\"";
    static const char behind[] = "\", charset=\"UTF-8\"\r\n";
    size_t title_len = strlen(l->guard.title);
    char *line = mk_setup_alloc(setup, sizeof(before) + title_len + sizeof(behind));

    if (!line)
        return MK_E_NOMEM;
    memcpy(line, before, sizeof(before) - 1);
    memcpy(line + sizeof(before) - 1, l->guard.title, title_len);
    memcpy(line + sizeof(before) - 1 + title_len, behind, sizeof(behind));
    l->challenge = line;
    return 0;
}

static void check_users(struct mk_setup *setup, const struct location *l)
{
    const struct mk_origin *at = mk_setup_place(setup, l, "Users");
    int fd = mk_setup_open(setup, l->users);
    struct users_fault fault = {.why = fd < 0 ? mk_error_text(fd) : NULL};
    struct users *users = fd < 0 ? NULL : auth_source_read(fd, NULL, &fault);

    if (fd >= 0)
        close(fd);
    if (!users && fault.line > 0)
        mk_setup_fault(setup, at, "Users: %s:%u: %s", l->users, fault.line, fault.why);
    else if (!users)
        mk_setup_fault(setup, at, "Users: %s: %s", l->users,
                       fault.why ? fault.why : "out of memory");
    auth_users_put(users);
}

static int check_location(struct mk_setup *setup, struct location *l)
{
    if (!l->users)
        mk_setup_fault(setup, mk_setup_origin(setup, l), "[AUTH] needs Users, a file of users");
    else
        check_users(setup, l);
    if (l->users && mk_setup_needs(setup, MK_RESOURCE_READ, l->users) < 0)
        return MK_E_NOMEM;
    return net_list_join(setup, &l->exempted, &l->exempt) < 0 ? MK_E_NOMEM
                                                              : make_challenge(setup, l);
}

static int auth_check(struct mk_setup *setup)
{
    struct auth *auth = mk_setup_alloc(setup, sizeof(*auth));

    if (!auth)
        return MK_E_NOMEM;
    mk_setup_keep(setup, auth);
    return 0;
}

static int auth_check_site(struct mk_setup *setup)
{
    struct guards *site = mk_setup_alloc(setup, sizeof(*site));
    struct auth *auth = mk_setup_config(setup);

    if (!site || guards_gather(setup, &auth_section, site) < 0)
        return MK_E_NOMEM;
    for (size_t i = 0; i < site->count; i++) {
        if (check_location(setup, (struct location *)site->items[i]) < 0)
            return MK_E_NOMEM;
    }
    mk_setup_keep(setup, site);
    mk_setup_act(setup, site->count > 0 ? MK_ACTS_REQUEST : 0);
    return guards_add(setup, &auth->locations, site);
}

/* ---- life ---- */

static struct guesses *new_guesses(void)
{
    uint64_t key;

    if (getrandom(&key, sizeof(key), 0) != sizeof(key))
        key = (uintptr_t)&key;
    return auth_guesses_new(key);
}

static void auth_stop(const struct mk_context *ctx)
{
    struct auth *auth = ctx->config;

    for (size_t i = 0; i < auth->locations.count; i++) {
        struct location *l = (struct location *)auth->locations.items[i];

        auth_source_put(l->source);
        l->source = NULL;
    }
    auth_guesses_put(auth->guesses);
    auth->guesses = NULL;
}

static int open_sources(const struct mk_context *ctx)
{
    struct auth *auth = ctx->config;

    for (size_t i = 0; i < auth->locations.count; i++) {
        struct location *l = (struct location *)auth->locations.items[i];
        struct users_fault fault;

        l->source = auth_source_open(ctx->server, l->users, &fault);
        if (l->source)
            continue;
        mk_plugin_why(ctx, "%s:%u: %s", l->users, fault.line,
                      fault.why ? fault.why : "out of memory");
        return fault.why ? MK_E_INVALID : MK_E_NOMEM;
    }
    return 0;
}

static int auth_start(const struct mk_context *ctx, const struct mk_context *old)
{
    struct auth *auth = ctx->config, *before = old ? old->config : NULL;
    int err;

    auth->guesses = before ? auth_guesses_get(before->guesses) : new_guesses();
    err = auth->guesses ? open_sources(ctx) : MK_E_NOMEM;
    if (err < 0)
        auth_stop(ctx);
    return err;
}

static int auth_worker_start(const struct mk_context *ctx, void **out)
{
    struct local *local = calloc(1, sizeof(*local));

    if (!local)
        return MK_E_NOMEM;
    if (!recent_init(&local->recent)) {
        free(local);
        return MK_E_SYS;
    }
    if (auth_checks_init(&local->checks, ctx->worker) < 0) {
        free(local);
        return MK_E_NOMEM;
    }
    *out = local;
    return 0;
}

static void auth_worker_stop(const struct mk_context *ctx)
{
    struct local *local = ctx->local;

    auth_checks_fini(&local->checks);
    explicit_bzero(local, sizeof(*local));
    free(local);
}

/* ---- credentials ---- */

struct credentials {
    struct mk_str user;
    char *password; /* terminated */
};

/* RFC 7617 section 2: base64 of user ":" password. @return false when there are none that could be right. */
static bool read_credentials(struct mk_request *r, struct credentials *c)
{
    struct mk_str value = mk_request_header(r, MK_STR("Authorization"));
    const size_t scheme = 6;
    char *text, *colon;
    ssize_t len;

    if (!text_begins(value, MK_STR("Basic ")))
        return false;
    while (value.len > scheme && value.p[scheme] == ' ') {
        value.p++;
        value.len--;
    }
    text = mk_request_alloc(r, value.len + 1);
    if (!text)
        return false;
    len = base64_decode((uint8_t *)text, value.p + scheme, value.len - scheme);
    if (len < 0)
        return false;
    text[len] = '\0';
    colon = memchr(text, ':', (size_t)len);
    if (!colon || strlen(text) != (size_t)len || strlen(colon + 1) > PASSWORD_MAX)
        return false;
    c->user = (struct mk_str){text, (size_t)(colon - text)};
    c->password = colon + 1;
    return true;
}

/* ---- requests ---- */

/* What a user and a password come to, for the users that a file has now. */
static void digest_of(const struct recent *recent, const struct source *source,
                      const struct users *users, const struct credentials *c,
                      uint8_t digest[SHA1_LEN])
{
    uintptr_t which = (uintptr_t)source;
    struct sha1 s;

    recent_begin(recent, &s);
    sha1_add(&s, &which, sizeof(which));
    sha1_add(&s, &users->serial, sizeof(users->serial));
    sha1_add(&s, &c->user.len, sizeof(c->user.len));
    sha1_add(&s, c->user.p, c->user.len);
    sha1_add(&s, c->password, strlen(c->password));
    sha1_end(&s, digest);
}

/* What is known of a request's credentials so far. */
enum standing { RIGHT, WRONG, UNKNOWN, TOO_MANY, NO_ROOM };

/* One request's question. */
struct question {
    struct mk_request *request;
    const struct mk_context *ctx;
    struct users *users;
    struct credentials credentials;
    struct guesses_net net;
};

static struct guesses_net net_of(const struct mk_conn *conn)
{
    struct mk_conn_facts peer = {.size = sizeof(peer)};

    mk_conn_facts(conn, &peer);
    return auth_guesses_net_of(peer.peer_ip);
}

/* A hash that costs nothing, in a file of such ones. */
static enum standing check_at_once(const struct question *q, const char *hash)
{
    const struct auth *auth = q->ctx->config;
    bool right = hash && auth_password_matches(hash, q->credentials.password);

    auth_guesses_end(auth->guesses, q->net, !right, mk_worker_now_ms(q->ctx->worker));
    return right ? RIGHT : WRONG;
}

/* @param check  that of an earlier call, which waits; NULL: the first call */
static enum standing look_up(const struct question *q, struct check *check)
{
    const struct auth *auth = q->ctx->config;
    struct local *local = q->ctx->local;
    const char *hash = auth_users_find(q->users, q->credentials.user);
    const char *usual = auth_users_usual_hash(q->users);
    enum guesses_answer may;

    if (!usual)
        return WRONG;
    may = auth_guesses_begin(auth->guesses, q->net, mk_worker_now_ms(q->ctx->worker));
    if (may == GUESSES_OVER)
        return TOO_MANY;
    if (may == GUESSES_MAY && !auth_password_is_slow(usual))
        return check_at_once(q, hash);
    if (!check)
        check = auth_check_new(&local->checks, q->request, q->ctx->worker, auth->guesses, q->net,
                               q->users, hash, q->credentials.password);
    if (!check && may == GUESSES_MAY)
        auth_guesses_end(auth->guesses, q->net, false, mk_worker_now_ms(q->ctx->worker));
    if (!check)
        return NO_ROOM;
    return may == GUESSES_WAIT || auth_check_run(check) == 0 ? UNKNOWN : NO_ROOM;
}

static enum standing judge(const struct question *q, struct check *check, bool is_known)
{
    enum standing standing;

    if (check && check->state == CHECK_RUNS)
        return UNKNOWN;
    if (check && check->state == CHECK_ENDED)
        standing = check->right ? RIGHT : WRONG;
    else
        standing = is_known ? RIGHT : look_up(q, check);
    if (check && standing != UNKNOWN)
        check->ticket = 0; /* it is looked at once */
    return standing;
}

static enum standing stand(struct mk_request *r, const struct mk_context *ctx,
                           const struct mk_conn *conn, const struct location *l,
                           const struct credentials *c)
{
    struct local *local = ctx->local;
    struct check *check =
        local->checks.first ? auth_checks_find(&local->checks, mk_request_ticket(r)) : NULL;
    struct question q = {
        .request = r,
        .ctx = ctx,
        .users = check ? auth_users_get(check->users) : auth_source_users(l->source, ctx->worker),
        .credentials = *c,
        .net = net_of(conn),
    };
    int64_t now_ms = mk_worker_now_ms(ctx->worker);
    enum standing standing;
    uint8_t digest[SHA1_LEN];

    digest_of(&local->recent, l->source, q.users, c, digest);
    standing = judge(&q, check, recent_has(&local->recent, digest, now_ms));
    if (standing == RIGHT)
        recent_put(&local->recent, digest, now_ms);
    auth_users_put(q.users);
    return standing;
}

/* The address of the connection, or of its PROXY header; what a field says of others is anybody's to write. */
static bool is_exempt(const struct location *l, const struct mk_conn *conn)
{
    struct mk_conn_facts peer = {.size = sizeof(peer)};

    if (l->exempted.count == 0 && !l->has_unix)
        return false;
    mk_conn_facts(conn, &peer);
    return peer.peer_is_unix ? l->has_unix : nets_find(&l->exempt, peer.peer_ip) != NETS_NONE;
}

static enum mk_verdict auth_on_request(struct mk_request *r, const struct mk_context *ctx)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    const struct guard *guard;
    const struct location *l;
    struct credentials c;
    int err = guards_find(r, ctx->site, &guard);

    if (err < 0)
        return mk_reply_error(r, err == MK_E_ACCESS ? 403 : 503, NULL);
    if (!guard)
        return MK_VERDICT_PASS;
    l = (const struct location *)guard;
    mk_request_facts(r, &facts);
    if (is_exempt(l, facts.conn))
        return MK_VERDICT_PASS;
    if (!read_credentials(r, &c))
        return mk_reply_error(r, 401, l->challenge);
    switch (stand(r, ctx, facts.conn, l, &c)) {
    case RIGHT:
        return mk_request_set_user(r, c.user) < 0 ? mk_reply_error(r, 503, NULL) : MK_VERDICT_PASS;
    case UNKNOWN:
        return MK_VERDICT_LATER;
    case TOO_MANY:
        return mk_reply_error(r, 429, "Retry-After: 60\r\n");
    case NO_ROOM:
        return mk_reply_error(r, 503, "Retry-After: 1\r\n");
    case WRONG:
        break;
    }
    return mk_reply_error(r, 401, l->challenge);
}

static enum mk_verdict auth_explain(struct mk_request *r, const struct mk_context *ctx,
                                    struct mk_explain *e)
{
    const struct guard *guard;

    if (guards_find(r, ctx->site, &guard) == 0 && guard)
        mk_explain_say(e, mk_explain_place(e, "Location", mk_str_from(guard->path)),
                       "users of %s alone, for Location %s",
                       ((const struct location *)guard)->users, *guard->path ? guard->path : "/");
    return MK_VERDICT_PASS;
}

static const struct mk_plugin auth = {
    MK_PLUGIN("auth", "users and passwords"),
    .sections = sections,
    .check = auth_check,
    .check_site = auth_check_site,
    .start = auth_start,
    .stop = auth_stop,
    .worker_start = auth_worker_start,
    .worker_stop = auth_worker_stop,
    .on_request = auth_on_request,
    .explain = auth_explain,
    .traits = MK_TRAIT_PURE,
};
MK_PLUGIN_EXPORT(auth);
