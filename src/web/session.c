/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/session.h>

#include <monkey/events.h>

#include "base/heap.h"
#include "base/str.h"
#include "kit/sessions/sessions.h"

#include <stdio.h>

/* Sessions of programs: the cookie, over the store that services have, too. */

_Static_assert((int)MK_SESSIONS_MAX == (int)SESSIONS_MAX &&
                   (int)MK_SESSION_VALUES == (int)SESSION_NAMES_MAX &&
                   (int)MK_SESSION_VALUE_MAX == (int)SESSION_VALUE_MAX,
               "the bounds are those of the kit");

enum { TRIED = 8 }; /* cookies of one name */

static const char host_prefix[] = "__Host-";

struct mk_sessions {
    struct sessions *store;
    char *path_text;
    struct mk_str path;
    enum mk_same_site same_site;
    bool is_secure;
    size_t name_len;
    char name[sizeof(host_prefix) + MK_SESSION_NAME_MAX]; /* with the prefix */
};

/* What a request knows of its session: kept under the address of the store. */
struct visit {
    struct session_id id;
    bool has_id;
    bool is_new; /* this request has made the identity, so nobody else can have planted it */
};

/* ---- the cookie ---- */

static bool is_secure(const struct mk_sessions *s, const struct mk_request *r)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};

    mk_request_facts(r, &facts);
    return s->is_secure || strcmp(facts.scheme, "https") == 0;
}

/* RFC 6265bis section 4.1.3.2 */
static struct mk_str name_of(const struct mk_sessions *s, bool secure)
{
    const bool is_for_host = secure && mk_str_eq(s->path, MK_STR("/"));
    const struct mk_str name = {s->name, s->name_len};

    return is_for_host ? name : mk_str_skip(name, sizeof(host_prefix) - 1);
}

static ssize_t write_cookie(char *dst, size_t size, const struct mk_sessions *s, bool secure,
                            const char *id)
{
    const struct mk_cookie cookie = {
        .size = sizeof(cookie),
        .name = name_of(s, secure),
        .value = mk_str_from(id),
        .path = s->path,
        .has_max_age = id[0] == '\0',
        .same_site = s->same_site,
        .secure = secure,
        .http_only = true,
    };

    return mk_cookie_write(dst, size, &cookie, NULL);
}

/* @param id  "": remove the cookie */
static int send_cookie(struct mk_request *r, const struct mk_sessions *s, const char *id)
{
    char text[sizeof(s->name) + SESSION_ID_LEN + MK_COOKIE_ATTRIBUTE + 128];
    const ssize_t len = write_cookie(text, sizeof(text), s, is_secure(s, r), id);

    return len < 0 ? (int)len
                   : mk_reply_field(r, MK_STR("Set-Cookie"), (struct mk_str){text, (size_t)len});
}

/* ---- the request ---- */

static int64_t now_of(const struct mk_request *r)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};

    mk_request_facts(r, &facts);
    return mk_worker_wall_s(facts.worker);
}

static bool has_begun(const struct mk_request *r)
{
    return mk_request_result(r).status > 0;
}

/* Of several cookies, of which others may have planted some, the first that is known counts; one that was replaced, last. */
static void try_id(struct visit *v, const struct mk_sessions *s, struct mk_str text, int64_t now,
                   bool *is_replaced)
{
    struct session_id id;
    bool is_old;

    if (text.len != SESSION_ID_LEN || (v->has_id && !*is_replaced))
        return;
    memcpy(id.text, text.p, SESSION_ID_LEN);
    id.text[SESSION_ID_LEN] = '\0';
    if (!sessions_is_there(s->store, id.text, now, &is_old) || (v->has_id && is_old))
        return;
    v->id = id;
    v->has_id = true;
    *is_replaced = is_old;
}

static void find_id(struct visit *v, const struct mk_request *r, const struct mk_sessions *s)
{
    const struct mk_str wanted = name_of(s, is_secure(s, r));
    const int64_t now = now_of(r);
    struct mk_str field, rest, name, value;
    bool is_replaced = false;
    unsigned tried = 0;
    uint32_t at = 0;

    while (mk_request_next_header(r, &at, &field, &rest)) {
        if (!mk_str_ieq(field, MK_STR("Cookie")))
            continue;
        while (tried < TRIED && mk_cookie_next(&rest, &name, &value)) {
            if (!mk_str_eq(name, wanted))
                continue;
            tried++;
            try_id(v, s, value, now, &is_replaced);
        }
    }
}

/* @return NULL: no memory */
static struct visit *visit_of(struct mk_request *r, const struct mk_sessions *s)
{
    struct visit *v = mk_request_kept(r, s);

    if (v)
        return v;
    v = mk_request_alloc(r, sizeof(*v));
    if (!v)
        return NULL;
    *v = (struct visit){.has_id = false};
    if (mk_request_keep(r, s, v) < 0)
        return NULL;
    find_id(v, r, s);
    return v;
}

/* ---- calls ---- */

struct copy {
    struct mk_request *r;
    const char *text;
};

static void take(void *arg, const char *value)
{
    struct copy *copy = arg;
    const size_t size = strlen(value) + 1;
    char *text = mk_request_alloc(copy->r, size);

    if (text)
        memcpy(text, value, size);
    copy->text = text;
}

const char *mk_session_get(struct mk_request *r, struct mk_sessions *sessions, const char *name)
{
    const struct visit *v = r && sessions && name ? visit_of(r, sessions) : NULL;
    struct copy copy = {r, NULL};

    if (v && v->has_id)
        (void)sessions_take(sessions->store, v->id.text, name, now_of(r), take, &copy);
    return copy.text;
}

