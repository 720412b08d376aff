# SPDX-License-Identifier: Apache-2.0
"""Who waits for whom over HTTP/2, counted in bytes: streams of a connection (RFC 9218 section 10), connections of a worker."""

import array
import fcntl
import select
import termios

import pytest

from harness import executable
from harness.config import section
from harness.http2 import DATA, END_STREAM, HEADERS, RST_STREAM, SETTINGS, WINDOW_UPDATE, Frames, frame
from harness.line import Line

pytestmark = pytest.mark.plain
LARGE, WIDE = 4_000_000, 1 << 30
ROUND_MS, MBIT, HOLDS = 20, 10, 32 << 10  # a line, with the bytes that wait for it
PACKET = 64 << 10  # the largest, of which the line takes one more when it holds nearly as much
AHEAD = 40 << 10   # of it: 16 KB that the kernel may have unsent, a frame that did not go there, and what is rounded up


def serve(start, listen):
    if not executable.plugin("http2"):
        pytest.skip("this build has no such plugin")
    load = section("PLUGINS", f"Load {executable.plugin('http2')}")
    return start(server=f"Listen {listen} h2\nWorkers 1", handlers="Match ^/echo echo", extra={"plugins.load": load},
                 files={"a.txt": "a", "large.bin": b"x" * LARGE})


@pytest.fixture(scope="module")
def server(start_shared):
    return serve(start_shared, "127.0.0.1:0")


def connect(server, window=WIDE):
    """A client whose windows are as wide as they can be."""
    return connect_to(("127.0.0.1", server.port), window)


def connect_to(address, window=WIDE):
    client = Frames(address, settings=(4).to_bytes(2, "big") + window.to_bytes(4, "big"), receive_buffer=65536)
    client.send(frame(WINDOW_UPDATE, 0, 0, WIDE.to_bytes(4, "big")))
    return client


def order(client, count):
    """The streams of the DATA frames up to the last one of so many streams, and the bytes of each frame."""
    seen = []
    while count > 0:
        one = client.until(DATA)
        seen.append((one.stream, len(one.payload)))
        count -= bool(one.flags & END_STREAM)
    return seen


def test_incremental_responses_share(server):
    """RFC 9218 10: a frame of one, a frame of the other"""
    with connect(server) as client:
        client.send(*(client.head(i, "/large.bin", fields=[("priority", "u=3, i")]) for i in (1, 3)))
        seen = [stream for stream, _ in order(client, 2)]
        both = seen[:max(i for i in range(len(seen)) if seen[i] != seen[-1]) + 1]  # the other one has ended behind it
        changes = sum(a != b for a, b in zip(both, both[1:]))
        assert changes >= len(both) * 0.9, (changes, len(both))


def test_others_come_one_after_the_other(server):
    """RFC 9218 10: half of a script is of no use"""
    with connect(server) as client:
        client.send(*(client.head(i, "/large.bin") for i in (1, 3, 5)))
        seen = [stream for stream, _ in order(client, 3)]
        assert sum(a != b for a, b in zip(seen, seen[1:])) == 2, seen


def arrived(client):
    """Bytes that were received and belong to no frame yet."""
    size = array.array("i", [0])
    fcntl.ioctl(client.sock, termios.FIONREAD, size)
    return client.unread + size[0]


def came_before_urgent(client, number):
    """Bytes that come for downloads, after what is here, before the head of a response that is more urgent than all of them."""
    for _ in range(20):
        client.until(DATA)
    client.send(client.head(number, "/a.txt", fields=[("priority", "u=0")]))
    came = -arrived(client)
    while (one := client.until(DATA, HEADERS)).stream != number:
        came += 9 + len(one.payload)
    return came


def test_an_urgent_response_waits_for_little(start):
    """
    RFC 9218 10: while downloads share a line that is not the fastest, little is written ahead. Beside that, there is what the line holds, and
    what comes in the time of the request's way.
    """
    with Line(ROUND_MS, MBIT, queue=HOLDS) as line:
        with line.near():
            server = serve(start, "0.0.0.0:0")
        with line.far():
            client = connect_to((line.address, server.port))
        with client:
            client.send(*(client.head(2 * i + 1, "/large.bin") for i in range(8)))
            before = [came_before_urgent(client, number) for number in range(101, 111, 2)]
        server.stop()
    most = MBIT * 125 * ROUND_MS + HOLDS + PACKET + AHEAD
    assert max(before[1:]) < most, f"{before} bytes, {most} at most"


def take_until(crowd, client):
    """Take what comes for a crowd until something has come for a client. @return the bytes."""
    taken = 0
    while not select.select([client.sock], [], [], 0)[0]:
        taken += len(crowd.sock.recv(65536))
    return taken


def test_a_connection_of_many_streams_is_one_of_many(server):
    """A turn of the worker is bounded for each connection, however many streams it has"""
    with connect(server) as crowd, connect(server) as client:
        crowd.send(*(crowd.head(2 * i + 1, "/large.bin") for i in range(100)))
        client.send(client.head(1, "/a.txt"))
        assert client.answer(1) == (200, b"a")
        taken = []
        for number in range(3, 43, 2):
            crowd.sock.recv(65536)  # it flows
            client.send(client.head(number, "/a.txt"))
            taken.append(take_until(crowd, client))
            assert client.answer(number) == (200, b"a")
    assert sorted(taken)[-2] < 8 << 20, f"{taken} bytes of a crowd before an answer of one"


def test_uploads_move_beside_downloads(server):
    """RFC 9113 5.2.2: what leaves keeps nothing from coming"""
    with connect(server) as client:
        client.send(client.head(1, "/large.bin"), client.head(3, "/echo", "POST", end=False, fields=[("priority", "u=0")]))
        for _ in range(40):
            client.send(frame(DATA, 0, 3, b"y" * 1000))
        client.send(frame(DATA, END_STREAM, 3))
        left = {1: LARGE, 3: None}
        echoed = False
        while left[1] > 0 or not echoed:
            one = client.until(DATA, HEADERS, RST_STREAM)
            assert one.kind != RST_STREAM
            if one.kind == DATA and one.stream == 1:
                left[1] -= len(one.payload)
            echoed = echoed or one.stream == 3 and bool(one.flags & END_STREAM)


def test_a_window_that_is_never_opened_costs_its_own_streams(server):
    """RFC 9113 5.2.1: 50 answers that wait for windows of 10 bytes; another stream, and another connection, go on"""
    with connect(server, window=10) as stuck, connect(server) as other:
        stuck.send(*(stuck.head(2 * i + 1, "/large.bin") for i in range(50)))
        for _ in range(50):
            assert len(stuck.until(DATA).payload) == 10
        stuck.send(stuck.head(201, "/a.txt"))
        assert stuck.answer(201) == (200, b"a")
        other.send(other.head(1, "/large.bin"))
        status, body = other.answer(1)
        assert (status, len(body)) == (200, LARGE)
        stuck.send(frame(WINDOW_UPDATE, 0, 99, LARGE.to_bytes(4, "big")))
        got = 10
        while got < LARGE:
            one = stuck.until(DATA)
            assert one.stream == 99
            got += len(one.payload)


def test_settings_open_the_windows_of_all(server):
    """RFC 9113 6.9.2"""
    with connect(server, window=10) as client:
        client.send(*(client.head(i, "/large.bin") for i in (1, 3)))
        assert [client.until(DATA).stream for _ in range(2)] == [1, 3]
        client.send(frame(SETTINGS, 0, 0, (4).to_bytes(2, "big") + WIDE.to_bytes(4, "big")))
        assert sum(size for _, size in order(client, 2)) == 2 * (LARGE - 10)
