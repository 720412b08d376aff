# SPDX-License-Identifier: Apache-2.0
"""Routes that describe their inputs: what they are given, and how wrong inputs are answered."""

import json
import re

import pytest

from harness import duda
from harness.tab import Tab

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Content-Type": "application/json"}
TEXT = r"^[^\u0000]*$"  # of a schema: what a text of C can be


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    duda.build(folder, "described", level=3)
    return start_shared(server="Workers 1", **duda.config(folder, "described"))


def find(server, path, **kwargs):
    return server.get("/described/api/shelves/" + path, **kwargs)


def order(server, body, headers=JSON):
    return server.request("/described/api/orders", "POST", headers=headers, body=body)


def errors(answer, status=400):
    assert answer.status == status and answer.header("Content-Type") == "application/problem+json"
    said = json.loads(answer.body)
    assert said["status"] == status and said["title"]
    return [(error["in"], error["name"], error["detail"]) for error in said.get("errors", [])]


@pytest.mark.parametrize("path, said", [
    ("7/books?q=a", "id=7 q=a color=- page=1 (preset) price=0 exact=0 key=-"),
    ("7/books?q=a%20b&color=red&page=3&price=2.5&exact=true&tag=x&tag=y", "id=7 q=a b color=red page=3 price=2.5 exact=1 key=- [x] [y]"),
    ("7/books?q=a&page=&price=&exact=&color=&utm=1", "id=7 q=a color=- page=1 (preset) price=0 exact=0 key=-"),
])
def test_values_come_typed(server, path, said):
    assert find(server, path).body == said.encode()


def test_a_field_of_the_head(server):
    assert find(server, "7/books?q=a", headers={"x-key": "12AB"}).body.endswith(b"key=12AB")
    assert errors(find(server, "7/books?q=a", headers={"X-Key": "12AB0"})) == [("header", "X-Key", "must match the pattern [A-F0-9]{4}")]


@pytest.mark.parametrize("path, wrong", [
    ("100/books?page=0&color=green&tag=&price=x&exact=2", [
        ("path", "id", "must be at most 99"), ("query", "q", "is missing"), ("query", "color", "must be one of: red blue"),
        ("query", "page", "must be at least 1"), ("query", "price", "must be a number"), ("query", "exact", "must be true or false"),
        ("query", "tag", "must have at least 1 characters")]),
    ("1/books?q=a&q=b", [("query", "q", "is given more than once")]),
    ("1/books?q=%ff", [("query", "q", "must be UTF-8")]),
    ("1/books?q=a&other=%zz", [("query", "", "has a malformed escape or a NUL")]),
    ("1/books?q=a&other=%00", [("query", "", "has a malformed escape or a NUL")]),
    ("1/books?q=a&" + "b&" * 1000, [("query", "", "has more than 1,000 values")]),
    ("1/books?q=a" + "&tag=b" * 4, [("query", "tag", "must have at most 3 values")]),
    ("%31x/books?q=" + "a" * 21, [("path", "id", "must be a whole number of 64 bits"), ("query", "q", "must have at most 20 characters")]),
])
def test_each_wrong_input_is_named(server, path, wrong):
    assert errors(find(server, path)) == wrong


def test_hooks_come_before(server):
    assert find(server, "1/books", headers={"X-Refuse": "1"}).status == 403


@pytest.mark.parametrize("body, said", [
    ('{"name":"Ann","lines":[]}', "Ann of -:"),
    ('{"name":"\u00c4nn","address":{"city":"Rom"},"lines":[{"what":"tea","count":2},{"what":"cup"}]}', "\u00c4nn of Rom: 2xtea 1xcup"),
])
def test_bodies(server, body, said):
    answer = order(server, body.encode(), {"Content-Type": "application/json; charset=utf-8"})
    assert (answer.status, answer.body) == (201, said.encode())
    assert server.request("/described/api/orders", "PUT", headers={"Content-Type": "application/x+json"}, body=body.encode()).status == 201


@pytest.mark.parametrize("body, wrong", [
    ("{}", [("body", "name", "is missing"), ("body", "lines", "is missing")]),
    ("[]", [("body", "", "must be an object")]),
    ('{"name":1,"lines":[{"what":"a","count":10},{"more":1}],"address":{"street":"x"}}', [
        ("body", "name", "must be a text"), ("body", "lines[0].count", "must be at most 9"), ("body", "lines[1].more", "is not known"),
        ("body", "lines[1].what", "is missing"), ("body", "address.street", "is not known")]),
    ('{"name":"x","lines":[1,2,3,4]}', [("body", "lines", "must have at most 3 items")]),
])
def test_each_wrong_member_is_named(server, body, wrong):
    assert errors(order(server, body.encode())) == wrong


