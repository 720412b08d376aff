/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/sessions/sessions.h"

#include "kit/digest/digest.h"
#include "kit/pure/links.h"
#include "kit/pure/random.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct value {
    struct value *next;
    int64_t expires;       /* of its own; 0: by its last use */
    int64_t used, written; /* written: the last use that the file has */
    size_t bytes;
    char *text; /* behind the name */
    char name[];
};

/* Which sessions leave a full store first. */
enum rank {
    REPLACED, /* another identity has their values */
    LIGHT,    /* they have secrets of the server's own at most */
    KEPT,
    RANKS
};

struct session {
    struct session *next; /* of its chain */
    struct links
        by_use; /* of the store and its rank, unused longest first; those that end in the order of their ends */
    struct value *values;
    int nvalues;
    int64_t ends;         /* a replaced one; 0: it is none */
    struct session *heir; /* of a replaced one, not replaced itself; NULL: it has ended */
    struct links kin; /* the ring of all identities of a session: what is removed, is from all */
    uint64_t number;  /* later ones have higher ones */
    struct session_id id;
};

_Static_assert((int)SESSION_ID_LEN == (int)RANDOM_TEXT_LEN, "an identity is random");

enum {
    CHAINS = 4096,
    USE_STEP_S = 3600, /* the file learns of uses of a value so often */
    KIN_MAX = 16,      /* identities of one session */
};

static const char key_id[] = "key",
                  key_name[] = "_key"; /* of the row that has the key: no identity */

struct sessions {
    pthread_mutex_t lock;
    struct sessions_limits limits;
    size_t n, bytes;
    uint64_t begun; /* sessions, ever */
    struct links by_use[RANKS];
    const struct sessions_file *calls; /* NULL: memory alone */
    void *file;
    char key[RANDOM_TEXT_LEN + 1];
    struct session *chains[CHAINS];
};

struct sessions *sessions_new(const struct sessions_limits *limits)
{
    struct sessions *store = calloc(1, sizeof(*store));

    if (!store || !random_text(store->key)) {
        free(store);
        return NULL;
    }
    (void)pthread_mutex_init(&store->lock, NULL); /* cannot fail on Linux */
    for (int i = 0; i < RANKS; i++)
        links_init(&store->by_use[i]);
    store->limits = *limits;
    return store;
}

/* Identities are random, so any of their digits choose a chain. */
static struct session **place_of(struct sessions *store, const char *id)
{
    char digits[4] = {id[0], id[1], id[2], 0};
    struct session **at = &store->chains[strtoul(digits, NULL, 16) % CHAINS];

    while (*at && !digest_is_same((*at)->id.text, id, SESSION_ID_LEN))
        at = &(*at)->next;
    return at;
}

static bool is_id(const char *id)
{
    return id && strnlen(id, SESSION_ID_LEN + 1) == SESSION_ID_LEN &&
           strspn(id, "0123456789abcdef") == SESSION_ID_LEN;
}

static void unlink_value(struct sessions *store, struct session *s, struct value **at)
{
    struct value *value = *at;

    *at = value->next;
    s->nvalues--;
    store->bytes -= value->bytes;
    explicit_bzero(value->name, value->bytes);
    free(value);
}

static void drop_value(struct sessions *store, struct session *s, struct value **at)
{
    if (!*at)
        return;
    if (store->calls && !s->ends)
        store->calls->remove(store->file, s->id.text, (*at)->name);
    unlink_value(store, s, at);
}

static struct session *next_of_kin(const struct session *s)
{
    return LINKS_OBJECT(s->kin.next, struct session, kin);
}

/* Those that it has the place of get another heir; NULL: none. */
static void give_heirs(const struct session *s, struct session *heir)
{
    for (struct session *kin = next_of_kin(s); kin != s; kin = next_of_kin(kin)) {
        if (kin->heir == s)
            kin->heir = heir;
    }
}

/* It has no kin any more. */
static void part(struct session *s)
{
    give_heirs(s, NULL);
    links_remove(&s->kin);
}

