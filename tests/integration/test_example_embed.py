# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/embed, built from an installation and asked over a unix socket."""

import contextlib
import http.client
import json
import re
import socket
import subprocess

import pytest

from harness import installed, process
from harness.client import eventually


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    return installed.Installation(tmp_path_factory.mktemp("image"))


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


@contextlib.contextmanager
def running(env, program, folder, *words):
    """A function that sends one request and returns status, fields and body."""
    path = folder / "socket"
    child = subprocess.Popen([program, f"unix:{path}", *map(str, words)], env=env, stdin=subprocess.PIPE, stderr=subprocess.PIPE)

    def listens():
        with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
            return probe.connect_ex(str(path)) == 0

    def ask(method, target, body=None, fields=()):
        with contextlib.closing(UnixConnection(path)) as connection:
            connection.request(method, target, body, dict(fields))
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    try:
        assert eventually(lambda: child.poll() is not None or listens(), within=30.0)
        assert child.poll() is None, child.stderr.read()
        yield ask
    finally:
        child.stdin.close()
        try:
            child.wait(30)
        finally:
            child.kill()
            child.wait()
            child.stderr.close()


def lines(name):
    """Lines of a program that are neither empty nor comments."""
    text = re.sub(r"/\*.*?\*/", "", (process.TREE / "examples" / "embed" / name).read_text(), flags=re.S)
    return sum(bool(line.strip()) for line in text.splitlines())


def test_hello(installation, tmp_path):
    assert lines("hello.c") <= 25
    with running(installation.env, installation.build("embed/hello.c", "monkey-web"), tmp_path) as ask:
        assert ask("GET", "/")[::2] == (200, b"Hello\n")
        assert ask("GET", "/other")[0] == 404
        status, fields, _ = ask("POST", "/", b"")
        assert (status, fields["Allow"]) == (405, "GET, HEAD, OPTIONS")


def test_json_echo(installation, tmp_path):
    assert lines("json_echo.c") <= 40
    with running(installation.env, installation.build("embed/json_echo.c", "monkey-web"), tmp_path) as ask:
        status, fields, body = ask("POST", "/echo/a%20b", 'x"\n\u00e9'.encode())
        assert (status, fields["Content-Type"]) == (200, "application/json")
        assert json.loads(body) == {"name": "a b", "length": 5, "body": 'x"\n\u00e9'}
        large = b"x" * 65536
        assert json.loads(ask("POST", "/echo/n", large)[2])["body"].encode() == large
        assert ask("POST", "/echo/n", large + b"y")[0] == 413
        assert ask("POST", "/echo/n", iter([large, b"y"]))[0] == 413  # chunked: no length beforehand
        assert json.loads(ask("POST", "/echo/n", iter([b"a", b"b"]))[2])["body"] == "ab"
        assert json.loads(ask("POST", "/echo/n")[2])["body"] == ""


def events(answer, count):
    """The ids of that many events of a stream."""
    ids = []
    while len(ids) < count:
        line = answer.readline()
        assert line, "the stream has ended"
        if line.startswith(b"id: "):
            ids.append(int(line[4:]))
            assert answer.readline() == b"data: %d\n" % ids[-1]
            assert answer.readline() == b"\n"
    return ids


def test_ticker(installation, tmp_path):
    with running(installation.env, installation.build("embed/ticker.c", "monkey-web"), tmp_path):
        for first, fields in ((0, {}), (42, {"Last-Event-ID": "41"})):
            with contextlib.closing(UnixConnection(tmp_path / "socket")) as connection:
                connection.request("GET", "/ticks", headers=fields)
                answer = connection.getresponse()
                assert answer.headers["Content-Type"] == "text/event-stream"
                assert events(answer, 3) == [first, first + 1, first + 2]


def test_list(installation, tmp_path):
    program = installation.build("embed/list.c", "monkey")
    done = subprocess.run([program, f"unix:{tmp_path}/s"], env=installation.env, capture_output=True, text=True, timeout=60,
                          check=True)
    assert "ServerName files.example.org\n" in done.stdout
    assert "quiz text/x-quiz\n" in done.stdout
    assert f"address unix:{tmp_path}/s\n" in done.stdout
    assert re.findall(r"^worker (\d): 0 connections$", done.stdout, re.M) == ["0", "1"]


