# SPDX-License-Identifier: Apache-2.0
"""Routes that say which answers they give: what the document shows, what CheckAnswers reports, and tables that are wrong."""

import json
import re

import pytest

from harness import duda
from harness.client import eventually

SOURCE = r"""
#include "webservice.h"

DUDA_REGISTER("tests", "routes that say which answers they give");

static const struct duda_input tag = {.type = DUDA_TEXT};
static const struct duda_input part_rows[] = {{.name = "what", .type = DUDA_TEXT, .is_required = 1}, {0}};
static const struct duda_input book_rows[] = {
    {.name = "id", .type = DUDA_INTEGER, .is_required = 1, .min = 1, .max = 99, .about = "Its number"},
    {.name = "title", .type = DUDA_TEXT, .is_required = 1},
    {.name = "place.shelf", .type = DUDA_TEXT, .choices = "a b"},
    {.name = "tags", .type = DUDA_LIST, .items = &tag},
    {.name = "parts", .type = DUDA_LIST, .items = part_rows, .item_size = 1},
    {0}};
static const struct duda_answer book_answers[] = {
    {200, "application/json", "A book", book_rows},
    {200, "text/plain", "Its title"},
    {404, "application/problem+json", "There is no such book"},
    {0}};
static const struct duda_answer list_answers[] = {{200, "application/json", "Books", book_rows, 1}, {0}};
static const struct duda_answer any_answers[] = {{201, "application/json", "Whatever it is"}, {204, NULL, "Nothing"}, {0}};

struct wish {
    int64_t status;
    const char *type;
};
static const struct duda_input wish_rows[] = {
    {.name = "status", .in = DUDA_IN_QUERY, .type = DUDA_INTEGER, .to = offsetof(struct wish, status), .min = 200, .max = 599, .preset = "200"},
    {.name = "type", .in = DUDA_IN_QUERY, .type = DUDA_TEXT, .to = offsetof(struct wish, type), .preset = "application/json"},
    {0}};
static const struct duda_inputs wish_inputs = {"What is wished", sizeof(struct wish), wish_rows};
struct note {
    const char *text;
};
static const struct duda_input note_rows[] = {
    {.name = "text", .in = DUDA_IN_BODY, .type = DUDA_TEXT, .to = offsetof(struct note, text), .is_required = 1}, {0}};
static const struct duda_inputs note_inputs = {"A note", sizeof(struct note), note_rows};

static void show(duda_request_t *dr)
{
    const struct wish *wish = input->values(dr);

    response->http_status(dr, (int)wish->status);
    if (wish->type[0])
        response->header(dr, "Content-Type", wish->type);
    response->end(dr, NULL);
}

static void fixed(duda_request_t *dr)
{
    static const char text[] = "{}";

    if (!response->unchanged(dr, text, 0))
        response->send(dr, 200, "application/json", "%s", text);
}

static void nothing(duda_request_t *dr)
{
    response->http_status(dr, 204);
    response->end(dr, NULL);
}

static void gate(duda_request_t *dr)
{
    if (request->header(dr, "X-Refuse"))
        response->problem(dr, 403, "Refused", NULL);
}

int duda_main()
{
    input->publish("Books", "1.0");
    router->before(gate);
    router->specify("GET", "/books/:id<int>", show, &wish_inputs, book_answers);
    router->specify("GET", "/books", fixed, NULL, list_answers);
    router->specify("POST", "/notes", nothing, &note_inputs, any_answers);
    return 0;
}
"""


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    duda.build(folder, SOURCE, name="specified", level=3)
    return start_shared(server="Workers 1", **duda.config(folder, "specified", duda={"CheckAnswers": "on"}))


def responses(server, path, method):
    return json.loads(server.get("/specified/openapi.json").body)["paths"][path][method]["responses"]


def test_the_document_has_the_answers(server):
    said = responses(server, "/books/{id}", "get")
    assert set(said) == {"200", "400", "404"} and said["200"]["description"] == "A book"
    assert set(said["200"]["content"]) == {"application/json", "text/plain"} and said["200"]["content"]["text/plain"] == {}
    schema = said["200"]["content"]["application/json"]["schema"]
    assert schema["required"] == ["id", "title"] and not schema["additionalProperties"]
    assert schema["properties"]["id"] == {"description": "Its number", "type": "integer", "format": "int64", "minimum": 1, "maximum": 99}
    assert schema["properties"]["title"]["maxLength"] == 1 << 20
    assert schema["properties"]["place"]["properties"]["shelf"]["enum"] == ["a", "b"]
    assert schema["properties"]["tags"]["items"]["type"] == "string" and schema["properties"]["tags"]["maxItems"] == 10000
    assert schema["properties"]["parts"]["items"]["required"] == ["what"]
    listed = responses(server, "/books", "get")
    assert set(listed) == {"200"}
    assert listed["200"]["content"]["application/json"]["schema"]["items"]["required"] == ["id", "title"]
    noted = responses(server, "/notes", "post")
    assert set(noted) == {"201", "204", "400", "413", "415"}
    assert noted["201"]["content"] == {"application/json": {}} and noted["204"] == {"description": "Nothing"}


