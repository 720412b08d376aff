# SPDX-License-Identifier: Apache-2.0
"""python -m monkey: bodies as streams, in both directions and at bounded memory; clients that are slow or leave."""

import hashlib
import os
import re

import pytest

from harness import http
from harness.client import eventually

APPLICATION = r'''
    import hashlib
    import os
    import sys
    import threading
    import time

    TEXT = [("Content-Type", "text/plain")]

    def tell(*words):
        print(*words, file=sys.stderr, flush=True)

    class Endless:
        def __init__(self, block, pause=0.0):
            self.block, self.pause = block, pause
        def __iter__(self):
            while True:
                yield self.block
                time.sleep(self.pause)
        def close(self):
            tell("closed endless")

    def echo(body):
        while True:
            line = body.readline()
            if not line:
                return
            yield b"heard " + line

    def steps(folder):
        yield b"first "
        for _ in range(3000):
            if os.path.exists(folder):
                break
            time.sleep(0.01)
        yield b"second"

    def digest(body):
        hashed, length = hashlib.sha1(), 0
        while piece := body.read(100_000):
            hashed.update(piece)
            length += len(piece)
        return b"%d %s" % (length, hashed.hexdigest().encode())

    def application(environ, start_response):
        path, body = environ["PATH_INFO"], environ["wsgi.input"]
        if path == "/digest":
            answer = digest(body)
            start_response("200 OK", TEXT)
            return [answer]
        if path == "/refuse":
            start_response("403 Forbidden", TEXT)
            return [b"not read"]
        if path == "/read":
            tell("reading")
            try:
                read = body.read()
            except OSError as error:
                tell("read raised", type(error).__name__)
                raise
            tell("read", len(read))
        if path == "/echo":
            start_response("200 OK", TEXT)
            return echo(body)
        if path == "/steps":
            start_response("200 OK", TEXT)
            return steps(environ["QUERY_STRING"])
        if path == "/endless":
            start_response("200 OK", TEXT)
            return Endless(b"x" * 10_000)
        if path == "/ticking":
            start_response("200 OK", TEXT)
            return Endless(b"x", 0.01)
        if path == "/writes":
            write = start_response("200 OK", TEXT)
            try:
                while True:
                    write(b"x" * 10_000)
            except ConnectionResetError:
                tell("write raised")
                raise
        if path == "/large":
            start_response("200 OK", TEXT)
            return [b"0123456789abcdef" * 4096] * 64
        if path == "/block":
            start_response("200 OK", TEXT)
            return (block for block in [b"0123456789abcdef" * (1 << 18)])
        if path == "/thread":
            start_response("200 OK", TEXT)
            time.sleep(0.05)
            return [threading.current_thread().name.encode()]
        if path == "/file":
            name, _, at = environ["QUERY_STRING"].partition("&")
            file = open(name, "rb")
            file.seek(int(at or 0))
            start_response("200 OK", TEXT)
            return environ["wsgi.file_wrapper"](file)
        if path == "/pipe":
            read, write = os.pipe()
            os.write(write, b"of a pipe")
            os.close(write)
            start_response("200 OK", TEXT)
            return environ["wsgi.file_wrapper"](os.fdopen(read, "rb"), 4)
        start_response("200 OK", TEXT)
        return [b"small"]
'''


def head(path, *lines, method="POST"):
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: a", *lines, "", ""]).encode()


# -- bodies of requests

@pytest.mark.timed
@pytest.mark.parametrize("options", [(), ("--stream",)], ids=["gathered", "streamed"])
def test_a_hundred_megabytes_arrive_at_bounded_memory(serve, options):
    server = serve(APPLICATION, *options)
    piece, count = os.urandom(1 << 20), 100
    server.request("/digest", "POST", body=piece)  # what the first request needs once
    before = server.resident_kb()
    hashed = hashlib.sha1()
    with server.connect(timeout=60) as connection:
        connection.send(head("/digest", f"Content-Length: {len(piece) * count}"))
        for _ in range(count):
            hashed.update(piece)
            connection.send(piece)
        assert connection.response().body.decode() == f"{len(piece) * count} {hashed.hexdigest()}"
    assert server.resident_kb() - before < 20_000


@pytest.mark.parametrize("options", [(), ("--stream",)], ids=["gathered", "streamed"])
def test_chunks_arrive(serve, options):
    server = serve(APPLICATION, "--body-memory", "32K", *options)
    pieces = [os.urandom(5000) for _ in range(100)]
    with server.connect() as connection:
        connection.send(head("/digest", "Transfer-Encoding: chunked") + http.chunked(*pieces))
        expected = hashlib.sha1(b"".join(pieces)).hexdigest()
        assert connection.response().body.decode() == f"500000 {expected}"


def test_both_directions_at_once(serve):
    server = serve(APPLICATION, "--stream")
    with server.connect() as connection:
        connection.send(head("/echo", "Transfer-Encoding: chunked"))
        for word in (b"one\n", b"two\n"):
            connection.send(http.chunk(word))
            if word == b"one\n":
                assert http.read_head(connection.stream).status == 200
            said = b"heard " + word
            assert connection.stream.line() == f"{len(said):x}".encode()
            assert connection.stream.exactly(len(said) + 2) == said + b"\r\n"
        connection.send(b"0\r\n\r\n")
        assert connection.stream.line() == b"0"


