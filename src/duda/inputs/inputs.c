/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs/inputs.h"

#include "inputs/scalar.h"

int mk_duda_note(struct mk_duda_values *v, enum duda_in in, const char *name, const char *sentence)
{
    if (!sentence)
        return 0;
    return sentence == mk_duda_no_memory ? MK_E_NOMEM : mk_duda_fault_add(v, in, name, sentence);
}

int mk_duda_absent(const struct mk_duda_row *row, struct mk_duda_values *v, const char *name,
                   char *data)
{
    const struct duda_input *said = row->said;

    if (said->preset)
        return mk_duda_note(
            v, row->in, name,
            mk_duda_scalar_read(row, v, mk_str_from(said->preset), data + said->to));
    return said->is_required || row->in == DUDA_IN_PATH
               ? mk_duda_fault_add(v, row->in, name, "is missing")
               : 0;
}

/* What a page sends for a field that nobody has filled in. */
static bool is_blank(const struct mk_duda_row *row, struct mk_str text)
{
    return text.len == 0 && (row->in == DUDA_IN_QUERY || row->in == DUDA_IN_FORM) &&
           (row->said->type != DUDA_TEXT || row->said->choices);
}

static int read_list(const struct mk_duda_row *row, const struct mk_duda_source *source,
                     struct mk_duda_values *v)
{
    const char *name = row->said->name, *fault = NULL;
    struct duda_list *list = (struct duda_list *)(void *)((char *)v->data + row->said->to);
    unsigned count = 0;
    char *items;

    while (count <= row->max && source->get(source->arg, row->in, name, count).p)
        count++;
    if (count == 0 && !row->said->is_required)
        return 0;
    fault = mk_duda_count_check(row, v, count, "values");
    if (fault || count == 0)
        return mk_duda_note(v, row->in, name, count == 0 ? "is missing" : fault);
    items = mk_duda_values_alloc(v, count * row->item_size);
    if (!items)
        return MK_E_NOMEM;
    for (unsigned i = 0; i < count && !fault; i++)
        fault = mk_duda_scalar_read(row->items->row, v, source->get(source->arg, row->in, name, i),
                                    items + i * row->item_size);
    *list = (struct duda_list){items, count};
    return mk_duda_note(v, row->in, name, fault);
}

static int read_value(const struct mk_duda_row *row, const struct mk_duda_source *source,
                      struct mk_duda_values *v, uint64_t bit)
{
    const struct duda_input *said = row->said;
    const struct mk_str text = source->get(source->arg, row->in, said->name, 0);

    if (!text.p || is_blank(row, text))
        return mk_duda_absent(row, v, said->name, v->data);
    v->given |= bit;
    if (row->in != DUDA_IN_PATH && source->get(source->arg, row->in, said->name, 1).p)
        return mk_duda_fault_add(v, row->in, said->name, "is given more than once");
    return mk_duda_note(v, row->in, said->name,
                        mk_duda_scalar_read(row, v, text, (char *)v->data + said->to));
}

static int read_body(const struct mk_duda_schema *schema, const json_t *body,
                     struct mk_duda_values *v)
{
    static const json_t nothing = {.type = cJSON_Object};

    if (body && body->type != cJSON_Object)
        return mk_duda_fault_add(v, DUDA_IN_BODY, "", "must be an object");
    return mk_duda_body_read(schema->rows, body ? body : &nothing, v, v->data, &v->given);
}

int mk_duda_inputs_read(const struct mk_duda_schema *schema, const struct mk_duda_source *source,
                        struct mk_duda_values *v)
{
    int err = 0;

    v->data = mk_duda_values_alloc(v, schema->said->size);
    if (!v->data)
        return MK_E_NOMEM;
    for (unsigned i = 0; i < schema->rows->count && err == 0; i++) {
        const struct mk_duda_row *row = &schema->rows->row[i];

        if (row->in == DUDA_IN_BODY)
            continue;
        if (row->said->type != DUDA_LIST) {
            err = read_value(row, source, v, UINT64_C(1) << i);
            continue;
        }
        err = read_list(row, source, v);
        if (source->get(source->arg, row->in, row->said->name, 0).p)
            v->given |= UINT64_C(1) << i;
    }
    return err == 0 && schema->has_body ? read_body(schema, source->body, v) : err;
}
