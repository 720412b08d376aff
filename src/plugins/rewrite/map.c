/* SPDX-License-Identifier: Apache-2.0 */
#include "map.h"

#include "target.h"

#include "kit/pure/hash.h"
#include "kit/pure/hex.h"
#include "kit/text/words.h"

#include <string.h>

/* ---- lookups ---- */

struct key {
    struct mk_str path, query; /* query p NULL: none */
};

/* The keys are the administrator's, so nobody can choose them to collide. */
static uint32_t hash_of(const struct key *k)
{
    const uint32_t hash = hash_32(HASH_START_32, k->path.p, k->path.len);

    return k->query.p ? hash_32(hash_32(hash, "?", 1), k->query.p, k->query.len) : hash;
}

static bool is_key(struct mk_str address, const struct key *k)
{
    if (!k->query.p)
        return text_is(address, k->path);
    return address.len == k->path.len + 1 + k->query.len && address.p[k->path.len] == '?' &&
           memcmp(address.p, k->path.p, k->path.len) == 0 &&
           text_is((struct mk_str){address.p + k->path.len + 1, k->query.len}, k->query);
}

static struct mk_str from_of(const struct map *m, uint32_t index)
{
    return (struct mk_str){m->text + m->lines[index].from, m->lines[index].from_len};
}

/* @return the slot of the key, or the free one for it. */
static uint32_t *slot_of(const struct map *m, const struct key *k)
{
    uint32_t at = hash_of(k) & m->mask;

    while (m->slots[at] && !is_key(from_of(m, m->slots[at] - 1), k))
        at = (at + 1) & m->mask;
    return &m->slots[at];
}

static const struct map_line *look_up(const struct map *m, const struct key *k)
{
    const uint32_t found = *slot_of(m, k);

    return found ? &m->lines[found - 1] : NULL;
}

const struct map_line *rewrite_map_find(const struct map *m, struct mk_str path,
                                        struct mk_str query)
{
    const struct map_line *found = NULL;

    if (memchr(path.p, '?', path.len))
        return NULL; /* a decoded one, which no line has */
    if (query.p)
        found = look_up(m, &(struct key){path, query});
    return found ? found : look_up(m, &(struct key){path, {NULL, 0}});
}

struct mk_str rewrite_map_target(const struct map *m, const struct map_line *line)
{
    return (struct mk_str){m->text + line->to, line->to_len};
}

/* ---- reading ---- */

uint32_t rewrite_map_count(struct mk_str text)
{
    uint32_t count = 1;

    for (const char *at = text.p;
         count < MAP_LINES_MAX && (at = memchr(at, '\n', text.len - (size_t)(at - text.p))); at++)
        count++;
    return count;
}

uint32_t rewrite_map_slots(uint32_t nlines)
{
    uint32_t slots = 2;

    while (slots < 2 * nlines)
        slots *= 2;
    return slots;
}

/* Decode the path of an address in place: requests' paths are. @return its new length; 0: it is malformed. */
static size_t decode(char *address, size_t len)
{
    char *mark = memchr(address, '?', len);
    const size_t path_len = mark ? (size_t)(mark - address) : len;
    size_t at = 0, i = 0;

    while (i < path_len) {
        const bool is_code = address[i] == '%';
        const int high = is_code && i + 2 < path_len ? hex_value(address[i + 1]) : -1;
        const int low = is_code && i + 2 < path_len ? hex_value(address[i + 2]) : -1;

        const int code = is_code ? high * 16 + low : (unsigned char)address[i];

        if (high < -1 + is_code || low < -1 + is_code || (is_code && (code == 0 || code == '?')))
            return 0;
        address[at++] = (char)code;
        i += is_code ? 3 : 1;
    }
    memmove(address + at, address + path_len, len - path_len);
    return at + len - path_len;
}

static bool is_location(struct mk_str to)
{
    for (size_t i = 0; i < to.len; i++) {
        if ((unsigned char)to.p[i] <= ' ' || (unsigned char)to.p[i] >= 0x7f)
            return false;
    }
    return to.p[0] == '/' ? to.len == 1 || to.p[1] != '/' : memmem(to.p, to.len, "://", 3) != NULL;
}

static struct key key_of(struct mk_str address)
{
    struct key k = {.path = address, .query = {NULL, 0}};
    struct mk_str path = text_cut(&address, '?');

    if (path.len < k.path.len) {
        k.path = path;
        k.query = address;
    }
    return k;
}

static int refuse(struct map_fault *fault, const char *why)
{
    fault->why = why;
    return MK_E_INVALID;
}

static int take_line(struct map *m, char *line, size_t len, struct map_fault *fault)
{
    struct mk_str rest = text_trim((struct mk_str){line, len}), from = text_next_word(&rest);
    struct mk_str to = text_next_word(&rest), status = text_next_word(&rest);
    struct map_line *l = &m->lines[m->nlines];
    const unsigned code = status.p ? rewrite_target_status(status) : TARGET_STATUS;
    struct key k;
    uint32_t *slot;

    if (from.len == 0 || from.p[0] == '#')
        return 0;
    if (from.p[0] != '/' || to.len == 0 || text_trim(rest).len > 0)
        return refuse(fault,
                      "expected a path, a path or URL to which it has moved, and perhaps a status");
    if (code == 0)
        return refuse(fault, "a status is one of 301 302 303 307 308");
    if (from.len > MAP_ADDRESS_MAX || to.len > MAP_ADDRESS_MAX)
        return refuse(fault, "an address has more than 8000 bytes");
    if (from.len > 1 && memcmp(from.p + from.len - 2, "/*", 2) == 0)
        return refuse(fault, "a map has single paths: Redirect has those with a * at their end");
    if (!is_location(to))
        return refuse(fault, "the new address is neither a path nor a URL");
    from.len = decode(m->text + (from.p - m->text), from.len);
    if (from.len == 0)
        return refuse(fault,
                      "the old address has a % without two hexadecimal digits, or %00 or %3F");
    k = key_of(from);
    slot = slot_of(m, &k);
    if (*slot) {
        fault->same_line = m->lines[*slot - 1].number;
        return refuse(fault, "the old address is there already");
    }
    *l = (struct map_line){(uint32_t)(from.p - m->text),
                           (uint32_t)(to.p - m->text),
                           (uint16_t)from.len,
                           (uint16_t)to.len,
                           fault->line,
                           (uint16_t)code};
    *slot = ++m->nlines;
    return 0;
}

int rewrite_map_read(struct map *m, char *text, size_t len, struct map_line *lines, uint32_t *slots,
                     uint32_t nslots, struct map_fault *fault)
{
    size_t at = 0;
    int err = 0;

    *m = (struct map){.text = text, .lines = lines, .slots = slots, .mask = nslots - 1};
    *fault = (struct map_fault){.line = 0};
    while (err == 0 && at < len) {
        const char *end = memchr(text + at, '\n', len - at);
        const size_t n = end ? (size_t)(end - text) - at : len - at;
        const bool has_return = n > 0 && text[at + n - 1] == '\r';

        if (++fault->line > MAP_LINES_MAX)
            return refuse(fault, "a map has at most 1048576 lines");
        err = take_line(m, text + at, n - has_return, fault);
        at += n + 1;
    }
    return err;
}
