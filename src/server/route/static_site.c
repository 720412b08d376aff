/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/str.h"
#include "http/escape.h"
#include "core/fd.h"
#include "server/files/files.h"
#include "setup/reach.h"
#include "server/answer/reply.h"
#include "server/request/fill.h"
#include "server/route/route.h"
#include "server/route/stage.h"
#include "server/worker/worker.h"

#include <errno.h>

/* From a path to a file of the site: dot files, user directories, TryFiles, index files. */

static struct mk_file *look_up(struct mk_request *r, struct mk_file_root *root, struct mk_str path)
{
    return mk_files_get(&r->view->files, root, path, r->worker->loop.clock.mono_ms);
}

static enum mk_refusal refusal_of(const struct mk_file *file)
{
    if (!file)
        return MK_REFUSAL_NO_MEMORY;
    switch (file->error) {
    case MK_E_NOENT:
        return MK_REFUSAL_NOT_FOUND;
    case MK_E_ACCESS:
        return MK_REFUSAL_LINK;
    case MK_E_NOFD:
        return MK_REFUSAL_NO_DESCRIPTOR;
    case MK_E_NOMEM:
        return MK_REFUSAL_NO_MEMORY;
    default:
        return MK_REFUSAL_READ;
    }
}

/* The table keeps no errno: asked once more, because links are the client's affair and rights the administrator's. */
__attribute__((noinline, cold)) static void log_unreadable(struct mk_request *r,
                                                           const struct mk_file *file)
{
    struct mk_file_facts facts;
    int fd = mk_file_open_at(&r->view->files, file->root, file->path, &facts);
    char user[MK_REACH_NAME], *path;

    if (fd >= 0) {
        mk_fd_close(&fd);
        return;
    }
    if (fd != MK_E_ACCESS || errno != EACCES)
        return;
    path = mk_arena_alloc(&r->arena, file->path.len * MK_ESCAPE_URI_GROWTH);
    if (path)
        mk_log_peer(mk_worker_log(r->worker), MK_LOG_WARN, MK_LOG_FILE,
                    "may not be read by user %s root=%s path=\"%.*s\"", mk_reach_user(user),
                    file->root->path, (int)mk_escape_path(path, file->path), path);
}

static void answer_error(struct mk_request *r, unsigned status)
{
    if (!mk_route_page(r, status))
        mk_reply_page(r, status, false);
}

static void refuse_path(struct mk_request *r, enum mk_refusal refusal)
{
    answer_error(r, mk_reply_note_refusal(r, refusal));
}

static void refuse_file(struct mk_request *r, struct mk_file *file)
{
    if (file && file->error == MK_E_ACCESS)
        log_unreadable(r, file);
    refuse_path(r, refusal_of(file));
    if (file)
        mk_file_put(file);
}

/* A passing shortage says nothing about the file: another one in its place would be the wrong answer. */
static bool is_shortage(const struct mk_file *file)
{
    return !file ||
           (file->kind == MK_FILE_NONE && (file->error == MK_E_NOFD || file->error == MK_E_NOMEM));
}

/* Names that begin with a dot are nobody's business, but for the well-known ones of RFC 8615. */
static bool has_dot_segment(struct mk_str path)
{
    struct mk_str well_known = MK_STR("/.well-known");

    for (size_t i = 0; i + 1 < path.len; i++) {
        if (path.p[i] != '/' || path.p[i + 1] != '.')
            continue;
        if (mk_str_has_prefix(mk_str_skip(path, i + 1), MK_STR("...")))
            continue; /* a name as others: "...and more.html" */
        if (i == 0 && mk_str_has_prefix(path, well_known) &&
            (path.len == well_known.len || path.p[well_known.len] == '/'))
            continue;
        return true;
    }
    return false;
}

static bool is_read(const struct mk_request *r)
{
    return r->head.method == MK_METHOD_GET || r->head.method == MK_METHOD_HEAD;
}

/*
 * Files are for GET and HEAD. Asked where nothing is left but an answer of our own: an index file or the last of
 * TryFiles may belong to a handler, who takes forms and uploads. @return whether it was answered.
 */
static bool refuse_method(struct mk_request *r)
{
    if (is_read(r))
        return false;
    if (r->head.method == MK_METHOD_OPTIONS)
        mk_reply_options(r);
    else
        mk_reply_refuse(r, r->head.method == MK_METHOD_OTHER ? MK_REFUSAL_METHOD_UNKNOWN
                                                             : MK_REFUSAL_METHOD);
    return true;
}

static void redirect_to_slash(struct mk_request *r)
{
    struct mk_str query = mk_request_query(r), path = r->request_path;
    char *location = mk_arena_alloc(&r->arena, path.len * MK_ESCAPE_URI_GROWTH + query.len + 3);
    size_t len;

    if (!location) {
        mk_reply_refuse(r, MK_REFUSAL_NO_MEMORY);
        return;
    }
    len = mk_escape_path(location, path);
    location[len++] = '/';
    if (query.p) {
        location[len++] = '?';
        memcpy(location + len, query.p, query.len);
        len += query.len;
    }
    mk_reply_redirect(r, 301, (struct mk_str){location, len});
}