def test_expect_is_answered_when_the_application_reads(serve):
    server = serve(APPLICATION, "--stream")
    with server.connect() as connection:
        connection.send(head("/digest", "Expect: 100-continue", "Content-Length: 3"))
        assert http.read_head(connection.stream).status == 100
        connection.send(b"abc")
        assert connection.response().body.startswith(b"3 ")
    with server.connect() as connection:
        connection.send(head("/refuse", "Expect: 100-continue", "Content-Length: 3"))
        assert connection.response().status == 403


def test_expect_is_answered_when_the_body_is_gathered(serve):
    server = serve(APPLICATION)
    with server.connect() as connection:
        connection.send(head("/digest", "Expect: 100-continue", "Content-Length: 3"))
        assert http.read_head(connection.stream).status == 100
        connection.send(b"abc")
        assert connection.response().body.startswith(b"3 ")


@pytest.mark.parametrize("options", [(), ("--stream",)], ids=["gathered", "streamed"])
def test_a_body_above_the_limit_is_refused(serve, options):
    server = serve(APPLICATION, "--max-body", "100K", *options)
    assert server.request("/digest", "POST", body=bytes(200_000)).status == 413
    with server.connect() as connection:
        connection.send(head("/digest", "Transfer-Encoding: chunked") + http.chunk(bytes(200_000)))
        assert connection.response().status == 413


def test_a_broken_body_is_refused(serve):
    server = serve(APPLICATION, "--stream")
    with server.connect() as connection:
        connection.send(head("/digest", "Transfer-Encoding: chunked") + b"no number\r\n")
        assert connection.response().status == 400
    server.wait_for_log("request body")


def test_slow_uploads_occupy_no_thread(serve):
    server = serve(APPLICATION, "--threads", "1")
    with server.connect() as slow:
        slow.send(head("/digest", "Content-Length: 10") + b"12345")
        assert server.get("/").body == b"small"
        slow.send(b"67890")
        assert slow.response().body.startswith(b"10 ")


def test_a_client_that_leaves_while_its_body_is_read(serve):
    server = serve(APPLICATION, "--stream", "--threads", "1")
    with server.connect() as connection:
        connection.send(head("/read", "Content-Length: 10") + b"12345")
        server.wait_for_log("reading")
        connection.reset()
    server.wait_for_log("read raised ConnectionResetError")
    assert server.get("/").body == b"small"


# -- answers

