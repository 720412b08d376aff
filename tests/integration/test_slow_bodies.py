# SPDX-License-Identifier: Apache-2.0
"""Request bodies that arrive slowly hold no process of CGI, no connection of FastCGI and none of a backend (RequestBuffering)."""

import contextlib
import os
import select
import time

import pytest

from harness import counters, http, process
from harness.backend import Backend, configured
from harness.client import PATIENCE, eventually
from harness.family import peak_kb

MANY = 8_000_000  # below MaxBodySize
FAST = 64 << 10   # at once: a body that begins so is fast
LITTLE_KB = 4096 if process.is_sanitized() else 1024


@pytest.fixture(name="behind", params=counters.ALL)
def fixture_behind(request, start, tmp_path):
    """Starts a server with the application behind one of the plugins."""
    with contextlib.ExitStack() as stack:
        def begin(**kwargs):
            app = counters.ALL[request.param](start, tmp_path, **kwargs)
            stack.callback(app.stop)
            return app

        begin.kind = request.param
        yield begin


def post(app, path, length, more=b"", headers=None):
    """A connection on which such a request was begun."""
    connection = app.server.connect(timeout=PATIENCE)
    framing = {"Content-Length": str(length)} if length is not None else {"Transfer-Encoding": "chunked"}
    connection.send(http.request(app.base + path, "POST", headers={**framing, **(headers or {})}) + more)
    return connection


def upload(app, length, piece=bytes(65536)):
    """As fast as it is taken."""
    with post(app, "/count", length) as connection:
        for at in range(0, length, len(piece)):
            connection.send(piece[:length - at])
        assert connection.response("POST").text == f"{length} {length}"


def quick(app):
    """Is somebody else answered, and in how many seconds?"""
    began = time.monotonic()
    with app.server.connect(timeout=PATIENCE) as connection:
        connection.send(http.request(app.base + "/quick"))
        answer = connection.response()
    assert (answer.status, answer.body) == (200, b"quick"), app.server.log()
    return time.monotonic() - began


def is_told(connection, within=0.5):
    """Did the server say something, or close?"""
    return bool(select.select([connection.sock], [], [], within)[0])


def unlinked_files(server):
    count = 0
    for name in os.listdir(f"/proc/{server.pid}/fd"):
        with contextlib.suppress(OSError):
            count += os.readlink(f"/proc/{server.pid}/fd/{name}").endswith(" (deleted)")
    return count


# -- auto: gathered while it is slow


@pytest.mark.timed
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_slow_posts_hold_no_place(behind, framing):
    """As many as there are places by default for scripts, of CGI; each has sent a byte, and then another one."""
    app = behind(places=32)
    piece = b"x" if framing == "length" else http.chunk(b"x")
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(post(app, "/count", MANY if framing == "length" else None, piece)) for _ in range(32)]
        assert quick(app) < PATIENCE
        for connection in slow:
            connection.send(piece)
        assert quick(app) < PATIENCE
        assert app.begun() == 2


def test_a_body_in_two_halves_is_counted(behind):
    app = behind(places=1)
    with post(app, "/count", 4, b"ab") as connection:
        quick(app)
        connection.send(b"cd")
        assert connection.response("POST").text == "4 4"
        connection.send(http.request(app.base + "/count", "POST", body=b"whole"))  # and with its head
        assert connection.response("POST").text == "5 5"


def test_the_client_is_asked_for_its_body_before_a_place_is_taken(behind):
    app = behind(places=1)
    with post(app, "/count", 5, headers={"Expect": "100-continue"}) as connection:
        assert http.read_head(connection.stream).status == 100
        assert app.begun() == 0
        connection.send(b"hello")
        assert connection.response("POST").text == "5 5"


@pytest.mark.parametrize("mode", ["auto", "on"])
def test_a_client_that_leaves_while_its_body_is_gathered(behind, mode):
    app = behind(places=1, buffering=mode, server="Workers 1")
    quick(app)
    before = app.server.open_descriptors()
    for size in (1, 20_000, 200_000 if mode == "on" else 30_000):
        with post(app, "/count", MANY, bytes(size)):
            time.sleep(0.1)
    assert eventually(lambda: app.server.open_descriptors() <= before)
    quick(app)
    assert app.begun() == 2


def test_a_reload_while_a_body_is_gathered(behind):
    app = behind(places=1)
    with post(app, "/count", 4, b"ab") as connection:
        quick(app)
        app.server.reload()
        quick(app)
        connection.send(b"cd")
        assert connection.response("POST").text == "4 4"