static void send_read(struct mk_request *r, struct mk_file *file)
{
    if (refuse_method(r))
        mk_file_put(file);
    else
        mk_static_send(r, file);
}

/* A file that another path led to is routed once more, so that what a handler owns is never sent as source. */
static void send_other(struct mk_request *r, struct mk_file *file)
{
    const struct mk_site *before = r->site;

    if (mk_file_root_is_apart(file->root)) {
        send_read(r, file);
        return;
    }
    r->path = mk_route_path_of(r, file);
    if (!r->path.p) {
        mk_file_put(file);
        mk_reply_refuse(r, MK_REFUSAL_NO_MEMORY);
        return;
    }
    r->found = true;
    if (++r->reroutes > MK_LIMIT_REROUTES) {
        mk_file_put(file);
        mk_reply_refuse(r, MK_REFUSAL_REROUTED);
        return;
    }
    if (mk_route_again(r)) {
        mk_file_put(file);
    } else if (r->site != before) { /* it is found, and sent, as in its own place */
        mk_file_put(file);
        mk_static_serve(r);
    } else {
        send_read(r, file);
    }
}

static struct mk_str join(struct mk_request *r, struct mk_str a, struct mk_str b)
{
    return mk_str_from(mk_arena_printf(&r->arena, "%.*s%.*s", (int)a.len, a.p, (int)b.len, b.p));
}

/* @return true when an index file of the directory answered, or could not for want of memory or descriptors. */
static bool send_index(struct mk_request *r, struct mk_file_root *root, struct mk_str dir)
{
    const struct mk_words *names = &r->site->set.index_files;

    for (size_t i = 0; i < names->count; i++) {
        struct mk_str path = join(r, dir, names->items[i]);
        struct mk_file *file = path.p ? look_up(r, root, path) : NULL;

        if (file && file->kind == MK_FILE_REGULAR) {
            send_other(r, file);
            return true;
        }
        if (is_shortage(file)) {
            refuse_file(r, file);
            return true;
        }
        mk_file_put(file);
    }
    return false;
}

struct place {
    const struct mk_files *files;
    const struct mk_file_root *root;
    struct mk_str path;
};

static int open_directory(void *arg)
{
    const struct place *place = arg;
    struct mk_file_facts facts;

    return mk_file_open_at(place->files, place->root, place->path, &facts);
}

/* An index file, or a plugin that shows directories. @return true when one answered or waits. */
static bool serve_directory(struct mk_request *r, struct mk_file_root *root, struct mk_str path)
{
    struct place place = {&r->view->files, root, path};

    return send_index(r, root, path) ||
           (is_read(r) && mk_stage_directory(r, open_directory, &place));
}

/* Below the root of a user the path in the file system is shorter than the one that was asked for. */
static void serve_path(struct mk_request *r, struct mk_file_root *root, struct mk_str path)
{
    struct mk_file *file = look_up(r, root, path);

    if (!file || file->kind == MK_FILE_NONE) {
        if (is_shortage(file) || !refuse_method(r))
            refuse_file(r, file);
        else
            mk_file_put(file);
    } else if (file->kind == MK_FILE_REGULAR) {
        send_read(r, file);
    } else {
        mk_file_put(file);
        if (path.p[path.len - 1] != '/') {
            if (!refuse_method(r))
                redirect_to_slash(r);
        } else if (!serve_directory(r, root, path) && !refuse_method(r)) {
            refuse_path(r, MK_REFUSAL_NO_INDEX);
        }
    }
}

/* ---- TryFiles ---- */

/* "$uri" is the path, and is so at once. @return p NULL: no memory; len 0: no file has the name. */
static struct mk_str expand(struct mk_request *r, const struct mk_try *try)
{
    return try->is_of_path && try->path.count == 1 ? r->path
                                                   : mk_template_fill(r, &try->path, MK_FILL_FILE);
}

/* The query of an item takes the place of the request's, from here on. @return whether there was memory. */
static bool take_query(struct mk_request *r, const struct mk_try *try)
{
    struct mk_str query;

    if (!try->has_query)
        return true;
    query = mk_template_fill(r, &try->query, MK_FILL_QUERY);
    if (!query.p) {
        mk_reply_refuse(r, MK_REFUSAL_NO_MEMORY);
        return false;
    }
    r->query = query;
    r->requeried = true;
    return true;
}

/*
 * The last item is where everything goes that is no file; that an application answers for it is no reason to have a file
 * there. @return whether somebody answered.
 */
static bool try_handler(struct mk_request *r, const struct mk_try *try)
{
    struct mk_str path = expand(r, try);

    if (r->site->nroutes == 0 || path.len == 0 || mk_str_eq(path, r->path))
        return false;
    if (!take_query(r, try))
        return true;
    r->path = path;
    r->found = true;
    if (++r->reroutes > MK_LIMIT_REROUTES) {
        mk_reply_refuse(r, MK_REFUSAL_REROUTED);
        return true;
    }
    return mk_route_again(r);
}

