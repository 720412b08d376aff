/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"
#include "id.h"
#include "page.h"

#include "kit/pure/hex.h"
#include "kit/text/words.h"

#include <monkey/field.h>
#include <monkey/notes.h>
#include <monkey/plugin.h>

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

/* Names a request, and its trace, for logs, backends and clients. */

enum whom { WHOM_NOBODY, WHOM_TRUSTED, WHOM_ANY };
enum { FIELD_MAX = 64 }; /* letters of IdField */
static const char *const whom_names[] = {"off", "trusted", "any", NULL};

struct settings {
    bool names, returns, shows, samples;
    int believes; /* enum whom: whose traceparent */
    const char *field;
};

static const struct mk_field fields[] = {
    {.name = "RequestId",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct settings, names),
     .fallback = "on"},
    {.name = "IdField",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct settings, field),
     .fallback = "X-Request-ID"},
    {.name = "ReturnId",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct settings, returns),
     .fallback = "off"},
    {.name = "ErrorPages",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct settings, shows),
     .fallback = "on"},
    {.name = "TraceParent",
     .type = MK_FIELD_ENUM,
     .offset = offsetof(struct settings, believes),
     .fallback = "trusted",
     .names = whom_names},
    {.name = "Sampled",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct settings, samples),
     .fallback = "on"},
};
static const struct mk_section_spec section = MK_SECTION(
    "TRACE", MK_SECTION_FILE | MK_SECTION_SITE | MK_SECTION_INHERIT, struct settings, fields);
static const struct mk_section_spec *const sections[] = {&section, NULL};

/* ---- checks ---- */

static bool is_field_name(struct mk_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        const char c = text_lower(name.p[i]);

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-')
            return false;
    }
    return name.len <= FIELD_MAX && !(mk_field_rules(name) & (MK_RULE_MESSAGE | MK_RULE_HOP));
}

static void check_field(struct mk_setup *setup, const struct settings *s)
{
    if (!is_field_name(mk_str_from(s->field)))
        mk_setup_fault(setup, mk_setup_place(setup, s, "IdField"),
                       "IdField: expected the name of a field such as X-Request-ID, got %s",
                       s->field);
}

/* Of the whole configuration. */
struct config {
    bool is_everywhere; /* the plugin's own files have a section */
};

static int check(struct mk_setup *setup)
{
    const struct settings *s = mk_setup_section(setup, &section, NULL);
    struct config *config = mk_setup_alloc(setup, sizeof(*config));

    if (!config)
        return MK_E_NOMEM;
    mk_setup_keep(setup, config);
    config->is_everywhere = s && mk_setup_origin(setup, s);
    if (config->is_everywhere)
        check_field(setup, s);
    return 0;
}

static int check_site(struct mk_setup *setup)
{
    struct settings *s = mk_setup_section(setup, &section, NULL);
    const struct config *config = mk_setup_config(setup);
    const enum mk_switch lines = mk_setup_switch(setup);
    bool is_on;

    if (!s || !config)
        return MK_E_NOMEM;
    is_on = mk_setup_origin(setup, s) || lines == MK_SWITCH_ON ||
            (config->is_everywhere && lines != MK_SWITCH_OFF);
    mk_setup_keep(setup, s);
    if (!is_on || (!s->names && s->believes == WHOM_NOBODY)) {
        mk_setup_act(setup, 0);
        return 0;
    }
    check_field(setup, s);
    mk_setup_act(setup,
                 MK_ACTS_REQUEST | (s->names && (s->returns || s->shows) ? MK_ACTS_HEAD : 0));
    return 0;
}

/* ---- random numbers ---- */

/* ctx->local */
struct local {
    struct trace_counter ids;
    size_t left; /* unused bytes at the beginning */
    uint8_t bytes[512];
};

static int worker_start(const struct mk_context *ctx, void **out)
{
    (void)ctx;
    *out = calloc(1, sizeof(struct local));
    return *out ? 0 : MK_E_NOMEM;
}

