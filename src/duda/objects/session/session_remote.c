/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/session/session_remote.h"

#include "objects/objects.h"
#include "kit/pure/random.h"
#include "objects/session/session_scripts.h"
#include "objects/session/session_value.h"
#include "objects/session/session_values.h"
#include "package/package.h"
#include "packages/redis/redis.h"
#include "service/answer.h"
#include "service/exchange.h"

enum {
    KEY_MAX = 512,
    KIN_MAX = 16, /* identities of one session from which a value is removed */
    VALUE_WORDS = 3,
    WORDS_MAX = 6 + VALUE_WORDS * SESSION_NAMES_MAX,
    FIELDS_MAX = SESSION_NAMES_MAX + KIN_MAX, /* of a session that gets kin */
    NUMBER_TEXT = 24,
    LINK_MAX = sizeof(MK_DUDA_SESSION_KIN) + SESSION_ID_LEN, /* the name of such a field */
};

/* Of a service. A session is a hash at `prefix` and its identity, with a time to live. */
struct mk_duda_session_remote {
    redis_object_t *redis;
    redis_client_t *client;
    struct mk_duda_service *service;
    atomic_bool is_failing; /* which was logged */
    char prefix[KEY_MAX - SESSION_ID_LEN];
};

/* A value leaves all identities of a session, one after the other. */
struct removal {
    struct removal *next; /* of its view */
    struct mk_duda_session_view *view;
    unsigned n, ndone; /* identities that are known, and those of them that are done */
    struct session_id kin[KIN_MAX];
    char name[];
};

/* What one request sees of its session. */
struct mk_duda_session_view {
    struct mk_duda_session_view *next; /* of its worker */
    const struct mk_duda_session_remote *remote;
    struct mk_duda_session_views *all;
    struct mk_duda_request *rq;      /* NULL: it is over */
    struct session_id id, old, heir; /* heir: of a replaced session; "": it is none */
    struct mk_duda_session_values values;
    struct removal *removals;
    unsigned nawaited; /* answers of Redis */
    bool is_kept;      /* Redis has it under this identity */
    bool is_changed;   /* since then, or it is new */
    bool has_old;      /* to be replaced as soon as Redis has the new one */
    bool has_failed;
};

/* ---- the service ---- */

struct mk_duda_session_remote *mk_duda_session_remote_open(struct mk_duda_service *s,
                                                           const char *url)
{
    struct mk_duda_session_remote *remote = mk_duda_alloc(s, sizeof(*remote));
    const struct redis_options options = {.server = url};
    int len;

    if (!remote)
        return NULL;
    len = snprintf(remote->prefix, sizeof(remote->prefix), "duda:session:%s/%s:", s->spec.site,
                   s->spec.name);
    remote->redis = mk_duda_load_package(&s->ws, "redis");
    if (!remote->redis || len < 0 || (size_t)len >= sizeof(remote->prefix))
        return NULL;
    remote->service = s;
    remote->client = remote->redis->client(&options);
    return remote->client ? remote : NULL;
}

static const char *key_of(const struct mk_duda_session_remote *remote, char key[KEY_MAX],
                          const char *id)
{
    (void)snprintf(key, KEY_MAX, "%s%s", remote->prefix, id);
    return key;
}

/* One line when it begins to fail, and one when it works again. @return whether the answer is a success */
static bool is_good(const struct mk_duda_session_remote *remote, const struct redis_answer *answer)
{
    atomic_bool *is_failing = (atomic_bool *)(uintptr_t)&remote->is_failing;
    const bool fails = answer->result != REDIS_OK;

    if (atomic_exchange(is_failing, fails) != fails)
        mk_duda_log(remote->service, fails ? MK_LOG_ERROR : MK_LOG_INFO,
                    fails ? "sessions fail: %s" : "sessions work again", answer->text);
    return !fails;
}

static int run(struct mk_duda_session_view *view, redis_fn fn, int n, const char *const *words)
{
    const struct mk_duda_session_remote *remote = view->remote;

    if (remote->redis->run_words(remote->client, NULL, fn, view, n, words, NULL) < 0)
        return -1;
    view->nawaited++;
    return 0;
}

