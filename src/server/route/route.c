/* SPDX-License-Identifier: Apache-2.0 */
#include "server/route/route.h"

#include "base/limits.h"
#include "base/str.h"
#include "http/uri.h"
#include "server/answer/reply.h"
#include "server/request/fill.h"
#include "server/request/request_state.h"
#include "server/route/stage.h"
#include "server/worker/worker.h"

enum { HTTPS_PORT = 443 }; /* of "https:" without one: RFC 9110 section 4.2.2 */

/*
 * A site of one name on two ports: `Redirect https://NAME/` leads those who came in the clear to where the others are
 * already, who would go in circles.
 */
static bool is_there_already(const struct mk_request *r, struct mk_str to)
{
    static const struct mk_str https = MK_STR_INIT("https://");
    struct mk_str host, wanted;
    unsigned port, wanted_port;
    const char *end;

    if (!r->is_secure || to.len < https.len || !mk_str_ieq((struct mk_str){to.p, https.len}, https))
        return false;
    to = mk_str_skip(to, https.len);
    end = memchr(to.p, '/', to.len);
    to.len = end ? (size_t)(end - to.p) : to.len;
    if (mk_uri_authority(to, &wanted, &wanted_port) < 0 ||
        mk_uri_authority(mk_request_authority(r), &host, &port) < 0)
        return false;
    return mk_str_ieq(host, wanted) &&
           (port ? port : HTTPS_PORT) == (wanted_port ? wanted_port : HTTPS_PORT);
}

static bool has_host(struct mk_str url)
{
    const char *end = memmem(url.p, url.len, "://", 3);
    const size_t at = end ? (size_t)(end - url.p) + 3 : url.len;

    return at < url.len && !memchr("/?:", url.p[at], 3);
}

/*
 * With the values of its variables, of which none may make "//host" of a path. @return p NULL: no memory; len 0: the request
 * names no host (HTTP/1.0), and the site has no name.
 */
static struct mk_str redirect_of(struct mk_request *r)
{
    const struct mk_template *t = &r->site->set.redirect_to;
    struct mk_str to = r->site->set.redirect;

    if (t->count == 0)
        return to;
    to = mk_template_fill(r, t, MK_FILL_URL);
    while (to.len > 1 && to.p[0] == '/' && to.p[1] == '/')
        to = mk_str_skip(to, 1);
    return to.len > 0 && to.p[0] != '/' && !has_host(to) ? (struct mk_str){to.p, 0} : to;
}

/* `Redirect URL`: path and query follow when the URL ends in a slash. */
static void redirect_site(struct mk_request *r, struct mk_str to)
{
    const struct mk_str written = r->site->set.redirect;
    struct mk_str path = mk_request_text(r, r->head.path);
    struct mk_str query = mk_request_query(r);
    char *location = NULL;

    while (path.len > 0 &&
           path.p[0] == '/') /* behind a Redirect to "/", "//host" would lead away */
        path = mk_str_skip(path, 1);
    if (written.p[written.len - 1] == '/')
        location = mk_arena_printf(&r->arena, "%.*s%.*s%s%.*s", (int)to.len, to.p, (int)path.len,
                                   path.p ? path.p : "", query.p ? "?" : "", (int)query.len,
                                   query.p ? query.p : "");
    else
        location = mk_arena_strdup(&r->arena, to);
    if (location)
        mk_reply_redirect(r, r->site->set.redirect_status, mk_str_from(location));
    else
        mk_reply_refuse(r, MK_REFUSAL_NO_MEMORY);
}

/* @return 0, or MK_E_BAD, MK_E_ACCESS, MK_E_LIMIT, MK_E_NOMEM: nothing was changed. */
static int set_path(struct mk_request *r, struct mk_str raw)
{
    char *path;
    size_t len;
    int err;

    if (raw.len > MK_LIMIT_TARGET)
        return MK_E_LIMIT;
    path = mk_arena_alloc(&r->arena, raw.len + 1);
    if (!path)
        return MK_E_NOMEM;
    err = mk_uri_normalise(raw, path, &len);
    if (err < 0)
        return err;
    path[len] = '\0';
    r->path = (struct mk_str){path, len};
    return 0;
}

