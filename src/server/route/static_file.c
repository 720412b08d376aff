/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "http/accept.h"
#include "http/preconditions.h"
#include "server/answer/reply.h"
#include "server/route/route.h"
#include "server/worker/worker.h"

/* Answering with a regular file: variant, preconditions, ranges, or the whole. */

static const struct coding {
    struct mk_str name, suffix;
} codings[] = {
    /* best first: what wins when the client likes several as much */
    {MK_STR_INIT("br"), MK_STR_INIT(".br")},
    {MK_STR_INIT("zstd"), MK_STR_INIT(".zst")},
    {MK_STR_INIT("gzip"), MK_STR_INIT(".gz")},
};

static struct mk_file *open_variant(struct mk_request *r, const struct mk_file *file,
                                    const struct coding *coding)
{
    struct mk_file *variant;
    struct mk_str path = mk_str_from(
        mk_arena_printf(&r->arena, "%.*s%s", (int)file->path.len, file->path.p, coding->suffix.p));
    if (!path.p)
        return NULL;
    variant = mk_files_get(&r->view->files, file->root, path, r->worker->loop.clock.mono_ms);
    if (variant && (variant->kind != MK_FILE_REGULAR || mk_route_is_owned(r, variant))) {
        mk_file_put(variant);
        return NULL;
    }
    return variant;
}

/* The best compressed file beside this one that the client takes; NULL for the file itself. */
static struct mk_file *choose_variant(struct mk_request *r, const struct mk_file *file,
                                      struct mk_str *coding)
{
    struct mk_str accept = mk_request_list(r, MK_FIELD_ACCEPT_ENCODING, MK_STR("Accept-Encoding"));
    struct mk_file *chosen = NULL;
    unsigned best;

    if (!accept.p)
        return NULL;
    best = mk_accept_encoding(accept, MK_STR("identity"));
    for (size_t i = 0; i < sizeof(codings) / sizeof(codings[0]); i++) {
        unsigned weight = mk_accept_encoding(accept, codings[i].name);
        struct mk_file *variant = weight > best ? open_variant(r, file, &codings[i]) : NULL;

        if (!variant)
            continue;
        if (chosen)
            mk_file_put(chosen);
        chosen = variant;
        best = weight;
        *coding = codings[i].name;
    }
    return chosen;
}

static bool has_preconditions(const struct mk_h1_head *h)
{
    return h->known[MK_FIELD_IF_MATCH].off | h->known[MK_FIELD_IF_NONE_MATCH].off |
           h->known[MK_FIELD_IF_MODIFIED_SINCE].off | h->known[MK_FIELD_IF_UNMODIFIED_SINCE].off;
}

static enum mk_precondition check_preconditions(struct mk_request *r, const struct mk_file *file)
{
    const struct mk_preconditions conditions = {
        .if_match = mk_request_list(r, MK_FIELD_IF_MATCH, MK_STR("If-Match")),
        .if_none_match = mk_request_list(r, MK_FIELD_IF_NONE_MATCH, MK_STR("If-None-Match")),
        .if_modified_since = mk_request_field(r, MK_FIELD_IF_MODIFIED_SINCE),
        .if_unmodified_since = mk_request_field(r, MK_FIELD_IF_UNMODIFIED_SINCE),
    };
    const struct mk_validators validators = {
        .etag = file->etag,
        .last_modified = file->mtime_s,
        .now = r->worker->loop.clock.wall_s,
    };

    return mk_preconditions_eval(&conditions, &validators, true);
}

static void send_not_modified(struct mk_request *r, struct mk_file *file)
{
    struct mk_reply p;

    if (mk_reply_start(&p, r, 304) < 0) {
        mk_reply_break(r);
    } else {
        mk_reply_lines(&p, file->common_lines);
        if (mk_reply_finish_plain(&p, 0) < 0)
            mk_reply_break(r);
    }
    mk_file_put(file);
}

static void send_whole(struct mk_request *r, struct mk_file *file, struct mk_str type,
                       struct mk_str coding)
{
    struct mk_reply p;

    if (mk_reply_start(&p, r, 200) < 0) {
        mk_file_put(file);
        mk_reply_break(r);
        return;
    }
    if (coding.p) {
        mk_reply_add(&p, MK_STR("Content-Type"), type);
        mk_reply_add(&p, MK_STR("Content-Encoding"), coding);
        mk_reply_lines(&p, (struct mk_str){file->common_lines.p,
                                           file->common_lines.len + file->length_line.len});
    } else {
        mk_reply_lines(&p, (struct mk_str){file->type_line.p, file->type_line.len +
                                                                  file->common_lines.len +
                                                                  file->length_line.len});
    }
    p.has_length = true;
    if (mk_reply_finish_plain(&p, (int64_t)file->facts.size) < 0) {
        mk_file_put(file);
        mk_reply_break(r);
    } else if (mk_reply_file(r, file, 0, file->facts.size) < 0) {
        mk_reply_break(r);
    }
}

void mk_static_send(struct mk_request *r, struct mk_file *file)
{
    struct mk_str coding = {NULL, 0}, type = file->type;
    struct mk_file *variant = r->site->set.precompressed ? choose_variant(r, file, &coding) : NULL;

    if (variant) {
        type = mk_str_from(mk_arena_strdup(&r->arena, type));
        mk_file_put(file);
        file = variant;
    }
    if (has_preconditions(&r->head)) {
        switch (check_preconditions(r, file)) {
        case MK_PRECONDITION_PASS:
            break;
        case MK_PRECONDITION_NOT_MODIFIED:
            send_not_modified(r, file);
            return;
        case MK_PRECONDITION_FAILED:
            mk_file_put(file);
            mk_reply_refuse(r, MK_REFUSAL_PRECONDITION);
            return;
        }
    }
    if (r->head.known[MK_FIELD_RANGE].off && mk_site_gives_parts(r->site) &&
        mk_static_send_ranges(r, file, type, coding))
        return;
    send_whole(r, file, type, coding);
}
