/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/session/session.h"

#include "objects/objects.h"
#include "objects/session/session_file.h"
#include "objects/session/session_remote.h"
#include "kit/sessions/sessions.h"
#include "service/answer.h"
#include "service/session_steps.h"

/* A value that says who has logged in. */
struct log_in {
    const struct log_in *next;
    const char *name;
};

/* Of a service; store or remote is there after session->init(). */
struct service_sessions {
    struct sessions *store;
    struct mk_duda_session_remote *remote;
    const char *key; /* of the cookie: "__Host-" and its name over plain connections */
    const struct log_in *log_ins;
    void (*on_first)(
        struct mk_duda_request *rq); /* a client gets its first session; NULL: nothing to do */
};

/* The cookie that create() has put into the answer of a request, so that a second one belongs to the same session. */
struct begun {
    struct session_id id;
    int expires; /* of the cookie */
    bool is_new; /* the identity is */
};

enum { LEVEL_OF_ROUTER = 2 };

static const char host_prefix[] = "__Host-";

static struct service_sessions *sessions_of(const struct mk_duda_service *s)
{
    return mk_duda_state(s, MK_DUDA_PART_SESSION);
}

bool mk_duda_has_sessions(const struct mk_duda_service *s)
{
    return sessions_of(s)->store || sessions_of(s)->remote;
}

static struct sessions *store_of(const struct mk_duda_request *rq)
{
    return rq && rq->r ? sessions_of(rq->service)->store : NULL;
}

static struct mk_duda_session_remote *remote_of(const struct mk_duda_request *rq)
{
    return rq && rq->r ? sessions_of(rq->service)->remote : NULL;
}

static struct begun *begun_of(const struct mk_duda_request *rq)
{
    return mk_request_kept(rq->r, &mk_duda_session);
}

static bool is_encrypted(const struct mk_duda_request *rq)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_conn_facts conn = {.size = sizeof(conn)};

    mk_request_facts(rq->r, &facts);
    mk_conn_facts(facts.conn, &conn);
    return conn.tls_version != NULL;
}

/* May it stand in the name of a cookie? RFC 9110 section 5.6.2, without the sign of escapes */
static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c != '\0' && strchr("-._", c));
}

/* Has the service a path of its own? Else its cookie is for all of the site. */
static bool has_path(const struct mk_duda_service *s)
{
    return s->level < LEVEL_OF_ROUTER && !s->ws.is_root;
}

bool mk_duda_session_is_for_host(const struct mk_duda_request *rq)
{
    return is_encrypted(rq) && !has_path(rq->service);
}

char *mk_duda_session_cookie_key(struct mk_duda_service *s, const char *key)
{
    const char *name = has_path(s) ? "" : s->spec.name;
    const size_t size = sizeof(host_prefix) + strlen(key) + 1 + 3 * strlen(name);
    char *text = mk_duda_alloc(s, size);
    int len = text ? snprintf(text, size, "%s%s%s", host_prefix, key, name[0] ? "_" : "") : 0;

    for (; text && *name; name++)
        len += snprintf(text + len, size - (size_t)len, is_plain(*name) ? "%c" : "%%%02X",
                        (unsigned char)*name);
    return text;
}

/*
 * Browsers take a cookie whose name begins with __Host- over TLS and with the path / alone, so that no plain connection and
 * no other host of the domain can set it: RFC 6265bis section 4.1.3.2.
 */
const char *mk_duda_session_key_for(const struct mk_duda_request *rq, const char *key)
{
    return mk_duda_session_is_for_host(rq) ? key : key + sizeof(host_prefix) - 1;
}

static const char *key_of(const struct mk_duda_request *rq)
{
    return mk_duda_session_key_for(rq, sessions_of(rq->service)->key);
}

