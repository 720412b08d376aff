/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream/resolve.h"

#include "base/heap.h"
#include "base/invariant.h"
#include "base/limits.h"
#include "base/str.h"
#include "server/worker/worker.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/un.h>

/* A name in the table, its look-up and its answer, which does not change any more once it is there. */
struct name {
    struct mk_offload_job job;
    struct mk_resolver *resolver;
    struct mk_list link;    /* in the table */
    struct mk_list waiters; /* while pending */
    struct name *before;    /* while pending: the answer that this one is to replace; NULL: none */
    unsigned refs;          /* under the lock: the table, the look-up, every answer on its way */
    bool pending;
    int count; /* of addresses, or an enum mk_error */
    int64_t since_ms, until_ms;
    union mk_host_address addresses[MK_LIMIT_RESOLVE_ADDRESSES];
    struct mk_str host; /* lower case; behind this struct */
};

struct waiter {
    struct mk_list link;
    struct mk_post post;
    struct name *name;
    struct mk_worker *worker;
    unsigned port;
    mk_resolve_fn fn;
    void *arg;
};

/* ---- the system ---- */

static int error_of(int eai)
{
    switch (eai) {
    case EAI_NONAME:
#ifdef EAI_NODATA
    case EAI_NODATA:
#endif
        return MK_E_NOENT;
    case EAI_MEMORY:
        return MK_E_NOMEM;
    default:
        return MK_E_AGAIN;
    }
}

static int ask_system(const char *host, union mk_host_address addresses[MK_LIMIT_RESOLVE_ADDRESSES])
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int eai = getaddrinfo(host, NULL, &hints, &found), count = 0;

    if (eai != 0)
        return error_of(eai);
    for (const struct addrinfo *a = found; a && count < MK_LIMIT_RESOLVE_ADDRESSES;
         a = a->ai_next) {
        if ((a->ai_family == AF_INET || a->ai_family == AF_INET6) &&
            a->ai_addrlen <= sizeof(*addresses))
            memcpy(&addresses[count++], a->ai_addr, a->ai_addrlen);
    }
    freeaddrinfo(found);
    return count > 0 ? count : MK_E_NOENT;
}

/* ---- answers ---- */

static void set_address(struct mk_address *to, const union mk_host_address *from, unsigned port)
{
    union mk_host_address address = *from;

    *to = (struct mk_address){.len = 0};
    if (address.sa.sa_family == AF_INET) {
        address.in.sin_port = htons((uint16_t)port);
        to->len = sizeof(address.in);
    } else {
        address.in6.sin6_port = htons((uint16_t)port);
        to->len = sizeof(address.in6);
    }
    memcpy(&to->addr, &address, to->len);
}

static void answer(const union mk_host_address *list, int count, unsigned port, mk_resolve_fn fn,
                   void *arg)
{
    struct mk_address addresses[MK_LIMIT_RESOLVE_ADDRESSES];

    for (int i = 0; i < count; i++)
        set_address(&addresses[i], &list[i], port);
    fn(arg, count > 0 ? addresses : NULL, count);
}

/* Numbers, and names that cannot be any. @return whether fn was called. */
static bool answer_number(const char *host, unsigned port, mk_resolve_fn fn, void *arg)
{
    union mk_host_address address = {.in6 = {.sin6_family = AF_INET6}};
    size_t len = strlen(host);
    int count = 1;

    if (len == 0 || len > MK_LIMIT_HOST || port > UINT16_MAX)
        count = MK_E_NOENT;
    else if (inet_pton(AF_INET6, host, &address.in6.sin6_addr) != 1) {
        address = (union mk_host_address){.in = {.sin_family = AF_INET}};
        if (inet_pton(AF_INET, host, &address.in.sin_addr) != 1)
            return false;
    }
    answer(&address, count, port, fn, arg);
    return true;
}

static bool answer_path(const char *host, mk_resolve_fn fn, void *arg)
{
    static const char prefix[] = "unix:";
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct mk_address address = {.len = sizeof(un)};
    const char *path = host + sizeof(prefix) - 1;

    if (strncmp(host, prefix, sizeof(prefix) - 1) != 0)
        return false;
    if (*path == '\0' || strlen(path) >= sizeof(un.sun_path)) {
        fn(arg, NULL, MK_E_NOENT);
        return true;
    }
    memcpy(un.sun_path, path, strlen(path));
    memcpy(&address.addr, &un, sizeof(un));
    fn(arg, &address, 1);
    return true;
}

/* ---- the table; all of this under its lock ---- */

static struct name *name_of(struct mk_list *link)
{
    return MK_CONTAINER_OF(link, struct name, link);
}

static void put_name(struct name *n)
{
    if (--n->refs == 0)
        mk_heap_free(n);
}

