# SPDX-License-Identifier: Apache-2.0
"""The services of examples/duda, each as dudac builds and runs it."""

import re
from urllib.parse import urlencode

import pytest

from harness import dudac
from harness.executable import TREE

pytestmark = pytest.mark.plain


@pytest.fixture
def service(tmp_path, request):
    name = request.node.name.removeprefix("test_")
    with dudac.running(tmp_path, "-p", "0", "-w", TREE / "examples" / "duda" / name) as run:
        assert "warning" not in run.errors()

        def ask(target, method="GET", **kwargs):
            return run.request(f"/{name}{target}", method, **kwargs)

        yield ask
        assert run.interrupt() == 0


def test_books(service):
    key = {"X-Key": "secret"}
    assert service("/api/books").body == b""
    assert service("/api/books", "POST", body=b"Emma").status == 403
    added = service("/api/books", "POST", headers=key, body=b"Emma")
    assert added.status == 201 and added.header("Location") == "/books/api/books/1"
    assert service("/api/books", "POST", headers=key).status == 400
    assert service("/api/books/1").body == b"Emma\n" and service("/api/books").body == b"1 Emma\n"
    tag = service("/api/books/1").header("ETag")
    assert service("/api/books/1", headers={"If-None-Match": tag}).status == 304
    form = {**key, "Content-Type": "application/x-www-form-urlencoded"}
    assert service("/api/books", "POST", headers=form, body=b"title=War+and+Peace").body == b"War and Peace\n"
    assert service("/api/books?x", "GET").body == b"1 Emma\n2 War and Peace\n"
    assert service("/api/books/3").status == 404 and service("/api/books/one").status == 404
    refused = service("/api/books/1", "PUT")
    assert refused.status == 405 and refused.header("Allow") == "DELETE, GET, HEAD, OPTIONS"
    assert service("/api/books/1", "DELETE", headers=key).status == 204 and service("/api/books/1").status == 404


def test_guestbook(service):
    cookie = {}

    def ask(target, method="GET", **kwargs):
        answer = service(target, method, **{**kwargs, "headers": {**cookie, **kwargs.get("headers", {})}})
        for line in answer.all("Set-Cookie"):
            cookie["Cookie"] = line.partition(";")[0]
        return answer

    def send(target, page, **fields):
        token = re.search(rb'name="csrf_token" value="(\w+)"', ask(page).body)[1].decode()
        return ask(target, "POST", headers={"Content-Type": "application/x-www-form-urlencoded"},
                   body=urlencode({"csrf_token": token, **fields}).encode())

    assert ask("/entries", "POST").status == 403
    refused = send("/entries", "/login", text="no")
    assert refused.status == 401 and refused.header("X-Request-Id")
    assert send("/login", "/login", user="Ann <b>").header("Location") == "/guestbook/"
    assert ask("/entries", "POST", headers={"Content-Type": "application/x-www-form-urlencoded"}, body=b"text=x").status == 403
    assert send("/entries", "/", text="a & b").status == 303
    assert b"<p><b>Ann &#60;b&#62;</b>: a &#38; b</p>" in ask("/").body
    assert send("/logout", "/").status == 303 and b"Log in" in ask("/").body
    api = service("/api/entries", headers={"Origin": "https://app.example"})
    assert api.body == b"Ann <b>: a & b\n" and api.header("Access-Control-Allow-Origin") == "https://app.example"