/* ---- views ---- */

static struct mk_duda_session_view *view_of(const struct mk_duda_session_remote *remote,
                                            struct mk_duda_request *rq)
{
    struct mk_duda_session_view *view = rq->session;

    if (view)
        return view;
    view = calloc(1, sizeof(*view));
    if (!view)
        return NULL;
    view->remote = remote;
    view->all = mk_duda_local(rq->service, rq->worker, MK_DUDA_PART_SESSION);
    view->rq = rq;
    view->next = view->all->first;
    view->all->first = view;
    rq->session = view;
    return view;
}

static void free_view(struct mk_duda_session_view *view)
{
    mk_duda_session_values_clear(&view->values);
    while (view->removals) {
        struct removal *removal = view->removals;

        view->removals = removal->next;
        free(removal);
    }
    free(view);
}

static void drop_if_over(struct mk_duda_session_view *view)
{
    struct mk_duda_session_view **at = &view->all->first;

    if (view->rq || view->nawaited > 0)
        return;
    while (*at != view)
        at = &(*at)->next;
    *at = view->next;
    free_view(view);
}

void mk_duda_session_view_leave(struct mk_duda_session_view *view)
{
    view->rq->session = NULL;
    view->rq = NULL;
    drop_if_over(view);
}

void mk_duda_session_views_end(struct mk_duda_session_views *views)
{
    struct mk_duda_session_view *view;

    while ((view = views->first)) {
        views->first = view->next;
        if (view->rq)
            view->rq->session = NULL;
        free_view(view);
    }
}

static struct mk_duda_session_value **value_of(struct mk_duda_session_view *view, const char *name,
                                               int64_t now)
{
    return mk_duda_session_values_find(&view->values, name, now);
}

/* ---- fetching ---- */

static bool is_text(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_STRING && strlen(reply->str) == (size_t)reply->len;
}

/* A field of a session in Redis. */
struct field {
    const char *name, *text;
    int64_t expires;
};

/* Names and fields in turn. @return false: there are no more. A field that is none of ours, or has expired, has no text. */
static bool next_field(const redisReply *reply, size_t *at, int64_t now, struct field *field)
{
    const redisReply *name, *value;

    if (reply->type != REDIS_REPLY_ARRAY || *at + 1 >= reply->elements)
        return false;
    name = reply->element[*at];
    value = reply->element[*at + 1];
    *at += 2;
    *field = (struct field){.name = name->str};
    if (is_text(name) && is_text(value))
        field->text = mk_duda_session_value_read(value->str, (size_t)value->len, &field->expires);
    if (field->expires && field->expires <= now)
        field->text = NULL;
    return true;
}

static bool is_identity(const char *text)
{
    return strlen(text) == SESSION_ID_LEN;
}

static bool is_link(const char *name)
{
    return strcmp(name, MK_DUDA_SESSION_HEIR) == 0 || strcmp(name, MK_DUDA_SESSION_BEFORE) == 0 ||
           strncmp(name, MK_DUDA_SESSION_KIN, sizeof(MK_DUDA_SESSION_KIN) - 1) == 0;
}

static void take_values(struct mk_duda_session_view *view, const redisReply *reply, int64_t now)
{
    struct field field;

    for (size_t at = 0; next_field(reply, &at, now, &field);) {
        if (field.text && !is_link(field.name))
            (void)mk_duda_session_values_add(&view->values, field.name, field.text, field.expires,
                                             now);
        else if (field.text && strcmp(field.name, MK_DUDA_SESSION_HEIR) == 0 &&
                 is_identity(field.text))
            memcpy(view->heir.text, field.text, SESSION_ID_LEN);
    }
    for (struct mk_duda_session_value *value = view->values.first; value; value = value->next) {
        value->state = MK_DUDA_SESSION_VALUE_KNOWN;
        value->origin = MK_DUDA_SESSION_ORIGIN_FETCHED;
    }
    view->is_kept = view->values.first != NULL;
}

