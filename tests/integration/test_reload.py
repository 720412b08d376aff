# SPDX-License-Identifier: Apache-2.0
"""HUP: another configuration, without refusing or cutting one connection."""

import os
import signal
import time

import pytest

from harness import http
from harness.client import Connection, eventually, free_port
from harness.plugins import load
from harness.variants import SCHEDULERS


@pytest.fixture(params=SCHEDULERS)
def scheduler(request):
    return f"Scheduler {request.param}\n"


def test_change_is_seen(start, scheduler):
    server = start(server=scheduler, host="Header X-Version 1", files={"a.txt": "text"})
    assert server.get("/a.txt").header("X-Version") == "1"
    server.reload(server=scheduler, host="Header X-Version 2")
    assert server.get("/a.txt").header("X-Version") == "2"


BLOCKS = 100


def test_late_worker_gets_no_connection_of_a_new_address(start):
    """Before it has the new configuration it knows nothing of what carries the bytes there."""
    port = free_port()
    lines = "Scheduler Fair\nWorkers 2\nListen 127.0.0.1:0"
    config = {"handlers": "Match ^/block events block", "files": {"a.txt": "text"}, "extra": {"plugins.load": load("events")}}
    server = start(server=lines, **config)
    server.wait_for_log("started workers=")
    busy = [server.connect(), server.connect()]  # one for each worker
    for connection in busy:
        connection.send(http.request("/block") * BLOCKS)  # 10 ms each, and as many in a turn as there may be
    server.config.write(server=f"{lines}\nListen 127.0.0.1:{port}", **config)
    server.signal(signal.SIGHUP)
    early = eventually(lambda: connection_to(port), every=0.001)
    assert early.request("/a.txt").text == "text"
    early.close()
    for connection in busy:
        assert [connection.response().status for _ in range(BLOCKS)] == [200] * BLOCKS


def connection_to(port):
    try:
        return Connection(("127.0.0.1", port))
    except ConnectionRefusedError:
        return None


def test_port_is_kept(start, scheduler):
    """Even one that the kernel chose."""
    server = start(server=scheduler, files={"a.txt": "text"})
    port = server.port
    for number in range(3):
        server.reload(server=scheduler, host=f"Header X-Version {number}")
    assert server.get("/a.txt").header("X-Version") == "2"
    assert server.port == port


def test_ports_that_the_system_chose_are_not_exchanged(start, scheduler):
    both = scheduler + "TrustedProxies 127.0.0.1\nListen 127.0.0.1:0\nListen 127.0.0.1:0 proxy"
    server = start(server=both, files={"a.txt": "text"})
    host, _, port = server.addresses[1].rpartition(":")
    for _ in range(3):
        assert server.get("/a.txt").text == "text"
        with server.connect((host, int(port))) as connection:
            connection.send(b"PROXY UNKNOWN\r\n")
            assert connection.request("/a.txt").text == "text"
        server.reload(server=both, files={"a.txt": "text"})


def test_idle_connection_is_kept_and_takes_the_new_configuration(start, scheduler):
    server = start(server=scheduler + "KeepAliveTimeout 60", host="Header X-Version 1", files={"a.txt": "text"})
    with server.connect() as connection:
        assert connection.request("/a.txt").header("X-Version") == "1"
        server.reload(server=scheduler + "KeepAliveTimeout 60", host="Header X-Version 2")
        assert connection.request("/a.txt").header("X-Version") == "2"


def test_request_in_flight_keeps_what_it_began_with(start, scheduler):
    server = start(server=scheduler, host="Header X-Version 1", files={"large.bin": b"1" * 20_000_000})
    with server.connect(receive_buffer=4096) as connection:
        connection.send(http.request("/large.bin"))
        head = http.read_head(connection.stream)
        server.reload(server=scheduler, host="Header X-Version 2")
        assert head.header("X-Version") == "1"
        assert connection.stream.exactly(20_000_000) == b"1" * 20_000_000
        assert connection.request("/missing").header("X-Version") == "2"


def test_half_a_request_survives(start, scheduler):
    server = start(server=scheduler, files={"a.txt": "text"})
    with server.connect() as connection:
        connection.send(b"GET /a.txt HTTP/1.1\r\nHo")
        time.sleep(0.05)
        server.reload(server=scheduler)
        connection.send(b"st: localhost\r\n\r\n")
        assert connection.response().text == "text"


def test_body_of_a_request_survives(start, scheduler):
    server = start(server=scheduler, handlers="Match ^/echo echo")
    with server.connect() as connection:
        connection.send(http.request("/echo", "POST", headers={"Content-Length": "10"}) + b"hello")
        time.sleep(0.05)
        server.reload(server=scheduler)
        connection.send(b"world")
        assert connection.response("POST").body.endswith(b"\r\n\r\nhelloworld")


