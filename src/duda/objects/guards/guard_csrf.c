/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/digest/digest.h"
#include "kit/digest/hmac.h"
#include "kit/pure/hex.h"
#include "kit/sha2/sha2.h"
#include "kit/text/words.h"
#include "objects/guards/guard.h"
#include "objects/objects.h"
#include "kit/pure/random.h"
#include "objects/request/form.h"
#include "objects/session/session.h"
#include "kit/sessions/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tokens against requests that pages of other sites provoke. The session keeps a secret and who had logged in when it was
 * made. Whoever logs in or out gets another one, so what was learned before is worth nothing. A service that does not say
 * which value is the log-in has the identity of the session for it, which a log-in changes. Each token is masked with
 * random bits: its text in a compressed page tells nothing (BREACH).
 *
 * A client without a session has its secret in a cookie, with a code of the server's: strangers who load pages cost no
 * memory. Within a session that cookie counts for nothing: the code is not bound to a client, so anybody can get one and
 * plant it, from another host of the domain or over a plain connection. Sessions on another machine are not bounded by a
 * number, so there such a client gets a session.
 */

enum { LEN = RANDOM_TEXT_LEN, TOKEN_LEN = 2 * LEN, COOKIE_LEN = LEN + 1 + 2 * SHA256_LEN };

static char key[] = "_csrf"; /* "SECRET who" */
static const char cookie_name[] = "DUDA_CSRF";

HMAC_HASH(sha256, 64, SHA256_LEN);

/* ---- the secret ---- */

/* @return for whom a secret is: who has logged in, or which session; "" nobody. Owned by the caller; NULL without memory */
static char *who_is(struct mk_duda_request *rq)
{
    const struct mk_duda_guards *guards = mk_duda_state(rq->service, MK_DUDA_PART_GUARD);
    char *name = (char *)(uintptr_t)guards->logged_in, *who;
    struct session_id id;

    if (!name[0])
        return strdup(mk_duda_session_identity(rq, &id) ? id.text : "");
    who = mk_duda_session.get(&rq->dr, name);
    return who ? who : strdup("");
}

/* @return false: there is none, or somebody else has logged in */
static bool read_secret(struct mk_duda_request *rq, const char *who, char secret[LEN + 1])
{
    char *value = mk_duda_session.get(&rq->dr, key);
    bool is_ours = value && strlen(value) > LEN && strcmp(value + LEN + 1, who) == 0;

    if (is_ours) {
        memcpy(secret, value, LEN);
        secret[LEN] = '\0';
    }
    free(value);
    return is_ours;
}

static bool keep_secret(struct mk_duda_request *rq, const char *who, const char *secret)
{
    const size_t size = LEN + strlen(who) + 2;
    char *value = malloc(size);
    bool is_kept = false;

    if (value) {
        (void)snprintf(value, size, "%s %s", secret, who);
        is_kept = mk_duda_session.create(&rq->dr, key, value, 0) == 0;
    }
    free(value);
    return is_kept;
}

static bool make_secret(struct mk_duda_request *rq, const char *who, char secret[LEN + 1])
{
    char *within;
    bool is_kept;

    if (!random_text(secret) || !keep_secret(rq, who, secret))
        return false;
    within = who_is(rq); /* a session that has begun with the secret has its identity since then */
    is_kept = within && (strcmp(within, who) == 0 || keep_secret(rq, within, secret));
    free(within);
    return is_kept;
}

/* ---- the secret of a client without a session ---- */

static void write_code(const struct mk_duda_request *rq, const char *secret,
                       char code[2 * SHA256_LEN + 1])
{
    const char *with = mk_duda_session_secret(rq);
    uint8_t digest[SHA256_LEN];

    digest_hmac(&hmac_sha256, with, strlen(with), secret, LEN, digest);
    hex_write(code, digest, SHA256_LEN);
    code[2 * SHA256_LEN] = '\0';
}

/* @return the name of its cookie; NULL: there is none, for sessions are on another machine */
static const char *cookie_of(const struct mk_duda_request *rq)
{
    const struct mk_duda_guards *guards = mk_duda_state(rq->service, MK_DUDA_PART_GUARD);

    return mk_duda_session_secret(rq) ? mk_duda_session_key_for(rq, guards->cookie) : NULL;
}

/* @return whether the request has the cookie, with a code of ours */
static bool check_cookie(struct mk_duda_request *rq, char secret[LEN + 1])
{
    const char *name = cookie_of(rq);
    char *value, code[2 * SHA256_LEN + 1];
    int len;

    if (!name || mk_duda_cookie.get(&rq->dr, (char *)(uintptr_t)name, &value, &len) < 0 ||
        len != COOKIE_LEN)
        return false;
    memcpy(secret, value, LEN);
    secret[LEN] = '\0';
    write_code(rq, secret, code);
    return strspn(secret, "0123456789abcdef") == LEN && value[LEN] == '.' &&
           digest_is_same(code, value + LEN + 1, sizeof(code) - 1);
}

static bool read_cookie(struct mk_duda_request *rq, char secret[LEN + 1])
{
    return !mk_duda_session_is_there(rq) && check_cookie(rq, secret);
}