static void forget(struct mk_resolver *r, struct name *n)
{
    mk_list_remove(&n->link);
    r->nnames--;
    put_name(n);
}

/* @param old  out: an answer with addresses that is not in the table any more, with a reference; or as it was */
static struct name *find(struct mk_resolver *r, struct mk_str host, int64_t now_ms,
                         struct name **old)
{
    MK_LIST_EACH (&r->names, link) {
        struct name *n = name_of(link);

        if (!mk_str_ieq(n->host, host))
            continue;
        if (!n->pending && n->until_ms <= now_ms) {
            if (n->count > 0) {
                n->refs++;
                *old = n;
            }
            forget(r, n);
            return NULL;
        }
        mk_list_remove(&n->link);
        mk_list_add_tail(&r->names, &n->link);
        return n;
    }
    return NULL;
}

/* Forget the answer that was used longest ago. @return false: every name is being looked up. */
static bool make_room(struct mk_resolver *r)
{
    if (r->nnames < MK_LIMIT_RESOLVE_NAMES)
        return true;
    MK_LIST_EACH (&r->names, link) {
        if (name_of(link)->pending)
            continue;
        forget(r, name_of(link));
        return true;
    }
    return false;
}

/* ---- a look-up ---- */

static void on_answer(struct mk_post *post)
{
    struct waiter *waiter = MK_CONTAINER_OF(post, struct waiter, post);
    struct name *n = waiter->name;
    struct mk_resolver *r = n->resolver;
    struct waiter w = *waiter;

    mk_heap_free(waiter);
    answer(n->addresses, n->count, w.port, w.fn, w.arg);
    pthread_mutex_lock(&r->lock);
    r->nwaiters--;
    put_name(n);
    pthread_mutex_unlock(&r->lock);
}

static void look_up(struct mk_offload_job *job)
{
    struct name *n = MK_CONTAINER_OF(job, struct name, job);

    n->count = n->resolver->lookup(n->host.p, n->addresses);
}

/* Nobody could be asked: what was known holds for now. */
static bool keep_before(struct name *n)
{
    if (!n->before || n->count > 0 || n->count == MK_E_NOENT)
        return false;
    n->count = n->before->count;
    memcpy(n->addresses, n->before->addresses, sizeof(n->addresses));
    return true;
}

static void on_looked_up(struct mk_offload_job *job)
{
    struct name *n = MK_CONTAINER_OF(job, struct name, job);
    struct mk_resolver *r = n->resolver;
    struct mk_clock clock = {0};
    bool is_fresh;

    mk_clock_update(&clock);
    pthread_mutex_lock(&r->lock);
    is_fresh = !keep_before(n) && n->count > 0;
    if (n->before)
        put_name(n->before);
    n->before = NULL;
    n->pending = false;
    n->since_ms = clock.mono_ms;
    n->until_ms = clock.mono_ms + (is_fresh ? MK_RESOLVE_FRESH_MS : MK_RESOLVE_FAILED_MS);
    MK_LIST_EACH (&n->waiters, link) {
        struct waiter *w = MK_CONTAINER_OF(link, struct waiter, link);

        mk_list_remove(link);
        n->refs++;
        mk_loop_post(&w->worker->loop, &w->post);
    }
    if (n->count == MK_E_NOMEM) /* says nothing about the name */
        forget(r, n);
    put_name(n);
    pthread_mutex_unlock(&r->lock);
}

static struct name *new_name(struct mk_resolver *r, struct mk_str host)
{
    struct name *n = mk_heap_alloc(sizeof(*n) + host.len + 1);
    char *copy;

    if (!n)
        return NULL;
    copy = (char *)(n + 1);
    for (size_t i = 0; i < host.len; i++)
        copy[i] = mk_char_lower(host.p[i]);
    copy[host.len] = '\0';
    *n = (struct name){
        .job = {.work = look_up, .finish = on_looked_up},
        .resolver = r,
        .refs = 2,
        .pending = true,
        .count = MK_E_AGAIN, /* when the server ends before the system was asked */
        .host = {copy, host.len},
    };
    mk_list_init(&n->link);
    mk_list_init(&n->waiters);
    return n;
}

/* @return 0, MK_E_BUSY or MK_E_NOMEM. */
static int begin(struct mk_resolver *r, struct mk_worker *w, struct mk_str host, struct name **out)
{
    struct name *n;
    int err;

    if (!make_room(r))
        return MK_E_BUSY;
    n = new_name(r, host);
    if (!n)
        return MK_E_NOMEM;
    err = mk_offload_pool_add(&w->shared->offload[MK_WORK_NAME], &n->job);
    if (err < 0) {
        mk_heap_free(n);
        return err;
    }
    mk_list_add_tail(&r->names, &n->link);
    r->nnames++;
    *out = n;
    return 0;
}

