# SPDX-License-Identifier: Apache-2.0
"""Compressed answers (plugin compress) of applications and backends: pieces, pauses, slow clients, memory, metrics."""

import itertools
import json
import socket
import subprocess
import threading
import time
import zlib

import pytest

from harness import cgi, executable, fastcgi, http
from harness.backend import Backend, proxy, servers
from harness.client import Connection, eventually
from harness.compression import CODINGS, configured, decode, plain
from harness.http2 import DATA, END_STREAM, HEADERS, RST_STREAM, WINDOW_UPDATE, Frames, frame
from harness.shell import ask

PAGE = "".join(f"<p>paragraph {number} of a page\n" for number in range(4000)).encode()
HTML = "Content-Type: text/html\r\n"
EVENTS = "Content-Type: text/event-stream\r\n"


def behind(backend, lines="", plugins=(), **kwargs):
    """What start() takes for a proxy whose answers are compressed."""
    extra = proxy(f"{servers([backend])}\nMatch ^/")
    return configured(lines, plugins=(*plugins, "proxy_reverse"), extra=extra, **kwargs)


def with_shell(place, kwargs):
    """What start() takes, with a shell that `value` asks."""
    kwargs["extra"]["plugins.load"] += f"    Load {executable.plugin('cheetah')}\n"
    kwargs["extra"]["plugins/cheetah/cheetah.conf"] = f"[CHEETAH]\n    Socket {place}\n"
    return kwargs


def start_with_shell(start, **kwargs):
    place = f"/tmp/monkey-compress-{time.monotonic_ns()}"
    server = start(**with_shell(place, kwargs))
    server.place = place
    return server


def value(server, name, coding=None):
    samples = json.loads(ask(server.place, "metrics --json"))["metrics"]
    found = [s["value"] for s in samples if s["name"] == f"monkey_compress_{name}" and s.get("coding") == coding]
    assert len(found) == 1, (name, coding, samples)
    return found[0]


# ---- sources

@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("how", ["length", "chunked"])
def test_backends(start, coding, how):
    def answer(c, q):
        if how == "length":
            c.answer(PAGE, fields=HTML)
        else:
            c.chunked(PAGE[:1], PAGE[1:50000], PAGE[50000:], fields=HTML)

    with Backend(each=answer) as backend:
        server = start(**behind(backend))
        with server.connect() as client:
            for _ in range(3):
                response = client.request("/", headers={"Accept-Encoding": coding})
                assert response.header("Content-Encoding") == coding and response.framing == "chunked"
                assert plain(response) == PAGE


def test_backends_that_compress_are_left_alone(start):
    with Backend(each=lambda c, q: c.answer(b"x" * 5000, fields=HTML + "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n")) as backend:
        response = start(**behind(backend)).get("/", {"Accept-Encoding": "gzip, br"})
        assert response.body == b"x" * 5000 and response.header("Content-Encoding") == "gzip"


def test_parts_of_backends_are_left_alone(start):
    fields = "Content-Type: text/html\r\nContent-Range: bytes 0-4999/10000\r\n"
    with Backend(each=lambda c, q: c.answer(b"x" * 5000, status="206 Partial Content", fields=fields)) as backend:
        response = start(**behind(backend)).get("/", {"Accept-Encoding": "gzip", "Range": "bytes=0-4999"})
        assert (response.status, response.body, response.header("Content-Encoding")) == (206, b"x" * 5000, None)
        assert response.header("Vary") == "Accept-Encoding"