@pytest.mark.parametrize("mode", ["auto", "on"])
def test_a_gathered_body_that_becomes_too_large(behind, mode):
    app = behind(places=1, buffering=mode, server="MaxBodySize 64K")
    with post(app, "/count", None, http.chunk(bytes(1000))) as connection:
        quick(app)
        for _ in range(70):
            connection.send(http.chunk(bytes(1000)))
        assert connection.response("POST").status == 413
    quick(app)


def test_a_gathered_body_that_is_none(behind):
    app = behind(places=1)
    with post(app, "/count", None, http.chunk(b"good")) as connection:
        quick(app)
        connection.send(b"zz\r\n")
        assert connection.response("POST").status == 400
    assert app.begun() == 1


# -- auto: streamed while it is fast


@pytest.mark.timed
@pytest.mark.usefixtures("plain_stack")
def test_a_fast_body_is_not_gathered(behind):
    """In memory that does not grow, and without a file: there could not be one."""
    app = behind(places=1, lines="SpoolDirectory /nowhere", server="Workers 1\nMaxBodySize 100M")
    upload(app, 2 << 20)
    before = peak_kb(app.server.pid)
    upload(app, 64 << 20)
    assert peak_kb(app.server.pid) - before < LITTLE_KB
    assert "not gathered" not in app.server.log()


@pytest.fixture(name="plain_stack")
def fixture_plain_stack(monkeypatch):
    """A sanitizer's stacks of their own for what has returned grow with each turn of the server, up to megabytes."""
    monkeypatch.setenv("ASAN_OPTIONS", "detect_stack_use_after_return=0")


def test_a_fast_body_has_a_place_before_its_end(behind):
    app = behind(places=1)
    with post(app, "/count", 2 * FAST, bytes(FAST)) as connection:
        assert eventually(lambda: app.begun() == 1)
        connection.send(bytes(FAST))
        assert connection.response("POST").text == f"{2 * FAST} {2 * FAST}"


# -- auto: a streamed one that becomes slow


@pytest.mark.timed
@pytest.mark.limit(120)
def test_the_slow_one_ends_when_another_one_waits(behind):
    """One of them, with 408; the other one, which nobody waits for any more, goes on."""
    app = behind(places=2)
    with post(app, "/count", 2 * FAST, bytes(FAST)) as one, post(app, "/count", 2 * FAST, bytes(FAST)) as other:
        assert eventually(lambda: app.begun() == 2)
        assert quick(app) < PATIENCE
        ended = [connection for connection in (one, other) if is_told(connection)]
        assert len(ended) == 1
        answer = ended[0].response("POST")
        assert (answer.status, answer.header("Connection")) == (408, "close")
        left = other if ended[0] is one else one
        left.send(bytes(FAST))
        assert left.response("POST").text == f"{2 * FAST} {2 * FAST}"
    assert "too slowly while others wait" in app.server.log()
    assert quick(app) < PATIENCE, "nothing is said against the application"


@pytest.mark.timed
@pytest.mark.limit(120)
def test_the_slow_one_ends_within_its_answer(behind):
    """Broken off, since its status was said."""
    app = behind(places=1)
    with post(app, "/echo", 2 * FAST, bytes(FAST)) as slow:
        assert http.read_head(slow.stream).status == 200
        assert quick(app) < PATIENCE
        assert http.is_cut_off(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + slow.rest_until_cut())


@pytest.mark.slow
@pytest.mark.limit(120)
def test_the_slow_one_goes_on_when_nobody_waits(behind):
    app = behind(places=2)
    with post(app, "/count", 2 * FAST, bytes(FAST)) as slow:
        assert eventually(lambda: app.begun() == 1)
        for _ in range(8):
            time.sleep(1)
            quick(app)
        slow.send(bytes(FAST))
        assert slow.response("POST").text == f"{2 * FAST} {2 * FAST}"


@pytest.mark.slow
@pytest.mark.limit(120)
def test_an_application_that_does_not_read_is_no_slow_client(start, tmp_path):
    """The client would send: others wait for the script, not for it."""
    app = counters.CGI(start, tmp_path, places=1)
    lazy = app.server.config.root / "cgi-bin/lazy"
    lazy.write_text("#!/bin/sh\nsleep 8\nprintf 'Content-Type: text/plain\\n\\n'\nwc -c\n")
    lazy.chmod(0o755)
    with app.server.connect(timeout=PATIENCE) as connection:
        connection.send(http.request("/cgi-bin/lazy", "POST", body=bytes(1 << 20)))
        time.sleep(0.5)
        quick(app)
        assert connection.response("POST").text.strip() == str(1 << 20)