/* @param n  NULL: nobody has asked for it yet */
static int wait_for(struct mk_resolver *r, struct name *n, const struct waiter *asked,
                    struct mk_str host)
{
    struct waiter *waiter;
    int err = 0;

    if (r->nwaiters >= MK_LIMIT_RESOLVE_WAITERS)
        return MK_E_BUSY;
    waiter = mk_heap_alloc(sizeof(*waiter));
    if (!waiter)
        return MK_E_NOMEM;
    if (!n)
        err = begin(r, asked->worker, host, &n);
    if (err < 0) {
        mk_heap_free(waiter);
        return err;
    }
    *waiter = *asked;
    waiter->name = n;
    waiter->post.fn = on_answer;
    mk_list_init(&waiter->link);
    mk_list_add_tail(&n->waiters, &waiter->link);
    r->nwaiters++;
    return 0;
}

/* Look up again what was known. Without means for that it stays in the table, and whoever comes next tries. */
static struct name *renew(struct mk_resolver *r, struct mk_worker *w, struct mk_str host,
                          struct name *old)
{
    struct name *n;

    if (begin(r, w, host, &n) == 0) {
        n->before = old;
        return n;
    }
    mk_list_add_tail(&r->names, &old->link);
    r->nnames++;
    return old;
}

/* @return the answer that is there, an old one too if it is not very old; NULL: it is to be waited for. */
static struct name *answer_of(struct name *n, int64_t now_ms)
{
    struct name *known = n && n->pending ? n->before : n;
    bool is_too_old = known != n && known && known->until_ms + MK_RESOLVE_FRESH_MS <= now_ms;

    return is_too_old ? NULL : known;
}

/* So old that nobody gets it while the next answer is on its way. */
static void make_old(struct name *n, int64_t now_ms)
{
    if (n->until_ms > now_ms - MK_RESOLVE_FRESH_MS)
        n->until_ms = now_ms - MK_RESOLVE_FRESH_MS;
}

/* ---- its life ---- */

static void on_init(struct mk_extension *e)
{
    struct mk_resolver *r = MK_CONTAINER_OF(e, struct mk_resolver, extension);

    r->lookup = ask_system;
    pthread_mutex_init(&r->lock, NULL);
    mk_list_init(&r->names);
}

static void on_fini(struct mk_extension *e)
{
    struct mk_resolver *r = MK_CONTAINER_OF(e, struct mk_resolver, extension);

    MK_ASSERT(r->nwaiters == 0);
    MK_LIST_EACH (&r->names, link)
        forget(r, name_of(link));
    pthread_mutex_destroy(&r->lock);
}

struct mk_resolver *mk_resolver_of(struct mk_shared *shared)
{
    static const struct mk_extension_kind kind = {
        .size = sizeof(struct mk_resolver), .init = on_init, .fini = on_fini};
    struct mk_extension *e = mk_shared_extension(shared, &kind);

    return e ? MK_CONTAINER_OF(e, struct mk_resolver, extension) : NULL;
}

int mk_resolve(struct mk_worker *w, const char *host, unsigned port, mk_resolve_fn fn, void *arg)
{
    const struct waiter asked = {.worker = w, .port = port, .fn = fn, .arg = arg};
    int64_t now_ms = w->loop.clock.mono_ms;
    struct mk_resolver *r;
    struct name *n, *old = NULL, *known;
    int err = 0;

    if (answer_path(host, fn, arg) || answer_number(host, port, fn, arg))
        return 0;
    r = mk_resolver_of(w->shared);
    if (!r)
        return MK_E_NOMEM;
    pthread_mutex_lock(&r->lock);
    n = find(r, mk_str_from(host), now_ms, &old);
    if (old)
        n = renew(r, w, mk_str_from(host), old);
    known = answer_of(n, now_ms);
    if (!known) {
        err = wait_for(r, n, &asked, mk_str_from(host));
        pthread_mutex_unlock(&r->lock);
        return err;
    }
    known->refs++;
    pthread_mutex_unlock(&r->lock);
    answer(known->addresses, known->count, port, fn, arg);
    pthread_mutex_lock(&r->lock);
    put_name(known);
    pthread_mutex_unlock(&r->lock);
    return 0;
}

void mk_resolve_doubt(struct mk_worker *w, const char *host)
{
    int64_t now_ms = w->loop.clock.mono_ms;
    struct mk_resolver *r = mk_resolver_of(w->shared);

    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    MK_LIST_EACH (&r->names, link) {
        struct name *n = name_of(link), *known = n->pending ? n->before : n;

        if (!mk_str_ieq(n->host, mk_str_from(host)))
            continue;
        if (known && now_ms - known->since_ms >= MK_RESOLVE_DOUBT_MS)
            make_old(known, now_ms);
        break;
    }
    pthread_mutex_unlock(&r->lock);
}
