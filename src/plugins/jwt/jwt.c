/* SPDX-License-Identifier: Apache-2.0 */
#include "claims.h"
#include "keys.h"
#include "token.h"

#include "kit/guard/guard.h"
#include "kit/guard/recent.h"
#include "kit/text/words.h"

#include <monkey/explain.h>
#include <monkey/web/cookie.h>

#include <stdlib.h>

/*
 * JSON Web Tokens (RFC 7519) as bearer tokens (RFC 6750): a request below a Location goes on only with a token that one of
 * its keys has signed, that is valid now, and whose claims are those that the section demands. The object of a
 * configuration is the places of all its sites.
 */

enum { KEYS_FILE_MAX = 256 * 1024, CHALLENGE_MAX = 512, USER_MAX = 255 };

/** One [JWT] section. */
struct place {
    struct guard guard;
    const char *keys_file, *secret_file;
    const char *cookie; /* NULL: none */
    const char *user;   /* the claim with the user's name */
    struct demands demands;
    struct demand **last;
    struct mk_str text; /* of the file, until the server ends */
    struct keys *keys;  /* from start to stop */
};

struct local {
    struct recent recent; /* signatures */
};

/* ---- settings ---- */

/* Claim NAME VALUE */
static int take_demand(struct mk_setup *setup, const struct mk_setting *s)
{
    struct place *place = mk_setup_settings(setup);
    struct demand *demand = mk_setup_alloc(setup, sizeof(*demand));
    struct mk_str rest = s->value, name = text_next_word(&rest);

    if (!demand)
        return MK_E_NOMEM;
    rest = text_trim(rest);
    if (rest.len == 0)
        return mk_setup_refuse(setup, s, "the name of a claim and its value, such as scope admin");
    demand->name = mk_setup_copy(setup, name).p;
    demand->value = mk_setup_copy(setup, rest);
    if (!demand->name || !demand->value.p)
        return MK_E_NOMEM;
    demand->next = NULL;
    *(place->last ? place->last : &place->demands.first) = demand;
    place->last = &demand->next;
    return 0;
}

static const struct mk_field fields[] = {
    {.name = "Location",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct place, guard.path),
     .fallback = "/"},
    {.name = "Title",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct place, guard.title),
     .fallback = "Restricted"},
    {.name = "Keys", .type = MK_FIELD_PATH, .offset = offsetof(struct place, keys_file)},
    {.name = "Secret", .type = MK_FIELD_PATH, .offset = offsetof(struct place, secret_file)},
    {.name = "Issuer", .type = MK_FIELD_STRING, .offset = offsetof(struct place, demands.issuer)},
    {.name = "Audience",
     .type = MK_FIELD_WORDS,
     .offset = offsetof(struct place, demands.audience)},
    {.name = "Claim", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = take_demand},
    {.name = "Cookie", .type = MK_FIELD_STRING, .offset = offsetof(struct place, cookie)},
    {.name = "User",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct place, user),
     .fallback = "sub"},
    {.name = "Leeway",
     .type = MK_FIELD_TIME,
     .offset = offsetof(struct place, demands.leeway_ms),
     .max = 600000,
     .fallback = "60s"},
    {.name = "AllowEndless",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct place, demands.may_last),
     .fallback = "off"},
};

static const struct mk_section_spec jwt_section =
    MK_SECTION("JWT", MK_SECTION_SITE | MK_SECTION_REPEAT, struct place, fields);
static const struct mk_section_spec *const sections[] = {&jwt_section, NULL};

/* ---- a configuration ---- */

static struct keys *read_keys(const struct place *p, const char **why)
{
    return p->secret_file ? jwt_keys_of_secret(p->text, why) : jwt_keys_read(p->text, why);
}

static int check_keys(struct mk_setup *setup, struct place *p)
{
    const char *key = p->secret_file ? "Secret" : "Keys", *why = NULL;
    const char *file = p->secret_file ? p->secret_file : p->keys_file;
    const struct mk_origin *at = mk_setup_place(setup, p, key);
    struct keys *keys;
    int err = 0;

    p->text = mk_setup_read(setup, file, KEYS_FILE_MAX, &err);
    if (err == MK_E_NOMEM)
        return err;
    if (!p->text.p) {
        mk_setup_fault(setup, at, "%s: %s: %s", key, file, mk_error_text(err));
        return 0;
    }
    keys = read_keys(p, &why);
    if (!keys)
        mk_setup_fault(setup, at, "%s: %s: %s", key, file, why);
    jwt_keys_free(keys);
    return mk_setup_needs(setup, MK_RESOURCE_READ, file);
}

