/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs/answers.h"

#include "kit/openapi/openapi.h"

#include <monkey/web/media.h>

#include <stdio.h>
#include <string.h>

static const struct mk_str json = MK_STR_INIT("application/json");

/* Of two rows the type is the same, or both have none. */
static bool is_same_type(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static const char *fault_of(const struct duda_answer *said, const struct mk_duda_answers *before)
{
    if (said->status < 200 || said->status > 599)
        return "its status is none of 200 to 599";
    if (said->type &&
        (strlen(said->type) > MK_DUDA_ANSWER_TYPE ||
         !mk_media_is(mk_str_from(said->type), mk_str_from(said->type)) || strchr(said->type, ';')))
        return "its type is none of a body, without parameters";
    if ((said->status == 204 || said->status == 304) && said->type)
        return "a body is not of this status";
    if ((said->rows || said->is_list) && !mk_media_is(mk_str_from(said->type), json))
        return "members are of JSON alone";
    for (unsigned i = 0; i < before->count; i++) {
        if (before->row[i].said->status == said->status &&
            is_same_type(before->row[i].said->type, said->type))
            return "another row has its status and type";
    }
    return NULL;
}

static const struct mk_duda_answers *refuse(struct mk_duda_schema_room *room, int status,
                                            const char *why)
{
    char sentence[sizeof(room->why)];

    (void)snprintf(sentence, sizeof(sentence), "answer %d: %.120s", status, why);
    memcpy(room->why, sentence, sizeof(sentence));
    return NULL;
}

const struct mk_duda_answers *mk_duda_answers_new(struct mk_duda_schema_room *room,
                                                  const struct duda_answer *said)
{
    struct mk_duda_answers *answers;
    unsigned n = 0;

    while (said && said[n].status != 0 && n <= MK_DUDA_ANSWERS)
        n++;
    if (n == 0 || n > MK_DUDA_ANSWERS)
        return refuse(room, 0, "a table has 1 to 32 rows");
    answers = room->alloc(room->arg, sizeof(*answers) + n * sizeof(answers->row[0]));
    if (!answers)
        return refuse(room, 0, "no memory");
    for (; answers->count < n; answers->count++) {
        struct mk_duda_answer *row = &answers->row[answers->count];
        const char *why;

        row->said = &said[answers->count];
        why = fault_of(row->said, answers);
        if (why)
            return refuse(room, row->said->status, why);
        if (!row->said->rows)
            continue;
        row->rows = mk_duda_rows_of_answer(room, row->said->rows);
        if (!row->rows)
            return refuse(room, row->said->status, room->why);
    }
    return answers;
}

bool mk_duda_answers_have(const struct mk_duda_answers *answers, unsigned status,
                          struct mk_str type)
{
    for (unsigned i = 0; i < answers->count; i++) {
        const struct duda_answer *said = answers->row[i].said;

        if (said->status == 200 && openapi_is_of_200(status))
            return true;
        if (said->status == (int)status &&
            (said->type ? mk_media_is(type, mk_str_from(said->type)) : !type.p))
            return true;
    }
    return false;
}
