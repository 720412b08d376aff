/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/scripts.h"

#include "kit/pure/hash.h"

static size_t place_of(struct mk_str path)
{
    const uint32_t hash = hash_32(HASH_START_32, path.p, path.len);

    return (hash ^ hash >> 16) % SCRIPTS_KEPT;
}

size_t fastcgi_scripts_find(const struct scripts *s, const void *location, const char *root,
                            struct mk_str path, int64_t now_ms)
{
    const struct known_script *k = &s->known[place_of(path)];

    if (k->root != root || k->location != location || k->until_ms <= now_ms ||
        k->path_len != path.len || memcmp(k->path, path.p, path.len) != 0)
        return 0;
    return k->script_len;
}

void fastcgi_scripts_note(struct scripts *s, const void *location, const char *root,
                          struct mk_str path, size_t script_len, int64_t now_ms)
{
    struct known_script *k = &s->known[place_of(path)];

    if (path.len > SCRIPTS_PATH_MAX)
        return;
    k->root = root;
    k->location = location;
    k->until_ms = now_ms + SCRIPTS_MS;
    k->path_len = (uint16_t)path.len;
    k->script_len = (uint16_t)script_len;
    memcpy(k->path, path.p, path.len);
}