class Player:
    def __init__(self, ask):
        self.ask, self.cookie = ask, "a=b"

    def request(self, method, target, form=None):
        """The text of the page; its cookie is kept."""
        fields = {"Cookie": self.cookie, "Content-Type": "application/x-www-form-urlencoded"}
        status, head, body = self.ask(method, target, form, fields)
        assert status == 200
        if head["Set-Cookie"]:
            self.cookie = "a=b; " + head["Set-Cookie"].partition(";")[0]
        return body.decode()

    def answer(self, question, choice):
        return self.request("POST", "/", f"question={question}&answer={choice}".encode())


def points(page):
    return int(re.search(r"Points: (\d+)", page)[1])


def test_quiz(installation, tmp_path):
    """A game from its first question to its end, and another player beside it."""
    with running(installation.env, installation.build("embed/quiz.c", "monkey-web"), tmp_path) as ask:
        one, other = Player(ask), Player(ask)
        first = one.request("GET", "/")
        assert "404" in first and points(first) == 0
        assert "Welcome.<" in other.request("GET", "/") and one.cookie != other.cookie
        assert "Right!" in one.answer(0, 1)
        assert "That question was answered." in one.answer(0, 1)
        wrong = one.answer(1, 0)
        assert "Wrong." in wrong and points(wrong) == 1
        assert points(other.answer(0, 0)) == 0
        end = one.answer(2, 0)
        assert points(end) == 2 and "The end." in end
        assert "That question was answered." in one.answer(3, 0)
        assert "Choose an answer." in other.answer("x", 0)
        assert points(one.request("GET", "/new")) == 0
        assert ask("POST", "/", b"x", {"Content-Type": "text/plain"})[0] == 415
        assert "Welcome.<" in Player(ask).answer(0, 1)


def test_reports(installation, tmp_path):
    """A client with the key gets a report, and then the one that was kept."""
    key = {"X-API-Key": "secret"}
    with running(installation.env, installation.build("embed/reports.c", "monkey-web"), tmp_path, "secret") as ask:
        for wrong in ({}, {"X-API-Key": "Secret"}, {"X-API-Key": "secret2"}, {"X-API-Key": ""}):
            assert ask("GET", "/reports/may", fields=wrong)[0] == 403
        assert ask("GET", "/reports/may", fields=key)[2] == b"report 1: may\n"
        assert ask("GET", "/reports/june", fields=key)[2] == b"report 2: june\n"
        assert ask("GET", "/reports/may", fields=key)[2] == b"report 1: may\n"
        assert eventually(lambda: ask("GET", "/reports/may", fields=key)[2] == b"report 3: may\n", within=60.0)
        assert ask("GET", "/reports/" + "x" * 32, fields=key)[0] == 404


def test_guests(installation, tmp_path):
    """What a guest wrote is there after a restart; what the table does not take is an error of the client's."""
    if not list(installation.image.rglob("libmonkey-sqlite.so")):
        pytest.skip("SQLite is not installed")
    program, book = installation.build("embed/guests.c", "monkey-sqlite"), tmp_path / "guests.db"

    def sign(ask, form):
        return ask("POST", "/", form, {"Content-Type": "application/x-www-form-urlencoded"})

    with running(installation.env, program, tmp_path, book) as ask:
        assert json.loads(ask("GET", "/")[2]) == []
        status, head, _ = sign(ask, b"name=ann&text=it%27s+me")
        assert (status, head["Location"]) == (303, "/")
        assert sign(ask, b"name=bob")[0] == 422
        assert sign(ask, b"name=bob&text=" + b"x" * 201)[0] == 422
        assert sign(ask, b"name=bob&text=%C3%A4")[0] == 303
        said = json.loads(ask("GET", "/openapi.json")[2])
        assert set(said["paths"]["/"]) == {"get", "post"} and set(said["paths"]["/"]["post"]["responses"]) == {"303", "422", "503"}
    (tmp_path / "socket").unlink(missing_ok=True)
    with running(installation.env, program, tmp_path, book) as ask:
        assert json.loads(ask("GET", "/")[2]) == [{"id": 2, "name": "bob", "text": "ä"}, {"id": 1, "name": "ann", "text": "it's me"}]