/* Values without a time of their own expire after their last use, which is now. */
static void keep_alive(struct mk_duda_session_view *view, int64_t now)
{
    const struct mk_duda_session_remote *remote = view->remote;
    char key[KEY_MAX], ttl[NUMBER_TEXT];
    const char *words[] = {"EVAL", mk_duda_session_script_keep, "1",
                           key_of(remote, key, view->id.text), ttl};
    bool is_idle;

    (void)snprintf(ttl, sizeof(ttl), "%lld",
                   (long long)mk_duda_session_values_ttl(&view->values, now, &is_idle));
    if (is_idle)
        (void)remote->redis->run_words(remote->client, NULL, NULL, NULL, 5, words, NULL);
}

static void on_fetched(duda_request_t *dr, const struct redis_answer *answer, void *arg)
{
    struct mk_duda_session_view *view = arg;
    const int64_t now = mk_duda_xtime.now();
    const bool is_there = is_good(view->remote, answer);

    (void)dr;
    view->nawaited--;
    if (is_there && view->rq) {
        take_values(view, answer->reply, now);
        keep_alive(view, now);
    }
    if (view->rq)
        mk_duda_fetched(view->rq, is_there);
    else
        drop_if_over(view);
}

enum mk_duda_session_step mk_duda_session_view_fetch(const struct mk_duda_session_remote *remote,
                                                     struct mk_duda_request *rq, const char *id)
{
    struct mk_duda_session_view *view = view_of(remote, rq);
    char key[KEY_MAX];
    const char *words[] = {"HGETALL", key_of(remote, key, id)};

    if (!view)
        return MK_DUDA_SESSION_FAILED;
    memcpy(view->id.text, id, sizeof(view->id.text));
    return run(view, on_fetched, 2, words) < 0 ? MK_DUDA_SESSION_FAILED : MK_DUDA_SESSION_LATER;
}

/* ---- changes ---- */

static void settle(struct mk_duda_session_view *view)
{
    if (view->nawaited > 0)
        return;
    if (view->rq && view->rq->state == MK_DUDA_REQUEST_HELD)
        mk_duda_answer_release(view->rq, !view->has_failed);
    else
        drop_if_over(view);
}

static void on_written(duda_request_t *dr, const struct redis_answer *answer, void *arg)
{
    struct mk_duda_session_view *view = arg;

    (void)dr;
    view->nawaited--;
    if (!is_good(view->remote, answer))
        view->has_failed = true;
    settle(view);
}

static int store(struct mk_duda_session_view *view, bool is_begun);

static bool is_removed(const struct mk_duda_session_view *view, const char *name)
{
    const struct removal *removal = view->removals;

    while (removal && strcmp(removal->name, name) != 0)
        removal = removal->next;
    return removal != NULL;
}

/* @return the text that Redis has of a value; NULL: none */
static const char *text_in(const redisReply *reply, const char *name, int64_t now)
{
    struct field field;

    for (size_t at = 0; next_field(reply, &at, now, &field);) {
        if (field.text && strcmp(field.name, name) == 0)
            return field.text;
    }
    return NULL;
}

/* Values that have left the old identity since they were fetched leave the new one. */
static void drop_what_has_gone(struct mk_duda_session_view *view, const redisReply *reply,
                               int64_t now)
{
    char key[KEY_MAX];
    const char *words[] = {"HDEL", key_of(view->remote, key, view->id.text), NULL};

    for (struct mk_duda_session_value **at = &view->values.first; *at;) {
        if ((*at)->origin == MK_DUDA_SESSION_ORIGIN_OWN || text_in(reply, (*at)->name, now)) {
            at = &(*at)->next;
            continue;
        }
        words[2] = (*at)->name;
        if (run(view, on_written, 3, words) < 0)
            view->has_failed = true;
        mk_duda_session_values_remove(&view->values, at);
    }
}