/* The identity goes to the browser, or it ends. */
static int begin(struct mk_request *r, struct mk_sessions *s, struct visit *v, const char *name,
                 const char *value)
{
    const int64_t now = now_of(r);
    int err = has_begun(r) ? MK_E_EXISTS : 0;

    if (err == 0 && sessions_begin(s->store, NULL, now, &v->id) < 0)
        err = MK_E_NOMEM;
    if (err < 0)
        return err;
    err = sessions_put(s->store, v->id.text, name, value, 0, now);
    if (err == 0)
        err = send_cookie(r, s, v->id.text);
    if (err < 0)
        (void)sessions_end(s->store, v->id.text, now);
    v->has_id = v->is_new = err == 0;
    return err;
}

int mk_session_set(struct mk_request *r, struct mk_sessions *sessions, const char *name,
                   const char *value)
{
    struct visit *v;
    int err;

    if (!r || !sessions || !name || !value)
        return MK_E_INVALID;
    v = visit_of(r, sessions);
    if (!v)
        return MK_E_NOMEM;
    err = v->has_id ? sessions_put(sessions->store, v->id.text, name, value, 0, now_of(r))
                    : MK_E_NOENT;
    return err == MK_E_NOENT ? begin(r, sessions, v, name, value) : err;
}

int mk_session_remove(struct mk_request *r, struct mk_sessions *sessions, const char *name)
{
    struct visit *v = r && sessions && name ? visit_of(r, sessions) : NULL;
    int left;

    if (!r || !sessions || !name)
        return MK_E_INVALID;
    if (!v || !v->has_id)
        return MK_E_NOENT;
    left = sessions_remove(sessions->store, v->id.text, name, now_of(r));
    if (left != 0)
        return left < 0 ? MK_E_NOENT : 0;
    v->has_id = v->is_new = false;
    (void)send_cookie(r, sessions, ""); /* what it has is not known any more */
    return 0;
}

int mk_session_renew(struct mk_request *r, struct mk_sessions *sessions)
{
    struct session_id old;
    struct visit *v;
    int err;

    if (!r || !sessions)
        return MK_E_INVALID;
    v = visit_of(r, sessions);
    if (!v)
        return MK_E_NOMEM;
    if (!v->has_id || v->is_new)
        return 0;
    if (has_begun(r))
        return MK_E_EXISTS;
    old = v->id;
    if (sessions_begin(sessions->store, old.text, now_of(r), &v->id) < 0)
        return MK_E_NOMEM;
    err = send_cookie(r, sessions, v->id.text);
    if (err < 0)
        (void)sessions_end(sessions->store, v->id.text, now_of(r));
    v->has_id = v->is_new = err == 0;
    return err;
}

int mk_session_destroy(struct mk_request *r, struct mk_sessions *sessions)
{
    struct visit *v;

    if (!r || !sessions)
        return MK_E_INVALID;
    v = visit_of(r, sessions);
    if (!v)
        return MK_E_NOMEM;
    if (!v->has_id)
        return 0;
    (void)sessions_end(sessions->store, v->id.text, now_of(r));
    v->has_id = v->is_new = false;
    return send_cookie(r, sessions, "");
}

/* ---- life ---- */

static int set_up(struct mk_sessions *s, const struct mk_sessions_options *o)
{
    const struct sessions_limits limits = {
        .sessions = o->sessions > 0 ? o->sessions : SESSIONS_MAX,
        .bytes = o->bytes > 0 ? o->bytes : SESSIONS_BYTES_MAX,
        .idle_s = o->idle_s > 0 ? o->idle_s : SESSION_IDLE_S,
        .is_whole = true,
    };
    char text[sizeof(s->name) + SESSION_ID_LEN + MK_COOKIE_ATTRIBUTE + 128];
    ssize_t len;

    s->path_text = mk_heap_strdup(mk_str_from(o->path ? o->path : "/"));
    if (!s->path_text)
        return MK_E_NOMEM;
    s->path = mk_str_from(s->path_text);
    s->same_site = o->same_site == MK_SAME_SITE_UNSAID ? MK_SAME_SITE_LAX : o->same_site;
    s->is_secure = o->secure;
    len = write_cookie(text, sizeof(text), s, s->is_secure, "0");
    if (len < 0)
        return (int)len;
    s->store = sessions_new(&limits);
    return s->store ? 0 : MK_E_NOMEM;
}

static void drop(struct mk_sessions *s)
{
    sessions_free(s->store);
    mk_heap_free(s->path_text);
    mk_heap_free(s);
}

int mk_sessions_new(struct mk_sessions **sessions, const struct mk_sessions_options *options)
{
    struct mk_sessions_options own = {0};
    struct mk_sessions *s;
    const char *name;
    int err;

    if (!sessions)
        return MK_E_INVALID;
    if (options)
        memcpy(&own, options, options->size < sizeof(own) ? options->size : sizeof(own));
    name = own.name ? own.name : "session";
    if (name[0] == '_' && name[1] == '_')
        return MK_E_INVALID;
    if (strlen(name) > MK_SESSION_NAME_MAX || own.sessions > MK_SESSIONS_MAX)
        return MK_E_LIMIT;
    s = mk_heap_zalloc(1, sizeof(*s));
    if (!s)
        return MK_E_NOMEM;
    s->name_len = (size_t)snprintf(s->name, sizeof(s->name), "%s%s", host_prefix, name);
    err = set_up(s, &own);
    if (err == 0)
        *sessions = s;
    else
        drop(s);
    return err;
}

void mk_sessions_free(struct mk_sessions *sessions)
{
    if (sessions)
        drop(sessions);
}

size_t mk_sessions_count(struct mk_sessions *sessions)
{
    return sessions ? sessions_count(sessions->store) : 0;
}
