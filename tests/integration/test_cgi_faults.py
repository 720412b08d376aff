# SPDX-License-Identifier: Apache-2.0
"""Scripts when something fails: each allocation, descriptors, reloads and stops meanwhile. Nothing is left behind."""

import itertools
import os
import resource
import signal
import time

import pytest

from harness import http
from harness.cgi import load, start_site
from harness.client import eventually
from harness.family import have_ended, spawner, spawners
from test_cgi_processes import HEAD, is_gone

pytestmark = [pytest.mark.slow, pytest.mark.limit(300)]

SUM = HEAD + "echo sum\ncat\n"
REQUESTS = {
    "get": http.request("/cgi-bin/sum/info?x", headers={"Connection": "close", "Cookie": "a"}),
    "post": http.request("/cgi-bin/sum", "POST", headers={"Connection": "close"}, body=b"x" * 100000),
    "chunked": http.request("/cgi-bin/sum", "POST", headers={"Connection": "close", "Transfer-Encoding": "chunked"}) +
    http.chunked(b"x" * 100000),
    "moved": http.request("/cgi-bin/moved", headers={"Connection": "close"}),
}
SCRIPTS = {"sum": SUM, "moved": "#!/bin/sh\necho 'Location: /cgi-bin/sum?y'\necho\n"}


@pytest.mark.parametrize("kind", REQUESTS)
def test_each_allocation_fails(start, allocations, kind):
    """An answer that is whole, an error, or one that breaks off; the one place is given back each time."""
    server = start_site(start, SCRIPTS, "MaxProcesses 1\nQueueTimeout 5", server="Workers 1",
                        env=allocations.environment)
    data = REQUESTS[kind]
    method = data.split(b" ", 1)[0].decode()
    for number in itertools.count(1):
        allocations.arm(number)
        answer = server.raw_until_cut(data)
        failed = allocations.failed
        allocations.disarm()
        assert server.is_running(), f"allocation {number}\n{server.log()}"
        if answer and not http.is_cut_off(answer):
            response = http.parse_one(answer, method)
            assert response.status in (200, 500, 502, 503), f"allocation {number}: {response}"
            assert response.status != 200 or response.text.startswith("sum\n"), f"allocation {number}"
        if not failed:
            break
    assert number > 5, "hardly any allocation was seen"
    assert http.parse_one(server.raw(data), method).text.startswith("sum\n")
    assert have_ended(server)


def test_out_of_descriptors(start):
    server = start_site(start, {"slow": HEAD + "sleep 1\necho slow\n"}, "MaxProcesses 64", server="Workers 1")
    assert server.get("/cgi-bin/slow").status == 200
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (server.open_descriptors() + 20,) * 2)
    connections = [server.connect() for _ in range(8)]
    for connection in connections:
        connection.send(http.request("/cgi-bin/slow"))
    statuses = [connection.response().status for connection in connections]
    assert set(statuses) == {200, 503}
    for connection in connections:
        connection.close()
    assert eventually(lambda: server.get("/cgi-bin/slow").status == 200)


def test_spawner_out_of_descriptors(start):
    """What it cannot start it says; what runs goes on."""
    server = start_site(start, {"slow": HEAD + "sleep 1\necho slow\n"}, "MaxProcesses 64", server="Workers 1")
    palm = spawner(server)
    resource.prlimit(palm, resource.RLIMIT_NOFILE, (14, resource.prlimit(palm, resource.RLIMIT_NOFILE)[1]))
    connections = [server.connect() for _ in range(20)]
    for number, connection in enumerate(connections):
        connection.send(http.request("/cgi-bin/slow"))
        time.sleep(0.3 if number == 0 else 0)
    first, *others = [connection.response().status for connection in connections]
    assert first == 200
    assert set(others) <= {200, 502, 503}
    assert spawner(server) == palm
    assert server.get("/cgi-bin/slow").text == "slow\n"


def test_spawner_has_descriptors_for_all_its_scripts(start):
    """Whatever the server was started with; a script has that, where MaxFiles does not say more."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, limit[1]))
        server = start_site(start, {"files": HEAD + "ulimit -n\n"}, "MaxFiles 0", server="FDLimit 200")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
    # It raises its limit itself, a moment after it was started.
    assert eventually(lambda: resource.prlimit(spawner(server), resource.RLIMIT_NOFILE)[0] == min(limit[1], 8256))
    assert int(server.get("/cgi-bin/files").text) <= 256


def test_sleep_of_the_server_is_not_the_scripts_fault(start):
    """A machine that is too busy to run the server: what the script has given meanwhile counts."""
    server = start_site(start, {"drip": HEAD + "for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.4; done\n"}, "Timeout 1")
    with server.connect() as connection:
        connection.send(http.request("/cgi-bin/drip"))
        time.sleep(0.5)
        os.kill(server.pid, signal.SIGSTOP)
        time.sleep(1.5)
        os.kill(server.pid, signal.SIGCONT)
        assert len(connection.response().text.split()) == 9


def test_reloads_while_many_run(start):
    server = start_site(start, {"slow": HEAD + "sleep 0.3\necho slow\n"}, "MaxProcesses 16", server="Workers 2")
    for _ in range(5):
        connections = [server.connect() for _ in range(40)]
        for connection in connections:
            connection.send(http.request("/cgi-bin/slow"))
        server.reload(expect="configuration reloaded")
        for number, connection in enumerate(connections):
            if number % 3 == 0:
                connection.reset()
            else:
                assert connection.response().text == "slow\n"
                connection.close()
    assert have_ended(server)


@pytest.mark.parametrize("grace", ["0", "5"])
def test_a_stop_while_many_run(start, grace):
    server = start_site(start, {"slow": HEAD + "sleep 1\necho slow\n"}, "MaxProcesses 10",
                        server=f"Workers 2\nGracefulTimeout {grace}")
    palm = spawner(server)
    connections = [server.connect() for _ in range(30)]
    for connection in connections:
        connection.send(http.request("/cgi-bin/slow", headers={"Connection": "close"}))
    time.sleep(0.3)
    server.stop()
    assert eventually(lambda: is_gone(palm))


def test_killed_spawner_while_many_run(start):
    """Everybody gets an answer or sees it break off, and places are not lost."""
    server = start_site(start, {"slow": HEAD + "sleep 0.2\necho slow\n"}, "MaxProcesses 4", server="Workers 2")
    connections = [server.connect(timeout=30) for _ in range(40)]
    for connection in connections:
        connection.send(http.request("/cgi-bin/slow", headers={"Connection": "close"}))
    time.sleep(0.5)
    os.kill(spawner(server), signal.SIGKILL)
    answers = [connection.rest_until_cut() for connection in connections]
    assert all(answers)
    whole = [answer for answer in answers if answer.startswith(b"HTTP/1.1 200") and not http.is_cut_off(answer)]
    assert len(whole) >= 30
    assert server.get("/cgi-bin/slow").text == "slow\n"


def test_plugin_without_scripts_starts_nothing(start):
    server = start(files={"a.txt": "a"}, extra=load())
    assert server.get("/a.txt").text == "a"
    assert spawners(server) == []
