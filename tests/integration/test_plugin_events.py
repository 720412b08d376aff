# SPDX-License-Identifier: Apache-2.0
"""What a plugin may wait for: descriptors, times, work on the side, other workers, names, a reload."""

import concurrent.futures
import os
import select
import re
import signal
import time

import pytest

from harness import http
from harness.client import eventually
from harness.plugins import load
from harness.variants import SCHEDULERS

KINDS = ["offload", "slow", "alarm", "soon", "pipe", "workers", "resolve", "reload", "facts"]
HANDLERS = "\n".join(f"Match ^/{kind} events {kind}" for kind in KINDS)


@pytest.fixture(params=SCHEDULERS)
def server(start, request):
    return start(server=f"Scheduler {request.param}\nWorkers 2\nGracefulTimeout 0", handlers=HANDLERS,
                 host="Header X-Version 1", files={"a.txt": "text"}, extra={"plugins.load": load("events")})


@pytest.mark.parametrize("kind, answer", [
    ("offload", r"worked on mk-offload-[01]"),
    ("alarm", r"alarm"),
    ("soon", r"alarm"),
    ("pipe", r"events=9 read=4 pipe"),      # readable, and its other end is closed
    ("workers", r"visited 2"),
    ("resolve", r"resolved"),
    ("facts", r"workers=2 scheduler=(Fair|ReusePort) snapshots=1 reloads=0"),
])
def test_answers_when_it_happened(server, kind, answer):
    with server.connect() as connection:
        for _ in range(3):
            assert re.fullmatch(answer, connection.request(f"/{kind}").text)
        assert connection.request("/a.txt").text == "text"


def test_many_at_once(server):
    """Each gets its own answer, however they overtake each other."""
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        kinds = ["offload", "alarm", "soon", "pipe", "workers", "resolve"] * 10
        texts = pool.map(lambda kind: server.get(f"/{kind}").text, kinds)
        for kind, text in zip(kinds, texts):
            assert text.split()[0] == {"offload": "worked", "alarm": "alarm", "soon": "alarm", "pipe": "events=9",
                                       "workers": "visited", "resolve": "resolved"}[kind]


def test_work_does_not_hold_the_worker(server):
    def overtakes():
        with server.connect() as waiting:
            waiting.send(http.request("/slow"))
            assert server.get("/a.txt").text == "text"
            is_first = not select.select([waiting.sock], [], [], 0)[0]
            assert waiting.response().text.startswith("worked")
            return is_first

    assert eventually(overtakes), "others are answered after the work, each time"


def test_who_left_is_not_answered(server):
    for kind in ("slow", "offload", "alarm", "pipe", "workers", "resolve"):
        with server.connect() as connection:
            connection.send(http.request(f"/{kind}"))
            connection.reset()
    time.sleep(0.9)
    assert server.get("/a.txt").text == "text"


def test_threads_for_work_start_with_it(server):
    def names():
        return [open(f"/proc/{server.pid}/task/{task}/comm").read().strip()
                for task in os.listdir(f"/proc/{server.pid}/task")]

    assert not any(name.startswith("mk-offload") for name in names())
    server.get("/offload")
    assert any(name.startswith("mk-offload") for name in names())


def test_stops_with_work_under_way(server):
    """The end waits for what runs, and leaves nobody behind."""
    with server.connect() as connection:
        connection.send(http.request("/slow"))
        time.sleep(0.2)
        server.signal(signal.SIGTERM)
        server.process.wait(30)


def test_plugin_asks_for_a_reload(server):
    assert server.get("/a.txt").header("X-Version") == "1"
    server.config.write(server="Workers 2", handlers=HANDLERS, host="Header X-Version 2", files={"a.txt": "text"},
                        extra={"plugins.load": load("events")})
    assert server.get("/reload").text == "0"
    assert eventually(lambda: server.get("/a.txt").header("X-Version") == "2")
    assert "reloads=1" in server.get("/facts").text
    assert eventually(lambda: "snapshots=1 " in server.get("/facts").text)
