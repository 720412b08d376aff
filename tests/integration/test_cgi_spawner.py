# SPDX-License-Identifier: Apache-2.0
"""Clients while the spawner of scripts is away, hangs, or is killed: everybody is answered, and soon."""

import errno
import os
import shutil
import signal
import socket
import struct
import subprocess
import time

import pytest

from harness import http
from harness.cgi import start_site
from harness.client import eventually
from harness.family import have_ended, is_palm, spawner, spawners
from test_cgi_processes import HEAD, PALM, SLEEPS, is_gone, started

pytestmark = pytest.mark.slow

SUM = HEAD + "echo sum\ncat\n"
QUICK = HEAD + "echo quick\n"
LINES = 400  # more than the socket to a spawner that does not read has room for
CLOSE = {"Connection": "close"}


class Removable:
    """A spawner of which the file comes and goes."""

    def __init__(self, folder):
        self.path = folder / PALM.name
        self.put_back()

    def put_back(self):
        shutil.copy(PALM, self.path.with_suffix(".new"))
        self.path.with_suffix(".new").rename(self.path)

    def end(self, server):
        palm = spawner(server)
        self.path.unlink()
        os.kill(palm, signal.SIGKILL)
        assert eventually(lambda: is_gone(palm))


@pytest.fixture(name="removable")
def fixture_removable(tmp_path):
    return Removable(tmp_path)


@pytest.fixture(name="stop")
def fixture_stop():
    """Stops the spawner of a server; in the end it goes on, or nothing of it would end."""
    stopped = []

    def stop(server):
        stopped.append(spawner(server))
        os.kill(stopped[-1], signal.SIGSTOP)
        return stopped[-1]

    yield stop
    for pid in filter(is_palm, stopped):
        os.kill(pid, signal.SIGCONT)


def ask(server, path, method="GET", count=1, timeout=20.0, **kwargs):
    connections = [server.connect(timeout=timeout) for _ in range(count)]
    for connection in connections:
        connection.send(http.request(path, method, headers=kwargs.get("headers", CLOSE), body=kwargs.get("body", b"")))
    return connections


def answers_of(connections):
    statuses = [connection.response().status for connection in connections]
    for connection in connections:
        connection.close()
    return statuses


@pytest.mark.timed
def test_spawner_that_cannot_be_started_again(start, removable):
    """Who waits for it is told after five seconds, however long each try takes."""
    server = start_site(start, {"sum": SUM}, f"Spawner {removable.path}\nMaxProcesses 4")
    removable.end(server)
    began = time.monotonic()
    assert answers_of(ask(server, "/cgi-bin/sum", count=4)) == [503] * 4
    assert 4 < time.monotonic() - began < 8
    server.wait_for_log("cannot be started")
    removable.put_back()
    assert eventually(lambda: server.get("/cgi-bin/sum").status == 200)


def test_request_with_much_in_its_head_outlasts_the_absence_of_the_spawner(start, removable):
    """Its variables are made once, not anew for each try, in memory that has a bound."""
    server = start_site(start, {"sum": SUM}, f"Spawner {removable.path}", server="MaxRequestSize 64K")
    removable.end(server)
    waiting, = ask(server, "/cgi-bin/sum", headers=[("Cookie", "a" * 15000), ("Cookie", "b" * 15000), *CLOSE.items()])
    time.sleep(2.4)
    removable.put_back()
    assert answers_of([waiting]) == [200]


def test_request_with_a_body_outlasts_a_spawner_that_hangs(start, stop):
    server = start_site(start, {"sum": SUM, "quick": QUICK}, f"MaxProcesses {LINES + 1}")
    palm = stop(server)
    others = ask(server, "/cgi-bin/quick", count=LINES)
    waiting, = ask(server, "/cgi-bin/sum", "POST", body=b"x" * 1000)
    time.sleep(3.7)
    os.kill(palm, signal.SIGCONT)
    assert answers_of([waiting]) == [200]
    assert answers_of(others) == [200] * LINES
    assert have_ended(server)


@pytest.mark.timed
def test_spawner_that_hangs_holds_nobody_for_long(start, stop):
    """Those of whom it could be told run into Timeout, the others find no room."""
    server = start_site(start, {"quick": QUICK}, f"MaxProcesses {LINES}\nTimeout 2")
    palm = stop(server)
    began = time.monotonic()
    statuses = answers_of(ask(server, "/cgi-bin/quick", count=LINES))
    assert set(statuses) == {503, 504}
    assert time.monotonic() - began < 12
    server.wait_for_log("monkey-palm does not answer, or does not run")
    os.kill(palm, signal.SIGCONT)
    assert server.get("/cgi-bin/quick").text == "quick\n"
    assert spawner(server) == palm


