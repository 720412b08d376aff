/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include "types.h"

#include "kit/text/words.h"

#include <monkey/field.h>
#include <monkey/web/choice.h>

#include <time.h>

/* ---- fields on several lines ---- */

/* A walk over the fields of a request or of an answer. */
struct walk {
    struct mk_request *r;
    const struct mk_head *head; /* NULL: the request's own */
    struct mk_str name;
    uint32_t at;
};

static bool next_value(struct walk *w, struct mk_str *value)
{
    struct mk_str name;

    while (w->head ? mk_head_next(w->head, &w->at, &name, value)
                   : mk_request_next_header(w->r, &w->at, &name, value)) {
        if (text_is_word(name, w->name))
            return true;
    }
    return false;
}

static bool has_token(const struct walk *from, struct mk_str token)
{
    struct walk w = *from;
    struct mk_str value;

    while (next_value(&w, &value)) {
        if (mk_list_has_token(value, token))
            return true;
    }
    return false;
}

/* All its lines as one list: RFC 9110 section 5.3. @return p NULL: absent, or no memory. */
static struct mk_str joined(const struct walk *from)
{
    struct walk w = *from;
    struct mk_str list = {NULL, 0}, value;

    while (next_value(&w, &value)) {
        if (!list.p)
            list = value;
        else
            list = mk_str_from(mk_request_printf(w.r, "%.*s, %.*s", (int)list.len, list.p,
                                                 (int)value.len, value.p));
    }
    return list;
}

/* ---- which answers ---- */

static bool is_part(unsigned status)
{
    return status == 206;
}

/* Its head has no length of the whole, and perhaps no type. */
static bool says_less(unsigned status)
{
    return is_part(status) || status == 304;
}

static bool has_content(const struct mk_request_facts *facts)
{
    unsigned status = facts->status;

    return status >= 200 && status != 204 && status != 205 &&
           !text_is(facts->method, MK_STR("CONNECT"));
}

/* Of the whole; the parts of several ranges have a type of their own. */
static struct mk_str type_of(struct mk_request *r, const struct mk_head *head,
                             const struct mk_request_facts *facts)
{
    struct mk_str type = mk_head_get(head, MK_STR("Content-Type"));

    if (says_less(facts->status) && (!type.p || text_begins(type, MK_STR("multipart/byteranges"))))
        type = mk_request_mime(r, facts->path);
    return type;
}

/* Would a client that wants it get it compressed? */
static bool is_eligible(struct mk_request *r, const struct mk_head *head,
                        const struct mk_request_facts *facts, const struct compress_settings *s)
{
    const struct walk control = {.r = r, .head = head, .name = MK_STR("Cache-Control")};
    int64_t length = mk_head_length(head);

    if (!has_content(facts) || mk_head_get(head, MK_STR("Content-Encoding")).p)
        return false;
    if (!says_less(facts->status) && length >= 0 && length < s->min_size)
        return false;
    if (!s->cookies && mk_head_get(head, MK_STR("Set-Cookie")).p)
        return false;
    return compress_types_have(&s->types, type_of(r, head, facts)) &&
           !has_token(&control, MK_STR("no-transform"));
}

/* ---- what their heads say ---- */

static int add_vary(struct mk_request *r, struct mk_head *head)
{
    const struct walk vary = {.r = r, .head = head, .name = MK_STR("Vary")};
    struct mk_str list;
    char *longer;

    if (has_token(&vary, MK_STR("*")) || has_token(&vary, MK_STR("Accept-Encoding")))
        return 0;
    list = joined(&vary);
    if (list.len == 0)
        return mk_head_set(head, MK_STR("Vary"), MK_STR("Accept-Encoding"));
    longer = mk_request_printf(r, "%.*s, Accept-Encoding", (int)list.len, list.p);
    return longer ? mk_head_set(head, MK_STR("Vary"), mk_str_from(longer)) : MK_E_NOMEM;
}

/*
 * A client that has the compressed answer named its weak tag: the answer that is not sent has the same one (RFC 9110 section
 * 15.4.5). @return 1: it did; 0: it did not; or an error.
 */
static int name_as_asked(struct mk_request *r, struct mk_head *head)
{
    const struct walk asked = {.r = r, .name = MK_STR("If-None-Match")};
    struct mk_str tag = mk_head_get(head, MK_STR("ETag"));
    char *weak;

    if (tag.len == 0 || tag.p[0] != '"')
        return 0;
    weak = mk_request_printf(r, "W/%.*s", (int)tag.len, tag.p);
    if (!weak)
        return MK_E_NOMEM;
    if (!has_token(&asked, mk_str_from(weak)) || has_token(&asked, tag))
        return 0;
    return mk_head_set(head, MK_STR("ETag"), mk_str_from(weak)) < 0 ? MK_E_LIMIT : 1;
}