static int check_place(struct mk_setup *setup, struct place *p)
{
    if (!p->keys_file == !p->secret_file) {
        mk_setup_fault(setup, mk_setup_origin(setup, p),
                       "[JWT] needs either Keys, a JWK Set or a public key, or Secret, a file with "
                       "32 bytes or more");
        return 0;
    }
    return check_keys(setup, p);
}

static int jwt_check(struct mk_setup *setup)
{
    struct guards *all = mk_setup_alloc(setup, sizeof(*all));

    if (!all)
        return MK_E_NOMEM;
    mk_setup_keep(setup, all);
    return 0;
}

static int jwt_check_site(struct mk_setup *setup)
{
    struct guards *site = mk_setup_alloc(setup, sizeof(*site));

    if (!site || guards_gather(setup, &jwt_section, site) < 0)
        return MK_E_NOMEM;
    for (size_t i = 0; i < site->count; i++) {
        if (check_place(setup, (struct place *)site->items[i]) < 0)
            return MK_E_NOMEM;
    }
    mk_setup_keep(setup, site);
    mk_setup_act(setup, site->count > 0 ? MK_ACTS_REQUEST : 0);
    return guards_add(setup, mk_setup_config(setup), site);
}

/* ---- life ---- */

static void jwt_stop(const struct mk_context *ctx)
{
    const struct guards *all = ctx->config;

    for (size_t i = 0; i < all->count; i++) {
        struct place *p = (struct place *)all->items[i];

        jwt_keys_free(p->keys);
        p->keys = NULL;
    }
}

static int jwt_start(const struct mk_context *ctx, const struct mk_context *old)
{
    const struct guards *all = ctx->config;
    const char *why;

    (void)old;
    for (size_t i = 0; i < all->count; i++) {
        struct place *p = (struct place *)all->items[i];

        p->keys = read_keys(p, &why);
        if (p->keys)
            continue;
        jwt_stop(ctx);
        return MK_E_NOMEM; /* they were read before */
    }
    return 0;
}

static int jwt_worker_start(const struct mk_context *ctx, void **out)
{
    struct local *local = calloc(1, sizeof(*local));

    (void)ctx;
    if (!local)
        return MK_E_NOMEM;
    if (!recent_init(&local->recent)) {
        free(local);
        return MK_E_SYS;
    }
    *out = local;
    return 0;
}

static void jwt_worker_stop(const struct mk_context *ctx)
{
    explicit_bzero(ctx->local, sizeof(struct local));
    free(ctx->local);
}

/* ---- requests ---- */

enum finding { VALID, ABSENT, INVALID, LACKING, NO_ROOM };

/* RFC 6750 section 2.1. @return false: there is none. */
static bool find_token(const struct mk_request *r, const struct place *p, struct mk_str *token)
{
    const struct mk_str scheme = MK_STR("Bearer ");
    struct mk_str value = mk_request_header(r, MK_STR("Authorization"));

    if (text_begins(value, scheme)) {
        *token = text_trim((struct mk_str){value.p + scheme.len, value.len - scheme.len});
        return true;
    }
    *token = p->cookie ? mk_cookie_value(r, mk_str_from(p->cookie)) : (struct mk_str){NULL, 0};
    return token->p;
}

static bool is_signed(const struct mk_context *ctx, const struct place *p, struct mk_str text,
                      const struct token *token)
{
    struct local *local = ctx->local;
    int64_t now_ms = mk_worker_now_ms(ctx->worker);
    uintptr_t which = (uintptr_t)p;
    uint8_t digest[SHA1_LEN];
    struct sha1 s;

    recent_begin(&local->recent, &s);
    sha1_add(&s, &which, sizeof(which));
    sha1_add(&s, text.p, text.len);
    sha1_end(&s, digest);
    if (recent_has(&local->recent, digest, now_ms))
        return true;
    if (!jwt_keys_verify(p->keys, token->algorithm, token->id, token->signed_text,
                         token->signature))
        return false;
    recent_put(&local->recent, digest, now_ms);
    return true;
}

/* A name with control bytes would be another one in logs and for programs. */
static enum finding take_user(struct mk_request *r, const struct mk_json_value *claim)
{
    struct mk_str user;