/* Values that another request has set since then come along, unless this one has set them itself. */
static void take_what_has_come(struct mk_duda_session_view *view, const redisReply *reply,
                               int64_t now)
{
    struct field field;

    for (size_t at = 0; next_field(reply, &at, now, &field);) {
        const struct mk_duda_session_value *has =
            field.text ? *value_of(view, field.name, now) : NULL;

        if (!field.text || is_link(field.name) || is_removed(view, field.name))
            continue;
        if (!has || (has->origin == MK_DUDA_SESSION_ORIGIN_FETCHED &&
                     (has->expires != field.expires || strcmp(has->text, field.text) != 0)))
            (void)mk_duda_session_values_add(&view->values, field.name, field.text, field.expires,
                                             now);
    }
}

/* @param id  whose kin the other one is. A session that has ended meanwhile, or has too many, gets none. */
static void link_kin(struct mk_duda_session_view *view, const char *id, const char *other)
{
    char key[KEY_MAX], name[LINK_MAX], max[NUMBER_TEXT];
    char value[MK_DUDA_SESSION_PREFIX_MAX + SESSION_ID_LEN + 1];
    const char *words[] = {
        "EVAL", mk_duda_session_script_kin, "1", key_of(view->remote, key, id), name, value, max};

    (void)snprintf(name, sizeof(name), MK_DUDA_SESSION_KIN "%s", other);
    (void)snprintf(value, sizeof(value), "0 %s", other);
    (void)snprintf(max, sizeof(max), "%d", FIELDS_MAX);
    if (run(view, on_written, 7, words) < 0)
        view->has_failed = true;
}

/* Another request has replaced the old identity already: each of the two must learn of a log-out under the other. */
static void know_heir(struct mk_duda_session_view *view, const redisReply *reply, int64_t now)
{
    const char *heir = text_in(reply, MK_DUDA_SESSION_HEIR, now);

    if (!heir || !is_identity(heir) || strcmp(heir, view->id.text) == 0)
        return;
    link_kin(view, view->id.text, heir);
    link_kin(view, heir, view->id.text);
}

/* The new identity has what the request had fetched, so it gets what has happened to the old one meanwhile. */
static void on_replaced(duda_request_t *dr, const struct redis_answer *answer, void *arg)
{
    struct mk_duda_session_view *view = arg;
    const int64_t now = mk_duda_xtime.now();

    (void)dr;
    view->nawaited--;
    if (!is_good(view->remote, answer)) {
        view->has_failed = true;
    } else if (view->values.first) {
        drop_what_has_gone(view, answer->reply, now);
        take_what_has_come(view, answer->reply, now);
        know_heir(view, answer->reply, now);
        if (store(view, false) < 0)
            view->has_failed = true;
    }
    settle(view);
}

/* Requests on their way have the old identity. */
static void replace_old(struct mk_duda_session_view *view)
{
    char key[KEY_MAX], heir[MK_DUDA_SESSION_PREFIX_MAX + SESSION_ID_LEN + 1], ttl[NUMBER_TEXT],
        name[LINK_MAX], max[NUMBER_TEXT];
    const char *words[] = {"EVAL", mk_duda_session_script_replace,
                           "1",    key_of(view->remote, key, view->old.text),
                           heir,   ttl,
                           name,   max};

    view->has_old = false;
    (void)snprintf(heir, sizeof(heir), "0 %s", view->id.text);
    (void)snprintf(ttl, sizeof(ttl), "%d", SESSION_REPLACED_S);
    (void)snprintf(name, sizeof(name), MK_DUDA_SESSION_KIN "%s", view->id.text);
    (void)snprintf(max, sizeof(max), "%d", FIELDS_MAX);
    if (run(view, on_replaced, 8, words) < 0)
        view->has_failed = true;
}

static void on_stored(duda_request_t *dr, const struct redis_answer *answer, void *arg)
{
    struct mk_duda_session_view *view = arg;

    (void)dr;
    view->nawaited--;
    if (!is_good(view->remote, answer))
        view->has_failed = true;
    else if (view->has_old)
        replace_old(view);
    settle(view);
}

/* @return how many of the words of a script they are */
static int add_value(const char **words, bool is_to_be_there, const char *name, const char *field)
{
    words[0] = is_to_be_there ? "1" : "0";
    words[1] = name;
    words[2] = field;
    return VALUE_WORDS;
}

