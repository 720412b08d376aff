# SPDX-License-Identifier: Apache-2.0
"""Routes of level 3: methods, variables with types, groups and their hooks."""

import pytest

from harness import duda
from harness.client import eventually


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    duda.build(folder, "routed", level=3)
    files = tmp_path_factory.mktemp("files")
    (files / "page.txt").write_text("a file")
    return start_shared(server="Workers 1", **duda.config(folder, duda.service("routed", DocumentRoot=files)))


UUID = "0190163d-8694-739b-aea5-966c26f8ad91"


@pytest.mark.parametrize("method, path, said", [
    ("GET", "/", "home id=- -1 rest=-"),
    ("GET", "/number/12", "number id=12 12 rest=-"),
    ("GET", "/number/-12", "number id=-12 -12 rest=-"),
    ("POST", "/number/12", "number_set id=12 12 rest=-"),
    ("PATCH", "/number/12", "changed id=12 12 rest=-"),
    ("DELETE", "/number/12", "dropped id=12 12 rest=-"),
    ("PUT", "/only", "changed id=- -1 rest=-"),
    ("GET", "/hex/0aF", "hex id=0aF -1 rest=-"),
    ("GET", "/word/a-b_1/x", "word id=a-b_1 -1 rest=-"),
    ("GET", f"/uuid/{UUID}", f"uuid id={UUID} -1 rest=-"),
    ("GET", "/rest/", "rest id=- -1 rest="),
    ("GET", "/rest/a/b%20c", "rest id=- -1 rest=a/b c"),
    ("GET", "/rest/spelt", "spelt id=- -1 rest=-"),
    ("GET", "/rest/other", "segment id=other -1 rest=-"),
    ("PURGE", "/three", "any id=- -1 rest=-"),
    ("BREW", "/any", "any id=- -1 rest=-"),
    ("GET", "/number/x", "old id=- -1 rest=-"),  # of no route, so of map()
    ("GET", "/kind/7", "number id=7 7 rest=-"),  # types tell routes of one path apart
    ("GET", f"/kind/{UUID}", f"uuid id={UUID} -1 rest=-"),
    ("GET", "/kind/seven", "slug id=- -1 rest=seven"),
    ("GET", "/kind/seven/more", "all id=- -1 rest=seven/more"),
    ("GET", "/group/before", "group id=- -1 rest=-"),
    ("GET", "/group/", "group id=- -1 rest=-"),
    ("GET", "/group/5", "inner id=5 5 rest=-"),
])
def test_a_route_is_found_by_method_and_path(server, method, path, said):
    assert server.request("/routed" + path, method).body == said.encode()


@pytest.mark.parametrize("path", ["/hex/xyz", "/word/a%20b/x", "/uuid/1", "/group/five", "/none"])
def test_a_path_without_a_route(server, path):
    assert server.get("/routed" + path).status == 404


def test_files_come_after_routes(server):
    assert server.get("/routed/page.txt").body == b"a file"


def test_head_is_answered_by_get(server):
    answer = server.request("/routed/number/12", "HEAD")
    assert answer.status == 200 and answer.body == b"" and answer.header("Content-Length") == "22"


@pytest.mark.parametrize("method, path, status, allow", [
    ("PUT", "/number/12", 405, {"GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"}),
    ("PATCH", "/number/-1", 405, {"GET", "HEAD", "POST", "DELETE", "OPTIONS"}),  # whose types fit
    ("GET", "/only", 405, {"PUT", "OPTIONS"}),
    ("OPTIONS", "/only", 204, {"PUT", "OPTIONS"}),
    ("PUT", "/kind/seven/more", 405, {"GET", "HEAD", "OPTIONS"}),
    ("OPTIONS", "/three", 204, {"GET", "HEAD", "POST", "PURGE", "OPTIONS"}),
])
def test_methods_that_a_path_has_not(server, method, path, status, allow):
    answer = server.request("/routed" + path, method)
    assert answer.status == status and set(answer.header("Allow").split(", ")) == allow


def test_the_path_of_the_service_gets_a_slash(server):
    answer = server.get("/routed")
    assert answer.status == 301 and answer.header("Location").endswith("/routed/")


# ---- hooks


@pytest.mark.parametrize("path, hooks", [
    ("/group/before", []),
    ("/group/", ["outer", "gate"]),
    ("/group/5", ["outer", "gate"]),
    ("/group/behind", ["outer", "gate"]),
    ("/", []),
])
def test_hooks_are_of_the_routes_that_follow_in_their_group(server, path, hooks):
    assert server.get("/routed" + path).all("X-Hook") == hooks


@pytest.mark.parametrize("gate, status, body", [("end", 403, b"gate"), ("open", 200, b"open"), ("wait", 202, b"")])
def test_a_request_that_a_hook_answers_goes_no_further(server, gate, status, body):
    answer = server.get("/routed/group/5", headers={"X-Gate": gate})
    assert answer.status == status and answer.body == body


def steps(server):
    return server.get("/routed/steps").body


def test_hooks_after_the_answer_come_after_the_end_callback_the_last_first(server):
    assert eventually(lambda: steps(server) == b".")
    answer = server.request("/routed/group/5/body", "POST", body=b"x" * 20000)
    assert answer.status == 200 and answer.body == b"20000 " + b"x" * 20000
    seen = []
    assert eventually(lambda: seen.append(steps(server)) or seen[-1] != b".")
    assert seen[-1] == b"end second first ."


# ---- mistakes


WRONG = """
#include "webservice.h"
DUDA_REGISTER("tests", "wrong");
static void cb(duda_request_t *dr) { }
static void routes(void) { router->get("/", cb); }
int duda_main() { %s return 0; }
"""


@pytest.mark.parametrize("call, why", [
    ('router->get("x", cb);', 'router->get("x"): it is malformed'),
    ('router->get(NULL, cb);', "router->get(): a pattern and a call-back are needed"),
    ('router->post("/x", NULL);', "router->post(): a pattern and a call-back are needed"),
    ('router->get("/:a<float>", cb);', 'router->get("/:a<float>"): types are int, uint, hex, word and uuid'),
    ('router->get("/:a", cb); router->get("/:b<int>", cb);', 'router->get("/:b<int>"): another route has this path and method'),
    ('router->route("G@T", "/", cb);', 'router->route("/"): it is malformed'),
    ('router->group("api", routes);', 'router->group("api"): a prefix such as "/api" is needed'),
    ('router->group("/api/", routes);', 'router->group("/api/"): a prefix such as "/api" is needed'),
    ('router->group("/api", NULL);', 'router->group("/api"): a prefix such as "/api" is needed'),
    ("router->before(NULL);", "router->before(): a call-back is needed"),
    ("router->after(NULL);", "router->after(): a call-back is needed"),
])
def test_a_wrong_route_stops_the_start(start, tmp_path, call, why):
    duda.build(tmp_path / "services", WRONG % call, name="wrong", level=3, flags=("-fcommon", "-Wno-unused-function"))
    server = start(wait=False, **duda.config(tmp_path / "services", "wrong"))
    assert server.expect_exit() != 0
    assert f"service 'wrong': {why}" in server.log()