static void drop(struct sessions *store, struct session *s)
{
    part(s);
    while (s->values)
        drop_value(store, s, &s->values);
    *place_of(store, s->id.text) = s->next;
    links_remove(&s->by_use);
    store->n--;
    free(s);
}

/* @return the one that goes next; NULL: there is none */
static struct session *next_to_go(struct sessions *store)
{
    for (int i = 0; i < RANKS; i++) {
        if (!links_is_alone(&store->by_use[i]))
            return LINKS_OBJECT(store->by_use[i].next, struct session, by_use);
    }
    return NULL;
}

/* @return the session; NULL: unknown, or replaced too long ago */
static struct session *find(struct sessions *store, const char *id, int64_t now)
{
    struct session *s = is_id(id) ? *place_of(store, id) : NULL;

    if (!s || !s->ends || s->ends > now)
        return s;
    drop(store, s);
    return NULL;
}

void sessions_free(struct sessions *store)
{
    if (!store)
        return;
    if (store->calls)
        store->calls->close(store->file);
    store->calls = NULL;
    for (struct session *s = next_to_go(store); s; s = next_to_go(store))
        drop(store, s);
    (void)pthread_mutex_destroy(&store->lock);
    free(store);
}

static enum rank rank_of(const struct session *s)
{
    for (const struct value *value = s->values; value; value = value->next) {
        if (value->name[0] != '_')
            return s->ends ? REPLACED : KEPT;
    }
    return s->ends ? REPLACED : LIGHT;
}

static void enlist(struct sessions *store, struct session *s)
{
    links_add(&store->by_use[rank_of(s)], &s->by_use);
}

static void touch(struct sessions *store, struct session *s)
{
    if (s->ends)
        return;
    links_remove(&s->by_use);
    enlist(store, s);
}

static bool has_expired(const struct sessions *store, const struct value *value, int64_t now)
{
    return value->expires ? value->expires <= now : value->used + store->limits.idle_s <= now;
}

/* @return where the value of that name is, without those that have expired; *at is NULL: there is none */
static struct value **value_of(struct sessions *store, struct session *s, const char *name,
                               int64_t now)
{
    struct value **at = &s->values;

    while (*at) {
        if (has_expired(store, *at, now))
            drop_value(store, s, at);
        else if (strcmp((*at)->name, name) == 0)
            break;
        else
            at = &(*at)->next;
    }
    return at;
}

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

/* ---- beginning ---- */

/* What it has, the replaced one has no longer than a browser needs. Without memory it has less. */
static void copy_values(struct sessions *store, struct session *to, const struct session *from)
{
    for (const struct value *value = from->values; value; value = value->next) {
        struct value *copy = new_value(value->name, value->text, value->expires, value->used);

        if (!copy)
            return;
        copy->next = to->values;
        to->values = copy;
        to->nvalues++;
        store->bytes += copy->bytes;
    }
}

/* A session that was replaced is in memory alone, so what it gives to another one is written anew. */
static void write_values(struct sessions *store, const struct session *s)
{
    for (const struct value *value = s->values; value && store->calls; value = value->next)
        (void)store->calls->put(store->file, s->id.text, value->name, value->text, value->expires,
                                value->used);
}

/* @return which of the others is one no longer: one that was replaced, the oldest of them; NULL: there are few */
static struct session *surplus_kin(const struct session *s, const struct session *from)
{
    struct session *first = NULL;
    unsigned n = 1;

    for (struct session *kin = next_of_kin(s); kin != s; kin = next_of_kin(kin), n++) {
        if (kin != from && (!first || (kin->ends && !first->ends) ||
                            (!kin->ends == !first->ends && kin->number < first->number)))
            first = kin;
    }
    return n > KIN_MAX ? first : NULL;
}

static void join(struct sessions *store, struct session *s, struct session *from)
{
    struct session *surplus;

    give_heirs(from, s);
    from->heir = s;
    links_add(&from->kin, &s->kin);
    surplus = surplus_kin(s, from);
    if (surplus && surplus->ends)
        drop(store, surplus);
    else if (surplus)
        part(surplus);
}