    if (!claim)
        return VALID;
    user = claim->text;
    if ((claim->kind != MK_JSON_NUMBER && claim->kind != MK_JSON_STRING) || user.len > USER_MAX)
        return INVALID;
    for (size_t i = 0; i < user.len; i++) {
        if ((unsigned char)user.p[i] < ' ' || user.p[i] == 0x7f)
            return INVALID;
    }
    return mk_request_set_user(r, user) < 0 ? NO_ROOM : VALID;
}

static enum finding judge_token(struct mk_request *r, const struct mk_context *ctx,
                                const struct place *p, struct mk_str text,
                                const struct token *token)
{
    static const enum finding findings[] = {
        [CLAIMS_RIGHT] = VALID, [CLAIMS_INVALID] = INVALID, [CLAIMS_LACKING] = LACKING};
    enum finding finding;

    if (!is_signed(ctx, p, text, token))
        return INVALID;
    finding = findings[jwt_claims_judge(token->claims, &p->demands, mk_worker_wall_s(ctx->worker))];
    return finding == VALID ? take_user(r, mk_json_member(token->claims, mk_str_from(p->user)))
                            : finding;
}

static enum finding judge(struct mk_request *r, const struct mk_context *ctx, const struct place *p,
                          struct mk_str text)
{
    char *room = mk_request_alloc(r, TOKEN_ROOM);
    struct token token;
    enum finding finding;
    int err;

    if (!room)
        return NO_ROOM;
    err = jwt_token_read(text, room, &token);
    if (err < 0)
        return err == MK_E_NOMEM ? NO_ROOM : INVALID;
    finding = judge_token(r, ctx, p, text, &token);
    jwt_token_fini(&token);
    return finding;
}

/* RFC 6750 section 3.1: what was wrong is said of a token alone, not to clients that have none. */
static enum mk_verdict refuse(struct mk_request *r, const struct place *p, enum finding finding)
{
    static const char *const errors[] = {
        [ABSENT] = "",
        [INVALID] = ", error=\"invalid_token\"",
        [LACKING] = ", error=\"insufficient_scope\"",
    };
    const char *challenge;

    if (finding == NO_ROOM)
        return mk_reply_error(r, 503, "Retry-After: 1\r\n");
    challenge = mk_request_printf(r, "WWW-Authenticate: Bearer realm=\"%s\"%s\r\n", p->guard.title,
                                  errors[finding]);
    if (!challenge)
        return mk_reply_error(r, 503, NULL);
    return mk_reply_error(r, finding == LACKING ? 403 : 401, challenge);
}

static enum mk_verdict jwt_on_request(struct mk_request *r, const struct mk_context *ctx)
{
    const struct guard *guard;
    const struct place *p;
    struct mk_str token;
    enum finding finding;
    int err = guards_find(r, ctx->site, &guard);

    if (err < 0)
        return mk_reply_error(r, err == MK_E_ACCESS ? 403 : 503, NULL);
    if (!guard)
        return MK_VERDICT_PASS;
    p = (const struct place *)guard;
    finding = find_token(r, p, &token) ? judge(r, ctx, p, token) : ABSENT;
    return finding == VALID ? MK_VERDICT_PASS : refuse(r, p, finding);
}

static enum mk_verdict jwt_explain(struct mk_request *r, const struct mk_context *ctx,
                                   struct mk_explain *e)
{
    const struct guard *guard;
    const struct place *p;

    if (guards_find(r, ctx->site, &guard) < 0 || !guard)
        return MK_VERDICT_PASS;
    p = (const struct place *)guard;
    mk_explain_say(e, mk_explain_place(e, "Location", mk_str_from(guard->path)),
                   "tokens signed by a key of %s alone, for Location %s",
                   p->secret_file ? p->secret_file : p->keys_file,
                   *guard->path ? guard->path : "/");
    return MK_VERDICT_PASS;
}

static const struct mk_plugin jwt = {
    MK_PLUGIN("jwt", "JSON Web Tokens"),
    .sections = sections,
    .check = jwt_check,
    .check_site = jwt_check_site,
    .start = jwt_start,
    .stop = jwt_stop,
    .worker_start = jwt_worker_start,
    .worker_stop = jwt_worker_stop,
    .on_request = jwt_on_request,
    .explain = jwt_explain,
    .traits = MK_TRAIT_PURE,
};
MK_PLUGIN_EXPORT(jwt);