@pytest.mark.parametrize("broken, hint", [
    ({"server": "Tiemout 5"}, "Timeout"),
    ({"server": "Timeout never"}, "Timeout"),
    ({"host": "DocumentRoot /nowhere/at/all"}, "/nowhere/at/all"),
    ({"handlers": "Match ( echo"}, "Match"),
    ({"sites": {"b": "[HOST]\n    Oops 1\n"}}, "Oops"),
    ({"extra": {"monkey.conf": "[SERVER\n"}}, "monkey.conf"),
])
def test_broken_configuration_keeps_the_old_one_and_says_why(start, broken, hint):
    server = start(host="Header X-Version 1", files={"a.txt": "text"})
    told = server.reload(**broken)
    assert hint in told
    assert server.get("/a.txt").header("X-Version") == "1"
    server.reload(host="Header X-Version 2")
    assert server.get("/a.txt").header("X-Version") == "2"


def test_missing_configuration_keeps_the_old_one(start):
    server = start(files={"a.txt": "text"})
    os.rename(server.conf, server.folder / "away")
    server.reload()
    assert server.get("/a.txt").text == "text"


def test_listen_address_is_added(start, scheduler):
    server = start(server=scheduler, files={"a.txt": "text"})
    port = free_port()
    server.reload(server=scheduler + f"Listen 127.0.0.1:0\nListen 127.0.0.1:{port}")
    for number in (server.port, port):
        with server.connect(("127.0.0.1", number)) as connection:
            assert connection.request("/a.txt").text == "text"


def test_listen_address_is_removed(start, scheduler):
    port = free_port()
    server = start(server=scheduler + f"Listen 127.0.0.1:0\nListen 127.0.0.1:{port}", files={"a.txt": "text"})
    with server.connect(("127.0.0.1", port)) as held:
        assert held.request("/a.txt").text == "text"
        server.reload(server=scheduler)

        def is_refused():
            try:
                Connection(("127.0.0.1", port)).close()
            except ConnectionRefusedError:
                return True

        assert eventually(is_refused)
        assert held.request("/a.txt").text == "text"
        assert server.get("/a.txt").text == "text"


def test_listen_address_comes_back(start, scheduler):
    port = free_port()
    both = scheduler + f"Listen 127.0.0.1:0\nListen 127.0.0.1:{port}"
    server = start(server=both, files={"a.txt": "text"})
    for _ in range(3):
        server.reload(server=scheduler)
        server.reload(server=both)

        def answers():
            try:
                with Connection(("127.0.0.1", port)) as connection:
                    return connection.request("/a.txt").text == "text"
            except (OSError, AssertionError):
                return False

        assert eventually(answers)


def is_served(port, host="127.0.0.1"):
    with Connection((host, port)) as connection:
        return connection.request("/a.txt").text == "text"


def listening_sockets(port):
    """The local addresses, in the kernel's words, of TCP sockets that listen on this port."""
    rows = [line.split() for name in ("tcp", "tcp6") for line in open(f"/proc/net/{name}", encoding="ascii").readlines()[1:]]
    return [row[1].rpartition(":")[0] for row in rows if row[3] == "0A" and row[1].endswith(f":{port:04X}")]


@pytest.mark.parametrize("workers", [1, 2])
def test_listen_address_widens_and_narrows(start, scheduler, workers):
    """The kernel holds one against the other; it is our own socket that is in the way."""
    port = free_port()
    lines = f"{scheduler}Workers {workers}\n"
    narrow, wide = lines + f"Listen 127.0.0.1:{port}", lines + f"Listen {port}"
    server = start(server=narrow, files={"a.txt": "text"})
    for _ in range(2):
        assert "reloaded" in server.reload(server=wide)
        assert is_served(port) and is_served(port, "127.0.0.2") and is_served(port, "::1")
        assert "reloaded" in server.reload(server=narrow)
        assert is_served(port)
    assert eventually(lambda: set(listening_sockets(port)) == {"0100007F"})
    with pytest.raises(ConnectionRefusedError):
        Connection(("127.0.0.2", port))
    assert is_served(port)


@pytest.mark.parametrize("first, then", [("127.0.0.1:{}", "{}"), ("{}", "127.0.0.1:{}"), ("0.0.0.0:{}", "{}")])
def test_client_whose_handshake_began_at_the_socket_before_is_served(start, scheduler, first, then):
    """It has said nothing yet, so the kernel has not handed it over: it belongs to the socket, and ends with it."""
    port = free_port()
    server = start(server=scheduler + f"Listen {first.format(port)}", files={"a.txt": "text"})
    with Connection(("127.0.0.1", port)) as connection:
        assert "reloaded" in server.reload(server=scheduler + f"Listen {then.format(port)}")
        assert connection.request("/a.txt").text == "text"


