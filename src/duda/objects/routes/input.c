/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/routes/input.h"

#include "inputs/answers.h"
#include "inputs/inputs.h"
#include "inputs/fields.h"
#include "objects/request/form.h"
#include "objects/request/json_body.h"
#include "objects/objects.h"
#include "objects/routes/openapi.h"
#include "objects/answer/problem.h"
#include "service/exchange.h"

#include <monkey/web/router.h>

#include <stdlib.h>
#include <string.h>

enum {
    PAIRS_MAX = 1000, /* of a query or form */
    DOCUMENT_MAX = 4 << 20,
};

struct mk_duda_input_state {
    struct mk_duda_regex *regexes;
    struct openapi_about about; /* title NULL: it is not published */
    const char *document;       /* of OpenAPI */
};

/* ---- tables ---- */

static void *room_alloc(void *arg, size_t size)
{
    return mk_duda_alloc(arg, size);
}

static int load(struct mk_duda_service *s)
{
    (void)s;
    json_memory = &mk_duda_mem;
    return 0;
}

static void free_regexes(struct mk_duda_service *s)
{
    const struct mk_duda_input_state *state = mk_duda_state(s, MK_DUDA_PART_INPUT);

    mk_duda_schema_free(state->regexes);
}

/* ---- what the service publishes about itself ---- */

static const struct mk_duda_input_state *state_of(duda_request_t *dr)
{
    return mk_duda_state(mk_duda_request_of(dr)->service, MK_DUDA_PART_INPUT);
}

static void show_document(duda_request_t *dr)
{
    const char *document = state_of(dr)->document;

    if (!mk_duda_response.unchanged(dr, document, 0))
        (void)mk_duda_response.send(dr, 200, "application/json", "%s", document);
}

