/* SPDX-License-Identifier: Apache-2.0 */
#include "base/invariant.h"
#include "base/limits.h"
#include "base/str.h"
#include "core/fd.h"
#include "http/field.h"
#include "server/answer/body.h"
#include "server/answer/misuse.h"
#include "server/answer/pipe.h"
#include "server/answer/reply.h"
#include "server/files/files.h"
#include "server/request/wire.h"
#include "server/worker/worker.h"

#include <monkey/field.h>

/* Queueing where the bytes of an answer's body come from. */

/* @return 0: go on; 1: nobody will see a body; MK_E_INVALID: there is no answer that could have one. */
static int accepts(struct mk_request *r)
{
    bool is_cut = r->answering == MK_ANSWERING_CUT;

    if ((!mk_answering_is_open(r) && !is_cut) || mk_asking_is_over(r))
        return mk_misuse_log(r, "a body without a head, or after its end", MK_E_INVALID);
    return r->framing == MK_FRAMING_ABSENT || is_cut;
}

static struct mk_source *add_source(struct mk_request *r)
{
    struct mk_source *s = mk_arena_alloc(&r->arena, sizeof(*s));

    if (!s) {
        mk_reply_break(r);
        return NULL;
    }
    *s = (struct mk_source){0};
    if (r->last)
        r->last->next = s;
    else
        r->first = s;
    r->last = s;
    return s;
}

int mk_reply_memory(struct mk_request *r, struct mk_str bytes)
{
    int no = accepts(r);
    struct mk_source *s;

    if (no || bytes.len == 0)
        return no < 0 ? no : 0;
    s = add_source(r);
    if (!s)
        return MK_E_NOMEM;
    s->kind = MK_SOURCE_MEMORY;
    s->bytes = bytes.p;
    s->end = bytes.len;
    return 0;
}

int mk_reply_file(struct mk_request *r, struct mk_file *file, uint64_t at, uint64_t end)
{
    bool is_unseen = r->framing == MK_FRAMING_ABSENT || at == end;
    struct mk_source *s = is_unseen ? NULL : add_source(r);

    if (!s) {
        mk_file_put(file);
        return is_unseen ? 0 : MK_E_NOMEM;
    }
    s->kind = MK_SOURCE_FILE;
    s->file = file;
    s->fd = file->fd;
    s->at = at;
    s->end = end;
    return 0;
}

int mk_reply_fd(struct mk_request *r, int fd, uint64_t at, uint64_t len)
{
    int no = accepts(r);
    struct mk_source *s;

    if (no == 0 && (at > INT64_MAX || len > INT64_MAX - at))
        no = mk_misuse_log(r, "an impossible part of a file", MK_E_INVALID);
    if (no || len == 0) {
        mk_fd_close(&fd);
        return no < 0 ? no : 0;
    }
    s = add_source(r);
    if (!s) {
        mk_fd_close(&fd);
        return MK_E_NOMEM;
    }
    s->kind = MK_SOURCE_FILE;
    s->fd = fd;
    s->at = at;
    s->end = at + len;
    return 0;
}

int mk_reply_pipe(struct mk_request *r, int fd, uint64_t max)
{
    int no = accepts(r);
    struct mk_source *s;
    int err;

    if (no || max == 0) {
        mk_fd_close(&fd);
        return no < 0 ? no : 0;
    }
    s = add_source(r);
    if (!s) {
        mk_fd_close(&fd);
        return MK_E_NOMEM;
    }
    s->kind = MK_SOURCE_PIPE;
    err = mk_pipe_open(&s->pipe, r, fd, max);
    return err < 0 ? mk_misuse_log(r, "a pipe that cannot be watched", err) : 0;
}

int mk_reply_producer(struct mk_request *r, mk_produce_fn produce, void *arg)
{
    return mk_reply_piped_producer(r, produce, NULL, arg);
}

int mk_reply_piped_producer(struct mk_request *r, mk_produce_fn produce, mk_fill_fn fill, void *arg)
{
    int no = accepts(r);
    struct mk_source *s;

    if (no)
        return no < 0 ? no : 0;
    s = add_source(r);
    if (!s)
        return MK_E_NOMEM;
    s->kind = MK_SOURCE_PRODUCER;
    s->produce = produce;
    s->fill = fill;
    s->arg = arg;
    return 0;
}

int mk_reply_trailer(struct mk_request *r, struct mk_str name, struct mk_str value)
{
    struct mk_trailer *trailer, **last = &r->trailer;
    size_t len = name.len + 2 + value.len + 2;
    int no = accepts(r);
    char *line;

    if (no < 0)
        return no;
    if (!mk_field_is_name(name) || (mk_field_rules(name) & MK_RULE_NO_TRAILER) ||
        !mk_field_is_value(value))
        return mk_misuse_log(r, "a field that is not allowed as a trailer", MK_E_INVALID);
    if (no || r->framing != MK_FRAMING_CHUNKS)
        return 0;
    for (; *last; last = &(*last)->next)
        len += (*last)->line.len;
    if (len > MK_LIMIT_TRAILERS)
        return mk_misuse_log(r, "too many trailers", MK_E_LIMIT);
    trailer = mk_arena_zalloc(&r->arena, sizeof(*trailer));
    line = trailer ? mk_arena_printf(&r->arena, "%.*s: %.*s\r\n", (int)name.len, name.p,
                                     (int)value.len, value.p)
                   : NULL;
    if (!line) {
        mk_reply_break(r);
        return MK_E_NOMEM;
    }
    trailer->line = mk_str_from(line);
    *last = trailer;
    return 0;
}

void mk_reply_abort(struct mk_request *r)
{
    mk_reply_break(r);
    r->wire->wake(r); /* it may wait for something else */
}