/* @return whether r->path was set; refused otherwise. */
static bool decode_path(struct mk_request *r)
{
    switch (set_path(r, mk_h1_head_path(&r->head, r->text))) {
    case 0:
        return true;
    case MK_E_LIMIT:
        mk_reply_refuse(r, MK_REFUSAL_PATH_LONG);
        break;
    case MK_E_NOMEM:
        mk_reply_refuse(r, MK_REFUSAL_NO_MEMORY);
        break;
    case MK_E_ACCESS:
        mk_reply_refuse(r, MK_REFUSAL_PATH_ABOVE);
        break;
    default:
        mk_reply_refuse(r, MK_REFUSAL_PATH_BAD);
    }
    return false;
}

/* @return false when all handlers from this one on passed. */
static bool ask_handlers(struct mk_request *r, size_t from)
{
    for (size_t i = from; i < r->site->nroutes; i++) {
        if (mk_pattern_matches(&r->site->routes[i].match, r->path) && mk_stage_handle(r, i))
            return true;
    }
    return false;
}

struct mk_str mk_route_path_of(struct mk_request *r, const struct mk_file *file)
{
    const struct mk_file_root *root = file->root;

    return mk_str_from(mk_arena_printf(&r->arena, "%s%.*s%.*s", root->user_len ? "/~" : "",
                                       (int)root->user_len, root->user, (int)file->path.len,
                                       file->path.p));
}

bool mk_route_is_owned(struct mk_request *r, const struct mk_file *file)
{
    struct mk_str path = r->site->nroutes ? mk_route_path_of(r, file) : file->path;

    if (mk_file_root_is_apart(file->root))
        return false;
    return !path.p || mk_site_is_handled(r->site, path);
}

/* "/dav" where "^/dav/" is a handler's, and the site wants it as it is with directories. */
static bool lacks_slash(const struct mk_request *r)
{
    const struct mk_words *names = &r->site->slashless;

    for (size_t i = 0; i < names->count; i++) {
        if (mk_str_ieq(r->path, names->items[i]))
            return r->head.method == MK_METHOD_GET || r->head.method == MK_METHOD_HEAD;
    }
    return false;
}

/* @return false: the client is there already. */
__attribute__((noinline)) static bool redirect(struct mk_request *r)
{
    const struct mk_str to = redirect_of(r);

    if (!to.p)
        mk_reply_refuse(r, MK_REFUSAL_NO_MEMORY);
    else if (to.len == 0)
        mk_reply_page(r, 400, false);
    else if (is_there_already(r, to))
        return false;
    else
        redirect_site(r, to);
    return true;
}

/* Stage 20 is over. */
static void answer(struct mk_request *r)
{
    if (r->site->set.redirect.p && r->reroutes == 0 && redirect(r))
        return;
    if (r->site->slashless.count > 0 && lacks_slash(r))
        mk_static_add_slash(r);
    else if (!ask_handlers(r, 0))
        mk_static_serve(r);
}

/* Its path may be another one now. */
__attribute__((noinline)) static void choose_place(struct mk_request *r)
{
    r->site = mk_site_at(r->site, r->path);
    r->patience_ms = (uint32_t)r->site->set.handler_timeout_ms;
}

void mk_route_choose_site(struct mk_request *r)
{
    struct mk_str authority = mk_request_authority(r), host;
    unsigned port;

    if (!r->site->set.is_apart && authority.p && mk_uri_authority(authority, &host, &port) == 0)
        r->site = mk_snapshot_site(r->view->snapshot, host);
    /* The place limits the body, so it is needed before; a path that is none is decoded again in its turn, and refused. */
    if (r->site->places && r->head.form <= MK_TARGET_ABSOLUTE)
        (void)!set_path(r, mk_h1_head_path(&r->head, r->text));
    choose_place(r);
}

