/* SPDX-License-Identifier: Apache-2.0 */
#include "server/worker/per_address.h"

#include "base/heap.h"
#include "base/str.h"

enum { FIRST_SIZE = 64 };

struct mk_address_count {
    uint8_t key[16];
    uint32_t count; /* 0: a free slot */
};

void mk_per_address_init(struct mk_per_address *p, int64_t max)
{
    atomic_init(&p->max, max);
    for (int i = 0; i < MK_ADDRESS_SHARDS; i++) {
        p->shards[i] = (struct mk_address_shard){.slots = NULL};
        pthread_mutex_init(&p->shards[i].lock, NULL);
    }
}

void mk_per_address_fini(struct mk_per_address *p)
{
    for (int i = 0; i < MK_ADDRESS_SHARDS; i++) {
        mk_heap_free(p->shards[i].slots);
        pthread_mutex_destroy(&p->shards[i].lock);
    }
}

static bool is_v4(const struct mk_peer *peer)
{
    static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

    return memcmp(peer->ip, prefix, sizeof(prefix)) == 0;
}

void mk_per_address_key(uint8_t key[MK_ADDRESS_KEY], const struct mk_peer *peer)
{
    memcpy(key, peer->ip, 16);
    if (!is_v4(peer))
        memset(key + 8, 0, 8);
}

static uint32_t hash_key(const uint8_t key[16])
{
    return mk_str_hash((struct mk_str){(const char *)key, 16}, 0);
}

/* The slot of a key, or the free one where it belongs. Tables are at most three quarters full. */
static struct mk_address_count *slot_of_key(struct mk_address_shard *s, const uint8_t key[16])
{
    size_t i = hash_key(key) / MK_ADDRESS_SHARDS % s->size;

    while (s->slots[i].count > 0 && memcmp(s->slots[i].key, key, 16) != 0)
        i = (i + 1) % s->size;
    return &s->slots[i];
}

static bool grow_shard(struct mk_address_shard *s)
{
    struct mk_address_shard larger = {.size = s->size ? s->size * 2 : FIRST_SIZE};

    if (s->used * 4 < s->size * 3)
        return true;
    larger.slots = mk_heap_zalloc(larger.size, sizeof(*larger.slots));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < s->size; i++) {
        if (s->slots[i].count > 0)
            *slot_of_key(&larger, s->slots[i].key) = s->slots[i];
    }
    mk_heap_free(s->slots);
    s->slots = larger.slots;
    s->size = larger.size;
    return true;
}

/* Take a slot out and close the gap, so that later keys of its run are still found. */
static void remove_slot(struct mk_address_shard *s, struct mk_address_count *slot)
{
    size_t i = (size_t)(slot - s->slots);

    slot->count = 0;
    s->used--;
    for (i = (i + 1) % s->size; s->slots[i].count > 0; i = (i + 1) % s->size) {
        struct mk_address_count moved = s->slots[i];

        s->slots[i].count = 0;
        *slot_of_key(s, moved.key) = moved;
    }
}

bool mk_per_address_take(struct mk_per_address *p, struct mk_peer *peer)
{
    int64_t max = atomic_load_explicit(&p->max, memory_order_relaxed);
    struct mk_address_shard *s;
    struct mk_address_count *slot;
    uint8_t key[16];
    bool taken = false;

    if (max == 0 || peer->is_unix)
        return true;
    mk_per_address_key(key, peer);
    s = &p->shards[hash_key(key) % MK_ADDRESS_SHARDS];
    pthread_mutex_lock(&s->lock);
    if (grow_shard(s)) {
        slot = slot_of_key(s, key);
        taken = slot->count < max;
        if (slot->count == 0 && taken) {
            memcpy(slot->key, key, 16);
            s->used++;
        }
        slot->count += taken;
    }
    pthread_mutex_unlock(&s->lock);
    peer->counted = taken;
    return taken;
}

void mk_per_address_put(struct mk_per_address *p, const struct mk_peer *peer)
{
    struct mk_address_shard *s;
    struct mk_address_count *slot;
    uint8_t key[16];

    if (!peer->counted)
        return;
    mk_per_address_key(key, peer);
    s = &p->shards[hash_key(key) % MK_ADDRESS_SHARDS];
    pthread_mutex_lock(&s->lock);
    if (s->size > 0) {
        slot = slot_of_key(s, key);
        if (slot->count > 1)
            slot->count--;
        else if (slot->count == 1)
            remove_slot(s, slot);
    }
    pthread_mutex_unlock(&s->lock);
}
