/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/problem.h>

#include <monkey/web/body.h>
#include <monkey/web/choice.h>

#include "web/json_int.h"

#include <stdio.h>

/* Problems as RFC 9457 section 3 has them; a type that is missing is "about:blank". */

enum { PROBLEM_MAX = 16 << 10 };

static bool wants_page(struct mk_request *r)
{
    static const struct mk_str offers[] = {MK_STR_INIT("application/problem+json"),
                                           MK_STR_INIT("application/json"),
                                           MK_STR_INIT("text/html")};
    /* a cache keeps both apart; without memory for the field the answer still is right for this client */
    const int err = mk_reply_field(r, MK_STR("Vary"), MK_STR("Accept"));
    const int chosen = mk_choose_type(mk_request_header(r, MK_STR("Accept")), offers, 3);

    (void)err;
    return chosen < 0 || chosen == 2;
}

static void put_text(struct mk_json *j, struct mk_str key, const char *text)
{
    if (!text)
        return;
    mk_json_key(j, key);
    mk_json_text(j, (struct mk_str){text, strlen(text)});
}

static void put_number(struct mk_json *j, struct mk_str key, unsigned n)
{
    mk_json_key(j, key);
    mk_json_uint(j, n);
}

static void begin(struct mk_json *j, struct mk_request *r, unsigned status, const char *title,
                  const char *detail)
{
    mk_json_begin_reply(j, r, PROBLEM_MAX);
    mk_json_object(j);
    put_number(j, MK_STR("status"), status);
    put_text(j, MK_STR("title"), title);
    put_text(j, MK_STR("detail"), detail);
}

static enum mk_verdict end(struct mk_json *j, struct mk_request *r, unsigned status)
{
    mk_json_close(j);
    return mk_json_reply_as(r, status, j, MK_STR("application/problem+json"));
}

enum mk_verdict mk_reply_problem(struct mk_request *r, unsigned status, const char *title,
                                 const char *detail)
{
    struct mk_json j;

    if (!r)
        return MK_VERDICT_DONE;
    if (wants_page(r))
        return mk_reply_error(r, status, NULL);
    begin(&j, r, status, title, detail);
    return end(&j, r, status);
}

/* With the place, for programs that show it. */
static enum mk_verdict refuse_text(struct mk_request *r, unsigned status,
                                   const struct mk_json_fault *fault)
{
    char detail[160];
    struct mk_json j;

    if (wants_page(r))
        return mk_reply_error(r, status, NULL);
    (void)snprintf(detail, sizeof(detail), "line %u, column %u: %s", fault->line, fault->column,
                   fault->reason);
    begin(&j, r, status, "The body is not the JSON that is expected", detail);
    put_number(&j, MK_STR("line"), fault->line);
    put_number(&j, MK_STR("column"), fault->column);
    return end(&j, r, status);
}

enum mk_verdict mk_reply_json_refusal(struct mk_request *r, int error,
                                      const struct mk_json_fault *fault)
{
    const bool has_fault = fault && fault->size >= sizeof(*fault) && fault->reason;

    if (!r)
        return MK_VERDICT_DONE;
    switch (error) {
    case MK_E_BAD:
        return has_fault ? refuse_text(r, 400, fault)
                         : mk_reply_problem(r, 400, "The body must be JSON", NULL);
    case MK_E_LIMIT:
        return has_fault ? refuse_text(r, 413, fault)
                         : mk_reply_problem(r, 413, "The body is too large", NULL);
    case MK_E_UNSUPPORTED:
        return mk_reply_problem(r, 415, "The body must be JSON", "Content-Type: application/json");
    default:
        return mk_reply_refusal(r, error);
    }
}