def test_listen_address_moves_about_in_what_another_covers(start, scheduler):
    port = free_port()
    forms = [f"{port}", f"0.0.0.0:{port}", f"[::1]:{port}", f"[::]:{port}", f"127.0.0.2:{port}", f"127.0.0.1:{port}"]
    server = start(server=scheduler + f"Listen 127.0.0.1:0\nListen {forms[-1]}", files={"a.txt": "text"})
    for form in forms:
        assert "reloaded" in server.reload(server=scheduler + f"Listen 127.0.0.1:0\nListen {form}")
    assert is_served(port)


def test_no_socket_is_lost_by_widening_and_narrowing(start, scheduler):
    port = free_port()
    narrow, wide = scheduler + f"Listen 127.0.0.1:{port}", scheduler + f"Listen {port}"
    server = start(server=narrow, files={"a.txt": "text"})
    before = server.open_descriptors()
    for _ in range(10):
        server.reload(server=wide)
        server.reload(server=narrow)
    assert eventually(lambda: server.open_descriptors() <= before + 4)
    assert listening_sockets(port).count("0100007F") == len(listening_sockets(port))


def test_narrower_and_wider_address_side_by_side(start, scheduler):
    port = free_port()
    server = start(server=scheduler + f"Listen {port}\nListen 127.0.0.1:{port}", files={"a.txt": "text"})
    assert is_served(port) and is_served(port, "::1")
    assert len(server.addresses) == 2


@pytest.mark.parametrize("address", ["{port}", "0.0.0.0:{port}"])
def test_wider_address_of_another_process_is_told(start, address):
    other, server = start(), start(host="Header X-Version 1", files={"a.txt": "text"})
    told = server.reload(server="Listen 127.0.0.1:0\nListen " + address.format(port=other.port))
    assert "another process listens there" in told
    assert server.get("/a.txt").header("X-Version") == "1"


def test_address_in_use_keeps_the_old_configuration(start):
    other, server = start(), start(host="Header X-Version 1", files={"a.txt": "text"})
    told = server.reload(server=f"Listen 127.0.0.1:0\nListen 127.0.0.1:{other.port}", host="Header X-Version 2")
    assert str(other.port) in told
    assert server.get("/a.txt").header("X-Version") == "1"


@pytest.mark.parametrize("lines, word", [
    ("Scheduler ReusePort\nWorkers 3", "Workers"),
    ("Scheduler Fair\nWorkers 2", "Scheduler"),
    ("Scheduler ReusePort\nWorkers 2\nUser nobody", "User"),
])
def test_what_needs_a_restart_is_said(start, lines, word):
    server = start(server="Scheduler ReusePort\nWorkers 2", files={"a.txt": "text"})
    told = server.reload(server=lines)
    assert word in told
    assert "restart" in told
    assert server.get("/a.txt").text == "text"


def test_sites_come_and_go(start, tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "a.txt").write_text("b")
    site = {"b": f"[HOST]\n    ServerName b.org\n    DocumentRoot {tmp_path}/b\n"}
    server = start(files={"a.txt": "default"})
    for _ in range(3):
        assert server.get("/a.txt", host="b.org").text == "default"
        server.reload(sites=site)
        assert server.get("/a.txt", host="b.org").text == "b"
        server.reload(sites={})


def test_limits_and_timeouts_change(start):
    server = start(server="KeepAliveTimeout 60", files={"a.txt": "text"})
    server.reload(server="KeepAliveTimeout 300ms\nMaxHeaders 3")
    with server.connect() as connection:
        assert connection.request("/a.txt").status == 200
        assert connection.is_closed()
    assert server.get("/a.txt", {"A": "1", "B": "2"}).status == 431


def test_descriptors_and_memory_do_not_grow(start, scheduler):
    server = start(server=scheduler, host="Header X-Version 0", files={"a.txt": "text"})
    server.reload(server=scheduler)
    before = server.open_descriptors()
    for number in range(20):
        server.reload(server=scheduler, host=f"Header X-Version {number}")
        assert server.get("/a.txt").header("X-Version") == str(number)
    assert eventually(lambda: server.open_descriptors() <= before + 4)


def test_hup_in_quick_succession(start):
    server = start(files={"a.txt": "text"})
    for _ in range(50):
        server.signal(1)
    assert server.get("/a.txt").text == "text"
    server.reload(host="Header X-Version last")
    assert eventually(lambda: server.get("/a.txt").header("X-Version") == "last")
