/* SPDX-License-Identifier: Apache-2.0 */
#include "cache.h"
#include "check.h"
#include "guesses.h"
#include "password.h"
#include "source.h"

#include "kit/text/words.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

/*
 * Basic authentication (RFC 7617). A request below a Location goes on only with a user and a password of
 * its file. Slow hashes are checked on the offload pool while the request waits.
 */

/** One [AUTH] section. */
struct location {
    const char *path; /* as written, then without a slash at its end */
    const char *title;
    const char *users;
    struct source *source; /* from start to stop */
    const char *challenge; /* the WWW-Authenticate line */
};

struct site {
    struct location **locations; /* the longest path first */
    size_t count;
};

struct auth {
    struct location **locations; /* of all sites */
    size_t count;
    struct guesses *guesses; /* of all configurations of a server */
};

struct local {
    struct cache cache;
    struct checks checks;
};

/* ---- settings ---- */

static const struct mk_field fields[] = {
    {.name = "Location",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct location, path),
     .fallback = "/"},
    {.name = "Title",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct location, title),
     .fallback = "Restricted"},
    {.name = "Users", .type = MK_FIELD_PATH, .offset = offsetof(struct location, users)},
};

static const struct mk_section_spec auth_section =
    MK_SECTION("AUTH", MK_SECTION_SITE | MK_SECTION_REPEAT, struct location, fields);
static const struct mk_section_spec *const sections[] = {&auth_section, NULL};

/* ---- a configuration ---- */

static bool is_title(const char *title)
{
    for (; *title; title++) {
        if ((unsigned char)*title < ' ' || *title == '"' || *title == '\\' || *title == 0x7f)
            return false;
    }
    return true;
}

static int make_challenge(struct mk_setup *setup, struct location *l)
{
    static const char before[] = "WWW-Authenticate: Basic realm=\"";
    static const char behind[] = "\", charset=\"UTF-8\"\r\n";
    char *line = mk_setup_alloc(setup, sizeof(before) + strlen(l->title) + sizeof(behind));

    if (!line)
        return MK_E_NOMEM;
    memcpy(line, before, sizeof(before) - 1);
    memcpy(line + sizeof(before) - 1, l->title, strlen(l->title));
    memcpy(line + sizeof(before) - 1 + strlen(l->title), behind, sizeof(behind));
    l->challenge = line;
    return 0;
}

static void check_users(struct mk_setup *setup, const struct location *l)
{
    const struct mk_origin *at = mk_setup_place(setup, l, "Users");
    int fd = mk_setup_open(setup, l->users);
    struct users_fault fault = {.why = fd < 0 ? mk_error_text(fd) : NULL};
    struct users *users = fd < 0 ? NULL : source_read(fd, NULL, &fault);

    if (fd >= 0)
        close(fd);
    if (!users && fault.line > 0)
        mk_setup_fault(setup, at, "Users: %s:%u: %s", l->users, fault.line, fault.why);
    else if (!users)
        mk_setup_fault(setup, at, "Users: %s: %s", l->users,
                       fault.why ? fault.why : "out of memory");
    users_put(users);
}

/* Without the slash at its end: "/a/" and "/a" are the same place, and "/" is the empty one. */
static int trim_path(struct mk_setup *setup, struct location *l)
{
    struct mk_str path = mk_str_from(l->path);

    while (path.len > 0 && path.p[path.len - 1] == '/')
        path.len--;
    path = mk_setup_copy(setup, path);
    l->path = path.p;
    return path.p ? 0 : MK_E_NOMEM;
}

static int check_location(struct mk_setup *setup, struct location *l)
{
    if (!l->users)
        mk_setup_fault(setup, mk_setup_origin(setup, l), "[AUTH] needs Users, a file of users");
    else
        check_users(setup, l);
    if (l->path[0] != '/')
        mk_setup_fault(setup, mk_setup_place(setup, l, "Location"),
                       "Location: expected a path such as /private, got \"%s\"", l->path);
    if (!is_title(l->title))
        mk_setup_fault(setup, mk_setup_place(setup, l, "Title"),
                       "Title: quotes, backslashes and control bytes are not allowed");
    if (l->users && mk_setup_needs(setup, MK_RESOURCE_READ, l->users) < 0)
        return MK_E_NOMEM;
    return trim_path(setup, l) < 0 || make_challenge(setup, l) < 0 ? MK_E_NOMEM : 0;
}