/* Of an identity that begins, all; else what was changed. @return 0; -1: Redis cannot be asked */
static int store(struct mk_duda_session_view *view, bool is_begun)
{
    char key[KEY_MAX], now[NUMBER_TEXT];
    char before[MK_DUDA_SESSION_PREFIX_MAX + SESSION_ID_LEN + 1];
    const char *words[WORDS_MAX + VALUE_WORDS] = {"EVAL", mk_duda_session_script_store,
                                                  "1",    key_of(view->remote, key, view->id.text),
                                                  now,    is_begun ? "0" : "1"};
    const int first = 6;
    int n = first;

    (void)snprintf(now, sizeof(now), "%lld", (long long)mk_duda_xtime.now());
    (void)snprintf(before, sizeof(before), "0 %s", view->old.text);
    for (struct mk_duda_session_value *value = view->values.first; value; value = value->next) {
        if (is_begun || value->state != MK_DUDA_SESSION_VALUE_KNOWN)
            n += add_value(words + n, !is_begun && value->state == MK_DUDA_SESSION_VALUE_CHANGED,
                           value->name, value->field);
        value->state = MK_DUDA_SESSION_VALUE_KNOWN; /* what ends there from now on has ended */
    }
    if (is_begun && view->has_old)
        n += add_value(words + n, false, MK_DUDA_SESSION_BEFORE, before);
    return n == first ? 0 : run(view, on_stored, n, words);
}

static int send_changes(struct mk_duda_session_view *view)
{
    const bool is_begun = !view->is_kept;

    view->is_changed = false;
    view->is_kept = true;
    if (view->values.first)
        return store(view, is_begun);
    if (view->has_old)
        replace_old(view);
    return 0;
}

enum mk_duda_session_step mk_duda_session_view_commit(struct mk_duda_session_view *view)
{
    if (view->is_changed && send_changes(view) < 0)
        view->has_failed = true;
    if (view->nawaited > 0)
        return MK_DUDA_SESSION_LATER;
    return view->has_failed ? MK_DUDA_SESSION_FAILED : MK_DUDA_SESSION_DONE;
}

/* ---- calls ---- */

int mk_duda_session_view_begin(const struct mk_duda_session_remote *remote,
                               struct mk_duda_request *rq, struct session_id *id)
{
    struct mk_duda_session_view *view = view_of(remote, rq);
    struct session_id fresh;

    if (!view || !random_text(fresh.text))
        return -1;
    /* Also of an identity that was replaced: it tells of a log-out meanwhile. */
    view->has_old = view->is_kept;
    view->heir.text[0] = '\0';
    view->old = view->id;
    *id = view->id = fresh;
    view->is_kept = false;
    view->is_changed = true;
    return 0;
}

enum session_fit mk_duda_session_view_fit(struct mk_duda_session_view *view, const char *name,
                                          const char *value, int64_t now, bool *is_replaced)
{
    const struct mk_duda_session_value *has = view ? *value_of(view, name, now) : NULL;

    *is_replaced = view && view->heir.text[0];
    if (!view || (!view->values.first && !view->is_kept))
        return SESSION_NONE;
    if (!has)
        return SESSION_NEW_NAME;
    return strcmp(has->text, value) == 0 ? SESSION_SAME : SESSION_CHANGED;
}

/* What a late request sets of what both have changes in both, if the heir has what this identity had. */
static void put_in_heir(struct mk_duda_session_view *view,
                        const struct mk_duda_session_value *value, const char *had)
{
    char key[KEY_MAX];
    const char *words[] = {"EVAL",      mk_duda_session_script_heir,
                           "1",         key_of(view->remote, key, view->heir.text),
                           value->name, value->field,
                           had};

    if (run(view, on_written, 7, words) < 0)
        view->has_failed = true;
}