def test_script_that_nobody_waits_for_any_more_is_not_started(tmp_path):
    """As wire.h has it: the order is there, and its sender has gone on. A start would be told as a failure."""
    order = struct.pack("=II4QQ", 1, 0, 0, 0, 0, 0, 0) + f"/\0{tmp_path}/none\0none\0".encode()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, line, far, open(os.devnull, "r+b") as null:
        socket.send_fds(line, [order], [null.fileno()] * 3)
        line.shutdown(socket.SHUT_WR)
        socket.send_fds(ours, [b"1"], [far.fileno()])
        far.close()
        assert subprocess.run([PALM, ""], stdin=theirs, timeout=30, check=False).returncode == 0
        theirs.close()
        line.settimeout(30)
        killed = 2
        assert struct.unpack("=Ii", line.recv(100)) == (killed, signal.SIGTERM)
        assert line.recv(100) == b""


@pytest.mark.parametrize("where", ["order", "control"])
def test_more_descriptors_than_belong_to_an_order(tmp_path, where):
    """A buffer for three has room for four, by its alignment: the fourth was written behind the array."""
    order = struct.pack("=II4QQ", 1, 0, 0, 0, 0, 0, 0) + b"/\0/bin/true\0true\0"
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    errors = tmp_path / "stderr"
    with ours, theirs, line, far, open(os.devnull, "r+b") as null, open(errors, "wb") as log:
        assert subprocess.run([PALM, ""], stdin=theirs, stderr=log, timeout=30, check=False).returncode == 0
        theirs.close()
        for count in range(2, 9) if where == "control" else ():
            socket.send_fds(ours, [b"1"], [null.fileno()] * count)
        socket.send_fds(ours, [b"1"], [far.fileno()])
        far.close()
        socket.send_fds(line, [order], [null.fileno()] * (4 if where == "order" else 3))
        line.settimeout(30)
        failed, exited = (0, errno.EMFILE), (1, 0)
        assert struct.unpack("=Ii", line.recv(100)) == (failed if where == "order" else exited)
    assert not errors.read_text()


def test_clients_that_a_stopped_spawner_kept_waiting_are_forgotten(start, stop):
    server = start_site(start, {"quick": QUICK}, "Timeout 1\nMaxProcesses 2")
    palm = stop(server)
    gone, late = ask(server, "/cgi-bin/quick", count=2)
    time.sleep(0.3)
    gone.close()
    assert answers_of([late]) == [504]
    os.kill(palm, signal.SIGCONT)
    assert server.get("/cgi-bin/quick").text == "quick\n"
    assert have_ended(server)
    assert "was lost with its spawner" not in server.log()


def test_what_a_killed_spawner_has_not_read_is_given_to_the_next(start, stop):
    server = start_site(start, {"quick": QUICK}, "MaxProcesses 20", server="Workers 1")
    assert server.get("/cgi-bin/quick").text == "quick\n"
    before = server.open_descriptors()
    palm = stop(server)
    connections = ask(server, "/cgi-bin/quick", count=20)
    time.sleep(0.5)
    os.kill(palm, signal.SIGKILL)
    assert answers_of(connections) == [200] * 20
    assert eventually(lambda: server.open_descriptors() <= before)


@pytest.mark.timed
def test_body_that_is_lost_with_a_killed_spawner_is_told_at_once(start, stop):
    server = start_site(start, {"sum": SUM})
    palm = stop(server)
    waiting = ask(server, "/cgi-bin/sum", "POST", body=b"x")
    time.sleep(0.5)
    os.kill(palm, signal.SIGKILL)
    began = time.monotonic()
    assert answers_of(waiting) == [502]
    assert time.monotonic() - began < 4


@pytest.mark.timed
def test_spawner_that_ends_again_and_again_keeps_nobody_for_ever(start, tmp_path):
    """It never reads what it is told. Who waits is given up at the same time as with none at all."""
    palm = tmp_path / "palm"
    palm.write_text("#!/bin/sh\nsleep 0.3 <&0 &\n")
    palm.chmod(0o755)
    server = start_site(start, {"quick": QUICK}, f"Spawner {palm}")
    began = time.monotonic()
    assert answers_of(ask(server, "/cgi-bin/quick")) == [503]
    assert 4 < time.monotonic() - began < 8
    assert server.log().count("monkey-palm started again") > 2


def test_who_waits_for_a_place_is_served_by_the_next_spawner(start):
    server = start_site(start, {"sleeps": SLEEPS, "quick": QUICK}, "MaxProcesses 1")
    running, pids = started(server)
    connections = ask(server, "/cgi-bin/quick", count=10)
    time.sleep(0.3)
    os.kill(spawner(server), signal.SIGKILL)
    assert answers_of(connections) == [200] * 10
    assert not running.rest_until_cut().endswith(b"0\r\n\r\n")
    assert eventually(lambda: all(map(is_gone, pids)))
    assert len(spawners(server)) == 1
