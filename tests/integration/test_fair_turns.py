# SPDX-License-Identifier: Apache-2.0
"""One client never delays another one of the same worker, whether it is fast, slow or stuck."""

import multiprocessing
import socket
import subprocess
import threading
import time

import pytest

from harness import http, tools
from harness.client import eventually
from harness.latency import best_percentile_99
from harness.plugins import load
from harness.variants import SCHEDULERS

pytestmark = [pytest.mark.slow, pytest.mark.timed]

HUGE = 3 << 30


@pytest.fixture(params=SCHEDULERS)
def server(start, request):
    server = start(server=f"Scheduler {request.param}\nWorkers 1\nWriteTimeout 60\nTimeout 60\nMaxKeepAliveRequest 100000000",
                   files={"a.txt": "text", "medium.bin": b"m" * 1_000_000}, handlers="Match ^/echo echo")
    with open(server.root / "huge.bin", "wb") as huge:
        huge.truncate(HUGE)
    return server


def test_beside_a_fast_reader_of_a_huge_file(server):
    """The reader is a process of its own, so that this one measures the server and not itself."""
    urls = [f"http://127.0.0.1:{server.port}/huge.bin"] * 100
    reader = subprocess.Popen([tools.require("curl"), "--silent", *urls], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        time.sleep(0.2)
        best = best_percentile_99(server, "/a.txt", 0.02)
        assert reader.poll() is None, "the reader was done too early to disturb anybody"
    finally:
        reader.kill()
        reader.wait()
    assert best < 0.02, f"p99 of a second client: {best * 1000:.1f} ms"


def stuck_in_a_large_answer(connection):
    connection.send(http.request("/huge.bin"))


def stuck_in_pipelined_answers(connection):
    connection.send(http.request("/medium.bin") * 50)


def stuck_in_its_head(connection):
    connection.send(b"GET / HTTP/1.1\r\nX-Slow: ")


def stuck_in_its_body(connection):
    connection.send(http.request("/echo", "POST", headers={"Content-Length": "1000000"}) + b"x" * 1000)


def rests(server):
    before = server.cpu_ticks()
    time.sleep(1)
    return server.cpu_ticks() - before <= 15


@pytest.mark.parametrize("stick", [stuck_in_a_large_answer, stuck_in_pipelined_answers, stuck_in_its_head, stuck_in_its_body],
                         ids=lambda stick: stick.__name__)
def test_beside_two_hundred_stuck_clients(server, stick):
    stuck = [server.connect(receive_buffer=4096) for _ in range(200)]
    for connection in stuck:
        stick(connection)
    assert eventually(lambda: rests(server)), "it works although nobody can take anything"
    assert best_percentile_99(server, "/a.txt", 0.02) < 0.02


def flood(port, stop):
    """Send requests and throw the answers away, as fast as the server takes them. Runs as a process of its own."""
    with socket.create_connection(("127.0.0.1", port)) as sock:
        threading.Thread(target=lambda: all(iter(lambda: sock.recv(1 << 20), b"")), daemon=True).start()
        while not stop.is_set():
            sock.sendall(http.request("/a.txt") * 1000)


def test_beside_an_endless_pipeline(server):
    """A client whose pipe is always full of requests gets turns like everybody else."""
    stop = multiprocessing.Event()
    peer = multiprocessing.Process(target=flood, args=(server.port, stop), daemon=True)
    peer.start()
    try:
        time.sleep(0.3)
        assert best_percentile_99(server, "/a.txt", 0.03) < 0.03
    finally:
        stop.set()
        peer.kill()
        peer.join()


def pour(port, length):
    """Send a body as fast as the server takes it, and print what was answered. Runs as a process of its own."""
    piece = bytes(1 << 20)
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.sendall(http.request("/drinks", "POST", headers={"Content-Length": str(length)}))
        for _ in range(length // len(piece)):
            sock.sendall(piece)
        return sock.recv(65536)


def test_beside_a_handler_that_reads_to_the_end_of_input(start):
    """A fast sender is never read to the end of what it sent: a turn gives a handler about 1 MB."""
    length = 2 << 30
    server = start(server="Workers 1\nMaxBodySize 4G", files={"a.txt": "text"}, handlers="Match ^/drinks drinks",
                   extra={"plugins.load": load("drinks")})
    with multiprocessing.Pool(1) as pool:
        poured = pool.apply_async(pour, (server.port, length))
        time.sleep(0.1)
        best = best_percentile_99(server, "/a.txt", 0.02)
        answer = poured.get(timeout=60)
    total, most = map(int, answer.split(b"\r\n\r\n")[1].split())
    assert total == length
    assert most <= (1 << 20) + 4096
    assert best < 0.02
