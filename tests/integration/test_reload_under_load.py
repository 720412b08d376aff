# SPDX-License-Identifier: Apache-2.0
"""A hundred reloads while clients come and go and others wait in the backlog: nobody is refused or reset."""

import pytest

from harness import http
from harness.client import free_port
from harness.clients import Clients
from harness.variants import SCHEDULERS

RELOADS = 100

pytestmark = pytest.mark.slow


def ask(connection):
    response = connection.request("/a.txt")
    assert response.text == "text"
    return response


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("keep_alive", [False, True], ids=["connection_each", "keep_alive"])
def test_reload_a_hundred_times_under_load(start, scheduler, keep_alive):
    lines = f"Scheduler {scheduler}"
    server = start(server=lines, files={"a.txt": "text"})
    with Clients(("127.0.0.1", server.port), [ask] * 8, a_connection=20 if keep_alive else 1) as clients:
        for number in range(RELOADS):
            server.reload(server=lines, host=f"Header X-Version {number}")
    assert clients.faults == []
    assert clients.answers > RELOADS
    assert server.get("/a.txt").header("X-Version") == str(RELOADS - 1)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_listening_elsewhere_on_the_port_under_load(start, scheduler):
    """To every address and back again: whose handshake began at one socket is served by it."""
    port = free_port()
    lines = [f"Scheduler {scheduler}\nListen {port}", f"Scheduler {scheduler}\nListen 127.0.0.1:{port}"]
    server = start(server=lines[0], files={"a.txt": "text"})
    with Clients(("127.0.0.1", port), [ask] * 8) as clients:
        for number in range(RELOADS):
            assert "reloaded" in server.reload(server=lines[(number + 1) % 2])
    assert clients.faults == []
    assert clients.answers > RELOADS


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_connections_waiting_in_the_backlog_are_served(start, scheduler):
    """They wait because MaxConnections is reached, until idle connections make room for them; reloads come in between."""
    lines = f"Scheduler {scheduler}\nMaxConnections 4\nOverCapacity Resist\nKeepAliveTimeout 120\nTimeout 120"
    server = start(server=lines, files={"a.txt": "text"})
    held = [server.connect() for _ in range(4)]
    for connection in held:
        assert connection.request("/a.txt").status == 200
    waiting = [server.connect(timeout=60) for _ in range(30)]
    for connection in waiting:
        connection.send(http.request("/a.txt", headers={"Connection": "close"}))
    for number in range(RELOADS):
        server.reload(server=lines, host=f"Header X-Version {number}")
    for connection in held:
        connection.close()
    assert [http.parse_one(connection.rest()).text for connection in waiting] == ["text"] * 30


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_clients_of_a_removed_address_are_served_before_it_goes(start, scheduler):
    """Who had asked when the reload came is answered; only later ones are refused."""
    for _ in range(20):
        port = free_port()
        server = start(server=f"Scheduler {scheduler}\nListen 127.0.0.1:0\nListen 127.0.0.1:{port}", files={"a.txt": "text"})
        waiting = [server.connect(("127.0.0.1", port)) for _ in range(50)]
        for connection in waiting:
            connection.send(http.request("/a.txt"))
        server.reload(server=f"Scheduler {scheduler}\nListen 127.0.0.1:0")
        for connection in waiting:
            assert connection.response().text == "text"
        server.stop()