/* The identity that the request has: of its cookie, or begun in its answer. @return false: none */
static bool read_id(struct mk_duda_request *rq, struct session_id *id)
{
    const struct begun *begun = begun_of(rq);
    char *value;
    int len;

    if (begun) {
        *id = begun->id;
        return true;
    }
    if (mk_duda_cookie.get(&rq->dr, (char *)(uintptr_t)key_of(rq), &value, &len) < 0 ||
        len != SESSION_ID_LEN)
        return false;
    memcpy(id->text, value, SESSION_ID_LEN);
    id->text[SESSION_ID_LEN] = 0;
    return true;
}

/* ---- the cookie ---- */

/* It is not for scripts, not for requests that other sites provoke, and over TLS never for plain connections. */
int mk_duda_session_send_cookie(struct mk_duda_request *rq, const char *key, const char *value,
                                int expires)
{
    const struct mk_duda_service *s = rq->service;
    char date[64] = "";
    const char *text;
    time_t at = expires;
    struct tm tm;

    if (expires > 0 && gmtime_r(&at, &tm))
        (void)strftime(date, sizeof(date), "; expires=%a, %d %b %Y %H:%M:%S GMT", &tm);
    text = mk_request_printf(rq->r, "%s=%s; path=/%s%s; HttpOnly; SameSite=Lax%s", key, value,
                             has_path(s) ? s->ws.name.data : "", date,
                             is_encrypted(rq) ? "; Secure" : "");
    return text ? mk_duda_answer_field(rq, MK_STR("Set-Cookie"), mk_str_from(text)) : -1;
}

static int set_cookie(struct mk_duda_request *rq, const char *value, int expires)
{
    return mk_duda_session_send_cookie(rq, key_of(rq), value, expires);
}

/* ---- sessions on another machine ---- */

static enum mk_duda_session_step fetch(struct mk_duda_request *rq)
{
    const struct mk_duda_session_remote *remote = remote_of(rq);
    struct session_id id;

    if (!remote || rq->session || !read_id(rq, &id) ||
        strspn(id.text, "0123456789abcdef") != SESSION_ID_LEN)
        return MK_DUDA_SESSION_DONE;
    return mk_duda_session_view_fetch(remote, rq, id.text);
}

static enum mk_duda_session_step commit(struct mk_duda_request *rq)
{
    return mk_duda_session_view_commit(rq->session);
}

static void leave(struct mk_duda_request *rq)
{
    mk_duda_session_view_leave(rq->session);
}

static const struct mk_duda_session_steps steps = {fetch, commit, leave};

/* ---- the store ---- */

/* @return false: the file of [DUDA] SessionStore cannot be had, which is logged */
static bool open_file(struct mk_duda_service *s, struct sessions *store)
{
    char scope[512], why[256];
    struct mk_duda_session_file *file;

    if (!s->session_file)
        return true;
    (void)snprintf(scope, sizeof(scope), "%s/%s", s->spec.site, s->spec.name);
    file = mk_duda_session_file_open(s->session_file, scope, why, sizeof(why));
    if (file)
        sessions_keep(store, &mk_duda_session_file, file, mk_duda_xtime.now());
    else
        mk_duda_log(s, MK_LOG_ERROR, "SessionStore sqlite:%s: %s", s->session_file, why);
    return file != NULL;
}

static struct sessions *open_store(struct mk_duda_service *s)
{
    static const struct sessions_limits limits = {SESSIONS_MAX, SESSIONS_BYTES_MAX, SESSION_IDLE_S,
                                                  false};
    struct sessions *store = sessions_new(&limits);

    if (!store || open_file(s, store))
        return store;
    sessions_free(store);
    return NULL;
}