static void worker_stop(const struct mk_context *ctx)
{
    free(ctx->local);
}

/* @return the bytes, to be overwritten; NULL: the kernel has none yet. */
static uint8_t *take_random(struct local *l, size_t len)
{
    if (l->left < len) {
        if (getrandom(l->bytes, sizeof(l->bytes), GRND_NONBLOCK) != (ssize_t)sizeof(l->bytes))
            return NULL;
        l->left = sizeof(l->bytes);
    }
    l->left -= len;
    return l->bytes + l->left;
}

/* In hexadecimal. @return 0 or MK_E_SYS. */
static int take_digits(struct local *l, char *dst, size_t len)
{
    uint8_t *bytes = take_random(l, len), zero = 0;

    if (!bytes)
        return MK_E_SYS;
    for (size_t i = 0; i < len; i++)
        zero |= bytes[i];
    if (zero == 0) /* ids of zeros alone are invalid */
        bytes[0] = 1;
    hex_write(dst, bytes, len);
    memset(bytes, 0, len);
    return 0;
}

/* @return 0 or MK_E_SYS. */
static int make_name(struct local *l, char dst[TRACE_ID_TEXT])
{
    struct timespec now = {0, 0};
    uint8_t *bytes = take_random(l, sizeof(uint64_t));
    uint64_t random;

    if (!bytes)
        return MK_E_SYS;
    memcpy(&random, bytes, sizeof(random));
    (void)clock_gettime(CLOCK_REALTIME, &now);
    trace_id_write(dst, &l->ids, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, random);
    return 0;
}

/* ---- what is known of a request ---- */

enum note { NOTE_NAME, NOTE_TRACE, NOTE_SPAN, NOTE_PARENT, NOTE_FIELD, NOTE_STATE, NOTE_COUNT };

struct trace {
    struct mk_note notes[NOTE_COUNT];
    struct mk_notes list;
    char name[TRACE_ID_TEXT], parent_span[2 * TRACE_SPAN_BYTES];
    char field[TRACE_PARENT_TEXT];
    struct trace_context context;
};

static const char key; /* of mk_request_keep: only its address counts */

/* @return the value of a field that came once; p NULL: none, or several times. */
static struct mk_str only_value(const struct mk_request *r, struct mk_str wanted)
{
    struct mk_str name, value, found = {NULL, 0};
    uint32_t at = 0;

    if (!mk_request_header(r, wanted).p)
        return found;
    while (mk_request_next_header(r, &at, &name, &value)) {
        if (!text_is_word(name, wanted))
            continue;
        if (found.p)
            return (struct mk_str){NULL, 0};
        found = value;
    }
    return found;
}

static void name_request(struct trace *t, struct local *l, const struct settings *s,
                         const struct mk_request *r, bool is_trusted)
{
    struct mk_str id = {NULL, 0};

    if (is_trusted)
        id = only_value(r, mk_str_from(s->field));
    if (!id.p || !trace_is_name(id)) {
        if (make_name(l, t->name) < 0)
            return;
        id = (struct mk_str){t->name, sizeof(t->name)};
    }
    t->notes[NOTE_NAME].text = id;
    t->notes[NOTE_NAME].field = s->field;
}

/* @return whether the trace of the client goes on. */
static bool take_context(struct trace *t, const struct mk_request *r)
{
    struct mk_str parent = only_value(r, MK_STR("traceparent"));

    if (!parent.p || trace_context_read(&t->context, parent) < 0)
        return false;
    memcpy(t->parent_span, t->context.span, sizeof(t->parent_span));
    t->notes[NOTE_PARENT].text = (struct mk_str){t->parent_span, sizeof(t->parent_span)};
    return true;
}