static void inherit(struct sessions *store, struct session *s, const char *old, int64_t now)
{
    struct session *from = find(store, old, now);

    if (!from)
        return;
    if (from->ends) { /* the session has gone on without this request */
        copy_values(store, s, from);
        write_values(store, s);
    } else {
        if (store->calls)
            store->calls->rename(store->file, old, s->id.text);
        s->values = from->values;
        s->nvalues = from->nvalues;
        from->values = NULL;
        from->nvalues = 0;
        if (!store->limits.is_whole)
            copy_values(store, from, s);
        from->ends = now + SESSION_REPLACED_S;
        links_remove(&from->by_use);
        enlist(store, from);
    }
    join(store, s, from);
}

static void add(struct sessions *store, struct session *s, const char *old, int64_t now)
{
    struct session **place = place_of(store, s->id.text), *first;

    *place = s;
    store->n++;
    s->number = ++store->begun;
    links_init(&s->kin);
    inherit(store, s, old, now);
    for (first = next_to_go(store);
         first && (store->n > store->limits.sessions || (first->ends && first->ends <= now));
         first = next_to_go(store))
        drop(store, first);
    enlist(store, s);
}

int sessions_begin(struct sessions *store, const char *old, int64_t now, struct session_id *id)
{
    struct session *s = calloc(1, sizeof(*s));

    if (!s || !random_text(s->id.text)) {
        free(s);
        return -1;
    }
    *id = s->id;
    (void)pthread_mutex_lock(&store->lock);
    add(store, s, old, now);
    (void)pthread_mutex_unlock(&store->lock);
    return 0;
}

/* ---- values ---- */

/* Make room for the value of a session that is in no list meanwhile. */
static void make_room(struct sessions *store, size_t bytes)
{
    struct session *first;

    while (store->bytes + bytes > store->limits.bytes && (first = next_to_go(store)))
        drop(store, first);
}

static void drop_expired(struct sessions *store, struct session *s, int64_t now)
{
    struct value **at = &s->values;

    while (*at) {
        if (has_expired(store, *at, now))
            drop_value(store, s, at);
        else
            at = &(*at)->next;
    }
}

/* A use of one value is one of all that have not expired. */
static void use_whole(struct sessions *store, struct session *s, int64_t now)
{
    if (!store->limits.is_whole)
        return;
    drop_expired(store, s, now);
    for (struct value *value = s->values; value; value = value->next)
        value->used = now;
}

/* With the lock. @return 0: the value belongs to the session now; or an error of sessions_put */
static int put(struct sessions *store, struct session *s, struct value *value, int64_t now)
{
    struct value **old;

    use_whole(store, s, now);
    old = value_of(store, s, value->name, now);
    touch(store, s);
    if (!*old && s->nvalues >= SESSION_NAMES_MAX)
        return MK_E_LIMIT;
    if (store->calls && !s->ends &&
        store->calls->put(store->file, s->id.text, value->name, value->text, value->expires,
                          value->used) < 0)
        return MK_E_PEER;
    if (*old)
        unlink_value(store, s, old);
    links_remove(&s->by_use);
    make_room(store, value->bytes);
    value->next = s->values;
    s->values = value;
    s->nvalues++;
    store->bytes += value->bytes;
    enlist(store, s);
    return 0;
}

/*
 * What a late request sets of what both have changes in both, if it knows what the heir has: whoever planted the identity before
 * a log-in must not say afterwards who has logged in.
 */
static void put_in_heir(struct sessions *store, struct session *s, const char *name,
                        const char *text, int64_t expires, int64_t now)
{
    struct session *heir = s->heir;
    const struct value *own = *value_of(store, s, name, now);
    const struct value *its = heir ? *value_of(store, heir, name, now) : NULL;
    struct value *value = own && its && strcmp(own->text, its->text) == 0
                              ? new_value(name, text, expires, now)
                              : NULL;

    if (value && put(store, heir, value, now) < 0)
        free(value);
}

