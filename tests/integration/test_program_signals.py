# SPDX-License-Identifier: Apache-2.0
"""TERM, INT and QUIT end, HUP reloads, USR1 reopens logs; with a keeper as without."""

import os
import re
import signal
import time

import pytest

from harness import http
from harness.client import Connection, eventually
from harness.program import needs_root, open_folder, serving_pid, start_open  # noqa: F401

USERS = ["", pytest.param("User nobody", marks=needs_root)]
ENDING = [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT]


@pytest.fixture(params=USERS)
def begin(request, start_open):  # noqa: F811
    def begin(server="GracefulTimeout 600", **kwargs):
        return start_open(server=f"{request.param}\nBodyTimeout 600\n{server}", handlers="Match ^/echo echo", **kwargs)

    return begin


def half_a_request(server):
    connection = server.connect()
    connection.send(http.request("/echo", "POST", headers={"Content-Length": "10", "Expect": "100-continue"}))
    assert connection.stream.line() + connection.stream.line() == b"HTTP/1.1 100 Continue"
    connection.send(b"hello")
    return connection


def refuses_connections(server):
    try:
        Connection(("127.0.0.1", server.port)).close()
    except (ConnectionRefusedError, ConnectionResetError):  # reset: the socket closed behind our handshake
        return True
    return False


@pytest.mark.parametrize("number", ENDING)
def test_idle_server_ends_at_once(begin, number):
    server = begin()
    with server.connect() as idle:
        idle.request("/")
        server.signal(number)
        assert idle.is_closed()
    assert server.process.wait(30) == 0


@pytest.mark.parametrize("number", ENDING)
def test_request_in_flight_is_finished(begin, number):
    server = begin()
    with half_a_request(server) as connection:
        server.signal(number)
        assert eventually(lambda: refuses_connections(server))
        connection.send(b"world")
        assert connection.response("POST").body.endswith(b"helloworld")
    assert server.process.wait(30) == 0


@pytest.mark.parametrize("number", ENDING)
def test_second_signal_ends_at_once(begin, number):
    server = begin()
    with half_a_request(server):
        server.signal(number)
        assert eventually(lambda: refuses_connections(server))
        assert server.is_running()
        server.signal(signal.SIGTERM)
        assert server.process.wait(30) == 0


def test_patience_has_an_end(begin):
    server = begin("GracefulTimeout 1")
    with half_a_request(server):
        began = time.monotonic()
        server.signal(signal.SIGTERM)
        assert server.process.wait(30) == 0
        assert time.monotonic() - began > 0.8


def test_patience_is_that_of_the_last_reload(begin):
    server = begin("GracefulTimeout 600")
    text = (server.conf / "monkey.conf").read_text()
    (server.conf / "monkey.conf").write_text(text.replace("GracefulTimeout 600", "GracefulTimeout 1"))
    server.reload()
    with half_a_request(server):
        server.signal(signal.SIGTERM)
        assert server.process.wait(30) == 0


@needs_root
def test_signal_to_the_whole_group_is_one(start_open):  # noqa: F811
    """^C, or a service manager that tells every process: the keeper hands on what the server has already."""
    server = start_open(server="User nobody", handlers="Match ^/echo echo")
    serving = serving_pid(server.pid)
    with half_a_request(server) as connection:
        for _ in range(3):
            os.kill(serving, signal.SIGINT)
        server.signal(signal.SIGINT)
        os.kill(serving, signal.SIGINT)
        assert eventually(lambda: refuses_connections(server))
        connection.send(b"world")
        assert connection.response("POST").body.endswith(b"helloworld")
    assert server.process.wait(30) == 0


def test_reload_while_ending_is_ignored(begin):
    server = begin()
    with half_a_request(server) as connection:
        server.signal(signal.SIGTERM)
        assert eventually(lambda: refuses_connections(server))
        server.signal(signal.SIGHUP)
        connection.send(b"world")
        assert connection.response("POST").body.endswith(b"helloworld")
    assert server.process.wait(30) == 0
    assert "reload" not in server.log()


