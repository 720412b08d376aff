# SPDX-License-Identifier: Apache-2.0
"""Allocation 1, 2, ... n fails while a service answers by each of its objects: an answer or an error, and the next one works."""

import itertools

import pytest

from harness import duda, http
from harness.client import eventually

pytestmark = [pytest.mark.plain, pytest.mark.limit(300)]
WITHIN = 50.0

SERVICE = """
/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"
#include "packages/base64/base64.h"
#include "packages/json/json.h"
#include "packages/kv/kv.h"
#include "packages/sha256/sha256.h"

DUDA_REGISTER("allocations", "uses each object");

static duda_cache_t *kept;

static void good(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "good");
}

static void texts(duda_request_t *dr)
{
    const char *a = query->get(dr, "a"), *b = param->get(dr, "name"), *c = request->header(dr, "X-Field");

    response->header(dr, "X-Answer", a ? a : "none");
    response->printf(dr, "%s %s %s", a ? a : "-", b ? b : "-", c ? c : "-");
    response->http_status(dr, 200);
    response->end(dr, NULL);
}

static void pieces(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->send_headers(dr);
    for (int i = 0; i < 50; i++)
        response->printf(dr, "%0200d", i);
    response->flush(dr);
    response->end(dr, NULL);
}

static void fields(duda_request_t *dr)
{
    const char *a = form->get(dr, "a");
    const struct duda_field *file = form->file(dr, "file");

    response->send(dr, 200, "text/plain", "%s %s", a ? a : "-", file ? file->filename : "-");
}

static void tree(duda_request_t *dr)
{
    const json_t *body = request->json_body(dr);
    json_writer_t *w;

    if (!body)
        return;
    w = json->answer(dr, 200);
    json->write_array(w);
    json->write_item(w, body);
    json->write_string(w, "text");
    json->write_close(w);
    if (json->writer_end(w) < 0)
        response->problem(dr, 503, "Try again later", NULL);
}

static void jar(duda_request_t *dr)
{
    const struct duda_cookie cookie = {.name = "choice", .value = "1"};
    const char *before = cookie_value(dr);

    cookie_put(dr, &cookie);
    response->send(dr, 200, "text/plain", "%s", before ? before : "-");
}

static void visit(duda_request_t *dr)
{
    char *user = session->get(dr, "user");
    const int result = session->create(dr, "user", user ? "again" : "ann", 0);

    mem->free(user);
    response->send(dr, 200, "text/plain", "%d", result);
}

static void memory(duda_request_t *dr)
{
    char *text = cache->get(kept, "key", NULL);

    cache->set(kept, "key", "value", 5);
    mem->free(text);
    response->send(dr, 200, "text/plain", "%d", text != NULL);
}

static void token(duda_request_t *dr)
{
    const char *text = guard->token(dr);

    response->send(dr, text ? 200 : 503, "text/plain", "%s", text ? text : "-");
}

static void guarded(void)
{
    guard->request_id();
    guard->rate(100000, 1);
    guard->csrf(NULL);
    router->get("/token", token);
}

static void events(duda_request_t *dr)
{
    if (sse->open(dr, NULL) < 0) {
        response->problem(dr, 503, "Try again later", NULL);
        return;
    }
    sse->send(dr, "kind", "1", "an event");
    sse->close(dr);
}

static void nothing(void *arg)
{
}

static void done(duda_request_t *dr, void *arg)
{
    response->send(dr, 200, "text/plain", "done");
}

static void work(duda_request_t *dr)
{
    if (task->run(dr, nothing, done, NULL, NULL) < 0)
        response->problem(dr, 503, "Try again later", NULL);
}

static void packages(duda_request_t *dr)
{
    unsigned char digest[64];
    json_t *object = json->create_object();
    char *text;

    json->add_to_object(object, "list", json->parse("[1, {\\"a\\": \\"b\\"}, 0.25]"));
    text = json->print_unformatted_gc(dr, object);
    sha256->encode((unsigned char *)"text", digest, 4);
    response->send(dr, 200, "text/plain", "%s", text ? text : "-");
    json->delete (object);
}

int duda_main()
{
    duda_load_package(base64, "base64");
    duda_load_package(json, "json");
    duda_load_package(sha256, "sha256");
    session->init("allocations");
    kept = cache->create(1 << 20, 100);
    router->get("/good", good);
    router->get("/texts/:name", texts);
    router->get("/pieces", pieces);
    router->post("/fields", fields);
    router->post("/tree", tree);
    router->get("/jar", jar);
    router->get("/visit", visit);
    router->get("/memory", memory);
    router->get("/events", events);
    router->get("/work", work);
    router->get("/packages", packages);
    router->group("/guarded", guarded);
    return 0;
}
""".replace("cookie_value(dr)", 'cookie->value(dr, "choice")').replace("cookie_put(", "cookie->put(").replace(
    "const struct duda_cookie cookie =", "const struct duda_cookie choice =").replace("&cookie)", "&choice)")

