/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/exchange.h"

/* ---- scripts that are not looked for here ---- */

static size_t end_of_segment(struct mk_str path, size_t from)
{
    const char *slash = from < path.len ? memchr(path.p + from, '/', path.len - from) : NULL;

    return slash ? (size_t)(slash - path.p) : path.len;
}

/* The first part of the path that the route is for. @return its length; 0: there is none. */
static size_t script_len(const struct mk_request *r, struct mk_str path)
{
    struct mk_match match = {0};

    for (size_t from = 0, to; from < path.len; from = to) {
        to = end_of_segment(path, from + 1);
        if (to > from + 1 && path.p[from + 1] == '.')
            return 0;
        if (to > from + 1 && mk_request_matches_on(r, &match, (struct mk_str){path.p, to}))
            return to;
    }
    return 0;
}

/* With the name that this server has for it; see rename_files. */
static int use_script(struct exchange *x, struct mk_request *r, const struct mk_request_facts *f,
                      size_t len)
{
    size_t root_len = f->document_root ? strlen(f->document_root) : 0;
    const char *filename;

    while (root_len > 0 && f->document_root[root_len - 1] == '/')
        root_len--;
    filename = mk_request_printf(r, "%.*s%.*s", (int)root_len,
                                 f->document_root ? f->document_root : "", (int)len, f->path.p);
    return filename ? gateway_script_mount(&x->script, r, len, filename) : MK_E_NOMEM;
}

/* ---- scripts that are ---- */

static int find_script(struct exchange *x, struct mk_request *r, const struct mk_request_facts *f)
{
    struct scripts *scripts = &x->local->scripts;
    int64_t now_ms = mk_worker_now_ms(x->worker);
    size_t len = fastcgi_scripts_find(scripts, x->location, f->document_root, f->path, now_ms);
    int what;

    if (len > 0)
        return use_script(x, r, f, len);
    what = gateway_script_find(&x->script, r);
    if (what == GATEWAY_SCRIPT)
        fastcgi_scripts_note(scripts, x->location, f->document_root, f->path, x->script.name.len,
                             now_ms);
    return what;
}

/* ---- applications that own all below a path ---- */

static bool is_below(struct mk_str path, struct mk_str mount)
{
    return path.len >= mount.len && memcmp(path.p, mount.p, mount.len) == 0 &&
           (path.len == mount.len || path.p[mount.len] == '/');
}

/* ---- all of them ---- */

/* What this server calls a file is another name where the application runs. */
static int rename_files(struct exchange *x, struct mk_request *r)
{
    struct gateway_script *s = &x->script;
    const char *root = x->location->script_root;

    if (!root)
        return 0;
    if (s->filename) {
        s->filename = mk_request_printf(r, "%s%.*s", root, (int)s->name.len, s->name.p);
        if (!s->filename)
            return MK_E_NOMEM;
    }
    if (s->info.len == 0)
        return 0;
    s->translated = mk_request_printf(r, "%s%.*s", root, (int)s->info.len, s->info.p);
    return s->translated ? 0 : MK_E_NOMEM;
}

/* @return GATEWAY_SCRIPT, GATEWAY_DIRECTORY, or an error. */
static int find(struct exchange *x, struct mk_request *r)
{
    const struct fcgi_location *l = x->location;
    struct mk_request_facts f = {.size = sizeof(f)};

    mk_request_facts(r, &f);
    if (l->check_script && !l->mount)
        return find_script(x, r, &f);
    if (!l->mount) {
        size_t len = script_len(r, f.path);

        return len > 0 ? use_script(x, r, &f, len) : MK_E_NOENT;
    }
    if (!is_below(f.path, mk_str_from(l->mount)))
        return MK_E_NOENT;
    return gateway_script_mount(&x->script, r, strlen(l->mount), NULL);
}

enum mk_verdict fastcgi_target_find(struct exchange *x, struct mk_request *r, bool *left_alone)
{
    int what = find(x, r);

    *left_alone = what == GATEWAY_DIRECTORY;
    if (what == GATEWAY_SCRIPT)
        what = rename_files(x, r);
    if (what >= 0)
        return MK_VERDICT_PASS;
    return mk_reply_error(r, gateway_script_status(what), NULL);
}
