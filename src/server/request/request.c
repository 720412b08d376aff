/* SPDX-License-Identifier: Apache-2.0 */
#include "server/request/request.h"

#include "base/limits.h"
#include "base/str.h"
#include "server/request/request_state.h"
#include "server/request/wire.h"
#include "server/worker/worker.h"

struct mk_str mk_request_field(const struct mk_request *r, enum mk_field_id id)
{
    return mk_request_text(r, r->head.known[id]);
}

struct mk_str mk_request_query(const struct mk_request *r)
{
    return r->moved || r->requeried ? r->query : mk_request_text(r, r->head.query);
}

struct mk_str mk_request_authority(const struct mk_request *r)
{
    struct mk_str authority = mk_request_text(r, r->head.authority);

    return authority.p ? authority : mk_request_field(r, MK_FIELD_HOST);
}

struct mk_str mk_request_list(struct mk_request *r, enum mk_field_id id, struct mk_str name)
{
    struct mk_str list = mk_request_field(r, id), found, value;
    uint32_t at = 0;
    bool first = true;

    if (!(r->head.repeated & (1U << id)))
        return list;
    while (mk_h1_head_next_field(&r->head, r->text, &at, &found, &value)) {
        char *joined;

        if (!mk_str_ieq(found, name))
            continue;
        joined = first ? mk_arena_strdup(&r->arena, value)
                       : mk_arena_printf(&r->arena, "%.*s, %.*s", (int)list.len, list.p,
                                         (int)value.len, value.p);
        if (!joined)
            return list; /* the arena's limit: what was joined so far counts */
        list = mk_str_from(joined);
        first = false;
    }
    return list;
}

/* Who reads to MK_E_AGAIN would never come back from a sender that is faster. */
static bool has_read_enough(struct mk_request *r)
{
    uint32_t turn = (uint32_t)r->worker->loop.turns;

    if (r->read_turn != turn) {
        r->read_turn = turn;
        r->read_bytes = 0;
    }
    return r->read_bytes >= MK_LIMIT_TURN_BYTES;
}

ssize_t mk_request_read(struct mk_request *r, char *dst, size_t len)
{
    ssize_t n;

    if (len == 0)
        return MK_E_INVALID;
    if (mk_asking_is_over(r))
        return MK_E_PEER;
    if (has_read_enough(r)) {
        mk_request_resume(r);
        return MK_E_AGAIN;
    }
    if (len > MK_LIMIT_TURN_BYTES)
        len = MK_LIMIT_TURN_BYTES;
    n = mk_receiving_is_done(r) ? 0 : r->wire->read(r, dst, len);
    if (n > 0)
        r->read_bytes += (uint32_t)n;
    return n;
}

size_t mk_request_buffered(const struct mk_request *r)
{
    return mk_asking_is_over(r) || mk_receiving_is_done(r) ? 0 : r->wire->buffered(r);
}

int64_t mk_request_time_for(uint64_t bytes, int64_t rate)
{
    return bytes < INT64_MAX / 1000 ? (int64_t)(bytes * 1000) / rate : INT64_MAX / 2;
}

/* Only the time that was waited for the client counts: not what the server took before it read on. */
int64_t mk_request_sender_ms(const struct mk_request *r)
{
    int64_t rate = r->site->set.min_rate, grace_ms = r->site->set.body_timeout_ms;
    int64_t left_ms = rate > 0 ? mk_request_time_for(r->body.total, rate) - r->body_waited_ms : 0;

    return left_ms < 0 ? grace_ms + left_ms : grace_ms;
}

void mk_request_hold(struct mk_request *r, size_t bytes)
{
    r->held = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}