static int init(char *store_name)
{
    struct mk_duda_service *s = mk_duda_here()->service;

    if (!s || !store_name || !mk_duda_is_set_up(s, "session->init"))
        return -1;
    if (mk_duda_has_sessions(s))
        return 0;
    sessions_of(s)->key = mk_duda_session_cookie_key(s, SESSION_KEY);
    if (!sessions_of(s)->key)
        return -1;
    if (s->session_url)
        sessions_of(s)->remote = mk_duda_session_remote_open(s, s->session_url);
    else
        sessions_of(s)->store = open_store(s);
    s->sessions = sessions_of(s)->remote ? &steps : NULL;
    return mk_duda_has_sessions(s) ? 0 : -1;
}

/* ---- who has logged in ---- */

static bool is_log_in_name(const struct mk_duda_service *s, const char *name)
{
    for (const struct log_in *l = sessions_of(s)->log_ins; l; l = l->next) {
        if (strcmp(l->name, name) == 0)
            return true;
    }
    return false;
}

int mk_duda_session_add_log_in(struct mk_duda_service *s, const char *name)
{
    struct log_in *added;

    if (is_log_in_name(s, name))
        return 0;
    added = mk_duda_alloc(s, sizeof(*added));
    if (!added)
        return -1;
    *added = (struct log_in){sessions_of(s)->log_ins, name};
    sessions_of(s)->log_ins = added;
    return 0;
}

void mk_duda_session_on_first(struct mk_duda_service *s, void (*moved)(struct mk_duda_request *rq))
{
    sessions_of(s)->on_first = moved;
}

/* ---- calls ---- */

/* @return 0: there is a new identity, with the values of the old one */
static int begin_id(struct mk_duda_request *rq, struct session_id *id)
{
    struct session_id old;

    if (remote_of(rq))
        return mk_duda_session_view_begin(remote_of(rq), rq, id);
    return sessions_begin(store_of(rq), read_id(rq, &old) ? old.text : NULL, mk_duda_xtime.now(),
                          id);
}

static int send_begun(struct mk_duda_request *rq, const struct begun *said)
{
    struct begun *begun = begun_of(rq);

    if (set_cookie(rq, said->id.text, said->expires) < 0)
        return -1;
    if (!begun) {
        begun = mk_request_alloc(rq->r, sizeof(*begun));
        if (!begun || mk_request_keep(rq->r, &mk_duda_session, begun) < 0)
            return -1;
    }
    *begun = *said;
    return 0;
}

static enum session_fit fit_of(struct mk_duda_request *rq, const char *name, const char *value,
                               bool *is_replaced)
{
    const int64_t now = mk_duda_xtime.now();
    struct session_id id;

    *is_replaced = false;
    if (remote_of(rq))
        return mk_duda_session_view_fit(rq->session, name, value, now, is_replaced);
    return read_id(rq, &id) ? sessions_fit(store_of(rq), id.text, name, value, now, is_replaced)
                            : SESSION_NONE;
}

/*
 * A log-in must change the identity, or whoever has planted it is logged in as well. It is a value of a new name, or a new
 * value of a name that guards know; where no guard knows a name, any may say who has logged in. Anything else must not:
 * requests on their way have the old identity.
 */
static bool is_log_in(const struct mk_duda_request *rq, const char *name, enum session_fit fit)
{
    if (fit == SESSION_NONE || fit == SESSION_SAME)
        return fit == SESSION_NONE;
    if (is_log_in_name(rq->service, name))
        return true;
    return name[0] != '_' && (fit == SESSION_NEW_NAME || !sessions_of(rq->service)->log_ins);
}

/* The cookie must last as long as the last value. */
static bool lasts_longer(const struct begun *begun, int expires)
{
    if (begun && begun->is_new)
        return begun->expires && (expires == 0 || expires > begun->expires);
    return expires > (begun ? begun->expires : 0);
}

