/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/intake/intake.h"

#include <errno.h>
#include <string.h>

enum {
    IN_MEMORY = 64 << 10,
    PIECE = 16 << 10,
    TURN = 256 << 10, /* gathered before others have their turn */
};

const char *const intake_modes[] = {"auto", "on", "off", NULL};

/* "Content-Length: 0", and not a length that is no longer meant. */
static bool announces_nothing(const struct mk_request *r)
{
    struct mk_str length = mk_request_header(r, MK_STR("Content-Length"));

    while (length.len > 0 && *length.p == '0') {
        length.p++;
        length.len--;
        if (length.len == 0)
            return true;
    }
    return false;
}

void intake_init(struct intake *i, const struct mk_request *r, const struct mk_request_facts *facts,
                 enum intake_mode mode, bool needs_length)
{
    bool is_there = facts->content_length != 0;

    *i = (struct intake){.worker = facts->worker,
                         .length = facts->content_length,
                         .mode = (uint8_t)mode,
                         .needs_length = needs_length,
                         .announced = is_there || (needs_length && announces_nothing(r)),
                         .may_pass = !is_there || mode == INTAKE_OFF,
                         .owes = is_there,
                         .ended = !is_there};
}

/* ---- gathering ---- */

/* What the system said of the file tells more than our own error. */
static const char *why_not_kept(const struct intake *i, int err)
{
    return i->spool_errno ? strerror(i->spool_errno) : mk_error_text(err);
}

static enum mk_verdict refuse(const struct intake *i, struct mk_request *r, ssize_t err)
{
    switch (err) {
    case MK_E_PEER:
        return MK_VERDICT_CLOSE;
    case MK_E_BAD:
        return mk_reply_error(r, 400, NULL);
    case MK_E_LIMIT:
        return mk_reply_error(r, 413, NULL);
    case MK_E_NOMEM:
    case MK_E_NOFD:
        return mk_reply_error(r, 503, NULL);
    default:
        mk_request_log(r, MK_LOG_ERROR, "cannot keep a request body path=%s why=\"%s\"",
                       i->spool_dir, why_not_kept(i, (int)err));
        return mk_reply_error(r, 500, NULL);
    }
}

static bool may_stream(const struct intake *i)
{
    return i->mode == INTAKE_AUTO && (i->length >= 0 || !i->needs_length);
}

/* The spool has no room for a piece: it is kept beside it, and what follows is not gathered. */
static int keep_rest(struct intake *i, struct mk_request *r, const char *piece, size_t len, int why)
{
    char *copy = may_stream(i) ? mk_request_alloc(r, len) : NULL;

    if (!copy)
        return why;
    mk_request_log(r, MK_LOG_WARN, "request body is no longer gathered path=%s why=\"%s\"",
                   i->spool_dir, why_not_kept(i, why));
    memcpy(copy, piece, len);
    i->rest = (struct mk_str){copy, len};
    i->may_pass = true;
    return 0;
}

static void report_memory(const struct intake *i, struct mk_request *r)
{
    uint64_t size = i->spool ? mk_spool_size(i->spool) : 0;

    mk_request_hold(r, (size < IN_MEMORY ? (size_t)size : IN_MEMORY) + i->beside);
}

void intake_hold(struct intake *i, struct mk_request *r, size_t beside)
{
    i->beside = beside;
    report_memory(i, r);
}

static int keep(struct intake *i, struct mk_request *r, const char *piece, size_t len)
{
    int err;

    errno = 0;
    err = mk_spool_write(i->spool, piece, len);
    i->spool_errno = err < 0 ? errno : 0;
    if (err < 0)
        return keep_rest(i, r, piece, len, err);
    report_memory(i, r);
    return 0;
}

static void end_gathering(struct intake *i)
{
    i->is_gathered = i->may_pass = true;
    i->owes = false;
    i->length = (int64_t)mk_spool_size(i->spool);
}