def test_validators_of_backends(start):
    def answer(c, q):
        if q.header("If-None-Match") in ('W/"a"', '"a"'):
            c.send(b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n')
        else:
            c.answer(PAGE, fields=HTML + 'ETag: "a"\r\n')

    with Backend(each=answer) as backend:
        server = start(**behind(backend))
        tag = server.get("/", {"Accept-Encoding": "gzip"}).header("ETag")
        assert tag == 'W/"a"'
        response = server.get("/", {"Accept-Encoding": "gzip", "If-None-Match": tag})
        assert (response.status, response.header("ETag")) == (304, 'W/"a"')


def test_answers_without_a_body_are_left_alone(start):
    with Backend(each=lambda c, q: c.send(b"HTTP/1.1 204 No Content\r\nContent-Type: text/html\r\n\r\n")) as backend:
        response = start(**behind(backend)).get("/", {"Accept-Encoding": "gzip"})
        assert (response.status, response.header("Content-Encoding"), response.header("Vary")) == (204, None, None)


@pytest.mark.plain
def test_trailers_are_untouched(start):
    def answer(c, q):
        c.chunked(PAGE, fields=HTML, end=False)
        c.send(b"0\r\nX-Sum: 42\r\n\r\n")

    with Backend(each=answer) as backend:
        server = start(**behind(backend))
        with server.connect() as client:
            response = client.request("/", headers={"Accept-Encoding": "gzip", "TE": "trailers", "Connection": "TE"})
            assert plain(response) == PAGE
            assert [tuple(trailer) for trailer in response.trailers] == [("X-Sum", "42")]


@pytest.mark.plain
def test_backends_that_break_off_are_not_whole(start):
    def answer(c, q):
        c.send(f"HTTP/1.1 200 OK\r\nContent-Length: {len(PAGE) + 1}\r\n{HTML}\r\n".encode() + PAGE)
        c.close()

    with Backend(each=answer) as backend:
        server = start(**behind(backend))
        assert http.is_cut_off(server.raw_until_cut(http.request("/", headers={"Accept-Encoding": "gzip"})))


@pytest.mark.parametrize("coding", CODINGS)
def test_fastcgi(start, coding):
    with fastcgi.Application(lambda call: call.answer(PAGE, b"Content-Type: text/html\r\n\r\n")) as application:
        settings = fastcgi.config(application)
        server = start(handlers=settings["handlers"], **configured(plugins=("fastcgi",), extra=settings["extra"]))
        response = server.get("/", {"Accept-Encoding": coding})
        assert response.header("Content-Encoding") == coding and plain(response) == PAGE


@pytest.mark.parametrize("coding", CODINGS)
def test_scripts(start, coding):
    script = "#!/bin/sh\nprintf 'Content-Type: text/html\\n\\n'\ni=0\nwhile [ $i -lt 500 ]; do i=$((i+1)); echo \"line $i of a script\"; done\n"
    server = cgi.start_site(start, {"app": script}, extra=configured(plugins=("cgi",))["extra"])
    response = server.get("/cgi-bin/app", {"Accept-Encoding": coding})
    assert response.header("Content-Encoding") == coding
    assert plain(response).decode() == "".join(f"line {number} of a script\n" for number in range(1, 501))


@pytest.mark.plain
@pytest.mark.parametrize("coding", CODINGS)
def test_http2(start, coding):
    settings = configured(plugins=("http2",), files={"page.html": PAGE})
    server = start(server="Listen 127.0.0.1:0 h2", **settings)
    url = f"http://127.0.0.1:{server.port}/page.html"
    done = subprocess.run(["curl", "-s", "--http2-prior-knowledge", "--compressed", "-H", f"Accept-Encoding: {coding}", "-w", "%{http_version} %{header_json}",
                           url], capture_output=True, check=True, timeout=30)
    assert done.stdout.startswith(PAGE)
    words = done.stdout[len(PAGE):].decode()
    assert words.startswith("2 ") and json.loads(words[2:])["content-encoding"] == [coding]


# ---- events

class Events:
    """A backend that sends an event whenever it is told to."""

    def __init__(self):
        self.go, self.ended = threading.Semaphore(0), threading.Event()

    def __call__(self, c, q):
        c.send(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n{EVENTS}\r\n".encode())
        for number in itertools.count(1):
            if not self.go.acquire(timeout=30) or self.ended.is_set():
                break
            c.send(http.chunk(b"data: %d\n\n" % number))
        c.send(b"0\r\n\r\n")


@pytest.mark.plain
@pytest.mark.parametrize("protocol", ["--http1.1", "--http2-prior-knowledge"])
@pytest.mark.parametrize("coding", CODINGS)
def test_each_event_arrives_before_the_next_is_made(start, coding, protocol):
    events = Events()
    with Backend(each=events) as backend:
        server = start(**behind(backend, plugins=("http2",), server="Listen 127.0.0.1:0 h2"))
        client = subprocess.Popen(["curl", "-sN", protocol, "--compressed", "-H", f"Accept-Encoding: {coding}", f"http://127.0.0.1:{server.port}/"],
                                  stdout=subprocess.PIPE)
        try:
            for number in range(1, 40):
                events.go.release()
                assert client.stdout.readline() == b"data: %d\n" % number
                assert client.stdout.readline() == b"\n"
        finally:
            events.ended.set()
            events.go.release()
            assert client.wait(30) == 0


@pytest.mark.plain
def test_each_event_is_there_before_the_next_one(start):
    """Asked of the socket itself: nothing but a flush sends an event of 30 bytes, and it takes few bytes."""
    events = Events()
    with Backend(each=events) as backend:
        server = start(**behind(backend))
        decoder = zlib.decompressobj(31)
        with server.connect() as client:
            client.send(http.request("/", headers={"Accept-Encoding": "gzip"}))
            head = client.stream
            while head.line() != b"":
                pass
            for number in range(1, 100):
                events.go.release()
                text = b""
                while not text.endswith(b"\n\n"):
                    size = int(head.line(), 16)
                    text += decoder.decompress(head.exactly(size))
                    assert head.line() == b""
                    assert size < 60
                assert text == b"data: %d\n\n" % number
        events.ended.set()
        events.go.release()


@pytest.mark.plain
def test_scripts_that_pause(start):
    script = ("#!/bin/sh\nprintf 'Content-Type: text/event-stream\\n\\n'\nfor i in 1 2 3; do echo \"data: $i\"; "
              "while [ ! -e go$i ]; do sleep 0.05; done; done\n")
    server = cgi.start_site(start, {"app": script}, extra=configured(plugins=("cgi",))["extra"])
    client = subprocess.Popen(["curl", "-sN", "--compressed", f"http://127.0.0.1:{server.port}/cgi-bin/app"], stdout=subprocess.PIPE)
    for number in (1, 2, 3):
        assert client.stdout.readline() == b"data: %d\n" % number
        (server.config.root / "cgi-bin" / f"go{number}").touch()
    assert client.wait(30) == 0


# ---- clients

@pytest.mark.parametrize("coding", CODINGS)
def test_slow_readers(start, coding):
    text = "".join(f"{number * 7919 % 1000003:x} " for number in range(300_000)).encode()
    server = start(**configured(files={"large.txt": text}))
    with server.connect(receive_buffer=2048) as client:
        client.send(http.request("/large.txt", headers={"Accept-Encoding": coding}))
        time.sleep(0.3)
        assert plain(client.response()) == text


@pytest.mark.plain
@pytest.mark.parametrize("coding", CODINGS)
def test_clients_that_leave_take_their_memory_along(start, coding):
    text = "".join(f"{number * 7919 % 1000003:x} " for number in range(1_000_000)).encode()
    server = start_with_shell(start, **configured(files={"large.txt": text}))
    for number in range(30):
        with Connection(("127.0.0.1", server.port), receive_buffer=2048) as client:
            client.send(http.request("/large.txt", headers={"Accept-Encoding": coding}))
            client.stream.exactly(300)
            if number % 2:
                client.reset()
    assert eventually(lambda: value(server, "streams", coding) == 0)
    assert value(server, "memory_bytes") == 0
    assert value(server, "answers_total", coding) == 30


# ---- bounds and numbers

@pytest.mark.plain
def test_memory_is_bounded(start):
    """Above Memory, or half of it for events, the next coding that fits is taken, then none."""
    events = Events()
    with Backend(each=lambda c, q: c.answer(PAGE, fields=HTML) if q.target == "/page" else events(c, q)) as backend:
        server = start_with_shell(start, server="Workers 1", **behind(backend, "Memory 4600K"))
        clients, codings = [], []
        for _ in range(3):
            client = server.connect()
            client.send(http.request("/", headers={"Accept-Encoding": "br, gzip"}))
            head = []
            while line := client.stream.line():
                head.append(line)
            clients.append(client)
            codings.append(next((line.split()[1].decode() for line in head if line.startswith(b"Content-Encoding")), None))
            assert b"Vary: Accept-Encoding" in head
        assert codings == ["br", "gzip", "gzip"]
        assert server.get("/page", {"Accept-Encoding": "br, gzip"}).header("Content-Encoding") == "br"
        assert value(server, "memory_bytes") == (2048 + 2 * 104) * 1024
        server.reload(**with_shell(server.place, behind(backend, "Memory 100K")))
        assert server.get("/page", {"Accept-Encoding": "br, gzip"}).header("Content-Encoding") is None
        assert value(server, "left_out_total") == 1
        server.reload(**with_shell(server.place, behind(backend, "Memory 4600K")))
        for client in clients:
            client.close()
        events.ended.set()
        events.go.release(3)
        assert eventually(lambda: value(server, "memory_bytes") == 0)


LARGE = "".join(f"{number * 7919 % 1000003:x} " for number in range(300_000)).encode()
NARROW = (4).to_bytes(2, "big") + (1).to_bytes(4, "big")  # INITIAL_WINDOW_SIZE 1


class Streams:
    """A client of HTTP/2 that takes one byte of each answer, and later the rest."""

    COUNT = 40
    FILE = "".join(f"{number * 7919 % 1000003:x} " for number in range(50_000)).encode()

    def __init__(self, server, coding):
        self.client = Frames(("127.0.0.1", server.port), settings=NARROW)
        self.codings, self.bodies = {}, {1 + 2 * number: b"" for number in range(self.COUNT)}
        self.client.send(*(self.client.head(stream, "/large.txt", fields=[("accept-encoding", coding)]) for stream in self.bodies))
        while not all(self.bodies.values()):
            self.receive()

    def receive(self):
        one = self.client.until(HEADERS, DATA, RST_STREAM)
        assert one.kind != RST_STREAM
        if one.kind == HEADERS:
            coding = one.fields.get(b"content-encoding")
            self.codings[one.stream] = coding and coding.decode()
        else:
            self.bodies[one.stream] += one.payload
        return one.flags & END_STREAM

    def answers(self):
        room = (1 << 29).to_bytes(4, "big")
        self.client.send(*(frame(WINDOW_UPDATE, 0, stream, room) for stream in (0, *self.bodies)))
        left = len(self.bodies)
        while left > 0:
            left -= self.receive()
        return [decode(self.codings[stream], body) for stream, body in self.bodies.items()]


class Connections:
    """Clients that read nothing, and later all."""

    COUNT = 3
    FILE = LARGE * 5  # more than kernels take

    def __init__(self, server, coding):
        self.clients = [Connection(("127.0.0.1", server.port), receive_buffer=2048) for _ in range(self.COUNT)]
        for client in self.clients:
            client.send(http.request("/large.txt", headers={"Accept-Encoding": coding}))
        for client in self.clients:
            assert client.sock.recv(1, socket.MSG_PEEK)

    def answers(self):
        return [plain(client.response()) for client in self.clients]


@pytest.mark.plain
@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("crowd", [Streams, Connections])
def test_unread_answers_leave_compressors_to_others(start, coding, crowd):
    """Their clients lose nothing: what was put aside goes on when they read again."""
    files = {"large.txt": crowd.FILE, "page.html": PAGE}
    settings = configured("Level 1\nMemory 250K\nEncodings " + coding, plugins=("http2",), files=files)
    server = start_with_shell(start, server="Listen 127.0.0.1:0 h2\nWorkers 1\nMinReadRate 0\nWriteTimeout 300", **settings)

    def is_compressed():
        return server.get("/page.html", {"Accept-Encoding": coding}).header("Content-Encoding") == coding

    crowds = []
    for _ in range(3):
        crowds.append(crowd(server, coding))
        assert eventually(is_compressed, 30)
    assert value(server, "pauses_total", coding) > 0
    for one in crowds:
        assert all(answer == crowd.FILE for answer in one.answers())
    assert eventually(lambda: value(server, "streams", coding) == 0)
    assert value(server, "memory_bytes") == 0


@pytest.mark.plain
def test_metrics_count_bytes_and_survive_a_reload(start):
    settings = configured(files={"page.html": PAGE})
    server = start_with_shell(start, **settings)
    sent = len(server.get("/page.html", {"Accept-Encoding": "gzip"}).body)
    server.reload()
    sent += len(server.get("/page.html", {"Accept-Encoding": "gzip"}).body)
    assert value(server, "in_bytes_total", "gzip") == 2 * len(PAGE)
    assert value(server, "out_bytes_total", "gzip") == sent
    assert value(server, "in_bytes_total", "br") == 0
    assert value(server, "streams", "gzip") == 0


@pytest.mark.plain
@pytest.mark.slow
@pytest.mark.timed  # a worker is busy when it has a processor most of the time, which it has not beside others
def test_a_busy_worker_compresses_less(start):
    """Levels differ in size: 9 at rest, 1 after some time of nothing but work."""
    text = "".join(f"{number * 7919 % 1000003:x} " for number in range(400_000)).encode()
    server = start(server="Workers 1", **configured("Level 9\nBusyLevel 1\nEncodings gzip", files={"large.txt": text, "page.html": PAGE}))
    ask_page = http.request("/page.html", headers={"Accept-Encoding": "gzip"})
    sizes = {level: None for level in ("rest", "busy")}
    with server.connect() as client:
        client.send(ask_page)
        sizes["rest"] = len(client.response().body)
    stopped = threading.Event()

    def keep_busy():
        with server.connect(timeout=30) as client:
            while not stopped.is_set():
                client.send(http.request("/large.txt", headers={"Accept-Encoding": "gzip"}))
                assert decode("gzip", client.response().body) == text

    threads = [threading.Thread(target=keep_busy) for _ in range(4)]
    for thread in threads:
        thread.start()

    def is_less():
        with server.connect() as client:
            client.send(ask_page)
            sizes["busy"] = len(client.response().body)
        return sizes["busy"] > sizes["rest"]

    try:
        assert eventually(is_less, within=20), sizes
    finally:
        stopped.set()
        for thread in threads:
            thread.join(60)
    assert eventually(lambda: not is_less(), within=30, every=0.6), sizes  # the questions leave it time to rest


@pytest.mark.plain
@pytest.mark.parametrize("coding", CODINGS)
def test_reload_under_way(start, coding):
    """An answer that began before a reload ends after it, compressed to the end."""
    with Backend(each=(events := Events())) as backend:
        server = start(**behind(backend))
        client = subprocess.Popen(["curl", "-sN", "--compressed", "-H", f"Accept-Encoding: {coding}", f"http://127.0.0.1:{server.port}/"],
                                  stdout=subprocess.PIPE)
        events.go.release()
        assert client.stdout.readline() == b"data: 1\n"
        server.reload(**behind(backend, "Encodings off"))
        events.go.release()
        assert [client.stdout.readline() for _ in range(2)] == [b"\n", b"data: 2\n"]
        events.ended.set()
        events.go.release()
        assert client.wait(30) == 0


@pytest.mark.plain
@pytest.mark.parametrize("coding", CODINGS)
def test_failing_allocations(start, allocations, coding):
    """The answer is whole, compressed or not, or broken off so that the client sees it; the next one is served."""
    server = start(server="Workers 1", env=allocations.environment, **configured(files={"page.html": PAGE, "a.txt": "text"}))
    assert server.get("/a.txt").text == "text"
    whole = {"plain": 0, coding: 0, "cut": 0}
    for number in itertools.count(1):
        allocations.arm(number)
        answer = server.raw_until_cut(http.request("/page.html", headers={"Accept-Encoding": coding, "Connection": "close"}))
        allocations.disarm()
        if not answer or b" 503 " in answer[:20] or http.is_cut_off(answer):
            whole["cut"] += 1
        else:
            response = http.parse_one(answer)
            assert plain(response) == PAGE, f"allocation {number}"
            whole[response.header("Content-Encoding", "plain")] += 1
        assert server.get("/a.txt").text == "text", f"after allocation {number}"
        if not allocations.failed:
            break
    assert whole["plain"] > 0 and whole[coding] > 0, whole