int sessions_put(struct sessions *store, const char *id, const char *name, const char *value,
                 int64_t expires, int64_t now)
{
    const bool fits = strlen(name) + strlen(value) <= SESSION_VALUE_MAX;
    struct value *made = fits ? new_value(name, value, expires, now) : NULL;
    struct session *s;
    int err;

    if (!made)
        return fits ? MK_E_NOMEM : MK_E_LIMIT;
    (void)pthread_mutex_lock(&store->lock);
    s = find(store, id, now);
    if (s && s->ends)
        put_in_heir(store, s, name, value, expires, now);
    s = find(store, id, now); /* what made room may have dropped it */
    err = s ? put(store, s, made, now) : MK_E_NOENT;
    (void)pthread_mutex_unlock(&store->lock);
    if (err < 0)
        free(made);
    return err;
}

enum session_fit sessions_fit(struct sessions *store, const char *id, const char *name,
                              const char *value, int64_t now, bool *is_replaced)
{
    enum session_fit fit = SESSION_NONE;
    const struct value *has;
    struct session *s;

    (void)pthread_mutex_lock(&store->lock);
    s = find(store, id, now);
    *is_replaced = s && s->ends;
    if (s) {
        has = *value_of(store, s, name, now);
        fit = !has                            ? SESSION_NEW_NAME
              : strcmp(has->text, value) == 0 ? SESSION_SAME
                                              : SESSION_CHANGED;
    }
    (void)pthread_mutex_unlock(&store->lock);
    return fit;
}

/* With the lock. @return the value, used now; NULL */
static const struct value *look_up(struct sessions *store, const char *id, const char *name,
                                   int64_t now)
{
    struct session *s = find(store, id, now);
    struct value *value;

    if (s)
        use_whole(store, s, now);
    value = s ? *value_of(store, s, name, now) : NULL;
    if (s && !s->values && !s->ends) {
        drop(store, s);
        return NULL;
    }
    if (!value)
        return NULL;
    value->used = now;
    if (store->calls && !s->ends && now >= value->written + USE_STEP_S) {
        value->written = now;
        (void)store->calls->put(store->file, id, name, value->text, value->expires, now);
    }
    touch(store, s);
    return value;
}

/* ---- the file ---- */

struct restoring {
    struct sessions *store;
    int64_t now;
};

static struct session *session_of(struct sessions *store, const char *id, int64_t now)
{
    struct session *s = find(store, id, now);

    if (s || !is_id(id))
        return s;
    s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    memcpy(s->id.text, id, SESSION_ID_LEN);
    add(store, s, NULL, now);
    return s;
}

static void restore(void *arg, const char *id, const char *name, const char *text, int64_t expires,
                    int64_t used)
{
    const struct restoring *r = arg;
    struct value *value = NULL;
    struct session *s = NULL;

    if (strcmp(id, key_id) == 0 && strlen(text) == RANDOM_TEXT_LEN)
        memcpy(r->store->key, text, RANDOM_TEXT_LEN);
    if (strlen(name) + strlen(text) <= SESSION_VALUE_MAX)
        value = new_value(name, text, expires, used);
    if (value && !has_expired(r->store, value, r->now))
        s = session_of(r->store, id, r->now);
    if (!s || put(r->store, s, value, r->now) < 0)
        free(value);
}

void sessions_keep(struct sessions *store, const struct sessions_file *calls, void *file,
                   int64_t now)
{
    struct restoring r = {store, now};

    calls->each(file, restore, &r);
    store->calls = calls;
    store->file = file;
    (void)calls->put(file, key_id, key_name, store->key, INT64_MAX, now);
    calls->forget(file, store->limits.idle_s, now);
}

bool sessions_take(struct sessions *store, const char *id, const char *name, int64_t now,
                   sessions_take_fn take, void *arg)
{
    const struct value *value;

    (void)pthread_mutex_lock(&store->lock);
    value = look_up(store, id, name, now);
    if (value)
        take(arg, value->text);
    (void)pthread_mutex_unlock(&store->lock);
    return value != NULL;
}

