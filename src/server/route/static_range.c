/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/str.h"
#include "http/byteranges.h"
#include "http/preconditions.h"
#include "server/answer/reply.h"
#include "server/route/route.h"
#include "server/worker/worker.h"

/* 206: one range as it is, several as multipart/byteranges (RFC 9110 sections 14 and 15.3.7). */

struct answer {
    struct mk_request *r;
    struct mk_file *file;
    struct mk_str type, coding;
    struct mk_range ranges[MK_LIMIT_RANGES];
    int count;
};

static bool if_range_holds(struct mk_request *r, const struct mk_file *file)
{
    const struct mk_validators validators = {
        .etag = file->etag,
        .last_modified = file->mtime_s,
        .now = r->worker->loop.clock.wall_s,
    };

    return mk_if_range_holds(mk_request_field(r, MK_FIELD_IF_RANGE), &validators);
}

static void begin(struct answer *a, struct mk_reply *p, struct mk_str type)
{
    mk_reply_add(p, MK_STR("Content-Type"), type);
    if (a->coding.p)
        mk_reply_add(p, MK_STR("Content-Encoding"), a->coding);
    mk_reply_lines(p, a->file->common_lines);
}

static int send_one(struct answer *a)
{
    struct mk_range range = a->ranges[0];
    struct mk_reply p;
    char *value =
        mk_arena_printf(&a->r->arena, "bytes %llu-%llu/%llu", (unsigned long long)range.first,
                        (unsigned long long)range.last, (unsigned long long)a->file->facts.size);
    int err;

    if (!value || mk_reply_start(&p, a->r, 206) < 0)
        return MK_E_NOMEM;
    begin(a, &p, a->type);
    mk_reply_add(&p, MK_STR("Content-Range"), mk_str_from(value));
    err = mk_reply_finish_plain(&p, (int64_t)(range.last - range.first + 1));
    return err < 0 ? err : mk_reply_file(a->r, mk_file_ref(a->file), range.first, range.last + 1);
}

static int queue_parts(struct answer *a, const struct mk_str *separators)
{
    for (int i = 0; i <= a->count; i++) {
        int err = mk_reply_memory(a->r, separators[i]);

        if (err == 0 && i < a->count)
            err = mk_reply_file(a->r, mk_file_ref(a->file), a->ranges[i].first,
                                a->ranges[i].last + 1);
        if (err < 0)
            return err;
    }
    return 0;
}

static int send_several(struct answer *a)
{
    struct mk_byteranges parts = {
        .ranges = a->ranges,
        .count = a->count,
        .size = a->file->facts.size,
        .type = a->type,
    };
    struct mk_str separators[MK_LIMIT_RANGES + 1];
    const struct mk_request *r = a->r;
    char *text = mk_arena_alloc(&a->r->arena, mk_byteranges_room(&parts));
    struct mk_reply p;
    uint64_t length;
    int err;

    if (!text)
        return MK_E_NOMEM;
    length =
        mk_byteranges_write(&parts, text, separators,
                            (uint64_t)mk_str_hash(a->file->etag, (uint32_t)r->id) << 32 | r->id);
    if (mk_reply_start(&p, a->r, 206) < 0)
        return MK_E_PEER;
    begin(a, &p, mk_str_from(parts.content_type));
    err = mk_reply_finish_plain(&p, (int64_t)length);
    return err < 0 ? err : queue_parts(a, separators);
}

bool mk_static_send_ranges(struct mk_request *r, struct mk_file *file, struct mk_str type,
                           struct mk_str coding)
{
    struct answer a = {.r = r, .file = file, .type = type, .coding = coding};
    int err;

    if (!r->view->snapshot->set.resume || r->head.method != MK_METHOD_GET ||
        !if_range_holds(r, file))
        return false;
    a.count = mk_range_parse(mk_request_field(r, MK_FIELD_RANGE), file->facts.size, a.ranges,
                             MK_LIMIT_RANGES);
    /* The type of several parts tells where they part, so a site that sets the type gets the whole sent. */
    if (a.count == 0 || (a.count > 1 && mk_site_overrides(r->site, MK_STR("Content-Type"))))
        return false;
    if (a.count < 0) {
        mk_reply_range_error(r, file->facts.size);
    } else {
        err = a.count == 1 ? send_one(&a) : send_several(&a);
        if (err < 0 && r->status == 0)
            mk_reply_refuse(r, MK_REFUSAL_NO_MEMORY);
        else if (err < 0)
            mk_reply_break(r);
    }
    mk_file_put(file);
    return true;
}