/* Of applications that leave the type out it says nothing; the client's tag does. */
static int answer_not_modified(struct mk_request *r, struct mk_head *head, bool can_be)
{
    int named = name_as_asked(r, head);

    if (named > 0 || can_be)
        (void)add_vary(r, head);
    return named == MK_E_NOMEM ? MK_E_NOMEM : 0;
}

/* ---- compressing ---- */

static int64_t cpu_ms(void)
{
    struct timespec spent;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return (int64_t)spent.tv_sec * 1000 + spent.tv_nsec / 1000000;
}

static unsigned level_for(struct compress_worker *w, const struct compress_settings *s,
                          struct mk_worker *worker)
{
    int64_t now_ms = mk_worker_now_ms(worker);

    if (s->busy_level >= s->level)
        return (unsigned)s->level;
    if (compress_load_is_due(&w->load, now_ms))
        compress_load_measure(&w->load, now_ms, cpu_ms());
    return (unsigned)(w->load.is_busy ? s->busy_level : s->level);
}

/* Streams of events last for hours: they leave half of the memory to others. */
static size_t memory_for(const struct mk_head *head, const struct compress_settings *s)
{
    struct mk_str type = mk_head_get(head, MK_STR("Content-Type"));

    return (size_t)(text_begins(type, MK_STR("text/event-stream")) ? s->memory / 2 : s->memory);
}

/* An answer that may be compressed. */
struct wish {
    const struct compress_settings *s;
    struct compress_worker *w;
    struct mk_worker *worker;
    struct mk_str accept;
    unsigned level;
    size_t memory; /* that all may take, with its stream */
};

/* The coding that the client likes best of those that need so much memory at most. @return noffers: none. */
static unsigned choose(const struct wish *wish, size_t memory)
{
    const struct compress_settings *s = wish->s;
    struct mk_str offers[ENCODERS_MAX + 1];
    unsigned which[ENCODERS_MAX], n = 0;
    int chosen;

    for (unsigned i = 0; i < s->noffers; i++) {
        if (encoder_memory(compress_encoder_at(s->numbers[i]), wish->level) > memory)
            continue;
        which[n] = i;
        offers[n++] = s->offers[i];
    }
    offers[n] = MK_STR("identity");
    chosen = mk_choose_coding(wish->accept, offers, (int)n + 1);
    return chosen >= 0 && (unsigned)chosen < n ? which[chosen] : s->noffers;
}

/* Room is made for the coding that it likes best; without it another one is taken that has room. @return noffers: none. */
static unsigned choose_with_room(const struct wish *wish)
{
    const struct compress_settings *s = wish->s;
    struct compress_worker *w = wish->w;
    unsigned chosen = choose(wish, wish->memory);

    if (chosen < s->noffers) {
        size_t need = encoder_memory(compress_encoder_at(s->numbers[chosen]), wish->level);

        if (compress_make_room(w, wish->worker, need, wish->memory))
            return chosen;
    }
    chosen = choose(wish, wish->memory > w->held ? wish->memory - w->held : 0);
    if (chosen == s->noffers && choose(wish, SIZE_MAX) < s->noffers)
        w->tally->left_out++;
    return chosen;
}

/* @return 0, also if the answer stays as it is. */
static int compress(struct mk_request *r, struct mk_head *head, const struct wish *wish,
                    unsigned number, bool has_body)
{
    struct stream *stream =
        has_body ? compress_stream_open(r, wish->w, wish->worker, number, wish->level, wish->memory)
                 : NULL;
    const struct encoder *e = compress_encoder_at(number);

    if (has_body && !stream)
        return 0;
    if (mk_head_set(head, MK_STR("Content-Encoding"), e->coding) < 0)
        return 0;
    return mk_head_filter(head, compress_stream_change, stream);
}

int compress_answer(struct mk_request *r, struct mk_head *head, const struct compress_settings *s,
                    struct compress_worker *w)
{
    const struct walk accept = {.r = r, .name = MK_STR("Accept-Encoding")};
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct wish wish = {.s = s, .w = w};
    unsigned chosen;
    bool can_be;

    mk_request_facts(r, &facts);
    facts.status = mk_head_status(head);
    can_be = is_eligible(r, head, &facts, s);
    if (facts.status == 304)
        return answer_not_modified(r, head, can_be);
    if (!can_be || add_vary(r, head) < 0 || is_part(facts.status))
        return 0;
    wish.accept = joined(&accept);
    if (!wish.accept.p)
        return 0;
    wish.worker = facts.worker;
    wish.level = level_for(w, s, facts.worker);
    wish.memory = memory_for(head, s);
    chosen = choose_with_room(&wish);
    if (chosen == s->noffers)
        return 0;
    return compress(r, head, &wish, s->numbers[chosen], !text_is(facts.method, MK_STR("HEAD")));
}
