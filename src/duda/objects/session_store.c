/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/session_store.h"

#include "objects/objects.h"
#include "objects/random.h"
#include "objects/session_file.h"

struct value {
    struct value *next;
    int64_t expires;       /* of its own; 0: by its last use */
    int64_t used, written; /* written: the last use that the file has */
    size_t bytes;
    char *text; /* behind the name */
    char name[];
};

struct session {
    struct session *next;  /* of its chain */
    struct mk_list by_use; /* of the store, unused longest first */
    struct value *values;
    int nvalues;
    struct mk_duda_session_id id;
};

_Static_assert((int)MK_DUDA_SESSION_ID_LEN == (int)MK_DUDA_RANDOM_LEN, "an identity is random");

enum {
    CHAINS = 4096,
    USE_STEP_S = 3600, /* the file learns of uses of a value so often */
};

struct mk_duda_sessions {
    pthread_mutex_t lock;
    size_t n, max, bytes;
    struct mk_list by_use;
    struct mk_duda_session_file *file; /* NULL: memory alone */
    struct session *chains[CHAINS];
};

struct mk_duda_sessions *mk_duda_sessions_new(size_t max)
{
    struct mk_duda_sessions *store = calloc(1, sizeof(*store));

    if (!store)
        return NULL;
    (void)pthread_mutex_init(&store->lock, NULL);
    mk_list_init(&store->by_use);
    store->max = max < MK_DUDA_SESSIONS_MAX ? max : MK_DUDA_SESSIONS_MAX;
    return store;
}

/* Identities are random, so any of their digits choose a chain. */
static struct session **place_of(struct mk_duda_sessions *store, const char *id)
{
    char digits[4] = {id[0], id[1], id[2], 0};
    struct session **at = &store->chains[strtoul(digits, NULL, 16) % CHAINS];

    while (*at && memcmp((*at)->id.text, id, MK_DUDA_SESSION_ID_LEN) != 0)
        at = &(*at)->next;
    return at;
}

static bool is_id(const char *id)
{
    return id && strnlen(id, MK_DUDA_SESSION_ID_LEN + 1) == MK_DUDA_SESSION_ID_LEN &&
           strspn(id, "0123456789abcdef") == MK_DUDA_SESSION_ID_LEN;
}

static struct session *find(struct mk_duda_sessions *store, const char *id)
{
    return is_id(id) ? *place_of(store, id) : NULL;
}

static void unlink_value(struct mk_duda_sessions *store, struct session *s, struct value **at)
{
    struct value *value = *at;

    *at = value->next;
    s->nvalues--;
    store->bytes -= value->bytes;
    explicit_bzero(value->name, value->bytes);
    free(value);
}

static void drop_value(struct mk_duda_sessions *store, struct session *s, struct value **at)
{
    if (!*at)
        return;
    if (store->file)
        mk_duda_session_file_remove(store->file, s->id.text, (*at)->name);
    unlink_value(store, s, at);
}

static void drop(struct mk_duda_sessions *store, struct session *s)
{
    while (s->values)
        drop_value(store, s, &s->values);
    *place_of(store, s->id.text) = s->next;
    mk_list_del(&s->by_use);
    store->n--;
    free(s);
}

static struct session *unused_longest(struct mk_duda_sessions *store)
{
    return mk_list_entry_first(&store->by_use, struct session, by_use);
}

void mk_duda_sessions_free(struct mk_duda_sessions *store)
{
    if (!store)
        return;
    mk_duda_session_file_close(store->file);
    store->file = NULL;
    while (store->n)
        drop(store, unused_longest(store));
    (void)pthread_mutex_destroy(&store->lock);
    free(store);
}

static void touch(struct mk_duda_sessions *store, struct session *s)
{
    mk_list_del(&s->by_use);
    mk_list_add(&s->by_use, &store->by_use);
}

static bool has_expired(const struct value *value, int64_t now)
{
    return value->expires ? value->expires <= now : value->used + MK_DUDA_SESSION_IDLE_S <= now;
}

/* @return where the value of that name is, without those that have expired; *at is NULL: there is none */
static struct value **value_of(struct mk_duda_sessions *store, struct session *s, const char *name,
                               int64_t now)
{
    struct value **at = &s->values;

    while (*at) {
        if (has_expired(*at, now))
            drop_value(store, s, at);
        else if (strcmp((*at)->name, name) == 0)
            break;
        else
            at = &(*at)->next;
    }
    return at;
}

/* ---- beginning ---- */

static void inherit(struct mk_duda_sessions *store, struct session *s, const char *old)
{
    struct session *from = find(store, old);

    if (!from)
        return;
    if (store->file)
        mk_duda_session_file_rename(store->file, old, s->id.text);
    s->values = from->values;
    s->nvalues = from->nvalues;
    from->values = NULL;
    drop(store, from);
}

static void add(struct mk_duda_sessions *store, struct session *s, const char *old)
{
    struct session **place = place_of(store, s->id.text);

    *place = s;
    mk_list_add(&s->by_use, &store->by_use);
    store->n++;
    inherit(store, s, old);
    while (store->n > store->max)
        drop(store, unused_longest(store));
}

int mk_duda_session_begin(struct mk_duda_sessions *store, const char *old,
                          struct mk_duda_session_id *id)
{
    struct session *s = calloc(1, sizeof(*s));

    if (!s || !mk_duda_random_text(s->id.text)) {
        free(s);
        return -1;
    }
    *id = s->id;
    (void)pthread_mutex_lock(&store->lock);
    add(store, s, old);
    (void)pthread_mutex_unlock(&store->lock);
    return 0;
}

