# SPDX-License-Identifier: Apache-2.0
"""duda_request(): calls of libmonkey-web on the requests of a service."""

import base64
import hashlib
import hmac
import json

import pytest

from harness import duda
from harness.client import eventually

INCLUDE = duda.HEADERS.parents[2] / "include"


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    duda.build(folder, "given", level=3, flags=("-fcommon", f"-I{INCLUDE}"))
    return start_shared(server="Workers 1", **duda.config(folder, "given"))


def counts(server):
    return [int(word) for word in server.get("/given/counts").body.split()]


def test_calls_that_read(server):
    answer = server.get("/given/read/x%20y?n=7", headers={"Cookie": "b=2; a=1", "Accept": "application/json"})
    assert answer.body == b"1 x y 7 1"


def test_an_answer_takes_the_place_of_what_was_queued(server):
    answer = server.get("/given/answer")
    assert (answer.status, answer.body, answer.header("X-Dropped")) == (201, b"given", None)


def test_an_answer_without_end_is_whole(server):
    assert server.get("/given/alone").status == 410


def test_the_first_answer_counts(server):
    assert server.get("/given/twice").body == b"first"


def test_json_of_the_library(server):
    assert json.loads(server.get("/given/entity").body) == {"given": True}


def test_events_of_the_library(server):
    assert server.get("/given/events").body == b"data: one\n\n"


def test_a_request_that_is_only_asked_for_has_no_answer(server):
    assert server.get("/given/nothing").status == 500


def test_an_answer_after_the_call_back(server):
    assert server.get("/given/late").body == b"late"


@pytest.mark.parametrize("headers, status", [({}, 403), ({"X-Key": "1"}, 200)])
def test_a_hook_that_answers_ends_the_request(server, headers, status):
    assert server.get("/given/guarded/it", headers=headers).status == status


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(value, key=b"new key, of at least thirty-two bytes", expires=4102444800, name=b"user"):
    """The text of a value: RFC 2104 over the purpose, the name, the value and its time."""
    body = f"{base64url(value)}.{expires}"
    message = b"monkey signed 1 %d\n%s%s" % (len(name), name, body.encode())
    return f"{body}.{base64url(hmac.new(key, message, hashlib.sha256).digest())}"


def test_a_signed_cookie_is_that_of_its_description(server):
    cookie = server.get("/given/sign?value=ann").header("Set-Cookie")
    assert cookie.split(";")[0] == "user=" + signed(b"ann")


OLD = b"old key, of at least thirty-two bytes"


@pytest.mark.parametrize("text, status, body", [
    (signed(b"ann"), 200, b"ann by 0"),
    (signed(b"ann", OLD), 200, b"ann by 1"),
    (signed(b"ann", b"a key of somebody else, of 32 bytes"), 403, b"-2"),
    (signed(b"ann", name=b"other"), 403, b"-2"),
    (signed(b"ann", expires=1), 403, b"-10"),
    (signed(b"ann")[:-1], 403, b"-2"),
    (signed(b"bob").split(".")[0] + "." + signed(b"ann").split(".", 1)[1], 403, b"-2"),
    (signed(b"x" * 65), 403, b"-3"),
    ("", 403, b"-2"),
])
def test_signed_cookies_of_clients(server, text, status, body):
    answer = server.get("/given/verify", headers={"Cookie": f"user={text}"})
    assert (answer.status, answer.body) == (status, body)


def test_no_signed_cookie(server):
    assert server.get("/given/verify").body == b"-6"


@pytest.mark.parametrize("method, path, headers, status, body", [
    ("GET", "/api/7", {"X-Key": "1"}, 200, b"7"),
    ("GET", "/api/7", {}, 401, None),
    ("GET", "/api/x", {"X-Key": "1"}, 404, b"no route"),
    ("GET", "/free/x", {}, 200, b"x"),
    ("POST", "/api/7", {}, 405, None),
])
def test_a_router_of_the_library_with_groups_and_hooks(server, method, path, headers, status, body):
    answer = server.request(f"/given/own{path}", method, headers=headers)
    assert answer.status == status and body in (None, answer.body)


def test_it_is_null_when_the_request_has_ended(server):
    before = counts(server)
    server.get("/given/answer")
    assert eventually(lambda: counts(server)[0] == before[0] + 1)
    ended, was_null, nobody = counts(server)
    assert ended == was_null and nobody == 1
