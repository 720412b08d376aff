# SPDX-License-Identifier: Apache-2.0
"""dudac new: each template makes a service that builds without a warning, and does what its page asks for."""

import json
import re
import types

import pytest

from harness import duda, dudac, redis_server
from harness.client import Connection, eventually
from harness.frames import BINARY, TEXT, Raw, frame
from harness.process import is_sanitized

pytestmark = pytest.mark.once("a program in Python and its templates")


def hear_at_last(ws, wanted, perhaps_before):
    """What was sent before somebody joined may still be on its way to that worker."""
    heard = ws.hear()
    if heard == perhaps_before:
        heard = ws.hear()
    assert heard == wanted


def chat(run):
    place = types.SimpleNamespace(connect=lambda: Connection(("127.0.0.1", run.port)))
    with Raw(place, "/shop/chat") as ann, Raw(place, "/shop/chat") as bob:
        ann.say("Ann")
        assert ann.hear() == "\tAnn is here"
        bob.say("Bob")
        assert ann.hear() == "\tBob is here"
        hear_at_last(bob, "\tBob is here", "\tAnn is here")
        ann.say("a <b>\tc")
        assert ann.hear() == bob.hear() == "Ann\ta <b>\tc"
        ann.say("x" * 4000)
        assert ann.hear() == bob.hear() == "Ann\t" + "x" * 4000
        ann.leave()
        assert bob.hear() == "\tAnn has left"
        bob.send(frame(BINARY, b"Bob"))
        assert bob.closed() == 1003
    for wrong in ("", "A\tB", "x" * 80):
        with Raw(place, "/shop/chat") as guest:
            guest.say(wrong)
            assert guest.closed() == 4000
    with Raw(place, "/shop/chat") as guest:
        guest.send(frame(TEXT, b"x" * 4001))
        assert guest.closed() == 1009


def hello(run):
    assert run.get("/shop/greet?name=Ann").text == "Hello, Ann!\n"
    assert run.get("/shop/greet").text == "Hello, world!\n"


JSON = {"Content-Type": "application/json"}


def login(run):
    def log_in(body=None, **account):
        return run.request("/shop/login", "POST", headers=JSON, body=body or json.dumps(account).encode())

    assert run.get("/shop/me").status == run.request("/shop/logout", "POST").status == 401
    assert log_in(name="ann", password="apple").status == 403
    assert log_in(name="ann").status == log_in().status == log_in(b"{").status == 400
    assert run.request("/shop/login", "POST", body=b'{"name": "ann", "password": "banana"}').status == 415
    answer = log_in(name="ann", password="banana")
    cookie = {"Cookie": re.match(r"[^;]+", answer.header("set-cookie"))[0]}
    assert answer.status == 204 and run.request("/shop/me", headers=cookie).text == "ann"
    assert run.request("/shop/logout", headers=cookie).status == 405
    assert run.request("/shop/logout", "POST", headers=cookie).status == 204
    assert run.request("/shop/me", headers=cookie).status == 401
    assert 429 in {log_in(name="ann", password=str(n)).status for n in range(60)} and run.get("/shop/me").status == 401


def rest(run):
    def items():
        return json.loads(run.get("/shop/items").body)

    def add(body):
        return run.request("/shop/items", "POST", headers=JSON, body=body)

    assert items() == []
    assert add(b'{"text": "wash \\u00fcp"}').body == b'{"id":1}' and add(b'{"text": "cook"}').status == 201
    assert items() == [{"id": 2, "text": "cook"}, {"id": 1, "text": "wash üp"}]
    wrong = [b"", b"{}", b'{"text": 1}', b'{"text": ""}', b'{"text": "' + b"x" * 201 + b'"}', b'{"text": "a", "more": 1}']
    assert [add(body).status for body in wrong] == [400] * 6
    assert json.loads(add(b"{}").body)["errors"] == [{"in": "body", "name": "text", "detail": "is missing"}]
    assert run.request("/shop/items", "POST", body=b'{"text": "a"}').status == 415
    assert run.request("/shop/items/1", "DELETE").status == 204
    assert [run.request(f"/shop/items/{at}", "DELETE").status for at in ("1", "x", "99999999999999999999")] == [404, 400, 400]
    assert run.request("/shop/items", "PUT", body=b"x").status == run.get("/shop/items/2").status == 405
    assert [item["id"] for item in items()] == [2]
    assert add('{"text": "'.encode() + "😀".encode() * 200 + b'"}').status == 201
    assert items()[0]["text"] == "😀" * 200
    api = json.loads(run.get("/shop/openapi.json").body)
    assert {path: list(operations) for path, operations in api["paths"].items()} == {"/items": ["get", "post"], "/items/{id}": ["delete"]}
    assert b"openapi.json" in run.get("/shop/openapi.html").body


def sse(run):
    pages = [Connection(("127.0.0.1", run.port)) for _ in range(3)]
    for page in pages:
        page.send(b"GET /shop/clock HTTP/1.1\r\nHost: localhost\r\n\r\n")
    pages.pop().close()  # one page leaves
    for page in pages:
        seen = b""
        while len(re.findall(rb"data: \d\d:\d\d:\d\d\n\n", seen)) < 2:
            piece = page.sock.recv(4096)
            assert piece
            seen += piece
        assert seen.startswith(b"HTTP/1.1 200 ") and b"Content-Type: text/event-stream\r\n" in seen
        page.close()