/* @return 0: the request has a session, and the answer its cookie where the browser needs it */
static int have_session(struct mk_duda_request *rq, const char *name, const char *value,
                        int expires)
{
    const struct begun *begun = begun_of(rq);
    struct begun next = {.expires = expires};
    bool is_replaced;
    const enum session_fit fit = fit_of(rq, name, value, &is_replaced);

    if (!(begun && begun->is_new) && is_log_in(rq, name, fit)) {
        next.is_new = true;
        if (begin_id(rq, &next.id) < 0 || send_begun(rq, &next) < 0)
            return -1;
        if (fit == SESSION_NONE && sessions_of(rq->service)->on_first)
            sessions_of(rq->service)->on_first(rq);
        return 0;
    }
    if (is_replaced || name[0] == '_' || !lasts_longer(begun, expires) || !read_id(rq, &next.id))
        return 0;
    next.is_new = begun && begun->is_new;
    return send_begun(rq, &next);
}

static int create(duda_request_t *dr, char *name, char *value, int expires)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "session->create");
    struct session_id id;

    if ((!store_of(rq) && !remote_of(rq)) || !name || !value || expires < 0 ||
        have_session(rq, name, value, expires) < 0)
        return -1;
    if (remote_of(rq))
        return mk_duda_session_view_put(rq->session, name, value, expires, mk_duda_xtime.now());
    if (!read_id(rq, &id) ||
        sessions_put(store_of(rq), id.text, name, value, expires, mk_duda_xtime.now()) < 0)
        return -1;
    return 0;
}

bool mk_duda_session_is_there(struct mk_duda_request *rq)
{
    bool is_replaced;

    return (store_of(rq) || remote_of(rq)) && fit_of(rq, "_", "", &is_replaced) != SESSION_NONE;
}

bool mk_duda_session_identity(struct mk_duda_request *rq, struct session_id *id)
{
    return mk_duda_session_is_there(rq) && read_id(rq, id);
}

const char *mk_duda_session_secret(const struct mk_duda_request *rq)
{
    return store_of(rq) ? sessions_key(store_of(rq)) : NULL;
}

static int destroy(duda_request_t *dr, char *name)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "session->destroy");
    struct session_id id;
    int left = -1;

    if (remote_of(rq) && name)
        left = mk_duda_session_view_remove(rq->session, name, mk_duda_xtime.now());
    else if (store_of(rq) && name && read_id(rq, &id))
        left = sessions_remove(store_of(rq), id.text, name, mk_duda_xtime.now());
    if (left == 0)
        (void)set_cookie(rq, "deleted", COOKIE_EXPIRE_TIME);
    return left < 0 ? -1 : 0;
}

static void *get(duda_request_t *dr, char *name)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "session->get");
    struct session_id id;

    if (remote_of(rq) && name)
        return mk_duda_session_view_get(rq->session, name, mk_duda_xtime.now());
    if (!store_of(rq) || !name || !read_id(rq, &id))
        return NULL;
    return sessions_get(store_of(rq), id.text, name, mk_duda_xtime.now());
}

static int isset(duda_request_t *dr, char *name)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "session->isset");
    struct session_id id;

    if (remote_of(rq) && name)
        return mk_duda_session_view_has(rq->session, name, mk_duda_xtime.now()) ? 0 : -1;
    if (!store_of(rq) || !name || !read_id(rq, &id))
        return -1;
    return sessions_has(store_of(rq), id.text, name, mk_duda_xtime.now()) ? 0 : -1;
}

const struct duda_api_session mk_duda_session = {
    .init = init,
    .create = create,
    .destroy = destroy,
    .get = get,
    .isset = isset,
};

static void stop_on_worker(struct mk_duda_service *s, struct mk_duda_worker *w)
{
    mk_duda_session_views_end(mk_duda_local(s, w, MK_DUDA_PART_SESSION));
}

static void exit_of(struct mk_duda_service *s)
{
    sessions_free(sessions_of(s)->store);
    sessions_of(s)->store = NULL;
}

const struct mk_duda_part mk_duda_session_part = {
    .service_size = sizeof(struct service_sessions),
    .local_size = sizeof(struct mk_duda_session_views),
    .worker_stop = stop_on_worker,
    .exit = exit_of,
};