static void place_request(struct trace *t, struct local *l, const struct settings *s,
                          const struct mk_request *r, bool is_trusted)
{
    const bool believes = s->believes == WHOM_ANY || (s->believes == WHOM_TRUSTED && is_trusted);
    bool goes_on = believes && take_context(t, r);
    struct trace_context *c = &t->context;

    if (!goes_on) {
        c->flags = s->samples ? TRACE_SAMPLED : 0;
        if (take_digits(l, c->trace, TRACE_ID_BYTES) < 0)
            return;
    }
    if (take_digits(l, c->span, TRACE_SPAN_BYTES) < 0)
        return;
    t->notes[NOTE_TRACE].text = (struct mk_str){c->trace, sizeof(c->trace)};
    t->notes[NOTE_SPAN].text = (struct mk_str){c->span, sizeof(c->span)};
    t->notes[NOTE_FIELD].text = (struct mk_str){t->field, trace_context_write(t->field, c)};
    t->notes[NOTE_FIELD].field = "traceparent";
    if (goes_on)
        return;
    t->notes[NOTE_STATE].text = MK_STR(""); /* that of the client belongs to another trace */
    t->notes[NOTE_STATE].field = "tracestate";
}

static void begin_trace(struct trace *t)
{
    static const char *const names[NOTE_COUNT] = {"request_id", "trace_id",    "span_id",
                                                  "parent_id",  "traceparent", "tracestate"};

    for (int i = 0; i < NOTE_COUNT; i++)
        t->notes[i] = (struct mk_note){.name = names[i], .number = -1};
    t->list = (struct mk_notes){.notes = t->notes, .count = NOTE_COUNT};
}

/* Once for each request: it may come here again under another path. @return NULL without memory. */
static const struct trace *trace_of(struct mk_request *r, const struct mk_context *ctx)
{
    const struct settings *s = ctx->site;
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct trace *t = mk_request_kept(r, &key);
    bool is_trusted;

    if (t)
        return t;
    t = mk_request_alloc(r, sizeof(*t));
    if (!t || mk_request_keep(r, &key, t) < 0)
        return NULL;
    begin_trace(t);
    mk_request_facts(r, &facts);
    is_trusted = mk_conn_is_trusted(facts.conn);
    if (s->names)
        name_request(t, ctx->local, s, r, is_trusted);
    if (s->believes != WHOM_NOBODY)
        place_request(t, ctx->local, s, r, is_trusted);
    return mk_request_add_notes(r, &t->list) < 0 ? NULL : t;
}

/* ---- hooks ---- */

/* Without memory a request has no name, which is no reason to refuse it. */
static enum mk_verdict on_request(struct mk_request *r, const struct mk_context *ctx)
{
    (void)trace_of(r, ctx);
    return MK_VERDICT_PASS;
}

static bool is_page(const struct mk_head *head)
{
    return mk_head_status(head) >= 400 && !mk_head_get(head, MK_STR("Content-Encoding")).p &&
           text_begins(mk_head_get(head, MK_STR("Content-Type")), MK_STR("text/html"));
}

static int show(struct mk_request *r, struct mk_head *head, struct mk_str id)
{
    struct trace_page *page = mk_request_alloc(r, sizeof(*page));

    if (!page)
        return 0;
    *page = (struct trace_page){.id = id};
    return mk_head_filter(head, trace_page_filter, page);
}

static int on_head(struct mk_request *r, const struct mk_context *ctx, struct mk_head *head)
{
    const struct settings *s = ctx->site;
    const struct trace *t = trace_of(r, ctx);
    struct mk_str id = t ? t->notes[NOTE_NAME].text : (struct mk_str){NULL, 0};
    int err = 0;

    if (!id.p)
        return 0;
    if (s->returns)
        err = mk_head_set(head, mk_str_from(s->field), id);
    if (err == 0 && s->shows && is_page(head))
        err = show(r, head, id);
    return err;
}

static const struct mk_plugin trace = {
    MK_PLUGIN("trace", "ids of requests and traces"),
    .sections = sections,
    .check = check,
    .check_site = check_site,
    .worker_start = worker_start,
    .worker_stop = worker_stop,
    .on_request = on_request,
    .on_head = on_head,
    .traits = MK_TRAIT_PARTS,
};
MK_PLUGIN_EXPORT(trace);
