# SPDX-License-Identifier: Apache-2.0
"""The services of examples/duda, each as dudac builds and runs it."""

import json
import re
import shutil
from urllib.parse import urlencode

import pytest

from harness import duda, dudac
from harness.backend import Backend
from harness.executable import TREE
from harness.tab import Tab

pytestmark = [pytest.mark.plain, pytest.mark.once("services that dudac builds; with a server that watches its memory", and_in=["asan"])]


@pytest.fixture
def service(tmp_path, request):
    name = request.node.name.removeprefix("test_")
    if name == "todo":
        duda.require_package("sqlite")
    shutil.copytree(TREE / "examples" / "duda" / name, tmp_path / name)  # it makes folders and files there
    with dudac.running(tmp_path, "-p", "0", "-w", tmp_path / name) as run:
        assert "warning" not in run.errors()

        def ask(target, method="GET", **kwargs):
            return run.request(f"/{name}{target}", method, **kwargs)

        ask.url = f"http://127.0.0.1:{run.port}/{name}"
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
    jar = {}

    def ask(target, method="GET", **kwargs):
        cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())} if jar else {}
        answer = service(target, method, **{**kwargs, "headers": {**cookie, **kwargs.get("headers", {})}})
        for line in answer.all("Set-Cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            jar[name] = value
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


def test_gateway(tmp_path):
    def answer(conn, request):
        body = f"{request.method} {request.target} {request.body.decode()}".encode()
        conn.answer(body, status="201 Made" if request.body else "200 OK", fields="Content-Type: application/json\r\n")

    with Backend(each=answer) as api:
        env = {"GATEWAY_API": f"http://{api.address}/v1", "GATEWAY_KEY": "secret"}
        with dudac.running(tmp_path, "-p", "0", "-w", TREE / "examples" / "duda" / "gateway", **env) as run:
            got = run.get("/gateway/api/a%20b?c=d")
            assert (got.status, got.body, got.header("Content-Type")) == (200, b"GET /v1/a%20b?c=d ", "application/json")
            made = run.request("/gateway/api/a", "POST", body=b"{}")
            assert (made.status, made.body) == (201, b"POST /v1/a {}")
            assert [q.header("Authorization") for q in api.requests] == ["Bearer secret"] * 2
            api.stop()
            assert run.get("/gateway/api/a").status == 502
            assert run.interrupt() == 0


def looked_at(tab, name):
    """A picture in the light and one in the dark."""
    for dark, paper in ((False, (251, 248, 241)), (True, (24, 21, 18))):
        picture = tab.picture(name, dark)
        assert picture.corner == paper and picture.bytes > 5_000


@pytest.mark.limit(180)
def test_todo(service, tmp_path):
    def send(target, method, values):
        return service("/api/items" + target, method, headers={"Content-Type": "application/json"}, body=json.dumps(values).encode())

    assert b"Nothing is left to do." in service("/").body
    assert send("", "POST", {"text": "Buy <b>milk</b>", "priority": 2}).status == 201
    assert send("", "POST", {"text": "Call Ann"}).status == 201
    wrong = send("", "POST", {"text": "", "priority": 4, "when": "now"})
    assert wrong.status == 400 and [error["name"] for error in json.loads(wrong.body)["errors"]] == ["text", "priority", "when"]
    assert json.loads(service("/api/items").body) == [{"id": 1, "text": "Buy <b>milk</b>", "priority": 2, "done": False},
                                                      {"id": 2, "text": "Call Ann", "priority": 1, "done": False}]
    assert send("/2", "PATCH", {"done": True}).status == 200 and send("/7", "PATCH", {"done": True}).status == 404
    assert [one["id"] for one in json.loads(service("/api/items?done=true").body)] == [2]
    assert set(json.loads(service("/api/openapi.json").body)["paths"]) == {"/api/items", "/api/items/{id}", "/"}
    with Tab(tmp_path) as tab:
        tab.visit(service.url + "/")
        assert tab.value("[...document.querySelectorAll('li label')].map(one => one.textContent.trim()).join()") == "Buy <b>milk</b>,Call Ann"
        looked_at(tab, "todo")
        tab.value("document.forms[0].text.value = 'Now & here'; document.forms[0].priority.value = 3; document.forms[0].requestSubmit()")
        tab.until("document.querySelector('li label')?.textContent.trim() == 'Now & here'")
        tab.value("document.querySelector('li button').click()")
        tab.until("document.querySelector('li label')?.textContent.trim() == 'Buy <b>milk</b>'")
        tab.value("document.querySelector('li input').click()")
        tab.until("document.querySelectorAll('li.done').length == 2")
    assert service("/api/items/2", "DELETE").status == 200 and service("/api/items/2", "DELETE").status == 404


@pytest.mark.limit(180)
def test_sensors(service, tmp_path):
    def report(**values):
        return service("/readings", "POST", headers={"Content-Type": "application/json"}, body=json.dumps(values).encode())

    assert report(celsius=200, humidity=-1).status == 400
    for n in range(30):
        assert report(celsius=20 + n % 7 / 2, humidity=40 + n % 5).status == 204
    with Tab(tmp_path, 700, 620) as tab:
        tab.visit(service.url + "/")
        tab.until("document.getElementById('state').textContent == '30 readings'")
        assert report(celsius=31.5, humidity=55).status == 204
        tab.until("document.getElementById('celsius').value.startsWith('31.5 \u00b0C') && document.getElementById('humidity').value == '55 % (40 to 55)'")
        assert tab.value("document.getElementById('celsius-line').getAttribute('points').split(' ').length") == 31
        looked_at(tab, "sensors")