/* @return 0: the body may pass; MK_E_AGAIN: not before more of it came; or an error. */
static ssize_t gather(struct intake *i, struct mk_request *r)
{
    char piece[PIECE];
    size_t gathered = 0;
    int64_t now = mk_worker_now_ms(i->worker);
    ssize_t n;

    while (gathered < TURN && (n = mk_request_read(r, piece, sizeof(piece))) > 0) {
        int err = keep(i, r, piece, (size_t)n);

        if (err < 0)
            return err;
        gathered += (size_t)n;
        arrival_came(&i->arrival, (size_t)n, now);
        if (i->length >= 0 && mk_spool_size(i->spool) == (uint64_t)i->length)
            n = 0;
        i->may_pass =
            i->may_pass || (may_stream(i) && arrival_balance(&i->arrival, now) >= ARRIVAL_FAST);
        if (n == 0 || i->may_pass)
            break;
    }
    if (n == 0)
        end_gathering(i);
    else if (n == MK_E_AGAIN)
        arrival_wait(&i->arrival, now);
    else if (n > 0 && !i->may_pass) {
        mk_request_resume(r);
        return MK_E_AGAIN;
    }
    return n < 0 ? n : 0;
}

/* It came with the head, and can be read without a wait. */
static bool is_here(const struct intake *i, const struct mk_request *r)
{
    return i->length > 0 && !i->spool && mk_request_buffered(r) >= (uint64_t)i->length;
}

enum mk_verdict intake_gather(struct intake *i, struct mk_request *r, const char *dir)
{
    ssize_t err;

    if (!i->may_pass && is_here(i, r)) {
        i->may_pass = true;
        i->owes = false;
    }
    if (i->may_pass)
        return MK_VERDICT_PASS;
    i->spool_dir = dir;
    if (!i->spool)
        i->spool = mk_spool_new(IN_MEMORY, INT64_MAX, dir); /* MaxBodySize bounds what is read */
    if (!i->spool)
        return refuse(i, r, MK_E_NOMEM);
    err = gather(i, r);
    if (err == MK_E_AGAIN)
        return MK_VERDICT_LATER;
    return err < 0 ? refuse(i, r, err) : MK_VERDICT_PASS;
}

/* ---- giving ---- */

/* Of what was gathered. @return bytes; 0: all of it was given; MK_E_SYS. */
static ssize_t read_gathered(struct intake *i, char *dst, size_t len)
{
    return i->spool ? mk_spool_read(i->spool, i->at, dst, len) : 0;
}

/* From here on it cannot be given again. */
static void drop_gathered(struct intake *i)
{
    mk_spool_free(i->spool);
    i->spool = NULL;
}

static ssize_t read_rest(struct intake *i, char *dst, size_t len)
{
    size_t n = i->rest.len < len ? i->rest.len : len;

    memcpy(dst, i->rest.p, n);
    i->rest.p += n;
    i->rest.len -= n;
    drop_gathered(i);
    return (ssize_t)n;
}

static ssize_t read_client(struct intake *i, struct mk_request *r, char *dst, size_t len)
{
    ssize_t n = mk_request_read(r, dst, len);

    if (n > 0) {
        arrival_came(&i->arrival, (size_t)n, mk_worker_now_ms(i->worker));
        drop_gathered(i);
    } else if (n == MK_E_AGAIN) {
        arrival_wait(&i->arrival, mk_worker_now_ms(i->worker));
    }
    if (n == 0 || (n > 0 && i->length >= 0 && i->at + (uint64_t)n == (uint64_t)i->length))
        i->owes = false;
    return n;
}

ssize_t intake_read(struct intake *i, struct mk_request *r, char *dst, size_t len)
{
    ssize_t n;

    if (i->ended)
        return 0;
    n = read_gathered(i, dst, len);
    if (n == 0 && i->rest.len > 0)
        n = read_rest(i, dst, len);
    if (n == 0 && !i->is_gathered)
        n = read_client(i, r, dst, len);
    i->ended = n == 0;
    if (n > 0)
        i->at += (uint64_t)n;
    return n;
}

bool intake_can_rewind(const struct intake *i)
{
    return i->spool;
}

void intake_rewind(struct intake *i)
{
    i->at = 0;
    i->ended = i->length == 0;
}

void intake_fini(struct intake *i)
{
    drop_gathered(i);
}
