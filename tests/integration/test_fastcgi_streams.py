# SPDX-License-Identifier: Apache-2.0
"""FastCGI bodies pass through as they come, both ways, in bounded memory."""

import hashlib
import re
import pathlib
import threading
import time

import pytest

from harness import fastcgi, http
from harness.client import eventually

HEAD = b"Content-Type: text/plain\r\n\r\n"
PIECE = bytes(range(256)) * 256  # 64 KB
MB = 1 << 20


def serve(start, application, server="", **kwargs):
    return start(**fastcgi.config(application, location="Mount /\nKeepAlive on", **kwargs), server=server)


def resident(server):
    status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024


class Watch:
    """The most memory that a server had."""

    def __init__(self, server):
        self.server, self.most, self._stop = server, 0, threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.first = resident(server)

    def _look(self):
        while not self._stop.wait(0.05):
            self.most = max(self.most, resident(self.server))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


@pytest.mark.parametrize("size", [1, 65535, 65536, 131071, 5 * MB])
@pytest.mark.parametrize("announced", [True, False])
def test_answers_of_any_size(start, size, announced):
    body = (PIECE * (size // len(PIECE) + 1))[:size]

    def answer(call):
        head = b"Content-Length: %d\r\n\r\n" % size if announced else HEAD
        call.answer(body, head)

    with fastcgi.Application(answer) as application:
        server = serve(start, application)
        with server.connect() as connection:
            for _ in range(3):
                assert connection.request("/").body == body
        assert eventually(lambda: application.open == 1)
        assert application.accepted == 1


@pytest.mark.parametrize("size", [1, 1000, 65000, 65519, 65536, 200000, 5 * MB])
@pytest.mark.parametrize("chunked", [False, True])
def test_bodies_of_any_size(start, size, chunked):
    body = (PIECE * (size // len(PIECE) + 1))[:size]

    def answer(call):
        assert call.params["CONTENT_LENGTH"] == str(size)
        call.answer(hashlib.sha256(call.body()).hexdigest().encode())

    with fastcgi.Application(answer) as application:
        server = serve(start, application)
        with server.connect() as connection:
            for _ in range(2):
                if chunked:
                    connection.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
                    connection.send(b"%x\r\n%s\r\n0\r\n\r\n" % (size, body))
                    seen = connection.response("POST")
                else:
                    seen = connection.request("/", "POST", body=body)
                assert seen.text == hashlib.sha256(body).hexdigest()
        assert application.accepted == 1


def test_an_answer_comes_piece_by_piece(start):
    go = [threading.Event() for _ in range(3)]

    def answer(call):
        call.out(HEAD)
        for number, event in enumerate(go):
            fastcgi.sleep_until(event)
            call.out(b"piece %d" % number)
        call.end()

    with fastcgi.Application(answer) as application:
        server = serve(start, application)
        with server.connect() as connection:
            connection.send(http.request("/"))
            head = http.read_head(connection.stream)
            assert head.header("Transfer-Encoding") == "chunked"
            for number, event in enumerate(go):
                event.set()
                assert connection.stream.line() == b"7"
                assert connection.stream.exactly(9) == b"piece %d\r\n" % number
            assert connection.stream.exactly(5) == b"0\r\n\r\n"


def test_a_body_arrives_while_it_is_sent(start):
    came = threading.Semaphore(0)

    def answer(call):
        total = 0
        for piece in call.pieces():
            total += len(piece)
            came.release()
        call.answer(str(total).encode())

    with fastcgi.Application(answer) as application:
        server = serve(start, application)
        with server.connect() as connection:
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 400000\r\n\r\n")
            for _ in range(4):
                connection.send(b"x" * 100000)
                assert came.acquire(timeout=30)
            assert connection.response("POST").body == b"400000"


def test_a_small_body_that_is_slow_holds_no_connection(start):
    with fastcgi.Application(lambda call: call.answer(call.body())) as application:
        server = serve(start, application)
        with server.connect() as connection:
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
            time.sleep(0.2)
            assert application.accepted == 0
            connection.send("cd")
            assert connection.response("POST").body == b"abcd"


def test_both_ways_at_the_same_time(start):
    """An application that answers what it reads."""
    size = 20 * MB

    def answer(call):
        call.out(HEAD)
        for piece in call.pieces():
            call.out(piece)
        call.end()

    with fastcgi.Application(answer) as application:
        server = serve(start, application, server="MaxBodySize 100M")
        with server.connect() as connection:
            def upload():
                connection.send(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n")
                for _ in range(size // len(PIECE)):
                    connection.send(PIECE)

            sender = threading.Thread(target=upload)
            sender.start()
            seen = connection.response("POST")
            sender.join()
            assert seen.body == PIECE * (size // len(PIECE))


def test_a_client_that_does_not_read_holds_the_application_back(start):
    sent = [0]

    def answer(call):
        call.out(HEAD)
        for _ in range(2000):
            call.out(PIECE[:65000])
            sent[0] += 1
        call.end()

    with fastcgi.Application(answer) as application:
        server = serve(start, application)
        with server.connect(receive_buffer=8192) as connection, Watch(server) as watch:
            connection.send(http.request("/"))
            time.sleep(1)
            held = sent[0]
            time.sleep(0.3)
            assert sent[0] == held < 500
            assert watch.most - watch.first < 30 * MB


@pytest.mark.slow
def test_an_application_that_does_not_read_holds_the_client_back(start):
    go = threading.Event()

    def answer(call):
        fastcgi.sleep_until(go)
        call.answer(str(len(call.body())).encode())

    with fastcgi.Application(answer) as application:
        server = serve(start, application, server="MaxBodySize 200M\nBodyTimeout 2")
        with server.connect() as connection, Watch(server) as watch:
            sent = [0]

            def upload():
                connection.send(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {100 * MB}\r\n\r\n")
                for _ in range(100 * MB // len(PIECE)):
                    connection.send(PIECE)
                    sent[0] += len(PIECE)

            sender = threading.Thread(target=upload)
            sender.start()
            time.sleep(3)  # longer than BodyTimeout, which is for clients that do not send
            assert sent[0] < 60 * MB
            go.set()
            assert connection.response("POST").text == str(100 * MB)
            sender.join()
            assert watch.most - watch.first < 30 * MB


@pytest.mark.slow
@pytest.mark.limit(300)
def test_more_than_4_gb_both_ways(start):
    size, piece = (1 << 32) + 12345, b"0123456789abcdef" * 65536

    def answer(call):
        if call.params["REQUEST_METHOD"] == "POST":
            call.answer(str(sum(len(part) for part in call.pieces())).encode())
            return
        call.body()
        call.out(b"Content-Length: %d\r\n\r\n" % size)
        left, wire = size, b"".join(fastcgi.record(fastcgi.STDOUT, piece[:65535]) for _ in range(16))
        while left >= 16 * 65535:
            call.raw(wire)
            left -= 16 * 65535
        call.out((piece * 2)[:left])
        call.end()

    with fastcgi.Application(answer) as application:
        server = serve(start, application, server="MaxBodySize 8G")
        with Watch(server) as watch:
            with server.connect(timeout=120) as connection:
                connection.send(http.request("/"))
                head = http.read_head(connection.stream)
                assert head.header("Content-Length") == str(size)
                total = 0
                while total < size:
                    total += len(connection.stream.some())
                assert total == size
                connection.send(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n")
                for at in range(0, size, len(piece)):
                    connection.send(piece[:size - at])
                assert connection.response("POST").text == str(size)
            assert watch.most - watch.first < 30 * MB