void mk_route(struct mk_request *r)
{
    if (r->head.form == MK_TARGET_ASTERISK)
        mk_reply_options(r);
    else if (r->head.form == MK_TARGET_AUTHORITY)
        mk_reply_refuse(r, MK_REFUSAL_METHOD);
    else if ((r->path.p || decode_path(r)) && !mk_stage_request(r, 0))
        answer(r);
}

bool mk_route_again(struct mk_request *r)
{
    if (r->site->places)
        choose_place(r);
    return mk_stage_request(r, 0) || ask_handlers(r, 0);
}

bool mk_route_page(struct mk_request *r, unsigned status)
{
    const struct mk_error_page *page = mk_site_error_page(r->site, status);

    if (!page || r->page_of != 0 || !mk_site_is_handled(r->site, page->path))
        return false;
    r->page_of = (uint16_t)status;
    r->path = page->path;
    r->query = (struct mk_str){NULL, 0};
    r->reroutes++;
    r->moved = r->found = true;
    if (r->head.method != MK_METHOD_HEAD)
        r->head.method = MK_METHOD_GET;
    return mk_route_again(r);
}

bool mk_request_matches_on(const struct mk_request *r, struct mk_match *m, struct mk_str path)
{
    const struct mk_pattern *pattern;

    if (r->hook >= r->site->nroutes)
        return false;
    pattern = &r->site->routes[r->hook].match;
    m->state =
        mk_pattern_pass(pattern, m->len > 0 ? m->state : pattern->start, mk_str_skip(path, m->len));
    m->len = path.len;
    return mk_pattern_is_match(pattern, m->state);
}

bool mk_request_matches(const struct mk_request *r, struct mk_str path)
{
    struct mk_match m = {0};

    return mk_request_matches_on(r, &m, path);
}

static int turn_to(struct mk_request *r, struct mk_str target)
{
    const char *mark = memchr(target.p, '?', target.len);
    struct mk_str query = {NULL, 0};
    int err;

    if (mk_asking_is_over(r) || mk_answering_is_broken(r))
        return MK_E_PEER;
    if (r->status != 0)
        return MK_E_EXISTS;
    if (target.len > MK_LIMIT_TARGET || r->reroutes >= MK_LIMIT_REROUTES)
        return MK_E_LIMIT;
    if (mark) {
        query = mk_str_skip(target, (size_t)(mark - target.p) + 1);
        query.p = mk_arena_strdup(&r->arena, query);
        if (!query.p)
            return MK_E_NOMEM;
        target.len = (size_t)(mark - target.p);
    }
    err = set_path(r, target);
    if (err < 0)
        return err;
    r->query = query;
    r->reroutes++;
    r->found = false;
    if (r->asking != MK_ASKING_MOVED)
        mk_asking_go(r, MK_ASKING_MOVED);
    mk_request_resume(r);
    return 0;
}

int mk_request_rewrite(struct mk_request *r, struct mk_str target)
{
    int err = turn_to(r, target);

    if (err == 0)
        r->requeried = true;
    return err;
}

int mk_request_reroute(struct mk_request *r, struct mk_str target)
{
    int err = turn_to(r, target);

    if (err < 0)
        return err;
    r->moved = true;
    if (r->head.method != MK_METHOD_HEAD)
        r->head.method = MK_METHOD_GET;
    return 0;
}

void mk_route_resume(struct mk_request *r)
{
    bool has_moved = r->asking == MK_ASKING_MOVED;

    mk_asking_go(r, MK_ASKING_ASKED);
    if (has_moved) {
        r->directory_from = 0;
        if (r->site->places)
            choose_place(r);
        if (!mk_stage_request(r, 0))
            answer(r);
        return;
    }
    switch ((enum mk_stage)r->waits_in) {
    case MK_STAGE_REQUEST:
        if (!mk_stage_request(r, r->hook))
            answer(r);
        break;
    case MK_STAGE_HANDLE:
        if (!mk_stage_handle(r, r->hook) && !ask_handlers(r, r->hook + 1U))
            mk_static_serve(r);
        break;
    case MK_STAGE_DIRECTORY:
        r->directory_from = r->hook;
        mk_static_serve(r);
        break;
    case MK_STAGE_NONE:
        break;
    }
}
