/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/percent.h"
#include "objects/guards/guard.h"
#include "objects/objects.h"
#include "objects/session/session.h"
#include "service/answer.h"

#include <monkey/web/choice.h>

#include <stdio.h>
#include <string.h>

/* Routes for those who have logged in: a value of the session says so. */

enum { NEXT_MAX = 2048 };

struct login {
    const char *name, *page; /* page NULL: none */
};

/* ---- where a browser goes instead ---- */

/* Append percent-encoded text, all of it or nothing. @return its new length; 0: no room */
static size_t encode(char *text, size_t len, size_t size, struct mk_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (len + PERCENT_GROWTH >= size)
            return 0;
        len += percent_encode(text + len, (struct mk_str){s.p + i, 1}, "/");
    }
    return len;
}

/* The path is normalised: one slash at its beginning, so that it stays on this site whoever goes there. */
static size_t write_next(const struct mk_duda_request *rq, char *text, size_t len, size_t size)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    char target[NEXT_MAX];
    size_t n;

    mk_request_facts(rq->r, &facts);
    n = encode(target, 0, sizeof(target), facts.path);
    if (n == 0 || n + 1 + facts.query.len >= sizeof(target))
        return 0;
    if (facts.query.len > 0) {
        target[n++] = '?';
        memcpy(target + n, facts.query.p, facts.query.len);
        n += facts.query.len;
    }
    return encode(text, len, size, (struct mk_str){target, n});
}

static void send_to_page(struct mk_duda_request *rq, const struct login *l)
{
    const struct mk_duda_service *s = rq->service;
    const bool is_read =
        rq->sr.method == MK_HTTP_METHOD_GET || rq->sr.method == MK_HTTP_METHOD_HEAD;
    char location[2 * NEXT_MAX];
    size_t len, begin, end;

    begin = (size_t)snprintf(location, NEXT_MAX / 2, "%s%s%s", s->ws.is_root ? "" : "/",
                             s->ws.is_root ? "" : s->ws.name.data, l->page);
    len = begin + (size_t)snprintf(location + begin, sizeof(location) - begin,
                                   "%cnext=", strchr(l->page, '?') ? '&' : '?');
    end = is_read ? write_next(rq, location, len, sizeof(location)) : 0;
    location[end > 0 ? end : begin] = '\0';
    (void)mk_duda_response.redirect(&rq->dr, 303, location);
}

/* ---- the guard ---- */

static bool wants_page(const struct mk_duda_request *rq)
{
    static const struct mk_str offers[] = {MK_STR_INIT("application/problem+json"),
                                           MK_STR_INIT("text/html")};

    return mk_choose_type(mk_request_header(rq->r, MK_STR("Accept")), offers, 2) == 1;
}

static void refuse(struct mk_duda_request *rq)
{
    char scheme[128];
    int len = snprintf(scheme, sizeof(scheme), "Session realm=\"%.64s\"", rq->service->spec.name);

    (void)mk_duda_answer_replace(rq, MK_STR("WWW-Authenticate"),
                                 (struct mk_str){scheme, (size_t)len});
    (void)mk_duda_response.problem(&rq->dr, 401, "Log in first", NULL);
}

static void check(struct mk_duda_request *rq, const void *arg)
{
    const struct login *l = arg;
    char *name = (char *)(uintptr_t)l->name;

    if (mk_duda_session.isset(&rq->dr, name) == 0)
        return;
    if (l->page && wants_page(rq))
        send_to_page(rq, l);
    else
        refuse(rq);
}

int mk_duda_guard_login(const char *name, const char *page)
{
    static const char call[] = "guard->login";
    struct mk_duda_service *s;
    struct login *l;

    if (!mk_duda_guards_of(&s, call) || !mk_duda_guard_has_sessions(s, call))
        return -1;
    if (!name || (page && (page[0] != '/' || strlen(page) > NEXT_MAX / 4)))
        return mk_duda_refuse(s, "%s(): a name, and a path such as \"/login\" are needed", call);
    l = mk_duda_alloc(s, sizeof(*l));
    if (!l)
        return mk_duda_refuse(s, "no memory");
    l->name = mk_duda_copy(s, name, strlen(name));
    l->page = page ? mk_duda_copy(s, page, strlen(page)) : NULL;
    return l->name && (l->page || !page) && mk_duda_session_add_log_in(s, l->name) == 0
               ? mk_duda_route_guard(s, call, check, l, NULL)
               : mk_duda_refuse(s, "no memory");
}
