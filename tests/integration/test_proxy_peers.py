# SPDX-License-Identifier: Apache-2.0
"""In front of servers that people use: nginx, Node.js, uvicorn and another Monkey, with clients that people use."""

import asyncio
import hashlib
import json
import random
import threading
import time

import pytest

from harness import http, peers, tools
from harness.backend import proxy
from harness.client import eventually

LARGE = random.Random(6).randbytes(20_000_000)
FILES = {"index.html": "<p>hello " * 50, "a.txt": "text", "large.bin": LARGE, "empty": ""}


def in_front(start, *ports, lines="", **kwargs):
    names = " ".join(f"127.0.0.1:{port}" for port in ports)
    return start(extra=proxy(f"Match ^/\nServerList {names}\n{lines}"), **kwargs)


def curl(server, path, *words):
    result = tools.run("curl", "--silent", "--show-error", "--max-time", "30", *words, f"http://127.0.0.1:{server.port}{path}")
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    folder.chmod(0o755)
    for name, content in FILES.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


# -- file servers: nginx, and another Monkey


@pytest.fixture(params=["nginx", "nginx_closing", "monkey", "monkey_before_nginx"])
def files_server(request, start, tmp_path, root):
    """A proxy in front of a file server."""
    if request.param == "monkey":
        back = start(host=f"DocumentRoot {root}")
        yield in_front(start, back.port)
        return
    # Connections that nginx closes after every third request are the race of keep-alive, again and again.
    closing = "keepalive_requests 3;" if request.param == "nginx_closing" else ""
    with peers.nginx(tmp_path / "nginx", f"{closing}\ngzip on;\ngzip_types text/html;\ngzip_min_length 1;", root) as port:
        if request.param == "monkey_before_nginx":
            port = in_front(start, port).port
        yield in_front(start, port)


def test_files(files_server):
    with files_server.connect() as connection:
        for turn in range(30):
            name = list(FILES)[turn % 2]
            answer = connection.request(f"/{name}")
            assert (answer.status, answer.text) == (200, FILES[name])
        head = connection.request("/large.bin", "HEAD")
        assert (head.status, head.header("Content-Length"), head.body) == (200, str(len(LARGE)), b"")
        assert connection.request("/empty").body == b""
        assert connection.request("/nowhere").status == 404
        assert connection.request("/a.txt", "DELETE").status in (405, 501)


def test_large_files_and_ranges(files_server):
    assert hashlib.sha256(curl(files_server, "/large.bin")).digest() == hashlib.sha256(LARGE).digest()
    assert curl(files_server, "/large.bin", "--range", "5000000-5999999") == LARGE[5_000_000:6_000_000]
    assert curl(files_server, "/large.bin", "--range", "-10") == LARGE[-10:]


def test_conditions(files_server):
    first = files_server.get("/a.txt")
    again = files_server.get("/a.txt", headers={"If-None-Match": first.header("ETag")})
    assert (again.status, again.body) == (304, b"")
    with files_server.connect() as connection:
        for _ in range(5):
            assert connection.request("/a.txt", headers={"If-None-Match": first.header("ETag")}).status == 304
            assert connection.request("/a.txt").text == "text"


def test_compressed_answers(files_server):
    answer = curl(files_server, "/index.html", "--compressed", "-H", "Connection: close")
    assert answer.decode() == FILES["index.html"]