static bool make_cookie(struct mk_duda_request *rq, char secret[LEN + 1])
{
    const char *name = mk_duda_session_is_there(rq) ? NULL : cookie_of(rq);
    char value[COOKIE_LEN + 1];

    if (!name || !random_text(secret))
        return false;
    (void)snprintf(value, sizeof(value), "%s.", secret);
    write_code(rq, secret, value + LEN + 1);
    return mk_duda_session_send_cookie(rq, name, value, 0) == 0;
}

/* Where the session itself is the log-in, the secret does not outlast its beginning. */
static void move_secret(struct mk_duda_request *rq)
{
    const struct mk_duda_guards *guards = mk_duda_state(rq->service, MK_DUDA_PART_GUARD);
    char secret[LEN + 1];

    if (!guards->logged_in || !check_cookie(rq, secret))
        return;
    if (!guards->logged_in[0] || keep_secret(rq, "", secret))
        (void)mk_duda_session_send_cookie(rq, cookie_of(rq), "deleted", COOKIE_EXPIRE_TIME);
}

/* ---- masks: what is masked twice is what it was ---- */

static void mask(char text[LEN + 1], const char with[LEN])
{
    for (unsigned i = 0; i < LEN; i++)
        text[i] = hex_lower((unsigned)(hex_value(text[i]) ^ hex_value(with[i])));
}

/* ---- calls ---- */

const char *mk_duda_guard_token(duda_request_t *dr)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "guard->token");
    const struct mk_duda_guards *guards =
        rq && rq->r ? mk_duda_state(rq->service, MK_DUDA_PART_GUARD) : NULL;
    char secret[LEN + 1], token[TOKEN_LEN + 1], *who;
    bool has_one;

    if (!guards || !guards->logged_in)
        return NULL;
    who = who_is(rq);
    has_one = who && (read_secret(rq, who, secret) || read_cookie(rq, secret) ||
                      make_cookie(rq, secret) || make_secret(rq, who, secret));
    free(who);
    if (!has_one || !random_text(token))
        return NULL;
    mask(secret, token);
    memcpy(token + LEN, secret, LEN + 1);
    return mk_duda_request_copy(rq, (struct mk_str){token, TOKEN_LEN});
}

static struct mk_str given_token(struct mk_duda_request *rq)
{
    const struct mk_str field = mk_request_header(rq->r, MK_STR("X-CSRF-Token"));

    return field.p ? field : mk_str_from(mk_duda_form.get(&rq->dr, "csrf_token"));
}

/* @return false: whatever the client sends is no token of its own */
static bool has_secret(struct mk_duda_request *rq, char secret[LEN + 1])
{
    char *who = who_is(rq);
    bool has = who && (read_secret(rq, who, secret) || read_cookie(rq, secret));

    free(who);
    return has;
}

static bool is_right(struct mk_duda_request *rq, struct mk_str token)
{
    char secret[LEN + 1], given[LEN + 1];

    for (size_t i = 0; i < token.len; i++) {
        if (!strchr("0123456789abcdef", token.p[i]) || token.p[i] == '\0')
            return false;
    }
    if (token.len != TOKEN_LEN || !has_secret(rq, secret))
        return false;
    memcpy(given, token.p + LEN, LEN);
    mask(given, token.p);
    return digest_is_same(secret, given, LEN);
}

static bool is_safe(const struct mk_duda_request *rq)
{
    return rq->sr.method == MK_HTTP_METHOD_GET || rq->sr.method == MK_HTTP_METHOD_HEAD ||
           rq->sr.method == MK_HTTP_METHOD_OPTIONS;
}

static void check(struct mk_duda_request *rq, const void *arg)
{
    (void)arg;
    if (!is_safe(rq) && !is_right(rq, given_token(rq)))
        (void)mk_duda_response.problem(&rq->dr, 403, "The page is too old, or of another site",
                                       "Load the page again, and send its csrf_token.");
}

/* A script sends the token in a field. That of a form is in the body, which is read for a client that may have one. */
static bool needs_body(struct mk_duda_request *rq)
{
    char secret[LEN + 1];

    return !is_safe(rq) && !mk_request_header(rq->r, MK_STR("X-CSRF-Token")).p &&
           mk_duda_form_is_sent(rq) && has_secret(rq, secret);
}

int mk_duda_guard_csrf(const char *name)
{
    static const char call[] = "guard->csrf";
    struct mk_duda_service *s;
    struct mk_duda_guards *guards = mk_duda_guards_of(&s, call);

    if (!guards || !mk_duda_guard_has_sessions(s, call))
        return -1;
    name = name ? name : "";
    if (guards->logged_in && strcmp(guards->logged_in, name) != 0)
        return mk_duda_refuse(s, "%s(\"%.40s\"): it was called with another name", call, name);
    guards->logged_in = mk_duda_copy(s, name, strlen(name));
    guards->cookie = mk_duda_session_cookie_key(s, cookie_name);
    mk_duda_session_on_first(s, move_secret);
    return guards->logged_in && guards->cookie &&
                   (!name[0] || mk_duda_session_add_log_in(s, guards->logged_in) == 0)
               ? mk_duda_route_guard(s, call, check, NULL, needs_body)
               : mk_duda_refuse(s, "no memory");
}