static int compare_locations(const void *a, const void *b)
{
    const struct location *const *x = a, *const *y = b;
    size_t nx = strlen((*x)->path), ny = strlen((*y)->path);

    return nx != ny ? (nx < ny) - (nx > ny) : strcasecmp((*x)->path, (*y)->path);
}

/* Only one of two could be meant, and its users would be the only ones. */
static void refuse_doubles(struct mk_setup *setup, const struct site *site)
{
    for (size_t i = 1; i < site->count; i++) {
        const struct location *l = site->locations[i];

        if (strcasecmp(l->path, site->locations[i - 1]->path) == 0)
            mk_setup_fault(setup, mk_setup_place(setup, l, "Location"),
                           "Location: another [AUTH] of this site has %s",
                           *l->path ? l->path : "/");
    }
}

static size_t count_sections(struct mk_setup *setup)
{
    size_t count = 0;

    for (void *l = NULL; (l = mk_setup_section(setup, &auth_section, l));)
        count++;
    return count;
}

static int auth_check(struct mk_setup *setup)
{
    struct auth *auth = mk_setup_alloc(setup, sizeof(*auth));

    if (!auth)
        return MK_E_NOMEM;
    mk_setup_keep(setup, auth);
    return 0;
}

/* The sites' locations, for start and stop. */
static int note_locations(struct mk_setup *setup, const struct site *site)
{
    struct auth *auth = mk_setup_config(setup);
    struct location **all =
        mk_setup_alloc(setup, (auth->count + site->count + 1) * sizeof(struct location *));

    if (!all)
        return MK_E_NOMEM;
    if (auth->count > 0)
        memcpy(all, auth->locations, auth->count * sizeof(struct location *));
    if (site->count > 0)
        memcpy(all + auth->count, site->locations, site->count * sizeof(struct location *));
    auth->locations = all;
    auth->count += site->count;
    return 0;
}

static int auth_check_site(struct mk_setup *setup)
{
    struct site *site = mk_setup_alloc(setup, sizeof(*site));
    size_t count = count_sections(setup);

    if (!site)
        return MK_E_NOMEM;
    site->locations = mk_setup_alloc(setup, (count + 1) * sizeof(struct location *));
    if (!site->locations)
        return MK_E_NOMEM;
    for (struct location *l = NULL; (l = mk_setup_section(setup, &auth_section, l));) {
        if (check_location(setup, l) < 0)
            return MK_E_NOMEM;
        site->locations[site->count++] = l;
    }
    qsort(site->locations, count, sizeof(struct location *), compare_locations);
    refuse_doubles(setup, site);
    mk_setup_keep(setup, site);
    mk_setup_act(setup, count > 0 ? MK_ACTS_REQUEST : 0);
    return note_locations(setup, site);
}

/* ---- life ---- */

static struct guesses *new_guesses(void)
{
    uint64_t key;

    if (getrandom(&key, sizeof(key), 0) != sizeof(key))
        key = (uintptr_t)&key;
    return guesses_new(key);
}

static void auth_stop(const struct mk_context *ctx)
{
    struct auth *auth = ctx->config;

    for (size_t i = 0; i < auth->count; i++) {
        source_put(auth->locations[i]->source);
        auth->locations[i]->source = NULL;
    }
    guesses_put(auth->guesses);
    auth->guesses = NULL;
}