def test_a_crowd(files_server):
    wrong = []

    def ask():
        for _ in range(4):
            with files_server.connect() as connection:
                for name in ("a.txt", "index.html", "empty", "a.txt"):
                    answer = connection.request(f"/{name}")
                    if (answer.status, answer.text) != (200, FILES[name]):
                        wrong.append(answer)

    crowd = [threading.Thread(target=ask) for _ in range(8)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert not wrong


# -- Node.js


@pytest.fixture(scope="module")
def node():
    with peers.node() as port:
        yield port


def test_node_bodies(start, node):
    server = in_front(start, node, server="MaxBodySize 20M\nWorkers 2")
    with server.connect() as connection:
        for size in (0, 1, 1000, 300_000):
            assert connection.request("/x", "POST", body=bytes(size)).text == f"POST /x {size}"
        connection.send(http.request("/c", "POST", headers={"Transfer-Encoding": "chunked"}) +
                        http.chunked(b"abc", bytes(70000), b"d"))
        assert connection.response().text == "POST /c 70004"
        connection.send(http.request("/e", "PUT", headers={"Expect": "100-continue", "Content-Length": "3"}))
        connection.send(b"abc")
        assert connection.response().text == "PUT /e 3"


def test_node_chunks(start, node):
    server = in_front(start, node)
    expected = "".join(str(n).ljust(1 + n * 7 % 3000, ".") + "\n" for n in range(200))
    with server.connect() as connection:
        for _ in range(3):
            answer = connection.request("/chunks")
            assert (answer.framing, answer.text) == ("chunked", expected)


def test_node_early_hints(start, node):
    answer = in_front(start, node).get("/hints")
    assert [interim.status for interim in answer.interim] == [103] and answer.text == "hinted"
    assert answer.interim[0].header("Link") == "</style.css>; rel=preload"


@pytest.mark.timed
def test_node_events_arrive_at_once(start, node):
    server = in_front(start, node)
    with server.connect() as connection:
        connection.send(http.request("/events"))
        began, seen, times = time.monotonic(), b"", []
        while seen.count(b"data: ") < 6:
            piece = connection.stream.some()
            assert piece
            seen += piece
            times.append(time.monotonic() - began)
        assert len(times) >= 5  # one by one, a tenth of a second apart, and not all together
        assert times[-1] < 3


def test_node_upgrade(start, node):
    server = in_front(start, node)
    with server.connect() as connection:
        connection.send(http.request("/", headers={"Connection": "Upgrade", "Upgrade": "shout"}))
        head = http.read_head(connection.stream)
        assert (head.status, head.header("Upgrade")) == (101, "shout")
        for word in (b"hello", b"there" * 1000):
            connection.send(word)
            assert connection.stream.exactly(len(word)) == word.upper()
        connection.finish_sending()
        assert connection.is_closed()


@pytest.mark.slow
def test_node_closes_while_we_ask(start):
    """Connections that rest as long as Node.js lets them: each next request meets the close, just before or just after."""
    with peers.node(keep_alive_ms=40) as port:
        server = in_front(start, port, server="Workers 1", lines="KeepAlive 8\nKeepAliveTimeout 60\nOfflineTimeOut 0")
        statuses, lock = {"GET": [], "POST": []}, threading.Lock()

        def ask(number):
            # Node.js adds a second of its own to the time that it announces, so rests are around both.
            dice = random.Random(number)
            with server.connect() as connection:
                for turn in range(12):
                    method = "POST" if (number + turn) % 3 == 0 else "GET"
                    target = f"/{number}/{turn}"
                    answer = connection.request(target, method, body=b"x" if method == "POST" else b"")
                    with lock:
                        statuses[method].append(answer.status)
                    assert answer.status != 200 or answer.text == f"{method} {target} {len(b'x') if method == 'POST' else 0}"
                    time.sleep(dice.choice([0.038, 0.039, 0.04, 0.041, 0.042, 1.04]))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(statuses["GET"]) == {200}, statuses
        assert statuses["POST"].count(200) > 25 and set(statuses["POST"]) <= {200, 502}
        seen = json.loads(server.get("/seen").text)
        assert set(seen.values()) == {1}


# -- ASGI


@pytest.fixture(scope="module")
def asgi(tmp_path_factory):
    with peers.uvicorn(tmp_path_factory.mktemp("uvicorn")) as port:
        yield port


@pytest.mark.parametrize("size", [0, 1, 65536, 3_000_000])
def test_asgi_bodies(start, asgi, tmp_path, size):
    server = in_front(start, asgi, server="MaxBodySize 20M")
    body = LARGE[:size]
    (tmp_path / "body").write_bytes(body)
    for how in ([], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect: 100-continue"]):
        answer = curl(server, "/p%20q?x=1&y=%20", "--data-binary", f"@{tmp_path}/body", *how).decode()
        assert answer.splitlines()[0] == f"POST /p q?x=1&y=%20 {size} {hashlib.sha256(body).hexdigest()}"
        assert f"host=127.0.0.1:{server.port}" in answer and "for=127.0.0.1" in answer


@pytest.mark.timed
def test_asgi_streams(start, asgi):
    server = in_front(start, asgi)
    with server.connect() as connection:
        began = time.monotonic()
        connection.send(http.request("/stream"))
        answer = connection.stream.some()
        assert answer and time.monotonic() - began < 0.8
        while not answer.endswith(b"0\r\n\r\n"):
            answer += connection.stream.some()
        assert b"19\n" in answer


# -- WebSocket


def test_websocket_with_a_client_library(start, asgi):
    websockets = pytest.importorskip("websockets", reason="tools/deps --test brings it for Debian's Python")
    server = in_front(start, asgi)

    async def talk():
        address = f"ws://127.0.0.1:{server.port}/socket"
        async with websockets.connect(address, max_size=None, compression=None) as socket:
            for message in ("hello", "x" * 70000, b"\x00\xff" * 100, LARGE[:500_000]):
                await socket.send(message)
                assert await asyncio.wait_for(socket.recv(), 10) == message
            await asyncio.wait_for(await socket.ping(), 10)
        async with websockets.connect(address) as socket:  # with permessage-deflate, which is none of our business
            await socket.send("squeezed " * 1000)
            assert await asyncio.wait_for(socket.recv(), 10) == "squeezed " * 1000
        return socket.close_code

    assert asyncio.run(talk()) == 1000


def test_many_websockets_at_once(start, asgi):
    websockets = pytest.importorskip("websockets", reason="tools/deps --test brings it for Debian's Python")
    server = in_front(start, asgi, lines="StatisticsURL /stats")

    async def one(number):
        async with websockets.connect(f"ws://127.0.0.1:{server.port}/") as socket:
            for turn in range(10):
                await socket.send(f"{number}.{turn}")
                assert await asyncio.wait_for(socket.recv(), 10) == f"{number}.{turn}"

    async def all_of_them():
        await asyncio.gather(*(one(number) for number in range(40)))

    asyncio.run(all_of_them())
    fact = lambda: json.loads(server.get("/stats?format=json").text)["entries"][0]["backends"][0]  # noqa: E731
    assert eventually(lambda: fact()["active"] == 0)
    assert fact()["requests"] == 40
