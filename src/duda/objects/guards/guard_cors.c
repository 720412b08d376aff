/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/words.h"
#include "objects/guards/guard.h"
#include "objects/objects.h"
#include "service/answer.h"

#include <stdio.h>
#include <string.h>

/* Requests from pages of other sites: Fetch standard, section 3.2. */

enum { MAX_AGE = 600, AGE_TEXT = 24 };

struct cors {
    struct mk_str origins;                   /* separated by blanks */
    struct mk_str methods, headers, exposed; /* as in fields; p NULL: none */
    struct mk_str max_age;
    bool has_any_origin, has_any_header, has_credentials;
    char age_text[AGE_TEXT];
};

/* ---- requests ---- */

static bool is_allowed(const struct cors *c, struct mk_str origin)
{
    struct mk_str rest = c->origins, word;

    while (!c->has_any_origin && (word = text_next_word(&rest)).p) {
        if (text_is_word(word, origin))
            return true;
    }
    return c->has_any_origin;
}

static void add(struct mk_duda_request *rq, const char *name, struct mk_str value)
{
    if (value.p)
        (void)mk_duda_answer_replace(rq, mk_str_from(name), value);
}

static void answer_preflight(struct mk_duda_request *rq, const struct cors *c)
{
    const struct mk_str asked = mk_request_header(rq->r, MK_STR("Access-Control-Request-Headers"));

    add(rq, "Access-Control-Allow-Methods", c->methods);
    add(rq, "Access-Control-Allow-Headers", c->has_any_header ? asked : c->headers);
    add(rq, "Access-Control-Max-Age", c->max_age);
    (void)mk_duda_response.http_status(&rq->dr, 204);
    (void)mk_duda_answer_end(rq);
}

/* Caches keep answers for each origin apart, also those to requests that name none. */
static void vary(struct mk_duda_request *rq, const struct cors *c, bool is_preflight)
{
    if (!c->has_any_origin)
        (void)mk_duda_answer_field(rq, MK_STR("Vary"), MK_STR("Origin"));
    if (is_preflight)
        (void)mk_duda_answer_field(
            rq, MK_STR("Vary"),
            MK_STR("Access-Control-Request-Method, Access-Control-Request-Headers"));
}

static void check(struct mk_duda_request *rq, const void *arg)
{
    const struct cors *c = arg;
    const struct mk_str origin = mk_request_header(rq->r, MK_STR("Origin"));
    const bool is_preflight = mk_duda_is_preflight(rq->r);

    if (rq->route->cors->arg != c)
        return; /* that of a group within counts */
    vary(rq, c, is_preflight);
    if (!origin.p)
        return;
    if (is_allowed(c, origin)) {
        add(rq, "Access-Control-Allow-Origin", c->has_any_origin ? MK_STR("*") : origin);
        if (c->has_credentials)
            add(rq, "Access-Control-Allow-Credentials", MK_STR("true"));
        if (is_preflight)
            answer_preflight(rq, c);
        else
            add(rq, "Access-Control-Expose-Headers", c->exposed);
    } else if (is_preflight) {
        (void)mk_duda_response.problem(&rq->dr, 403, "Origin not allowed", NULL);
    }
}

/* ---- setting up ---- */

/* "scheme://host" or "scheme://host:port", as browsers send it */
static bool is_origin(struct mk_str word)
{
    struct mk_str rest = word;
    const struct mk_str scheme = text_cut(&rest, ':');

    return scheme.len > 0 && rest.len > 2 && memcmp(rest.p, "//", 2) == 0 &&
           !memchr(rest.p + 2, '/', rest.len - 2) && !memchr(rest.p, '*', rest.len);
}

/* @return NULL; else a sentence: what is wrong with them */
static const char *read_origins(struct cors *c, struct mk_str text)
{
    struct mk_str rest = text, word = text_next_word(&rest);

    c->origins = text;
    c->has_any_origin = text_is(word, MK_STR("*")) && !text_next_word(&rest).p;
    if (c->has_any_origin)
        return c->has_credentials ? "\"*\" is not for requests with credentials" : NULL;
    if (!word.p)
        return "origins are needed";
    for (; word.p; word = text_next_word(&rest)) {
        if (!is_origin(word))
            return "an origin is like https://app.example, without a path";
    }
    return NULL;
}

/* A list of words as fields have it: "GET, PUT". @return {NULL, 0} without words or memory */
static struct mk_str join(struct mk_duda_service *s, const char *words)
{
    struct mk_str rest = mk_str_from(words), word;
    char *text = words ? mk_duda_alloc(s, strlen(words) * 2 + 1) : NULL;
    size_t len = 0;

    while (text && (word = text_next_word(&rest)).p) {
        if (len > 0) {
            memcpy(text + len, ", ", 2);
            len += 2;
        }
        memcpy(text + len, word.p, word.len);
        len += word.len;
    }
    return len > 0 ? (struct mk_str){text, len} : (struct mk_str){NULL, 0};
}

/* Without what is said, what most want. */
static int fill(struct mk_duda_service *s, struct cors *c, const struct duda_cors *from)
{
    const long age = from->max_age > 0 ? from->max_age : (from->max_age < 0 ? 0 : MAX_AGE);
    int len = snprintf(c->age_text, sizeof(c->age_text), "%ld", age);

    c->methods = join(s, from->methods ? from->methods : "GET HEAD POST PUT PATCH DELETE");
    c->headers = join(s, from->headers ? from->headers : "Content-Type");
    c->has_any_header = text_is(c->headers, MK_STR("*"));
    c->exposed = join(s, from->exposed);
    c->max_age = (struct mk_str){c->age_text, (size_t)len};
    return mk_duda_route_cors(s, "guard->cors", check, c);
}

int mk_duda_guard_cors(const struct duda_cors *cors)
{
    static const struct duda_cors none;
    const struct duda_cors *from = cors ? cors : &none;
    const char *origins = from->origins ? from->origins : "", *why;
    struct mk_duda_service *s;
    struct cors *c = mk_duda_guards_of(&s, "guard->cors") ? mk_duda_alloc(s, sizeof(*c)) : NULL;
    char *copy = c ? mk_duda_copy(s, origins, strlen(origins)) : NULL;

    if (!copy)
        return -1;
    c->has_credentials = from->credentials;
    why = read_origins(c, mk_str_from(copy));
    return why ? mk_duda_refuse(s, "guard->cors(\"%.60s\"): %s", origins, why) : fill(s, c, from);
}
