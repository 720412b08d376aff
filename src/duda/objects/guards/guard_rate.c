/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/nets/nets.h"
#include "kit/text/words.h"
#include "objects/guards/guard.h"
#include "objects/objects.h"
#include "objects/guards/rate_table.h"
#include "service/answer.h"

#include <monkey/field.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* How many requests a client may send: one table for all workers, with a lock. */

enum { NS_OF_SECOND = 1000000000 };

struct rate {
    pthread_mutex_t lock;
    struct mk_duda_rate_table table;
};

/* ---- who the client is ---- */

/* Does a proxy at the other end say it? What stands last it has written itself. @return p NULL: no */
static struct mk_str last_forwarded(const struct mk_request *r)
{
    struct mk_str name, value, member, last = {NULL, 0};
    uint32_t at = 0;

    while (mk_request_next_header(r, &at, &name, &value)) {
        while (text_is_word(name, MK_STR("X-Forwarded-For")) && mk_list_next(&value, &member))
            last = member;
    }
    return last;
}

/* "192.0.2.1", "192.0.2.1:80", "2001:db8::1" or "[2001:db8::1]:80" */
static bool read_address(struct mk_str text, uint8_t ip[16])
{
    const char *colon = text.len ? memchr(text.p, ':', text.len) : NULL;
    struct net net;
    bool is_loose;

    if (text.len > 0 && text.p[0] == '[') {
        text.p++;
        text.len--;
        text = text_cut(&text, ']');
    } else if (colon && !memchr(colon + 1, ':', (size_t)(text.p + text.len - colon - 1))) {
        text.len = (size_t)(colon - text.p);
    }
    if (memchr(text.p ? text.p : "", '/', text.len) || net_parse(text, &net, &is_loose) < 0)
        return false;
    memcpy(ip, net.ip, sizeof(net.ip));
    return true;
}

static uint64_t client_of(const struct mk_duda_request *rq)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_conn_facts conn = {.size = sizeof(conn)};

    mk_request_facts(rq->r, &facts);
    mk_conn_facts(facts.conn, &conn);
    if (mk_conn_is_trusted(facts.conn))
        (void)read_address(last_forwarded(rq->r), conn.peer_ip);
    return mk_duda_rate_client(conn.peer_ip);
}

/* ---- the guard ---- */

static void refuse(struct mk_duda_request *rq, int64_t ns)
{
    char seconds[24];
    int len = snprintf(seconds, sizeof(seconds), "%lld",
                       (long long)((ns + NS_OF_SECOND - 1) / NS_OF_SECOND));

    (void)mk_duda_answer_replace(rq, MK_STR("Retry-After"), (struct mk_str){seconds, (size_t)len});
    (void)mk_duda_response.problem(&rq->dr, 429, "Too many requests", NULL);
}

static void count(struct mk_duda_request *rq, const void *arg)
{
    struct rate *rate = (struct rate *)(uintptr_t)arg;
    const uint64_t client = client_of(rq);
    struct timespec now;
    int64_t ns;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    (void)pthread_mutex_lock(&rate->lock);
    ns = mk_duda_rate_take(&rate->table, client, (int64_t)now.tv_sec * NS_OF_SECOND + now.tv_nsec);
    (void)pthread_mutex_unlock(&rate->lock);
    if (ns > 0)
        refuse(rq, ns);
}

int mk_duda_guard_rate(unsigned requests, unsigned seconds)
{
    struct mk_duda_service *s;
    struct rate *rate;
    uint64_t seed = 0;

    if (!mk_duda_guards_of(&s, "guard->rate"))
        return -1;
    if (requests == 0 || seconds == 0 || requests > MK_DUDA_RATE_MOST ||
        seconds > MK_DUDA_RATE_MOST)
        return mk_duda_refuse(s, "guard->rate(%u, %u): each is 1 to 1000000", requests, seconds);
    rate = mk_duda_alloc(s, sizeof(*rate));
    if (!rate || pthread_mutex_init(&rate->lock, NULL) != 0)
        return mk_duda_refuse(s, "no memory");
    (void)!getrandom(&seed, sizeof(seed), GRND_NONBLOCK);
    mk_duda_rate_init(&rate->table, requests, seconds, seed);
    return mk_duda_route_guard(s, "guard->rate", count, rate, NULL);
}
