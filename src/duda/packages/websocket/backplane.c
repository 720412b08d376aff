/* SPDX-License-Identifier: Apache-2.0 */
#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3
#include "packages/redis/redis.h"

#include "kit/pure/hex.h"

#include "backplane.h"
#include "duda_host.h"
#include "envelope.h"
#include "rooms.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    QUEUE_MAX = 4 << 20,    /* bytes that wait on a worker, and those of other threads */
    MESSAGE_MAX = 16 << 20, /* bytes of one message */
    TIMEOUT_MS = 3000,      /* nobody waits for an answer, and a late message is better than none */
    LOOK_MS = 100,          /* how soon messages of other threads go on */
    CHANNEL_MAX = 512
};

/* A broadcast that waits to be published. */
struct letter {
    struct letter *next;
    size_t len;
    char bytes[];
};

struct queue {
    struct letter *first, **last;
    size_t bytes;
};

/* What a worker has. */
struct post {
    struct queue queue; /* while as many commands wait for answers as may */
};

/* Of the service. */
static redis_client_t *client; /* NULL: there is no backplane */
static duda_global_t posts;
static char channel[CHANNEL_MAX], origin[ENVELOPE_ORIGIN + 1];
static void (*on_gap)(int missed, unsigned unsent);
static atomic_uint nunsent; /* since on_gap was called */

/* Who hears the others, and what threads without a post have sent. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct post *hearer; /* NULL: none yet, or its worker has left the service */
static struct queue orphans;

/* Of the hearer. */
static int is_heard, is_late;

/* ---- letters ---- */

static struct letter *new_letter(const char *room, enum mk_ws_kind kind, struct mk_str message)
{
    struct envelope e = {.kind = kind, .room = mk_str_from(room), .message = message};
    char head[ENVELOPE_HEAD_MAX];
    struct letter *l;
    size_t n;

    if (e.room.len > ENVELOPE_ROOM || message.len > MESSAGE_MAX)
        return NULL;
    memcpy(e.origin, origin, sizeof(origin));
    n = envelope_head(head, &e);
    l = malloc(sizeof(*l) + n + e.room.len + message.len);
    if (!l)
        return NULL;
    l->len = n + e.room.len + message.len;
    memcpy(l->bytes, head, n);
    memcpy(l->bytes + n, room, e.room.len);
    memcpy(l->bytes + n + e.room.len, message.p, message.len);
    return l;
}

static void give_up(struct letter *l)
{
    atomic_fetch_add(&nunsent, 1);
    free(l);
}

static void append(struct queue *q, struct letter *l)
{
    if (q->bytes + l->len > QUEUE_MAX) {
        give_up(l);
        return;
    }
    if (!q->first)
        q->last = &q->first;
    l->next = NULL;
    *q->last = l;
    q->last = &l->next;
    q->bytes += l->len;
}

static struct letter *pop(struct queue *q)
{
    struct letter *l = q->first;

    if (l) {
        q->first = l->next;
        q->bytes -= l->len;
    }
    return l;
}

static void empty(struct queue *q)
{
    struct letter *l;

    while ((l = pop(q)))
        free(l);
}

/* ---- to the others ---- */

static void on_published(duda_request_t *dr, const struct redis_answer *answer, void *arg);

/* @return of redis->run_words() */
static int publish(const struct letter *l)
{
    const char *const words[] = {"PUBLISH", channel, l->bytes};
    const size_t lens[] = {sizeof("PUBLISH") - 1, strlen(channel), l->len};

    return redis->run_words(client, NULL, on_published, NULL, 3, words, lens);
}

/* Those behind one that has to wait wait as well: the order is kept. */
static void send_queue(struct post *post)
{
    while (post->queue.first) {
        const int result = publish(post->queue.first);

        if (result == REDIS_FULL)
            return;
        if (result == 0)
            free(pop(&post->queue));
        else
            give_up(pop(&post->queue));
    }
}

static void on_published(duda_request_t *dr, const struct redis_answer *answer, void *arg)
{
    struct post *post = global->get(posts);

    (void)dr;
    (void)arg;
    if (answer->result != REDIS_OK)
        atomic_fetch_add(&nunsent, 1);
    if (post)
        send_queue(post);
}