@pytest.mark.parametrize("body, detail", [
    (b'{"name":\n "x",}', "line 2, column 6: a key is expected"),
    (b'{"name":"x","name":"y"}', "line 1, column 24: the object has a key twice"),
    (b"[" * 33 + b"]" * 33, "line 1, column 33: nested too deep"),
    (b"[" + b"1," * 10000 + b"1]", "line 1, column 20000: too many values"),
    (b'{"name":"\xff"}', "line 1, column 10: this may not be in a string"),
])
def test_a_body_that_is_no_json(server, body, detail):
    answer = order(server, body)
    assert errors(answer) == [] and json.loads(answer.body)["detail"] == detail


@pytest.mark.plain  # bodies of 1 MB
def test_bodies_of_other_types_and_sizes(server):
    assert errors(order(server, b"{}", {"Content-Type": "text/plain"}), 415) == []
    assert errors(order(server, b"{}", {}), 415) == []
    assert errors(order(server, b'"' + b"a" * (1 << 20) + b'"'), 413) == []
    assert ("body", "name", "is missing") in errors(order(server, b""))


def test_hostile_names_are_quoted_and_bounded(server):
    body = json.dumps({"<script>\u0000".replace("\0", "") * 100: 1, **{f"k{n}": n for n in range(5000)}}).encode()
    found = errors(order(server, body))
    assert len(found) == 32 and len(found[0][1]) < 160 and found[0][1].startswith("<script>")


def test_forms(server):
    def send(body, headers=FORM):
        return server.request("/described/api/notes", "POST", headers=headers, body=body)

    assert send(b"text=a+b&stars=5&keep=on").body == b"a b 5 1"
    assert send(b"text=a&stars=").body == b"a 0 0"
    multipart = b'--cut\r\nContent-Disposition: form-data; name="text"\r\n\r\nhello\r\n--cut--\r\n'
    assert send(multipart, {"Content-Type": "multipart/form-data; boundary=cut"}).body == b"hello 0 0"
    assert errors(send(b"text=&stars=9&keep=x")) == [
        ("form", "text", "must have at least 1 characters"), ("form", "stars", "must be at most 5"), ("form", "keep", "must be true or false")]
    assert errors(send(b"{}", JSON), 415) == []
    assert errors(send(b"--cut\r\nno head", {"Content-Type": "multipart/form-data; boundary=cut"})) == []
    assert errors(send(b"&" + b"x&" * 20000), 413) == []
    assert errors(send(b"")) == [("form", "text", "is missing")]


@pytest.mark.plain  # bodies of 1 MB
def test_bodies_as_trees(server):
    def send(body, kind="application/json", method="POST"):
        return server.request("/described/api/tree", method, headers={"Content-Type": kind}, body=body)

    assert send(b'{"a":1,"b":"x","c":[]}').body == b"[a 3][b 4][c 5]"
    assert errors(send(b"{}", "text/plain"), 415) == []
    assert errors(send(b'["' + b"x" * (1 << 20) + b'"]'), 413) == []
    for body, line, column in [(b"", 1, 1), (b'{\n"a" 1}', 2, 5), (b"[1,2", 1, 5), (b'{"a":1,"a":1}', 1, 14)]:
        said = json.loads(send(body).body)
        assert (said["status"], said["line"], said["column"]) == (400, line, column) and f"line {line}, column {column}: " in said["detail"]


