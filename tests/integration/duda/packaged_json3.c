/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/json/json.h"

DUDA_REGISTER("tests", "json of level 3");

static void show(duda_request_t *dr, int status, const char *text)
{
    response->http_status(dr, status);
    response->printf(dr, "%s", text);
    response->end(dr, NULL);
}

/* A document with the posted patch, and the number at /b/c/0. */
static void patch(duda_request_t *dr)
{
    struct json_fault fault;
    mk_pointer body = dr->sr->data;
    json_t *item = json->create_object();
    json_t *change = json->parse_text(body.data, body.len, JSON_UNIQUE_KEYS, &fault), *patched;
    uint64_t number = 0;
    int64_t id = 0;
    char text[256], *printed;

    if (!change) {
        snprintf(text, sizeof(text), "%u:%u: %s", fault.line, fault.column, fault.reason);
        json->delete (item);
        show(dr, 400, text);
        return;
    }
    json->add_to_object(item, "a", json->create_number(1));
    json->add_to_object(item, "id", json->create_int64(INT64_MAX));
    patched = json->merge_patch(item, change);
    printed = json->print_unformatted(patched);
    if (json->get_int64(json->pointer(patched, "/id"), &id) == 0 && id == INT64_MAX)
        json->get_uint64(json->pointer(patched, "/b/c/0"), &number);
    snprintf(text, sizeof(text), "%s %llu", printed, (unsigned long long)number);
    mem->free(printed);
    json->delete (item);
    json->delete (change);
    json->delete (patched);
    show(dr, 200, text);
}

/* A member of the body. */
static void body(duda_request_t *dr)
{
    struct json_fault fault = {0};
    json_t *tree = json->body(dr, &fault);
    int64_t n = -1;

    json->get_int64(json->pointer(tree, "/n"), &n);
    if (tree)
        response->send(dr, 200, "text/plain", "%lld", (long long)n);
    else
        response->problem(dr, 400, "The body is no JSON", fault.reason);
}

static int to_response(void *user, const char *bytes, size_t len)
{
    return response->print(user, (char *)bytes, len);
}

static void write_text(duda_request_t *dr)
{
    json_t *tree = json->create_object();
    json_writer_t *w = json->writer_new(to_response, dr);

    json->add_to_object(tree, "n", json->create_uint64(UINT64_MAX));
    json->write_object(w);
    json->write_key(w, "list");
    json->write_array(w);
    json->write_int64(w, INT64_MIN);
    json->write_number(w, 0.5);
    json->write_bool(w, 1);
    json->write_null(w);
    json->write_string(w, "\xc3\xa9");
    json->write_close(w);
    json->write_key(w, "tree");
    json->write_item(w, tree);
    json->write_close(w);
    response->http_status(dr, json->writer_end(w) == 0 ? 200 : 500);
    json->delete (tree);
    response->end(dr, NULL);
}

static int refuse(void *user, const char *bytes, size_t len)
{
    return -1;
}

static void wrong(duda_request_t *dr)
{
    json_writer_t *w = json->writer_new(refuse, NULL);
    int is_refused;

    json->write_null(w);
    is_refused = json->writer_end(w) < 0;
    is_refused &= !json->parse_text(NULL, 5, 0, NULL) && !json->pointer(NULL, NULL) &&
                  !json->merge_patch(NULL, NULL) && json->get_int64(NULL, NULL) < 0 &&
                  json->get_uint64(NULL, NULL) < 0 && !json->writer_new(NULL, NULL) &&
                  json->writer_end(NULL) < 0 && !json->print(NULL) && !json->parse(NULL);
    json->write_key(NULL, NULL);
    json->delete (NULL);
    show(dr, 200, is_refused ? "all refused" : "accepted");
}

static void answer(duda_request_t *dr)
{
    const int is_broken = query->get(dr, "broken") != NULL;
    json_writer_t *w = json->answer(dr, 201);

    json->write_object(w);
    json->write_key(w, "tags");
    json->write_raw(w, "[\"a\", {}]", 9);
    json->write_key(w, "none");
    json->write_raw(w, NULL, 0);
    if (is_broken)
        json->write_raw(w, "1", 1);
    json->write_close(w);
    if (json->writer_end(w) < 0)
        response->problem(dr, 500, "It is not whole", NULL);
}

static void too_late(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->send_headers(dr);
    response->printf(dr, "%d", json->answer(dr, 200) == NULL);
    response->end(dr, NULL);
}

int duda_main()
{
    duda_load_package(json, "json");
    router->get("/answer", answer);
    router->get("/late", too_late);
    router->map("/patch", patch);
    router->map("/write", write_text);
    router->map("/wrong", wrong);
    router->route("POST PATCH", "/body", body);
    return 0;
}