static int open_sources(const struct mk_context *ctx)
{
    struct auth *auth = ctx->config;

    for (size_t i = 0; i < auth->count; i++) {
        struct location *l = auth->locations[i];
        struct users_fault fault;

        l->source = source_open(ctx->server, l->users, &fault);
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

    auth->guesses = before ? guesses_get(before->guesses) : new_guesses();
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
    if (getrandom(local->cache.key, sizeof(local->cache.key), 0) != sizeof(local->cache.key)) {
        free(local);
        return MK_E_SYS;
    }
    if (checks_init(&local->checks, ctx->worker) < 0) {
        free(local);
        return MK_E_NOMEM;
    }
    *out = local;
    return 0;
}

static void auth_worker_stop(const struct mk_context *ctx)
{
    struct local *local = ctx->local;

    checks_fini(&local->checks);
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

/* In any case, as handlers' routes match: what is behind one must not open by another spelling. */
static const struct location *find_location(const struct site *site, struct mk_str path)
{
    for (size_t i = 0; i < site->count; i++) {
        const struct location *l = site->locations[i];
        size_t len = strlen(l->path);

        if (path.len >= len && strncasecmp(path.p, l->path, len) == 0 &&
            (path.len == len || path.p[len] == '/'))
            return l;
    }
    return NULL;
}

/*
 * The place of a path, however it is read behind us: "/admin;v=1/x" is below /admin for many applications.
 * @param found  out: NULL: free to all
 * @return 0; MK_E_ACCESS: it is in different places, and whoever may see the one may not see the other; MK_E_NOMEM.
 */
static int find_place(struct mk_request *r, const struct site *site, const struct location **found)
{
    struct mk_str path;
    int more;

    *found = NULL;
    for (unsigned i = 0; (more = mk_request_reading(r, i, &path)) > 0; i++) {
        const struct location *l = find_location(site, path);

        if (*found && l && l != *found)
            return MK_E_ACCESS;
        if (l)
            *found = l;
    }
    return more;
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
    return guesses_net_of(peer.peer_ip);
}

/* A hash that costs nothing, in a file of such ones. */
static enum standing check_at_once(const struct question *q, const char *hash)
{
    const struct auth *auth = q->ctx->config;
    bool right = hash && password_matches(hash, q->credentials.password);

    guesses_end(auth->guesses, q->net, !right, mk_worker_now_ms(q->ctx->worker));
    return right ? RIGHT : WRONG;
}

/* @param check  that of an earlier call, which waits; NULL: the first call */
static enum standing look_up(const struct question *q, struct check *check)
{
    const struct auth *auth = q->ctx->config;
    struct local *local = q->ctx->local;
    const char *hash = users_find(q->users, q->credentials.user);
    const char *usual = users_usual_hash(q->users);
    enum guesses_answer may;

    if (!usual)
        return WRONG;
    may = guesses_begin(auth->guesses, q->net, mk_worker_now_ms(q->ctx->worker));
    if (may == GUESSES_OVER)
        return TOO_MANY;
    if (may == GUESSES_MAY && !password_is_slow(usual))
        return check_at_once(q, hash);
    if (!check)
        check = check_new(&local->checks, q->request, q->ctx->worker, auth->guesses, q->net,
                          q->users, hash, q->credentials.password);
    if (!check && may == GUESSES_MAY)
        guesses_end(auth->guesses, q->net, false, mk_worker_now_ms(q->ctx->worker));
    if (!check)
        return NO_ROOM;
    return may == GUESSES_WAIT || check_run(check) == 0 ? UNKNOWN : NO_ROOM;
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
        local->checks.first ? checks_find(&local->checks, mk_request_ticket(r)) : NULL;
    struct question q = {
        .request = r,
        .ctx = ctx,
        .users = check ? users_get(check->users) : source_users(l->source, ctx->worker),
        .credentials = *c,
        .net = net_of(conn),
    };
    int64_t now_ms = mk_worker_now_ms(ctx->worker);
    enum standing standing;
    uint8_t digest[SHA1_LEN];

    cache_digest(&local->cache, l->source, q.users, c->user, c->password, digest);
    standing = judge(&q, check, cache_has(&local->cache, digest, now_ms));
    if (standing == RIGHT)
        cache_put(&local->cache, digest, now_ms);
    users_put(q.users);
    return standing;
}

static enum mk_verdict auth_on_request(struct mk_request *r, const struct mk_context *ctx)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    const struct location *l;
    struct credentials c;
    int err = find_place(r, ctx->site, &l);

    if (err < 0)
        return mk_reply_error(r, err == MK_E_ACCESS ? 403 : 503, NULL);
    if (!l)
        return MK_VERDICT_PASS;
    mk_request_facts(r, &facts);
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
};
MK_PLUGIN_EXPORT(auth);
