/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/request/json_body.h"

#include "json/tree.h"
#include "kit/text/words.h"
#include "objects/objects.h"
#include "objects/answer/problem.h"
#include "service/request.h"

#include <stdio.h>

/* "application/json", "application/problem+json; charset=utf-8" */
static bool is_json(struct mk_str type)
{
    static const struct mk_str suffix = MK_STR_INIT("+json");
    struct mk_str rest = type, essence = text_trim(text_cut(&rest, ';'));

    return text_is_word(essence, MK_STR("application/json")) ||
           (essence.len > suffix.len &&
            text_is_word((struct mk_str){essence.p + essence.len - suffix.len, suffix.len},
                         suffix));
}

/* @return NULL */
static const struct cJSON *refuse(struct mk_duda_request *rq, int status, const char *title,
                                  const char *detail)
{
    (void)mk_duda_response.problem(&rq->dr, status, title, detail);
    return NULL;
}

static const struct cJSON *refuse_text(struct mk_duda_request *rq, const struct json_fault *fault)
{
    struct mk_json j;
    char detail[160];

    if (!fault->reason || strcmp(fault->reason, "no memory") == 0)
        return refuse(rq, 503, "Try again later", NULL);
    (void)snprintf(detail, sizeof(detail), "line %u, column %u: %s", fault->line, fault->column,
                   fault->reason);
    if (mk_duda_problem_begin(&j, rq, 400, "The body is not the JSON that is expected", detail) < 0)
        return NULL;
    mk_json_key(&j, MK_STR("line"));
    mk_json_uint(&j, fault->line);
    mk_json_key(&j, MK_STR("column"));
    mk_json_uint(&j, fault->column);
    (void)mk_duda_problem_end(&j, rq);
    return NULL;
}

const struct cJSON *mk_duda_json_body(struct mk_duda_request *rq)
{
    static const struct json_bounds bounds = {MK_DUDA_JSON_DEPTH, MK_DUDA_JSON_VALUES};
    struct json_fault fault = {.line = 1, .column = 1, .reason = "there is no body"};

    if (rq->json)
        return rq->json;
    if (rq->multipart || (rq->body.len > 0 && !is_json(mk_duda_str(rq->sr.content_type))))
        return refuse(rq, 415, "The body must be JSON", "Content-Type: application/json");
    if (rq->body.len > MK_DUDA_JSON_BYTES)
        return refuse(rq, 413, "The body is too large", "JSON may have 1 MB.");
    if (rq->body.len > 0)
        rq->json =
            json_parse_within(rq->body.bytes, rq->body.len, JSON_UNIQUE_KEYS, &bounds, &fault);
    return rq->json ? rq->json : refuse_text(rq, &fault);
}