static void copy_text(void *arg, const char *value)
{
    char **copy = arg;

    *copy = strdup(value);
}

char *sessions_get(struct sessions *store, const char *id, const char *name, int64_t now)
{
    char *copy = NULL;

    (void)sessions_take(store, id, name, now, copy_text, &copy);
    return copy;
}

bool sessions_has(struct sessions *store, const char *id, const char *name, int64_t now)
{
    bool has;

    (void)pthread_mutex_lock(&store->lock);
    has = look_up(store, id, name, now) != NULL;
    (void)pthread_mutex_unlock(&store->lock);
    return has;
}

/* @return how many values are left; -1: there was none of that name */
static int remove_value(struct sessions *store, struct session *s, const char *name, int64_t now)
{
    struct value **at = value_of(store, s, name, now);
    int left;

    if (!*at)
        return -1;
    drop_value(store, s, at);
    left = s->nvalues;
    if (left == 0)
        drop(store, s);
    else
        touch(store, s);
    return left;
}

/* @return how many other identities the session has */
static unsigned list_kin(const struct session *s, struct session_id ids[KIN_MAX])
{
    unsigned n = 0;

    for (struct session *kin = next_of_kin(s); kin != s && n < KIN_MAX; kin = next_of_kin(kin))
        ids[n++] = kin->id;
    return n;
}

/* Who logs out has done so under all identities of the session. @return how many values are left */
static int remove_from_all(struct sessions *store, struct session *s, const char *name, int64_t now)
{
    const struct session *heir = s->heir;
    struct session_id ids[KIN_MAX];
    const unsigned n = list_kin(s, ids);
    int left = remove_value(store, s, name, now);

    for (unsigned i = 0; i < n; i++) {
        struct session *kin = find(store, ids[i].text, now);
        const bool is_heir = kin && kin == heir;
        int had, rest;

        if (!kin)
            continue;
        had = kin->nvalues;
        rest = remove_value(store, kin, name, now);
        if (is_heir)
            left = rest < 0 ? had : rest;
    }
    return left;
}

int sessions_remove(struct sessions *store, const char *id, const char *name, int64_t now)
{
    int left = -1;

    (void)pthread_mutex_lock(&store->lock);
    if (look_up(store, id, name, now))
        left = remove_from_all(store, find(store, id, now), name, now);
    (void)pthread_mutex_unlock(&store->lock);
    return left;
}

/* ---- whole sessions ---- */

bool sessions_is_there(struct sessions *store, const char *id, int64_t now, bool *is_replaced)
{
    struct session *s;

    (void)pthread_mutex_lock(&store->lock);
    s = find(store, id, now);
    if (s)
        drop_expired(store, s, now);
    if (s && !s->values && !s->ends) {
        drop(store, s);
        s = NULL;
    }
    *is_replaced = s && s->ends;
    (void)pthread_mutex_unlock(&store->lock);
    return s != NULL;
}

bool sessions_end(struct sessions *store, const char *id, int64_t now)
{
    struct session_id ids[KIN_MAX];
    struct session *s;
    bool was_there;
    unsigned n = 0;

    (void)pthread_mutex_lock(&store->lock);
    s = find(store, id, now);
    was_there = s != NULL;
    if (s) {
        n = list_kin(s, ids);
        drop(store, s);
    }
    for (unsigned i = 0; i < n; i++) {
        s = find(store, ids[i].text, now);
        if (s)
            drop(store, s);
    }
    (void)pthread_mutex_unlock(&store->lock);
    return was_there;
}

const char *sessions_key(const struct sessions *store)
{
    return store->key;
}

size_t sessions_count(struct sessions *store)
{
    size_t n;

    (void)pthread_mutex_lock(&store->lock);
    n = store->n;
    (void)pthread_mutex_unlock(&store->lock);
    return n;
}
