/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include "kit/pure/number.h"
#include "kit/text/words.h"

#include <monkey/plugin.h>

#include <string.h>

/*
 * Answers that the configuration has: `Answer 410`, `Answer 200 "text"` in a site or a location, and `answer` as a handler of
 * other paths. The server makes a handler of the key, so access rules come before it.
 */

struct answer {
    unsigned status; /* 0: off */
    bool has_text;
    bool is_fixed; /* the same for all requests */
    struct mk_template text;
    struct mk_str all; /* of a fixed one */
};

/* ---- settings ---- */

/* RFC 9110: each of these asks for a field that only its own feature can know, or is no answer to begin with. */
static const struct {
    unsigned status;
    const char *remedy;
} refused[] = {
    {206, "a part of a file is sent for Range alone"},
    {401, "[AUTH] and [JWT] ask for a user"},
    {405, "files and handlers know which methods they have"},
    {407, "it is for proxies that clients choose"},
    {416, "it is sent for Range alone"},
    {426, "it names a protocol"},
};

static const char *remedy_for(unsigned status)
{
    if (status >= 300 && status < 400)
        return "write Redirect for it";
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (refused[i].status == status)
            return refused[i].remedy;
    }
    return NULL;
}

/* RFC 9110 sections 15.3.5 and 15.3.6. */
static bool is_bare(unsigned status)
{
    return status == 204 || status == 205;
}

static int read_status(struct mk_setup *setup, const struct mk_setting *s, struct mk_str word,
                       struct answer *a)
{
    const char *remedy;

    a->status = number_of(word, 599);
    if (a->status < 200)
        return mk_setup_refuse(setup, s,
                               "a status from 200 to 299 or from 400 to 599, and perhaps a text");
    remedy = remedy_for(a->status);
    if (!remedy)
        return 0;
    mk_setup_fault(setup, &s->value_at, "%s: %u is no answer of a text: %s", s->key.p, a->status,
                   remedy);
    return MK_E_INVALID;
}

static int read_text(struct mk_setup *setup, const struct mk_setting *s, struct mk_str written,
                     struct answer *a)
{
    int err;

    a->has_text = written.len > 0;
    if (a->has_text && is_bare(a->status)) {
        mk_setup_fault(setup, &s->value_at, "%s: an answer %u has no text", s->key.p, a->status);
        return MK_E_INVALID;
    }
    err = answer_text_read(setup, s, written, &a->text);
    if (err < 0)
        return err;
    a->is_fixed = mk_template_is_fixed(&a->text);
    return 0;
}

/* What a fixed text comes to: it is sent from where it is. */
static int join(struct mk_setup *setup, struct answer *a)
{
    size_t len = 0;
    char *all;

    for (size_t i = 0; i < a->text.count; i++)
        len += a->text.pieces[i].text.len;
    all = mk_setup_alloc(setup, len + 1);
    if (!all)
        return MK_E_NOMEM;
    a->all = (struct mk_str){all, len};
    for (size_t i = 0; i < a->text.count; i++) {
        memcpy(all, a->text.pieces[i].text.p, a->text.pieces[i].text.len);
        all += a->text.pieces[i].text.len;
    }
    return 0;
}

/* What stands behind "REGEX answer" of Match, "answer" of Handler, and all of Answer. */
static struct mk_str value_of(const struct mk_setting *s)
{
    struct mk_str rest = s->value;

    if (text_is_word(s->key, MK_STR("Match")))
        (void)text_next_word(&rest);
    if (!text_is_word(s->key, MK_STR("Answer")))
        (void)text_next_word(&rest);
    return text_trim(rest);
}

static int answer_check_match(struct mk_setup *setup, const struct mk_setting *line,
                              const struct mk_words *parameters, void **data)
{
    struct answer *a = mk_setup_alloc(setup, sizeof(*a));
    struct mk_str rest = value_of(line);
    int err;

    (void)parameters; /* a text is one, whatever blanks it has */
    *data = a;
    if (!a)
        return MK_E_NOMEM;
    if (text_is_word(rest, MK_STR("off")) && !text_is_word(line->key, MK_STR("Match")))
        return 0;
    err = read_status(setup, line, text_next_word(&rest), a);
    if (err == 0)
        err = read_text(setup, line, text_trim(rest), a);
    if (err == 0 && a->is_fixed)
        err = join(setup, a);
    return err;
}

/* ---- requests ---- */

static const char type[] = "text/plain; charset=utf-8";

/* What clients choose is shown as the text that it is, also by browsers that guess types. */
static enum mk_verdict send_filled(struct mk_request *r, const struct answer *a)
{
    const struct mk_str text = answer_text_fill(r, &a->text);

    if (!text.p ||
        mk_reply_field(r, MK_STR("X-Content-Type-Options"), MK_STR("nosniff")) == MK_E_NOMEM)
        return mk_reply_error(r, 503, NULL);
    return mk_reply_bytes(r, a->status, type, text);
}

/* `Answer off` ends those around its place: its handler is asked first, and notes the path that they let pass. */
static enum mk_verdict answer_on_handle(struct mk_request *r, const struct mk_context *ctx,
                                        void *data)
{
    static const char off; /* its address is the key */
    const struct answer *a = data;
    union {
        const char *path;
        void *object;
    } asked = {.path = mk_request_path(r).p};

    (void)ctx;
    if (a->status == 0)
        return mk_request_keep(r, &off, asked.object) < 0 ? mk_reply_error(r, 503, NULL)
                                                          : MK_VERDICT_PASS;
    if (mk_request_kept(r, &off) == asked.object)
        return MK_VERDICT_PASS;
    if (!a->has_text && a->status >= 400)
        return mk_reply_error(r, a->status, NULL);
    if (!a->has_text)
        return mk_reply_bytes(r, a->status, NULL, MK_STR(""));
    return a->is_fixed ? mk_reply_bytes(r, a->status, type, a->all) : send_filled(r, a);
}

static const struct mk_plugin answer = {
    MK_PLUGIN("answer", "answers that the configuration has"),
    .check_match = answer_check_match,
    .on_handle = answer_on_handle,
    .traits = MK_TRAIT_ELSEWHERE | MK_TRAIT_ANSWERS | MK_TRAIT_PURE,
};
MK_PLUGIN_EXPORT(answer);