def complaints(server):
    return re.findall(r"(?:GET|POST) \S+: its table has no answer.*?of the type \S*", server.log())


@pytest.mark.parametrize("path, status", [
    ("/specified/books/1", 200), ("/specified/books/1?type=text/plain%3B+charset%3Dutf-8", 200), ("/specified/books/1?type=application/problem%2Bjson&status=404", 404),
    ("/specified/books/1?status=1", 400), ("/specified/books/x", 404), ("/specified/books", 200),
])
def test_an_answer_of_the_table_is_right(server, path, status):
    before = complaints(server)
    assert server.get(path).status == status
    assert complaints(server) == before


def test_what_the_server_answers_itself_is_right(server):
    before = complaints(server)
    tag = server.get("/specified/books").header("ETag")
    assert server.get("/specified/books", headers={"If-None-Match": tag}).status == 304
    assert server.get("/specified/books", headers={"X-Refuse": "1"}).status == 403
    json_type = {"Content-Type": "application/json"}
    assert server.request("/specified/notes", "POST", headers=json_type, body=b'{"text":"a"}').status == 204
    assert server.request("/specified/notes", "POST", headers=json_type, body=b"{}").status == 400
    assert server.request("/specified/notes", "POST", headers={"Content-Type": "text/plain"}, body=b"{}").status == 415
    assert complaints(server) == before


@pytest.mark.parametrize("query, said", [
    ("status=201", 'no answer 201 of the type "application/json"'),
    ("type=text/html", 'no answer 200 of the type "text/html"'),
    ("type=", 'no answer 200 of the type ""'),
    ("status=404&type=application/json", 'no answer 404 of the type "application/json"'),
])
def test_any_other_is_reported(server, query, said):
    assert server.get("/specified/books/1?" + query).status in (200, 201, 404)
    assert eventually(lambda: said.replace('"', r"\"") in server.log() or said in server.log(), within=30.0)


def test_without_the_switch_nothing_is_reported(start, tmp_path):
    duda.build(tmp_path, SOURCE, name="specified", level=3)
    server = start(**duda.config(tmp_path, "specified"))
    assert server.get("/specified/books/1?status=201").status == 201
    assert "its table has no answer" not in server.log()


@pytest.mark.parametrize("rows, why", [
    ("{0}", "answer 0: a table has 1 to 32 rows"),
    ('{100, NULL, "a"}, {0}', "answer 100: its status is none of 200 to 599"),
    ('{200, "json", "a"}, {0}', "answer 200: its type is none of a body, without parameters"),
    ('{200, "text/plain; charset=utf-8", "a"}, {0}', "answer 200: its type is none of a body, without parameters"),
    ('{204, "text/plain", "a"}, {0}', "answer 204: a body is not of this status"),
    ('{200, "text/plain", "a", .is_list = 1}, {0}', "answer 200: members are of JSON alone"),
    ('{200, NULL, "a"}, {200, NULL, "b"}, {0}', "answer 200: another row has its status and type"),
    ('{200, "application/json", "a", wrong}, {0}', 'answer 200: input "a": its min is above its max'),
    ('{200, "application/json", "a", twice}, {0}', 'answer 200: input "a": another row has its name'),
    ('{200, "application/json", "a", untyped}, {0}', 'answer 200: input "a": it has no type'),
])
def test_a_wrong_table_stops_the_start(start, tmp_path, rows, why):
    source = """
#include "webservice.h"
DUDA_REGISTER("tests", "wrong");
__attribute__((unused)) static const struct duda_input wrong[] = {{.name = "a", .type = DUDA_INTEGER, .min = 2, .max = 1}, {0}};
__attribute__((unused)) static const struct duda_input twice[] = {{.name = "a", .type = DUDA_TEXT}, {.name = "a", .type = DUDA_TEXT}, {0}};
__attribute__((unused)) static const struct duda_input untyped[] = {{.name = "a"}, {0}};
static const struct duda_answer answers[] = {ROWS};
static void cb(duda_request_t *dr) { response->send(dr, 200, "text/plain", "x"); }
int duda_main()
{
    router->specify("GET", "/books", cb, NULL, answers);
    return 0;
}
""".replace("ROWS", rows)
    duda.build(tmp_path, source, name="wrong", level=3)
    server = start(wait=False, **duda.config(tmp_path, "wrong"))
    assert server.expect_exit() != 0
    log = server.log().replace(r"\"", '"')
    assert re.search(r"wrong\.0\.c:11: GET /books: ", log) and why in log


def test_no_table_stops_the_start(start, tmp_path):
    source = """
#include "webservice.h"
DUDA_REGISTER("tests", "without");
static void cb(duda_request_t *dr) { response->send(dr, 200, "text/plain", "x"); }
int duda_main() { router->specify("GET", "/books", cb, NULL, NULL); return 0; }
"""
    duda.build(tmp_path, source, name="without", level=3)
    server = start(wait=False, **duda.config(tmp_path, "without"))
    assert server.expect_exit() != 0
    assert "router->specify(): a table of answers is needed" in server.log()