/* ---- values ---- */

static struct value *new_value(const char *name, const char *text, int64_t expires, int64_t now)
{
    size_t n = strlen(name) + 1, len = strlen(text) + 1;
    struct value *value = malloc(sizeof(*value) + n + len);

    if (!value)
        return NULL;
    *value = (struct value){.expires = expires, .used = now, .written = now, .bytes = n + len};
    value->text = value->name + n;
    memcpy(value->name, name, n);
    memcpy(value->text, text, len);
    return value;
}

/* With the lock. @return whether the value belongs to the session now */
static bool put(struct mk_duda_sessions *store, struct session *s, struct value *value, int64_t now)
{
    struct value **old = value_of(store, s, value->name, now);

    touch(store, s);
    if (!*old && s->nvalues >= MK_DUDA_SESSION_NAMES_MAX)
        return false;
    if (store->file && mk_duda_session_file_put(store->file, s->id.text, value->name, value->text,
                                                value->expires, value->used) < 0)
        return false;
    if (*old)
        unlink_value(store, s, old);
    while (store->bytes + value->bytes > MK_DUDA_SESSION_BYTES_MAX && unused_longest(store) != s)
        drop(store, unused_longest(store));
    value->next = s->values;
    s->values = value;
    s->nvalues++;
    store->bytes += value->bytes;
    return true;
}

int mk_duda_session_put(struct mk_duda_sessions *store, const char *id, const char *name,
                        const char *value, int64_t expires, int64_t now)
{
    struct value *made = NULL;
    struct session *s;
    bool is_kept;

    if (strlen(name) + strlen(value) <= MK_DUDA_SESSION_VALUE_MAX)
        made = new_value(name, value, expires, now);
    if (!made)
        return -1;
    (void)pthread_mutex_lock(&store->lock);
    s = find(store, id);
    is_kept = s && put(store, s, made, now);
    (void)pthread_mutex_unlock(&store->lock);
    if (is_kept)
        return 0;
    free(made);
    return -1;
}

/* With the lock. @return the value, used now; NULL */
static const struct value *look_up(struct mk_duda_sessions *store, const char *id, const char *name,
                                   int64_t now)
{
    struct session *s = find(store, id);
    struct value *value = s ? *value_of(store, s, name, now) : NULL;

    if (s && !s->values) {
        drop(store, s);
        return NULL;
    }
    if (!value)
        return NULL;
    value->used = now;
    if (store->file && now >= value->written + USE_STEP_S) {
        value->written = now;
        (void)mk_duda_session_file_put(store->file, id, name, value->text, value->expires, now);
    }
    touch(store, s);
    return value;
}

/* ---- the file ---- */

struct restoring {
    struct mk_duda_sessions *store;
    int64_t now;
};

static struct session *session_of(struct mk_duda_sessions *store, const char *id)
{
    struct session *s = find(store, id);

    if (s || !is_id(id))
        return s;
    s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    memcpy(s->id.text, id, MK_DUDA_SESSION_ID_LEN);
    add(store, s, NULL);
    return s;
}

static void restore(void *arg, const char *id, const char *name, const char *text, int64_t expires,
                    int64_t used)
{
    const struct restoring *r = arg;
    struct value *value = NULL;
    struct session *s = NULL;

    if (strlen(name) + strlen(text) <= MK_DUDA_SESSION_VALUE_MAX)
        value = new_value(name, text, expires, used);
    if (value && !has_expired(value, r->now))
        s = session_of(r->store, id);
    if (!s || !put(r->store, s, value, r->now))
        free(value);
}

void mk_duda_sessions_keep(struct mk_duda_sessions *store, struct mk_duda_session_file *file,
                           int64_t now)
{
    struct restoring r = {store, now};

    mk_duda_session_file_each(file, restore, &r);
    store->file = file;
    mk_duda_session_file_forget(file, MK_DUDA_SESSION_IDLE_S, now);
}

char *mk_duda_session_get(struct mk_duda_sessions *store, const char *id, const char *name,
                          int64_t now)
{
    const struct value *value;
    char *copy;

    (void)pthread_mutex_lock(&store->lock);
    value = look_up(store, id, name, now);
    copy = value ? strdup(value->text) : NULL;
    (void)pthread_mutex_unlock(&store->lock);
    return copy;
}

bool mk_duda_session_has(struct mk_duda_sessions *store, const char *id, const char *name,
                         int64_t now)
{
    bool has;

    (void)pthread_mutex_lock(&store->lock);
    has = look_up(store, id, name, now) != NULL;
    (void)pthread_mutex_unlock(&store->lock);
    return has;
}

int mk_duda_session_remove(struct mk_duda_sessions *store, const char *id, const char *name,
                           int64_t now)
{
    struct session *s;
    int left = -1;

    (void)pthread_mutex_lock(&store->lock);
    if (look_up(store, id, name, now)) {
        s = find(store, id);
        drop_value(store, s, value_of(store, s, name, now));
        left = s->nvalues;
        if (left == 0)
            drop(store, s);
    }
    (void)pthread_mutex_unlock(&store->lock);
    return left;
}

size_t mk_duda_sessions_count(struct mk_duda_sessions *store)
{
    size_t n;

    (void)pthread_mutex_lock(&store->lock);
    n = store->n;
    (void)pthread_mutex_unlock(&store->lock);
    return n;
}