@pytest.mark.parametrize("path, size", [("/large", 1 << 22), ("/block", 1 << 22)])
def test_large_answers_arrive(serve, path, size):
    server = serve(APPLICATION, "--answer-memory", "64K")
    assert server.get(path).body == b"0123456789abcdef" * (size // 16)


def test_a_block_is_sent_before_the_next_one_is_there(serve, tmp_path):
    server = serve(APPLICATION)
    with server.connect() as connection:
        connection.send(http.request(f"/steps?{tmp_path}/go-on"))
        assert http.read_head(connection.stream).status == 200
        assert connection.stream.line() == b"6" and connection.stream.exactly(8) == b"first \r\n"
        (tmp_path / "go-on").touch()
        assert connection.stream.line() == b"6" and connection.stream.exactly(8) == b"second\r\n"


@pytest.mark.parametrize("path, told", [("/endless", "closed endless"), ("/ticking", "closed endless"), ("/writes", "write raised")])
def test_a_client_that_leaves_ends_the_answer(serve, path, told):
    server = serve(APPLICATION, "--threads", "1")
    with server.connect() as connection:
        connection.send(http.request(path))
        assert http.read_head(connection.stream).status == 200
        connection.stream.exactly(3)
        connection.reset()
    server.wait_for_log(told)
    assert server.get("/").body == b"small"
    assert server.log().count(told) == 1


@pytest.mark.timed
def test_a_slow_reader_holds_back_its_application_alone(serve):
    server = serve(APPLICATION, "--threads", "2")
    server.get("/large")
    before = server.resident_kb()
    with server.connect(receive_buffer=4096) as slow:
        slow.send(http.request("/endless"))
        assert http.read_head(slow.stream).status == 200
        for _ in range(20):
            assert server.get("/").body == b"small"
        assert server.resident_kb() - before < 10_000
        slow.reset()
    server.wait_for_log("closed endless")


def test_a_slow_reader_of_a_small_answer_occupies_no_thread(serve):
    server = serve(APPLICATION, "--threads", "1", "--answer-memory", "8M")
    with server.connect(receive_buffer=4096) as slow:
        slow.send(http.request("/large"))
        assert server.get("/").body == b"small"
        assert len(slow.response().body) == 1 << 22


@pytest.mark.parametrize("size, at", [(0, 0), (10, 0), (10, 4), (3_000_000, 0), (3_000_000, 2_999_999)])
def test_a_file_is_sent(serve, tmp_path, size, at):
    server = serve(APPLICATION)
    content = os.urandom(size)
    (tmp_path / "file").write_bytes(content)
    answer = server.get(f"/file?{tmp_path}/file&{at}")
    assert answer.body == content[at:]
    assert answer.header("Content-Length") == str(size - at)
    assert server.head(f"/file?{tmp_path}/file").status == 200


def test_what_is_no_file_is_read(serve):
    assert serve(APPLICATION).get("/pipe").body == b"of a pipe"


# -- threads, end, reload

def test_threads_answer_beside_one_another(serve):
    server = serve(APPLICATION, "--threads", "4")
    connections = [server.connect() for _ in range(8)]
    for connection in connections:
        connection.send(http.request("/thread"))
    names = {connection.response().body for connection in connections}
    assert 2 <= len(names) <= 4 and all(re.fullmatch(rb"monkey-[0-3]", name) for name in names)


def test_more_waiting_requests_than_may_wait_get_503(serve, tmp_path):
    server = serve(APPLICATION, "--threads", "1", "--waiting", "1")
    connections = [server.connect() for _ in range(5)]
    connections[0].send(http.request(f"/steps?{tmp_path}/go-on"))
    assert http.read_head(connections[0].stream).status == 200
    for connection in connections[1:]:
        connection.send(http.request("/"))
    refused = [connection.response() for connection in connections[2:]]
    assert {answer.status for answer in refused} == {503}
    (tmp_path / "go-on").touch()
    assert connections[1].response().body == b"small"


def test_a_graceful_stop_lets_answers_end(serve, tmp_path):
    server = serve(APPLICATION)
    with server.connect() as connection:
        connection.send(http.request(f"/steps?{tmp_path}/go-on"))
        assert http.read_head(connection.stream).status == 200
        server.process.terminate()
        server.wait_for_log("stopping")
        (tmp_path / "go-on").touch()
        assert connection.stream.line() == b"6" and connection.stream.exactly(8) == b"first \r\n"
        assert connection.stream.line() == b"6" and connection.stream.exactly(8) == b"second\r\n"
    assert server.process.wait(30) == 0


def test_a_second_signal_stops_at_once(serve):
    server = serve(APPLICATION)
    with server.connect() as connection:
        connection.send(http.request("/ticking"))
        assert http.read_head(connection.stream).status == 200
        server.process.terminate()
        server.wait_for_log("stopping")
        server.process.terminate()
        assert server.process.wait(30) == 0
    assert server.log().count("closed endless") == 1


def test_reloads_under_load_lose_no_request(serve):
    server = serve(APPLICATION)
    with server.connect() as connection:
        for _ in range(5):
            since = len(server.log())
            server.process.send_signal(1)
            for _ in range(20):
                assert connection.request("/").body == b"small"
            server.wait_for_log("reloaded", since)
    assert server.get("/").body == b"small"


def test_a_faulty_reload_changes_nothing(serve, tmp_path):
    folder = tmp_path / "conf"
    (folder / "sites").mkdir(parents=True)
    (folder / "sites" / "default").write_text("[HOST]\n    ServerName localhost\n")
    (folder / "monkey.conf").write_text("[SERVER]\n    KeepAliveTimeout 7\n")
    server = serve(APPLICATION, "--config", str(folder))
    (folder / "monkey.conf").write_text("[SERVER]\n    KeepAliveTimout 7\n")
    server.process.send_signal(1)
    server.wait_for_log("did you mean")
    assert server.get("/").body == b"small"


def test_the_access_log_may_be_standard_output(serve):
    """Among the program's own lines, in a file that all of them share."""
    server = serve("""
        def application(environ, start_response):
            print("line of the program", environ["PATH_INFO"])
            start_response("200 OK", [("Content-Type", "text/plain")])
            return [b"text"]
    """, "--access-log", "-", "--set", "LOGGER.FlushTimeout=0")
    for number in range(3):
        assert server.get(f"/{number}").status == 200
        server.wait_for_log(rf'"GET /{number} HTTP/1.1" 200 4')
    server.process.send_signal(10)
    server.wait_for_log("logs reopened")
    assert server.get("/late").status == 200
    server.stop(within=30)
    assert '"GET /late HTTP/1.1" 200 4' in server.log()
    assert [f"line of the program /{name}" in server.log() for name in (0, 1, 2, "late")] == [True] * 4


def test_the_access_log_has_a_line_for_each_request(serve, tmp_path):
    server = serve(APPLICATION, "--access-log", str(tmp_path / "access"), "--set", "LOGGER.FlushTimeout=0")
    assert server.get("/?a=1").status == 200
    assert server.request("/refuse", "POST").status == 403
    lines = eventually(lambda: len(found := (tmp_path / "access").read_text().splitlines()) == 2 and found)
    assert re.search(r'"GET /\?a=1 HTTP/1.1" 200 5', lines[0]) and re.search(r'"POST /refuse HTTP/1.1" 403 8', lines[1])
    (tmp_path / "access").rename(tmp_path / "older")
    server.process.send_signal(10)
    server.wait_for_log("logs reopened")
    assert server.get("/").status == 200
    assert eventually(lambda: (tmp_path / "access").exists() and (tmp_path / "access").read_text())
