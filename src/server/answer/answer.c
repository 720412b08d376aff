/* SPDX-License-Identifier: Apache-2.0 */
#include "base/invariant.h"
#include "base/limits.h"
#include "base/str.h"
#include "http/field.h"
#include "http/status.h"
#include "server/answer/misuse.h"
#include "server/answer/reply.h"
#include "server/request/wire.h"
#include "server/worker/worker.h"

#include <monkey/field.h>

/*
 * The head of an answer as plugins give it: the same as the server writes (reply.c), behind checks, since
 * a plugin's mistake, or bytes that came from a backend, must not end up in how a message is read.
 */

__attribute__((cold, noinline)) void mk_reply_break(struct mk_request *r)
{
    mk_answering_break(r);
    r->keep_alive = false;
}

static bool is_interim(unsigned status)
{
    return status < 200 && status != 101;
}

/* May an answer begin? @return 0, or why not */
static int judge_begin(struct mk_request *r, unsigned status)
{
    if (mk_answering_is_broken(r) || mk_asking_is_over(r))
        return MK_E_PEER;
    if (r->status != 0)
        return mk_misuse_log(r, "a second answer", MK_E_EXISTS);
    if (status < 100 || status > 599 || (status == 101 && r->head.minor == 0))
        return mk_misuse_log(r, "an answer with an invalid status", MK_E_INVALID);
    return 0;
}

int mk_reply_begin(struct mk_reply *p, struct mk_request *r, unsigned status)
{
    int err = judge_begin(r, status);

    if (err < 0) {
        *p = (struct mk_reply){.r = r, .status = status, .error = MK_E_INVALID};
        return err;
    }
    if (status == 200 && r->page_of != 0) {
        status = r->page_of;
        mk_count(&r->worker->counters.refused, 1);
    }
    err = is_interim(status) ? mk_reply_start_interim(p, r, status) : mk_reply_start(p, r, status);
    if (err < 0)
        mk_reply_break(r);
    return err;
}

/* Whatever else was sent since the head was begun may stand where it was. */
static bool is_being_written(const struct mk_reply *p)
{
    return p->r->wire->has_head(p);
}

/* A change of protocol may be named; what Connection says of it is ours to write. @return whether the line is to be sent. */
static __attribute__((cold)) bool judge_framing(struct mk_reply *p, struct mk_str name)
{
    bool may_change = p->status == 101 || p->status == 426;

    if (may_change && mk_str_ieq(name, MK_STR("Connection")))
        return false;
    if (may_change && mk_str_ieq(name, MK_STR("Upgrade")))
        return p->has_upgrade = true;
    p->error = MK_E_INVALID;
    return false;
}

/* A backend's take the place of ours. */
static bool is_stamped(struct mk_str name)
{
    return (name.len == 4 && mk_str_ieq(name, MK_STR("Date"))) ||
           (name.len == 6 && mk_str_ieq(name, MK_STR("Server")));
}

/* @return whether the line is to be sent */
static __attribute__((cold)) bool judge_line(struct mk_reply *p, struct mk_str name,
                                             struct mk_str value)
{
    const unsigned rules = mk_field_rules(name); /* a name that has some is a token */

    if ((rules == 0 && !mk_field_is_name(name)) || !mk_field_is_value(value)) {
        p->error = MK_E_INVALID;
        return false;
    }
    return !(rules & MK_RULE_MESSAGE) || judge_framing(p, name);
}

void mk_reply_line(struct mk_reply *p, struct mk_str name, struct mk_str value)
{
    if (p->error)
        return;
    if (!is_being_written(p)) {
        p->error = MK_E_INVALID;
        return;
    }
    if (!p->is_clean && !judge_line(p, name, value))
        return;
    if (is_stamped(name))
        p->at = mk_field_drop(p->start, p->at, name);
    mk_reply_add(p, name, value.p ? value : (struct mk_str){"", 0});
}

/* Framing is the server's own, and a second Date or Server would contradict its first. */
static bool is_field(struct mk_str name, struct mk_str value)
{
    return mk_field_is_name(name) && mk_field_is_value(value) &&
           !(mk_field_rules(name) & MK_RULE_NOT_FIXED) && !mk_str_ieq(name, MK_STR("Server"));
}

__attribute__((cold)) int mk_reply_field(struct mk_request *r, struct mk_str name,
                                         struct mk_str value)
{
    const size_t before = r && r->lines ? strlen(r->lines) : 0;
    const char *lines;

    if (!r || !is_field(name, value))
        return MK_E_INVALID;
    if (before + name.len + value.len > MK_LIMIT_SITE_LINES)
        return MK_E_LIMIT;
    if (r->status != 0)
        return MK_E_EXISTS;
    if (r->site->set.nheaders > 0 && mk_site_overrides(r->site, name))
        return 0;
    lines = mk_arena_printf(&r->arena, "%s%.*s: %.*s\r\n", r->lines ? r->lines : "", (int)name.len,
                            name.p, (int)value.len, value.p ? value.p : "");
    if (!lines)
        return MK_E_NOMEM;
    r->lines = lines;
    return 0;
}

static int finish(struct mk_reply *p, int64_t length)
{
    struct mk_request *r = p->r;
    int err;

    if (is_interim(p->status))
        return mk_reply_finish_interim(p);
    err = mk_reply_finish(p, r->status == 205 ? 0 : length);
    if (r->status == 205) /* RFC 9110 section 15.3.6 */
        r->framing = MK_FRAMING_ABSENT;
    return err;
}

/* Nothing of it was sent: an error page may still take its place. */
static __attribute__((cold)) int give_up(struct mk_reply *p, int err)
{
    struct mk_request *r = p->r;

    mk_reply_forget(r);
    r->framing = MK_FRAMING_LENGTH;
    return mk_misuse_log(
        r, err == MK_E_LIMIT ? "a head that is too large" : "a head with an invalid line", err);
}

int mk_reply_end(struct mk_reply *p, int64_t length)
{
    struct mk_request *r = p->r;
    int err = p->error;

    if (mk_answering_is_broken(r))
        return MK_E_PEER;
    if (err == 0 && (!is_being_written(p) || length < -1))
        err = MK_E_INVALID;
    if (err == 0)
        err = finish(p, length);
    p->error = MK_E_INVALID; /* it takes no more lines */
    return err < 0 && err != MK_E_PEER ? give_up(p, err) : err;
}