static void show_page(duda_request_t *dr)
{
    (void)mk_duda_response.header(dr, "Content-Security-Policy",
                                  "default-src 'none'; script-src 'unsafe-inline'; "
                                  "style-src 'unsafe-inline'; connect-src 'self'; "
                                  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    if (!mk_duda_response.unchanged(dr, mk_duda_openapi_page, 0))
        (void)mk_duda_response.send(dr, 200, "text/html; charset=utf-8", "%s",
                                    mk_duda_openapi_page);
}

static int grow_document(struct mk_json *j, size_t needed, void *arg)
{
    size_t size = j->size * 2 + needed;
    char *p = size <= DOCUMENT_MAX ? realloc(j->p, size) : NULL;

    (void)arg;
    if (!p)
        return size <= DOCUMENT_MAX ? MK_E_NOMEM : MK_E_LIMIT;
    j->p = p;
    j->size = size;
    return 0;
}

static int write_document(struct mk_duda_service *s)
{
    struct mk_duda_input_state *state = mk_duda_state(s, MK_DUDA_PART_INPUT);
    struct mk_json j;
    int err;

    if (!state->about.title)
        return 0;
    mk_json_begin(&j, NULL, 0, grow_document, NULL);
    mk_duda_openapi_write(&j, &state->about, s->routes->routes);
    err = mk_json_end(&j);
    state->document = err < 0 ? NULL : mk_duda_copy(s, j.p, j.len);
    free(j.p);
    return state->document
               ? 0
               : mk_duda_refuse(s, "input->publish(): the document is larger than 4 MB or nested "
                                   "too deep, or there is no memory");
}

/* @return the path before the routes, "" where it is "/"; NULL without memory */
static const char *url_of(struct mk_duda_service *s)
{
    char *url = mk_duda_alloc(s, s->ws.name.len + 2);

    if (url && !s->ws.is_root) {
        url[0] = '/';
        memcpy(url + 1, s->ws.name.data, s->ws.name.len);
    }
    return url;
}

/* Only now it is known what the service calls itself. */
static int finish_document(struct mk_duda_service *s)
{
    struct mk_duda_input_state *state = mk_duda_state(s, MK_DUDA_PART_INPUT);

    state->about.url = state->about.title ? url_of(s) : "";
    return state->about.url ? write_document(s) : mk_duda_refuse(s, "no memory");
}

static int add_hidden(struct mk_duda_service *s, const char *pattern, mk_duda_callback callback)
{
    struct mk_duda_route **added = s->routes ? s->routes->last_route : NULL;

    if (mk_duda_route_add(s, "input->publish", "GET", pattern, callback, NULL, mk_duda_on_route) <
        0)
        return -1;
    added = added ? added : &s->routes->routes;
    (*added)->is_hidden = true;
    return 0;
}

static int publish(const char *title, const char *version)
{
    struct mk_duda_service *s = mk_duda_here()->service;
    struct mk_duda_input_state *state = s ? mk_duda_state(s, MK_DUDA_PART_INPUT) : NULL;

    if (!s || !mk_duda_is_set_up(s, "input->publish"))
        return -1;
    if (!title || !version || state->about.title)
        return mk_duda_refuse(s, "input->publish(): one title and one version are needed, once");
    state->about.title = mk_duda_copy(s, title, strlen(title));
    state->about.version = mk_duda_copy(s, version, strlen(version));
    if (!state->about.title || !state->about.version)
        return mk_duda_refuse(s, "no memory");
    return add_hidden(s, "/openapi.json", show_document) < 0 ||
                   add_hidden(s, "/openapi.html", show_page) < 0
               ? -1
               : 0;
}

const struct mk_duda_part mk_duda_input_part = {.service_size = sizeof(struct mk_duda_input_state),
                                                .load = load,
                                                .ready = finish_document,
                                                .exit = free_regexes};

/* ---- where values are from ---- */

struct origin {
    const struct mk_duda_request *rq;
    const struct mk_duda_fields *query; /* in the memory of the values; NULL: there was none */
    const struct mk_duda_fields *form;  /* NULL: the table has none of it */
};

static struct mk_str field_at(const struct mk_duda_fields *fields, const char *name, unsigned n)
{
    for (unsigned i = 0; fields && n < fields->count && i < fields->count; i++) {
        const struct duda_field *field = &fields->items[i];

        if (!field->filename && strcmp(field->name, name) == 0 && n-- == 0)
            return (struct mk_str){field->value, field->length};
    }
    return (struct mk_str){NULL, 0};
}

static struct mk_str get(void *arg, enum duda_in in, const char *name, unsigned n)
{
    const struct origin *origin = arg;

    if (in == DUDA_IN_QUERY)
        return field_at(origin->query, name, n);
    if (in == DUDA_IN_FORM)
        return field_at(origin->form, name, n);
    if (n > 0)
        return (struct mk_str){NULL, 0};
    return in == DUDA_IN_PATH ? mk_path_value(origin->rq->r, mk_str_from(name))
                              : mk_request_header(origin->rq->r, mk_str_from(name));
}

/* ---- what is wrong ---- */

/* @return false */
static bool refuse(struct mk_duda_request *rq, int status, const char *title, const char *detail)
{
    (void)mk_duda_response.problem(&rq->dr, status, title, detail);
    return false;
}

static const char *name_of(enum duda_in in)
{
    static const char *const names[] = {"", "path", "query", "header", "form", "body"};

    return names[in];
}

static bool refuse_values(struct mk_duda_request *rq)
{
    const struct mk_duda_values *v = rq->values;
    struct mk_json j;

    if (mk_duda_problem_begin(&j, rq, 400, "Inputs are wrong", NULL) < 0)
        return false;
    mk_json_key(&j, MK_STR("errors"));
    mk_json_array(&j);
    for (unsigned i = 0; i < v->nfaults; i++) {
        mk_json_object(&j);
        mk_json_key(&j, MK_STR("in"));
        mk_json_text(&j, mk_str_from(name_of(v->faults[i].in)));
        mk_json_key(&j, MK_STR("name"));
        mk_json_text(&j, mk_str_from(v->faults[i].name));
        mk_json_key(&j, MK_STR("detail"));
        mk_json_text(&j, mk_str_from(v->faults[i].detail));
        mk_json_close(&j);
    }
    mk_json_close(&j);
    (void)mk_duda_problem_end(&j, rq);
    return false;
}

/* ---- reading ---- */

static const char *fault_of_fields(const struct mk_duda_fields *fields)
{
    if (!fields)
        return NULL;
    return fields->is_malformed        ? "has a malformed escape or a NUL"
           : fields->count > PAIRS_MAX ? "has more than 1,000 values"
                                       : NULL;
}

static int note_fields(const struct origin *origin, struct mk_duda_values *v)
{
    int err = mk_duda_note(v, DUDA_IN_QUERY, "", fault_of_fields(origin->query));

    return err < 0 ? err : mk_duda_note(v, DUDA_IN_FORM, "", fault_of_fields(origin->form));
}

static bool is_form(const struct mk_duda_request *rq)
{
    return rq->multipart || mk_duda_request_is_urlencoded(rq);
}

static void *room_of(void *values, size_t size)
{
    return mk_duda_values_take(values, size);
}

/* @return false: the request was answered */
static bool read_values(struct mk_duda_request *rq, const struct mk_duda_schema *schema,
                        struct origin *origin)
{
    struct mk_duda_source source = {.get = get, .arg = origin};
    int err;

    if (schema->has_body && (rq->body.len > 0 || rq->multipart)) {
        source.body = mk_duda_json_body(rq);
        if (!source.body)
            return false;
    }
    if (schema->has_form && rq->body.len > 0 && !is_form(rq))
        return refuse(rq, 415, "The body must be a form", NULL);
    origin->form = schema->has_form ? mk_duda_form_of(rq) : NULL;
    rq->values = mk_duda_values_new();
    if (rq->values)
        origin->query = mk_duda_fields_in(mk_duda_str(rq->sr.query_string), room_of, rq->values);
    if (!origin->query || (schema->has_form && !origin->form))
        return refuse(rq, 503, "Try again later", NULL);
    err = note_fields(origin, rq->values);
    if (err == 0 && rq->values->nfaults == 0)
        err = mk_duda_inputs_read(schema, &source, rq->values);
    if (err < 0)
        return rq->values->is_full ? refuse(rq, 413, "The inputs are too large", NULL)
                                   : refuse(rq, 503, "Try again later", NULL);
    return rq->values->nfaults == 0 || refuse_values(rq);
}

static bool read_inputs(struct mk_duda_request *rq)
{
    struct origin origin = {.rq = rq};

    return read_values(rq, rq->route->inputs, &origin);
}

/* @return false: a table is wrong */
static bool read_tables(struct mk_duda_route *route, const char *methods, const char *plain,
                        const struct mk_duda_described *described, struct mk_duda_schema_room *room)
{
    if (described->inputs || !described->answers) {
        route->inputs = mk_duda_schema_new(room, described->inputs, methods, plain);
        route->read_inputs = read_inputs;
        if (!route->inputs)
            return false;
    }
    if (described->answers)
        route->answers = mk_duda_answers_new(room, described->answers);
    return route->answers || !described->answers;
}

int mk_duda_route_describe(struct mk_duda_route *route, const char *methods, const char *plain,
                           const struct mk_duda_described *described)
{
    struct mk_duda_service *s = route->service;
    struct mk_duda_input_state *state = mk_duda_state(s, MK_DUDA_PART_INPUT);
    struct mk_duda_schema_room room = {room_alloc, s, state->regexes, ""};
    const bool are_right = read_tables(route, methods, plain, described, &room);

    state->regexes = room.regexes;
    return are_right ? 0
                     : mk_duda_refuse(s, "%s:%d: %.80s: %s", described->file, described->line,
                                      route->target.name, room.why);
}

/* ---- calls ---- */

static const void *values(duda_request_t *dr)
{
    const struct mk_duda_request *rq = mk_duda_request_check(dr, "input->values");

    return rq && rq->values && rq->values->nfaults == 0 ? rq->values->data : NULL;
}

static int is_given(duda_request_t *dr, const char *name)
{
    const struct mk_duda_request *rq = mk_duda_request_check(dr, "input->is_given");
    const struct mk_duda_rows *rows =
        rq && rq->values && rq->route && rq->route->inputs ? rq->route->inputs->rows : NULL;

    for (unsigned i = 0; rows && name && i < rows->count; i++) {
        if (strcmp(rows->row[i].said->name, name) == 0 && (rq->values->given & UINT64_C(1) << i))
            return MK_TRUE;
    }
    return MK_FALSE;
}

const struct duda_api_input mk_duda_input = {
    .values = values, .is_given = is_given, .publish = publish};