void backplane_send(const char *room, enum mk_ws_kind kind, struct mk_str message)
{
    struct post *post;
    struct letter *l;

    if (!client)
        return;
    post = global->get(posts);
    l = new_letter(room, kind, message);
    if (!l) {
        atomic_fetch_add(&nunsent, 1);
    } else if (post) {
        append(&post->queue, l);
        send_queue(post);
    } else {
        (void)pthread_mutex_lock(&lock);
        append(&orphans, l);
        (void)pthread_mutex_unlock(&lock);
    }
}

/* ---- from the others ---- */

static void report(int missed)
{
    const unsigned unsent = atomic_exchange(&nunsent, 0);

    if (on_gap && (missed || unsent > 0))
        on_gap(missed, unsent);
}

static void deliver(const char *bytes, size_t len)
{
    struct envelope e;
    char room[ENVELOPE_ROOM + 1];

    if (envelope_read(&e, (struct mk_str){bytes, len}) < 0 || strcmp(e.origin, origin) == 0)
        return;
    memcpy(room, e.room.p, e.room.len);
    room[e.room.len] = '\0';
    (void)room_send(room, NULL, e.kind, e.message);
}

static void on_message(const char *name, const char *bytes, size_t len, void *arg)
{
    const int missed = is_heard || is_late;

    (void)name;
    (void)arg;
    if (bytes) {
        deliver(bytes, len);
        return;
    }
    is_heard = 1;
    if (missed)
        report(1);
}

/* ---- workers ---- */

/* One worker of the service hears for all of them. When it leaves the service, another one does. */
static int is_hearer(const struct post *post)
{
    const struct post *found;

    (void)pthread_mutex_lock(&lock);
    if (!hearer && redis->subscribe(client, channel, on_message, NULL) == 0)
        hearer = post;
    found = hearer;
    (void)pthread_mutex_unlock(&lock);
    return found == post;
}

static void adopt_orphans(struct post *post)
{
    struct letter *l;

    (void)pthread_mutex_lock(&lock);
    while ((l = pop(&orphans)))
        append(&post->queue, l);
    (void)pthread_mutex_unlock(&lock);
    send_queue(post);
}

static void look(void *arg)
{
    struct post *post = arg;

    if (!is_hearer(post))
        return;
    adopt_orphans(post);
    if (!is_heard)
        is_late = 1;
    else
        report(0);
}

static void begin_worker(void *arg)
{
    struct post *post = calloc(1, sizeof(*post));

    (void)arg;
    if (post && global->set(posts, post) == 0 && timer->every(LOOK_MS, look, post)) {
        (void)is_hearer(post);
        return;
    }
    (void)global->set(posts, NULL);
    free(post);
}

static void end_worker(void *value)
{
    struct post *post = value;

    (void)pthread_mutex_lock(&lock);
    if (hearer == post)
        hearer = NULL;
    (void)pthread_mutex_unlock(&lock);
    empty(&post->queue);
    free(post);
}

/* ---- the beginning ---- */

static int draw_origin(void)
{
    unsigned char bytes[ENVELOPE_ORIGIN / 2];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return -1;
    hex_write(origin, bytes, sizeof(bytes));
    origin[ENVELOPE_ORIGIN] = '\0';
    return 0;
}

/* Services of the same name on the same site are one on all servers. */
static int name_channel(const char *site)
{
    const int n = snprintf(channel, sizeof(channel), "duda:websocket:%s/%.*s", site,
                           (int)self->fixed_name.len, self->fixed_name.data);

    return n < 0 || (size_t)n >= sizeof(channel) ? -1 : 0;
}

int backplane_init(void)
{
    struct duda_backplane where = {NULL, NULL};
    struct redis_options options = {0};

    duda_objects_given->host->backplane(self, &where);
    if (!where.server)
        return 0;
    options.server = where.server;
    options.timeout_ms = TIMEOUT_MS;
    redis = (redis_object_t *)duda_objects_given->load_package(self, "redis");
    if (!redis || draw_origin() < 0 || name_channel(where.site) < 0)
        return -1;
    client = redis->client(&options);
    if (!client)
        return -1;
    global->init_with_end(&posts, NULL, NULL, end_worker);
    worker->pre_loop(begin_worker, NULL);
    return 0;
}

void backplane_on_gap(void (*fn)(int missed, unsigned unsent))
{
    on_gap = fn;
}