def upload(run):
    large = bytes(range(256)) * 2000

    def send(name, content, end=b"\r\n--x--\r\n"):
        body = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode() + content + end
        return run.request("/shop/files", "POST", headers={"Content-Type": "multipart/form-data; boundary=x"}, body=body).status

    assert run.get("/shop/files").text == ""
    assert send("large.bin", large) == 201
    assert send("empty", b"") == 201
    assert run.get("/shop/files/large.bin").body == large and run.get("/shop/files/empty").body == b""
    assert sorted(run.get("/shop/files").text.split()) == ["empty", "large.bin"]
    assert run.get("/shop/files/missing").status == 404
    assert [send(name, b"x") for name in (".hidden", "a/b", "a%0Ab", "x" * 201, "")] == [400] * 5
    assert send("half", b"x", end=b"") == 400
    assert run.request("/shop/files", "POST", body=b"x").status == 415
    assert run.request("/shop/files/empty", "DELETE").status == 405
    assert sorted(run.get("/shop/files").text.split()) == ["empty", "large.bin"]


def todo(run):
    def items():
        return json.loads(run.get("/shop/items").body)

    def add(body):
        return run.request("/shop/items", "POST", body=body)

    assert items() == []
    assert add(b'{"text": "wash \\u00fcp"}').status == add(b'{"text": "cook"}').status == 201
    assert items() == [{"id": 2, "text": "cook"}, {"id": 1, "text": "wash üp"}]
    assert [add(body).status for body in (b"", b"{}", b'{"text": 1}', b'{"text": ""}', b'{"text": "' + b"x" * 201 + b'"}')] == [400] * 5
    assert run.request("/shop/items/1", "DELETE").status == 204
    assert [run.request(f"/shop/items/{at}", "DELETE").status for at in ("1", "x")] == [404, 405]
    assert [item["id"] for item in items()] == [2]


def cache(run):
    """With and without a Redis on this machine."""
    assert [run.get(f"/shop/primes/{n}").text for n in (0, 1, 2, 10, 100000)] == ["0\n", "0\n", "1\n", "4\n", "9592\n"]
    assert [run.get(f"/shop/primes/{n}").status for n in ("20000001", "-1", "99999999999999999999", "x")] == [400, 400, 404, 404]


PACKAGES = {"cache": ["redis"], "chat": ["websocket"], "rest": ["json"], "todo": ["json", "sqlite"]}
TESTS = {"cache": cache, "chat": chat, "hello": hello, "login": login, "rest": rest, "sse": sse, "todo": todo, "upload": upload}


def require_packages(template):
    for name in PACKAGES.get(template, []):
        duda.require_package(name)


@pytest.mark.skipif(is_sanitized(), reason="the tests would have to be built with the sanitizers of the server")
@pytest.mark.parametrize("template", TESTS)
def test_the_tests_of_each_template_pass(tmp_path, template):
    require_packages(template)
    assert dudac.run(tmp_path, "new", "shop", "--template", template).returncode == 0
    done = dudac.run(tmp_path, "test", tmp_path / "shop", "--asan")
    assert done.returncode == 0 and done.stdout.endswith(" 0 failed\n") and "warning" not in done.stderr, done


@pytest.mark.parametrize("template", TESTS)
def test_each_template_works(tmp_path, template):
    require_packages(template)
    done = dudac.run(tmp_path, "new", "shop", "--template", template)
    assert done.returncode == 0 and "dudac watch shop" in done.stdout, done
    with dudac.running(tmp_path, "-w", tmp_path / "shop") as run:
        assert "warning" not in run.errors()
        page = run.get("/shop/")
        assert page.status == 200 and "<title>shop</title>" in page.text and "@NAME@" not in page.text
        assert run.get("/shop/style.css").status == 200
        TESTS[template](run)
        assert run.interrupt() == 0


def test_the_cache_keeps_answers(tmp_path):
    require_packages("cache")
    assert dudac.run(tmp_path, "new", "shop", "--template", "cache").returncode == 0
    source = tmp_path / "shop" / "main.c"
    with redis_server.Server(tmp_path) as redis:
        source.write_text(source.read_text().replace("127.0.0.1:6379", redis.address))
        with dudac.running(tmp_path, "-w", tmp_path / "shop") as run:
            assert run.get("/shop/primes/1000").text == "168\n"
            assert eventually(lambda: run.get("/shop/primes/1000").header("x-cache") == "hit", within=30.0)
            assert run.get("/shop/primes/1000").text == "168\n"
            assert 0 < int(redis.ask("TTL", "shop:primes:1000")[1:]) <= 60
            redis.kill()
            answer = run.get("/shop/primes/1000")
            assert answer.text == "168\n" and answer.header("x-cache") == "miss"
            assert run.interrupt() == 0


def test_the_name_of_a_template_is_enough(tmp_path):
    for words in (["rest"], ["hello", "--template", "rest"]):
        assert dudac.run(tmp_path, "new", *words).returncode == 0
        assert "openapi" in (tmp_path / words[0] / "main.c").read_text()
    assert dudac.run(tmp_path, "new", "common").returncode == 0, "no template, and a name like others"
    assert "openapi" not in (tmp_path / "common" / "main.c").read_text()


def test_what_is_there_stays(tmp_path):
    (tmp_path / "shop").mkdir()
    done = dudac.run(tmp_path, "new", "shop")
    assert done.returncode == 1 and "shop exists already" in done.stderr
    assert list((tmp_path / "shop").iterdir()) == []


@pytest.mark.parametrize("words, code, said", [
    ([], 2, "takes one name"),
    (["a", "b"], 2, "takes one name"),
    (["shop", "--template"], 2, "there are cache, chat, hello, login, rest, sse, todo, upload"),
    (["shop", "--template", "common"], 2, "no template 'common'"),
    (["1shop"], 1, "a letter first"),
    (["my shop"], 1, "no name of a service"),
])
def test_what_cannot_be_made(tmp_path, words, code, said):
    done = dudac.run(tmp_path, "new", *words)
    assert done.returncode == code and said in done.stderr
    assert not (tmp_path / "shop").exists()