MULTIPART = (b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
             b'--x\r\nContent-Disposition: form-data; name="file"; filename="f.txt"\r\n\r\n' + b"y" * 300_000 + b"\r\n--x--\r\n")
REQUESTS = [
    ("GET", "texts/a%20b?a=1%202", {"X-Field": "f"}, b""),
    ("GET", "pieces", {}, b""),
    ("POST", "fields", {"Content-Type": "application/x-www-form-urlencoded"}, b"a=1+2&b=3"),
    ("POST", "fields", {"Content-Type": "multipart/form-data; boundary=x"}, MULTIPART),
    ("POST", "tree", {"Content-Type": "application/json"}, b'{"a": [1, 2.5, "text", {"b": null}]}'),
    ("GET", "jar", {"Cookie": "choice=2"}, b""),
    ("GET", "visit", {}, b""),
    ("GET", "memory", {}, b""),
    ("GET", "guarded/token", {}, b""),
    ("GET", "events", {}, b""),
    ("GET", "work", {}, b""),
    ("GET", "packages", {}, b""),
]
ALIKE = {"texts/a%20b?a=1%202", "pieces", "fields", "tree"}  # each time, whatever the service makes of calls that fail


@pytest.fixture
def server(start, tmp_path, allocations):
    for package in ("base64", "json", "sha256"):
        duda.require_package(package)
    duda.build(tmp_path / "services", SERVICE, name="allocations", level=3)
    return start(env=allocations.environment, **duda.config(tmp_path / "services", "allocations", server="Workers 1\n",
                                                            duda={"PackagesRoot": duda.packages()}))


@pytest.mark.parametrize("method, target, fields, body", REQUESTS, ids=[f"{target.partition('/')[0]}-{len(body)}" for _, target, _, body in REQUESTS])
def test_an_answer_or_an_error(server, allocations, method, target, fields, body):
    def works():
        answer = server.request(f"/allocations/{target}", method, headers=fields, body=body, timeout=WITHIN)
        return answer.status == 200 and server.get("/allocations/good", timeout=WITHIN).text == "good"

    def is_whole(seen):
        """What begins as a good answer has all of it, or is visibly cut off."""
        if not seen.startswith(b"HTTP/1.1 200") or target not in ALIKE:
            return True
        chunked = b"Transfer-Encoding: chunked" in seen.partition(b"\r\n\r\n")[0]
        return chunked and not seen.endswith(b"0\r\n\r\n") or http.parse_one(seen, method).body == expected.body

    assert works()
    expected = server.request(f"/allocations/{target}", method, headers=fields, body=body)
    for number in itertools.count(1):
        allocations.arm(number)
        with server.connect() as connection:
            connection.send(http.request(f"/allocations/{target}", method, headers=[("Connection", "close"), *fields.items()], body=body))
            seen = connection.rest_until_cut()
        assert not seen or seen.startswith(b"HTTP/1.1 "), seen[:100]
        assert is_whole(seen), seen[:300]
        assert server.is_running(), f"allocation {number}\n{server.log()}"
        allocations.disarm()
        failed = allocations.failed
        assert eventually(works, within=WITHIN), f"after allocation {number}"
        if not failed:
            break
    assert number > 2