# -- on: always gathered


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_on_gathers_all_of_it(behind, framing):
    """Beyond 64 KB in a file, which is gone with the request."""
    app = behind(places=1, buffering="on")
    size = 1 << 20
    with post(app, "/count", size if framing == "length" else None) as connection:
        if framing == "length":
            connection.send(bytes(size - 1))
        else:
            connection.send(http.chunk(bytes(size)))
        assert eventually(lambda: unlinked_files(app.server) == 1)
        quick(app)
        assert app.begun() == 1
        connection.send(b"x" if framing == "length" else b"0\r\n\r\n")
        answer = connection.response("POST").text
        assert answer == f"{size} {size}"
    assert unlinked_files(app.server) == 0


def test_on_without_room_for_a_file(behind):
    """The server's own fault, and said so; what fits into memory needs none."""
    app = behind(places=1, buffering="on", lines="SpoolDirectory /nowhere")
    with post(app, "/count", 60_000, bytes(1000)) as connection:
        quick(app)
        connection.send(bytes(59_000))
        assert connection.response("POST").text == "60000 60000"
    with post(app, "/count", 100_000, bytes(80_000)) as connection:
        assert connection.response("POST").status == 500
    assert 'cannot keep a request body path=/nowhere why="No such file or directory"' in app.server.log()


@pytest.mark.slow
@pytest.mark.limit(120)
def test_auto_without_room_for_a_file(behind):
    """Then it is streamed as if it were fast."""
    app = behind(places=1, lines="SpoolDirectory /nowhere")
    with post(app, "/count", 100_000) as connection:
        for _ in range(40):
            connection.send(bytes(2000))
            time.sleep(0.2)  # 10 KB a second
        assert eventually(lambda: app.begun() == 1)
        assert "no longer gathered" in app.server.log()
        connection.send(bytes(20_000))
        assert connection.response("POST").text == "100000 100000"


def test_a_gathered_body_is_sent_again(start):
    """To another server of the proxy, from its first byte."""
    size, got = 1 << 20, []

    def leave(conn):
        got.append(len(conn.exactly(200_000)))

    with Backend(leave) as one, Backend(each=lambda c, q: c.answer(b"%d" % len(q.body))) as other:
        server = start(**configured("LoadBalancer First-Alive\nRequestBuffering on", one, other))
        with server.connect() as connection:
            body = os.urandom(size)
            connection.send(http.request("/", "PUT", body=body))
            assert connection.response("PUT").text == str(size)
        assert got == [200_000] and other.requests[0].body == body


# -- off: always streamed


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_off_streams_both_ways(behind, framing):
    """Each piece comes back before the next one is sent."""
    app = behind(places=1, buffering="off")
    pieces = [b"hello", b"world", b"x" * 1000]
    with post(app, "/echo", 1010 if framing == "length" else None) as connection:
        assert http.read_head(connection.stream).status == 200
        for piece in pieces:
            connection.send(piece if framing == "length" else http.chunk(piece))
            seen = b""
            while len(seen) < len(piece):
                seen += connection.stream.exactly(int(connection.stream.line(), 16))
                connection.stream.line()
            assert seen == piece
        if framing == "chunked":
            connection.send(b"0\r\n\r\n")
        assert connection.stream.line() == b"0"


def test_off_says_no_length_that_is_not_known(behind):
    app = behind(places=1, buffering="off")
    with post(app, "/count", None, http.chunked(b"some", b"thing")) as connection:
        assert connection.response("POST").text == "9 -"


@pytest.mark.parametrize("piece, status", [(b"4000001\r\nhello", 413), (b"5x\r\nhello\r\n", 400)])
def test_off_says_what_is_wrong_with_a_chunk(behind, piece, status):
    """Whichever of the events of a new connection reads it first."""
    app = behind(buffering="off", server="MaxBodySize 64K")
    for _ in range(10):
        with post(app, "/count", None, piece) as connection:
            assert connection.response("POST").status == status


@pytest.mark.slow
@pytest.mark.limit(120)
def test_off_ends_nothing(behind):
    app = behind(places=1, buffering="off")
    with post(app, "/count", 2 * FAST, bytes(FAST)) as slow, app.server.connect(timeout=PATIENCE) as waits:
        assert eventually(lambda: app.begun() == 1)
        waits.send(http.request(app.base + "/quick"))
        time.sleep(7)
        assert not is_told(slow, within=0) and app.begun() == 1
        slow.send(bytes(FAST))
        assert slow.response("POST").status == 200
        assert waits.response().body == b"quick"