/* After the head there is no later moment to send it. */
int mk_duda_session_view_put(struct mk_duda_session_view *view, const char *name, const char *value,
                             int64_t expires, int64_t now)
{
    const struct mk_duda_session_value *before =
        view && view->heir.text[0] ? *value_of(view, name, now) : NULL;
    char *had = before ? strdup(before->field) : NULL;

    if (!view || (before && !had) ||
        mk_duda_session_values_add(&view->values, name, value, expires, now) < 0) {
        free(had);
        return -1;
    }
    view->is_changed = true;
    if (had)
        put_in_heir(view, *value_of(view, name, now), had);
    free(had);
    if (view->rq->state == MK_DUDA_REQUEST_OPEN)
        return mk_duda_session_view_commit(view) == MK_DUDA_SESSION_FAILED ? -1 : 0;
    return 0;
}

char *mk_duda_session_view_get(struct mk_duda_session_view *view, const char *name, int64_t now)
{
    const struct mk_duda_session_value *value = view ? *value_of(view, name, now) : NULL;

    return value ? strdup(value->text) : NULL;
}

bool mk_duda_session_view_has(struct mk_duda_session_view *view, const char *name, int64_t now)
{
    return view && *value_of(view, name, now);
}

/* ---- removing ---- */

static void know(struct removal *removal, const char *id)
{
    for (unsigned i = 0; i < removal->n; i++) {
        if (strcmp(removal->kin[i].text, id) == 0)
            return;
    }
    if (removal->n < KIN_MAX)
        memcpy(removal->kin[removal->n++].text, id, SESSION_ID_LEN);
}

static void on_removed(duda_request_t *dr, const struct redis_answer *answer, void *arg);

static int remove_next(struct removal *removal)
{
    struct mk_duda_session_view *view = removal->view;
    char key[KEY_MAX];
    const char *words[] = {"EVAL", mk_duda_session_script_remove, "1",
                           key_of(view->remote, key, removal->kin[removal->ndone++].text),
                           removal->name};

    if (view->remote->redis->run_words(view->remote->client, NULL, on_removed, removal, 5, words,
                                       NULL) < 0)
        return -1;
    view->nawaited++;
    return 0;
}

static void know_kin(struct removal *removal, const redisReply *reply)
{
    for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++) {
        const redisReply *field = reply->element[i];
        const char *id = NULL;
        int64_t expires;

        if (is_text(field))
            id = mk_duda_session_value_read(field->str, (size_t)field->len, &expires);
        if (id && is_identity(id))
            know(removal, id);
    }
}

/* Who logs out has done so under the identities that were replaced a moment ago, and those that have their place. */
static void on_removed(duda_request_t *dr, const struct redis_answer *answer, void *arg)
{
    struct removal *removal = arg;
    struct mk_duda_session_view *view = removal->view;

    (void)dr;
    view->nawaited--;
    if (is_good(view->remote, answer))
        know_kin(removal, answer->reply);
    else
        view->has_failed = true;
    if (removal->ndone < removal->n && remove_next(removal) < 0)
        view->has_failed = true;
    settle(view);
}

/* @return 0; -1: no memory, or Redis cannot be asked */
static int remove_from(struct mk_duda_session_view *view, const char *id, const char *name)
{
    const size_t size = strlen(name) + 1;
    struct removal *removal = calloc(1, sizeof(*removal) + size);

    if (!removal)
        return -1;
    memcpy(removal->name, name, size);
    removal->view = view;
    removal->next = view->removals;
    view->removals = removal;
    know(removal, id);
    return remove_next(removal);
}

int mk_duda_session_view_remove(struct mk_duda_session_view *view, const char *name, int64_t now)
{
    struct mk_duda_session_value **at = view ? value_of(view, name, now) : NULL;
    const bool is_replaced = view && view->heir.text[0];
    const char *id = !view           ? NULL
                     : view->is_kept ? view->id.text
                     : view->has_old ? view->old.text
                                     : NULL;

    if (!at || !*at)
        return -1;
    if (id && remove_from(view, id, name) < 0) {
        view->has_failed = true;
        return -1;
    }
    mk_duda_session_values_remove(&view->values, at);
    if (!view->values.first && !view->has_old)
        view->is_kept = false;
    return is_replaced ? 1 : (int)view->values.n; /* the other one may have more */
}
