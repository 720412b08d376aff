/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/tickets.h"

#include "kit/counted/counted.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

struct slot {
    struct tls_ticket_key key;
    int64_t since_s; /* when it began to issue */
    bool is_there;
};

struct tls_tickets {
    pthread_mutex_t lock;
    struct counted refs;
    struct slot slots[TLS_TICKET_KEYS]; /* the current one first */
};

struct tls_tickets *tls_tickets_new(void)
{
    struct tls_tickets *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    if (pthread_mutex_init(&t->lock, NULL) != 0) {
        free(t);
        return NULL;
    }
    counted_init(&t->refs, 1);
    return t;
}

struct tls_tickets *tls_tickets_ref(struct tls_tickets *t)
{
    counted_get(&t->refs);
    return t;
}

void tls_tickets_put(struct tls_tickets *t)
{
    if (!t || !counted_put(&t->refs))
        return;
    pthread_mutex_destroy(&t->lock);
    explicit_bzero(t->slots, sizeof(t->slots));
    free(t);
}

/* Keys whose time is over are wiped when somebody looks; nobody could use them before. */
static void expire(struct tls_tickets *t, int64_t now_s)
{
    for (int i = 0; i < TLS_TICKET_KEYS; i++) {
        if (t->slots[i].is_there &&
            now_s - t->slots[i].since_s >= (int64_t)TLS_TICKET_KEYS * TLS_TICKET_PERIOD_S)
            explicit_bzero(&t->slots[i], sizeof(t->slots[i]));
    }
}

static bool renew(struct tls_tickets *t, int64_t now_s)
{
    struct slot fresh = {.since_s = now_s, .is_there = true};

    if (getrandom(&fresh.key, sizeof(fresh.key), 0) != sizeof(fresh.key))
        return false;
    memmove(t->slots + 1, t->slots, (TLS_TICKET_KEYS - 1) * sizeof(struct slot));
    t->slots[0] = fresh;
    explicit_bzero(&fresh, sizeof(fresh));
    return true;
}

static bool is_current(const struct slot *s, int64_t now_s)
{
    return s->is_there && now_s - s->since_s < TLS_TICKET_PERIOD_S;
}

bool tls_tickets_issue(struct tls_tickets *t, int64_t now_s, struct tls_ticket_key *key)
{
    bool ok;

    pthread_mutex_lock(&t->lock);
    expire(t, now_s);
    ok = is_current(&t->slots[0], now_s) || renew(t, now_s);
    if (ok)
        *key = t->slots[0].key;
    pthread_mutex_unlock(&t->lock);
    return ok;
}

bool tls_tickets_find(struct tls_tickets *t, int64_t now_s, const uint8_t name[16],
                      struct tls_ticket_key *key, bool *current)
{
    bool found = false;

    pthread_mutex_lock(&t->lock);
    expire(t, now_s);
    for (int i = 0; i < TLS_TICKET_KEYS && !found; i++) {
        const struct slot *s = &t->slots[i];

        if (!s->is_there || memcmp(s->key.name, name, sizeof(s->key.name)) != 0)
            continue;
        found = true;
        *key = s->key;
        *current = i == 0 && is_current(s, now_s);
    }
    pthread_mutex_unlock(&t->lock);
    return found;
}