def test_broken_reload_tells_all_faults_and_goes_on(begin):
    server = begin(files={"a.txt": "text"})
    text = (server.conf / "monkey.conf").read_text()
    (server.conf / "monkey.conf").write_text(text + "    Tiemout 5\n    Workers many\n")
    told = server.reload()
    assert "Tiemout" in told and "Workers is set twice" in told and "stays in force" in told
    assert server.get("/a.txt").text == "text"
    (server.conf / "monkey.conf").write_text(text)
    server.reload(expect="configuration reloaded")


def test_broken_reload_is_in_the_error_log_with_all_faults(begin, open_folder):  # noqa: F811
    server, log = begin(), open_folder / "error.log"
    open_folder.chmod(0o777)
    text = (server.conf / "monkey.conf").read_text().replace("ErrorLog stderr", f"ErrorLog {log}")
    for more in ("", "    Tiemout 5\n    MaxHeaders many\n"):
        (server.conf / "monkey.conf").write_text(text + more)
        server.signal(signal.SIGHUP)
        assert eventually(lambda: log.exists() and ("stays in force" if more else "configuration reloaded") in log.read_text())
    first = text.count("\n") + 1
    lines = [line.split(" ", 1)[1] for line in log.read_text().splitlines() if "level=error" in line]
    assert [re.sub(r"in=conf \S*/", "in=conf ", line.removeprefix("level=error ")) for line in lines] == [
        f'in=conf monkey.conf:{first}:5: error: unknown key "Tiemout" in [SERVER]; did you mean "Timeout"?',
        f'in=conf monkey.conf:{first + 1}:16: error: MaxHeaders: expected a whole number from 1 to 10000, got "many"',
        "in=server reload failed: the configuration has errors; the old configuration stays in force"]
    assert "stays in force" in server.log()  # who started it from a terminal sees it too


def test_warnings_of_a_reload_are_in_the_error_log(begin):
    server = begin()
    (server.conf / "plugins/mandril").mkdir(parents=True)
    (server.conf / "plugins/mandril/mandril.conf").write_text("[RULES]\n    IP 127.0.0.2\n")
    assert "[RULES] has no effect" in server.reload(expect="configuration reloaded")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_the_end_is_in_the_error_log_with_its_reason(begin, number):
    server = begin(server="GracefulTimeout 7")
    server.signal(number)
    assert server.process.wait(30) == 0
    has_keeper = "User nobody" in (server.conf / "monkey.conf").read_text()  # who says TERM, whatever it was sent
    name = "TERM" if has_keeper else number.name.removeprefix("SIG")
    assert re.search(rf'in=server stopping reason="signal {name} from process \d+" grace_ms=7000\n.* in=server stopped\n',
                     server.log()), server.log()


def test_logs_are_reopened_by_name(begin, open_folder):  # noqa: F811
    folder = open_folder / "logs"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    log, old = folder / "a.log", folder / "old.log"
    server = begin(f"ErrorLog {log}", wait=False)
    assert eventually(lambda: log.exists() and "listening" in log.read_text())
    log.rename(old)
    server.signal(signal.SIGUSR1)
    assert eventually(lambda: log.exists() and "reopened" in log.read_text())
    size = old.stat().st_size
    server.signal(signal.SIGUSR1)
    assert eventually(lambda: log.read_text().count("reopened") == 2)
    assert old.stat().st_size == size


def test_log_without_its_directory_keeps_the_old_one(begin, open_folder):  # noqa: F811
    folder = open_folder / "logs"
    folder.mkdir()
    folder.chmod(0o777)
    log = folder / "a.log"
    server = begin(f"ErrorLog {log}", files={"a.txt": "text"}, wait=False)
    assert eventually(lambda: log.exists() and "started" in log.read_text())
    folder.rename(open_folder / "moved")
    server.signal(signal.SIGUSR1)
    assert eventually(lambda: "cannot open" in (open_folder / "moved" / "a.log").read_text())
    assert server.is_running()


def test_broken_pipes_are_no_reason_to_end(begin):
    server = begin()
    server.signal(signal.SIGPIPE)
    time.sleep(0.1)
    assert server.is_running()


def test_signal_during_the_start_is_heeded(begin):
    server = begin(wait=False)
    eventually(lambda: "the server" in server.log() or server.addresses, within=5, every=0.001)
    server.signal(signal.SIGTERM)
    assert server.process.wait(30) in (0, -signal.SIGTERM)
    if server.process.returncode != 0:
        server.expect_exit()
