/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include <stdatomic.h>

DUDA_REGISTER("tests", "queries, forms and fields of level 3");

static atomic_int ended;

static void show_query(duda_request_t *dr)
{
    char *a = query->get(dr, "a"), *name, *value;
    long n = -1;
    size_t at = 0;

    query->get_number(dr, "n", &n);
    response->http_status(dr, 200);
    response->printf(dr, "a=%s n=%ld", a ? a : "NULL", n);
    while (query->next(dr, &at, &name, &value) == 0)
        response->printf(dr, " [%s|%s]", name, value);
    response->end(dr, NULL);
}

static void show_form(duda_request_t *dr)
{
    const char *a = form->get(dr, "a");
    const struct duda_field *file = form->file(dr, "file"), *field;
    long n = -1;

    form->get_number(dr, "n", &n);
    response->http_status(dr, 200);
    response->printf(dr, "a=%s n=%ld file=%s", a ? a : "NULL", n, file ? file->filename : "NULL");
    for (unsigned i = 0; (field = form->field(dr, i)); i++)
        response->printf(dr, " [%s|%s|%s|%zu|%d]", field->name,
                         field->fd >= 0 || field->length > 20 ? "..." : field->value,
                         field->type ? field->type : "-", field->length, field->fd >= 0);
    response->end(dr, NULL);
}

/* The file to the path that the query has. */
static void save_file(duda_request_t *dr)
{
    const struct duda_field *file = form->file(dr, "file");
    int result = form->save(dr, file, query->get(dr, "to")), error = errno;

    response->http_status(dr, result == 0 ? 201 : 500);
    response->printf(dr, "%s", result == 0 ? "saved" : strerror(error));
    response->end(dr, NULL);
}

static void hold_form(duda_request_t *dr)
{
    (void)form->get(dr, "a");
    response->wait(dr);
}

static void show_body(duda_request_t *dr)
{
    size_t len = 7;
    const char *body = request->body(dr, &len);

    response->http_status(dr, 200);
    response->printf(dr, "%zu %s", len, body ? body : "NULL");
    response->end(dr, NULL);
}

static void show_field(duda_request_t *dr)
{
    char *value = request->header(dr, "X-One"), *none = request->header(dr, "X-None");
    char *owned = request->header_get(dr, "X-One"), *with_colon = request->header_get(dr, "x-one:");

    response->http_status(dr, 200);
    response->printf(dr, "[%s] [%s] [%s] [%s]", value ? value : "NULL", owned ? owned : "NULL",
                     with_colon ? with_colon : "NULL", none ? none : "NULL");
    mem->free(owned);
    mem->free(with_colon);
    response->end(dr, NULL);
}

static void count_end(void *arg)
{
    ended += *(int *)arg;
    mem->free(arg);
}

static void count(duda_request_t *dr)
{
    int *n = mem->alloc(sizeof(*n));

    *n = 5;
    response->http_status(dr, 200);
    response->printf(dr, "%d %d %d", (int)ended, gc->call(dr, count_end, n),
                     gc->call(dr, NULL, NULL));
    response->end(dr, NULL);
}

int duda_main()
{
    router->get("/query", show_query);
    router->post("/form", show_form);
    router->post("/held", hold_form);
    router->post("/save", save_file);
    router->route("POST PUT GET", "/body", show_body);
    router->get("/field", show_field);
    router->get("/count", count);
    router->map("/old", show_form);
    return 0;
}