static void send_item(struct mk_request *r, struct mk_file *file, struct mk_str path)
{
    if (!mk_str_eq(path, r->path)) {
        send_other(r, file);
        return;
    }
    send_read(r, file);
}

/* @return true when this item answered. */
static bool try_one(struct mk_request *r, struct mk_file_root *root, const struct mk_try *try)
{
    struct mk_str path = expand(r, try);
    struct mk_file *file = path.len > 0 ? look_up(r, root, path) : NULL;
    bool wants_directory = path.len > 0 && path.p[path.len - 1] == '/';

    if (path.p && path.len == 0)
        return false;
    if (is_shortage(file)) {
        refuse_file(r, file);
        return true;
    }
    if (file->kind == MK_FILE_REGULAR) {
        if (take_query(r, try))
            send_item(r, file, path);
        else
            mk_file_put(file);
        return true;
    }
    if (file->kind == MK_FILE_DIRECTORY && wants_directory) {
        mk_file_put(file);
        if (r->request_path.p[r->request_path.len - 1] != '/' && try->is_of_path) {
            if (!refuse_method(r))
                redirect_to_slash(r);
            return true;
        }
        return serve_directory(r, root, path);
    }
    mk_file_put(file);
    return false;
}

/* @return whether the handler answered, which its name alone chose. */
static bool try_named(struct mk_request *r)
{
    r->found = true;
    return mk_stage_handle(r, (size_t)(r->site->named - r->site->routes));
}

static void serve_try_files(struct mk_request *r, struct mk_file_root *root)
{
    const struct mk_site_settings *set = &r->site->set;

    for (size_t i = 0; i < set->ntries; i++) {
        const struct mk_try *try = &set->tries[i];

        if (try->status > 0) {
            if (!refuse_method(r))
                answer_error(r, try->status);
            return;
        }
        if (try->name.p) {
            if (!try_named(r))
                break;
            return;
        }
        if (try_one(r, root, try) || (i + 1 == set->ntries && try_handler(r, try)))
            return;
    }
    if (!refuse_method(r))
        refuse_path(r, MK_REFUSAL_NOT_FOUND);
}

/* ---- /~user/ ---- */

/* @return the user's name in "/~user" or "/~user/...", and what follows it; false for other paths. */
static bool split_user(struct mk_str path, struct mk_str *user, struct mk_str *rest)
{
    const char *slash;

    if (path.len < 3 || path.p[1] != '~')
        return false;
    *user = mk_str_skip(path, 2);
    slash = memchr(user->p, '/', user->len);
    if (slash)
        user->len = (size_t)(slash - user->p);
    *rest = mk_str_skip(path, 2 + user->len);
    return user->len > 0;
}

static void serve_user(struct mk_request *r, struct mk_str user, struct mk_str rest)
{
    struct mk_file_root *root =
        mk_files_user_root(&r->view->files, r->site, user, r->worker->loop.clock.mono_ms);

    if (root && rest.len > 0)
        serve_path(r, root, rest);
    else if (refuse_method(r))
        return;
    else if (root)
        redirect_to_slash(r);
    else
        refuse_path(r, MK_REFUSAL_NOT_FOUND);
}

void mk_static_add_slash(struct mk_request *r)
{
    r->request_path = r->path;
    redirect_to_slash(r);
}

void mk_static_serve(struct mk_request *r)
{
    struct mk_file_root *root = mk_files_site_root(&r->view->files, r->site);
    struct mk_str user, rest;
    bool is_found = r->found; /* before a hook said LATER of it */

    if (r->page_of != 0) { /* the handlers passed on it, and its source is not sent */
        mk_reply_page(r, r->page_of, false);
        return;
    }
    if (!is_found)
        r->request_path = r->path;
    if (r->site->nroutes == 0 && refuse_method(r))
        return;
    if (!is_found && has_dot_segment(r->path))
        refuse_path(r, MK_REFUSAL_DOT_FILE);
    else if (r->view->snapshot->set.user_dir && split_user(r->path, &user, &rest))
        serve_user(r, user, rest);
    else if (!is_found && r->site->set.ntries > 0)
        serve_try_files(r, root);
    else
        serve_path(r, root, r->path);
}

enum mk_verdict mk_reply_beneath(struct mk_request *r, struct mk_str root, struct mk_str path)
{
    struct mk_file_root *found =
        mk_files_user_root(&r->view->files, r->site, root, r->worker->loop.clock.mono_ms);

    r->request_path = r->path;
    if (!found)
        refuse_path(r, MK_REFUSAL_NO_MEMORY);
    else if (has_dot_segment(path))
        refuse_path(r, MK_REFUSAL_DOT_FILE);
    else
        serve_path(r, found, path);
    return MK_VERDICT_DONE;
}
