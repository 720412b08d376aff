# SPDX-License-Identifier: Apache-2.0
"""Requests behind which a tunnel begins: their line comes at its end, with the bytes of both directions."""

import json
import os
import signal
import time

import pytest

from harness import executable, plugins
from harness.client import eventually
from harness.config import section
from harness.h2_front import protocol  # noqa: F401
from harness.http2 import CANCEL
from harness.logs import lines_of, wait_for_lines
from test_proxy_h2_tunnels import ECHO, Door

FORMAT = "Format json status method path bytes bytes_received duration_ms whole"
FILES = {"a.txt": "a"}


def tunnelling(settings=FORMAT, log="access.log", **config):
    """What start() takes for a site with a log, and with an echo behind an upgrade."""
    if not executable.plugin("http2"):
        pytest.skip("this build has no such plugin")
    names = ["logger", executable.plugin("http2"), plugins.path("tunnel")]
    return {"server": "Listen 127.0.0.1:0 h2\nWorkers 1", "files": FILES, "site": section("LOGGER", f"AccessLog {log}"),
            "handlers": "Match ^/tunnel tunnel\nMatch ^/closed tunnel 2", **config,
            "extra": {"plugins.load": section("PLUGINS", "\n".join(f"Load {name}" for name in names)),
                      "plugins/logger/logger.conf": section("LOGGER", f"FlushTimeout 0\n{settings}")}}


def echo(connection, data):
    connection.send(data)
    assert connection.stream.exactly(len(data)) == data


def entry_of(path):
    return json.loads(wait_for_lines(path, 1)[0])


def test_the_bytes_of_both_directions(start, protocol):  # noqa: F811
    """Those behind the request's head are among them (RFC 9110 section 7.8)."""
    server = start(**tunnelling())
    with Door(server, protocol).upgrade(behind=b"early") as c:
        assert c.stream.exactly(5) == b"early"
        echo(c, b"x" * 100_000)
        time.sleep(0.1)
        assert lines_of(server.conf / "access.log") == []
        c.finish_sending()
        assert c.rest() == b""
    entry = entry_of(server.conf / "access.log")
    assert 100 <= entry.pop("duration_ms") < 60_000
    assert entry == {"status": 101, "method": "GET", "path": "/tunnel", "bytes": 100_005, "bytes_received": 100_005, "whole": True}


def test_a_client_that_breaks_off(start, protocol):  # noqa: F811
    server = start(**tunnelling())
    c = Door(server, protocol).upgrade()
    echo(c, b"abc")
    if protocol == "h2":
        c.sock.reset_joined(CANCEL)  # RFC 9113 section 6.4
    else:
        c.reset()
    entry = entry_of(server.conf / "access.log")
    assert (entry["bytes"], entry["bytes_received"], entry["whole"]) == (3, 3, False)


def test_other_requests_do_not_wait_for_it(start, protocol):  # noqa: F811
    server = start(**tunnelling("Format '%s %U %B'"))
    with Door(server, protocol).upgrade() as c:
        assert server.get("/a.txt").status == 200
        assert server.get("/closed", ECHO).status == 502  # no tunnel, though one was asked for
        lines = wait_for_lines(server.conf / "access.log", 2)
        assert [line.rsplit(" ", 1)[0] for line in lines] == ["200 /a.txt", "502 /closed"]
        c.finish_sending()
        assert c.rest() == b""
    assert wait_for_lines(server.conf / "access.log", 3)[2] == "101 /tunnel 0"


def test_combined_has_its_bytes(start):
    server = start(**tunnelling("Format combined"))
    with Door(server, "h1").upgrade() as c:
        echo(c, b"hello")
    assert '"GET /tunnel HTTP/1.1" 101 5 "-" "-"' in wait_for_lines(server.conf / "access.log", 1)[0]


def test_a_reload_does_not_change_its_line(start, protocol, tmp_path):  # noqa: F811
    """Neither its format nor its file."""
    server = start(**tunnelling("Format 'before %U %B'", log=f"{tmp_path}/access.log"))
    with Door(server, protocol).upgrade() as c:
        echo(c, b"abc")
        server.reload(**tunnelling("Format 'after %U %B'", log=f"{tmp_path}/other.log"))
        server.get("/a.txt")
        assert wait_for_lines(tmp_path / "other.log", 1) == ["after /a.txt 1"]
        echo(c, b"def")
        c.finish_sending()
        assert c.rest() == b""
    assert wait_for_lines(tmp_path / "access.log", 1) == ["before /tunnel 6"]
    assert lines_of(tmp_path / "other.log") == ["after /a.txt 1"]


def test_a_reload_to_no_log_keeps_its_line(start, tmp_path):
    server = start(**tunnelling("Format '%U %B'", log=f"{tmp_path}/access.log"))
    with Door(server, "h1").upgrade() as c:
        for _ in range(3):
            server.reload(**tunnelling("Format '%U %B'", site=""))
        echo(c, b"abc")
    assert wait_for_lines(tmp_path / "access.log", 1) == ["/tunnel 3"]


def test_its_line_goes_to_the_file_that_was_opened_again(start):
    server = start(**tunnelling("Format '%U %B'"))
    log = server.conf / "access.log"
    with Door(server, "h1").upgrade() as c:
        echo(c, b"abc")
        os.rename(log, server.conf / "old.log")
        server.signal(signal.SIGUSR1)
        assert eventually(lambda: server.get("/a.txt").status == 200 and log.exists() and lines_of(log))
    assert eventually(lambda: "/tunnel 3" in lines_of(log))
    assert "/tunnel 3" not in lines_of(server.conf / "old.log")


def test_the_end_of_the_server_ends_it(start, protocol):  # noqa: F811
    server = start(**tunnelling("Format '%U %B'"))
    with Door(server, protocol).upgrade() as c:
        echo(c, b"abc")
        server.signal(signal.SIGTERM)
        assert server.expect_exit() == 0
    assert lines_of(server.conf / "access.log") == ["/tunnel 3"]


def test_conditions_are_asked_when_it_begins(start):
    """With the time until the answer: a tunnel that stays is not a slow request."""
    server = start(**tunnelling("Format '%U %s'\nLogIf time>=10s\nLogIf status=101 path=/tunnel/logged"))
    for target in ("/tunnel/logged", "/tunnel/other"):
        with Door(server, "h1").upgrade(target) as c:
            c.finish_sending()
            assert c.rest() == b""
    server.stop()
    assert lines_of(server.conf / "access.log") == ["/tunnel/logged 101"]


def test_a_long_line_is_cut_where_others_are(start):
    server = start(**tunnelling("Format '" + "%{X-Long}i" * 5 + " %B'"))
    with Door(server, "h1").upgrade(headers={**ECHO, "X-Long": "x" * 1000}) as c:
        echo(c, b"abc")
    line = wait_for_lines(server.conf / "access.log", 1)[0]
    assert line.startswith("x" * 3000) and line.endswith("...") and len(line) < 4096


def test_many_at_once(start):
    server = start(**tunnelling("Format '%q %B %X'"))
    door = Door(server, "h1")
    connections = [door.upgrade(f"/tunnel?{number}") for number in range(100)]
    for number, c in enumerate(connections):
        echo(c, b"x" * number)
    for number, c in enumerate(connections):
        if number % 2:
            c.reset()
        else:
            c.finish_sending()
            assert c.rest() == b""
    lines = sorted(wait_for_lines(server.conf / "access.log", 100), key=lambda line: int(line.split()[1]))
    assert lines == [f"?{number} {number} {'X' if number % 2 else '-'}" for number in range(100)]