def test_the_document(server):
    answer = server.get("/described/openapi.json")
    assert answer.status == 200 and answer.header("Content-Type") == "application/json"
    assert server.get("/described/openapi.json", headers={"If-None-Match": answer.header("ETag")}).status == 304
    api = json.loads(answer.body)
    assert (api["openapi"], api["info"], api["servers"]) == ("3.1.1", {"title": "Shelves", "version": "1.0"}, [{"url": "/described"}])
    assert list(api["paths"]) == ["/api/shelves/{id}/books", "/api/orders", "/api/notes", "/api/tree", "/plain", "/plain/{id}/{rest}", "/all"]
    find = api["paths"]["/api/shelves/{id}/books"]["get"]
    assert find["summary"] == "Look for books of a shelf" and "requestBody" not in find
    parameters = {one["name"]: one for one in find["parameters"]}
    assert parameters["id"] == {"name": "id", "in": "path", "required": True, "description": "Number of the shelf",
                                "schema": {"type": "integer", "format": "int64", "minimum": 1, "maximum": 99}}
    assert parameters["q"]["required"] and parameters["q"]["schema"] == {"type": "string", "minLength": 1, "maxLength": 20, "pattern": TEXT}
    assert parameters["color"]["schema"] == {"type": "string", "minLength": 0, "maxLength": 1000, "enum": ["red", "blue"]}
    assert parameters["page"]["schema"]["default"] == 1 and parameters["price"]["schema"] == {"type": "number", "format": "double"}
    assert parameters["tag"]["schema"] == {"type": "array", "minItems": 0, "maxItems": 3, "items": {"type": "string", "minLength": 1, "maxLength": 8, "pattern": TEXT}}
    assert parameters["X-Key"]["schema"]["pattern"] == "^(?:[A-F0-9]{4})$" and parameters["X-Key"]["in"] == "header"
    orders = api["paths"]["/api/orders"]
    assert set(orders) == {"post", "put"} and orders["put"]["requestBody"] == orders["post"]["requestBody"]
    schema = orders["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert schema["required"] == ["name", "lines"] and not schema["additionalProperties"]
    assert schema["properties"]["address"]["properties"]["city"] == {"type": "string", "minLength": 0, "maxLength": 1000, "pattern": TEXT}
    line = schema["properties"]["lines"]["items"]
    assert line["required"] == ["what"] and line["properties"]["count"]["default"] == 1
    assert set(api["paths"]["/api/notes"]["post"]["requestBody"]["content"]) == {"application/x-www-form-urlencoded", "multipart/form-data"}
    notes = api["paths"]["/api/notes"]["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]
    assert notes["additionalProperties"] == {"pattern": TEXT} and notes["propertyNames"]
    assert [one["name"] for one in api["paths"]["/plain/{id}/{rest}"]["get"]["parameters"]] == ["id", "rest"]


def test_publishing_twice_stops_the_start(start, tmp_path):
    source = '''
#include "webservice.h"
DUDA_REGISTER("tests", "twice");
int duda_main() { input->publish("a", "1"); input->publish("a", "1"); return 0; }
'''
    duda.build(tmp_path, source, name="twice", level=3)
    server = start(wait=False, **duda.config(tmp_path, "twice"))
    assert server.expect_exit() != 0
    assert "input->publish(): one title and one version are needed, once" in server.log()


@pytest.mark.plain
@pytest.mark.limit(180)
def test_the_page_of_forms(server, tmp_path):
    url = f"http://127.0.0.1:{server.port}/described/openapi.html"
    with Tab(tmp_path, 800, 900) as tab:
        tab.visit(url)
        tab.until("document.body.dataset.ready == 'yes'")
        assert tab.value("document.title") == "Shelves 1.0"
        assert tab.value("document.querySelectorAll('details').length") == 7
        tab.value("document.querySelectorAll('details')[0].open = document.querySelectorAll('details')[1].open = true; window.field = (at, name) => document.forms[at].querySelector(`[name='${name}']`);"
                  "field(0, 'id').value = 7; field(0, 'page').value = 0; field(0, 'tag').value = '[\"a\", \"b\"]'; document.forms[0].requestSubmit()")
        tab.until("document.forms[0].querySelector('pre').textContent.startsWith('400')")
        assert "page must be at least 1" in tab.value("document.forms[0].textContent")
        assert tab.value("getComputedStyle(field(0, 'page').closest('label').querySelector('.wrong')).color") is not None
        for dark in (False, True):
            assert tab.picture("described", dark).bytes > 10_000
        tab.value("field(0, 'page').value = ''; field(0, 'q').value = '<b>&'; document.forms[0].requestSubmit()")
        tab.until("document.forms[0].querySelector('pre').textContent.includes('id=7 q=<b>& color=- page=1 (preset) price=0 exact=0 key=- [a] [b]')")
        tab.value("field(1, 'name').value = 'Ann'; field(1, 'address.city').value = 'Rom'; field(1, 'lines').value = '[{\"what\": \"tea\"}]'; document.forms[1].requestSubmit()")
        tab.until("document.forms[1].querySelector('pre').textContent.includes('Ann of Rom: 1xtea')")


def test_a_route_without_a_table(server):
    assert server.get("/described/plain").body == b"none"


def test_a_wrong_table_stops_the_start(start, tmp_path):
    source = """
#include "webservice.h"
DUDA_REGISTER("tests", "wrong");
static const struct duda_input rows[] = {{.name = "page", .in = DUDA_IN_QUERY, .type = DUDA_INTEGER, .min = 2, .max = 1}, {0}};
static const struct duda_inputs inputs = {"Nothing", 8, rows};
static void cb(duda_request_t *dr) { response->send(dr, 200, "text/plain", "x"); }
int duda_main()
{
    router->describe("GET", "/books", cb, &inputs);
    return 0;
}
"""
    duda.build(tmp_path, source, name="wrong", level=3)
    server = start(wait=False, **duda.config(tmp_path, "wrong"))
    assert server.expect_exit() != 0
    assert re.search(r"wrong\.0\.c:9: GET /books: input \"page\": its min is above its max", server.log())
