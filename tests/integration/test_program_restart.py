# SPDX-License-Identifier: Apache-2.0
"""A server that dies is started again by its keeper, on the same sockets."""

import os
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import threading
import time

import pytest

from harness import cgi, http, plugins, tools
from harness.client import Connection, eventually
from harness.config import section
from harness.executable import binary, is_sanitized, plugin, run
from harness.program import (Daemon, as_nobody, children, is_alive, needs_root, open_folder, serving_pid, start_open,  # noqa: F401
                             status)
from harness.shell import Shell

LONG = 30
CALLS_TO_START = 140  # 93 where this was written
USERS = [pytest.param("Restart on", id="same-user"),
         pytest.param("User nobody", id="nobody", marks=needs_root)]


def dying(at="nowhere"):
    return {"plugins.load": plugins.load("dies"),
            "plugins/dies/dies.conf": section("DIES", f"At {at}")}


@pytest.fixture
def begin(start_open):  # noqa: F811
    """A server that dies for requests, and answers /a.txt."""
    def start(server="Restart on", at="nowhere", handlers="Match ^/(fault|abort|kill|exit|lives)$ dies", **config):
        extra = {**dying(at), **config.pop("extra", {})}
        begun = start_open(server=server, handlers=handlers, extra=extra, files={"a.txt": "text"}, **config)
        if config.get("wait", True) and "Restart off" not in server and server:
            assert eventually(lambda: keeps_sockets(begun.pid), within=LONG)
        return begun
    return start


def sockets_of(pid):
    links = (os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
    return {link[8:-1] for link in links if link.startswith("socket:[")}


def listening(pid):
    """The inodes of the sockets on which a process listens."""
    tcp = [line.split() for name in ("tcp", "tcp6") for line in pathlib.Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]]
    unix = [line.split() for line in pathlib.Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]]
    found = {line[9] for line in tcp if line[3] == "0A"} | {line[6] for line in unix if line[3] == "00010000" and not line[-1].endswith("shell")}
    return sockets_of(pid) & found


def keeps_sockets(pid):
    """Does the keeper have all sockets of the server? Then that one serves."""
    wanted = listening(serving_pid(pid))
    return wanted and wanted <= sockets_of(pid)


def deaths(server):
    return re.findall(r"level=error in=server server died: .*", server.log())


def die(server, target="/fault", count=1):
    """Let it die, and wait until another serves."""
    before = serving_pid(server.pid)
    started = server.log().count("started workers=")
    assert server.raw_until_cut(http.request(target, headers={"Connection": "close"})) == b""
    assert eventually(lambda: server.log().count("started workers=") == started + count, within=LONG), server.log()
    assert serving_pid(server.pid) != before


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("target, cause", [("/fault", f"signal {int(signal.SIGSEGV)}"), ("/abort", f"signal {int(signal.SIGABRT)}"),
                                           ("/kill", f"signal {int(signal.SIGKILL)}"), ("/exit", "exit code 3")])
def test_serves_again_on_the_same_port(begin, user, target, cause):
    server = begin(user)
    die(server, target)
    assert len(set(server.addresses)) == 1 and len(server.addresses) == 2
    assert server.get("/a.txt").text == "text"
    line, = deaths(server)
    if not (is_sanitized() and target == "/fault"):
        assert cause in line
    assert 'next="at once"' in line


@pytest.mark.skipif(is_sanitized(), reason="a sanitizer has handlers of its own")
def test_log_names_plugin_hook_path_and_code(begin):
    server = begin()
    assert server.raw_until_cut(http.request("/fault?secret=x", headers={"Connection": "close"})) == b""
    line = server.wait_for_log(r"server died: .*", within=LONG)[0]
    assert ' plugin=dies hook=on_handle target="/fault" ' in line and "secret" not in line
    if os.uname().machine in ("x86_64", "aarch64"):
        assert re.search(r" code=monkey-dies\.so\+0x[0-9a-f]+ ", line)


def test_shell_and_metrics_count(begin, open_folder):  # noqa: F811
    place = open_folder / "shell"
    server = begin(extra={"plugins.load": plugins.load("dies") + f"    Load {plugin('cheetah')}\n",
                          "plugins/cheetah/cheetah.conf": section("CHEETAH", f"Socket {place}")})
    with Shell(place) as shell:
        status = shell.ask("status")
        assert status["restarts"] == 0 and "restart_reason" not in status
    die(server, "/kill")
    with Shell(place) as shell:
        status = shell.ask("status")
        assert (status["restarts"], status["restart_reason"]) == (1, "signal 9 (Killed)")
        assert {row["name"]: row["value"] for row in shell.ask("metrics")["metrics"]}["monkey_restarts_total"] == 1


@needs_root
def test_script_of_the_same_user_that_kills_the_server(start_open):  # noqa: F811
    """Which the check and the start warn of."""
    script = '#!/bin/sh\nkill -9 "$QUERY_STRING"\nsleep 30\n'
    other = '#!/bin/sh\necho Content-Type: text/plain\necho\necho fine\n'
    server = cgi.start_site(start_open, {"killer": script, "other": other}, server="User nobody")
    assert "scripts run as nobody, the user of the server itself: they can end it" in server.log()
    checked = run("--configdir", server.conf, "--test")
    assert checked.returncode == 0 and "scripts run as nobody" in checked.stdout + checked.stderr
    assert eventually(lambda: keeps_sockets(server.pid), within=LONG)
    serving = serving_pid(server.pid)
    assert server.raw_until_cut(http.request(f"/cgi-bin/killer?{serving}", headers={"Connection": "close"})) == b""
    assert eventually(lambda: server.log().count("started workers=") == 2, within=LONG), server.log()
    assert server.get("/cgi-bin/other").text == "fine\n"


def test_error_log_of_a_path_has_the_line_too(begin, open_folder):  # noqa: F811
    log = open_folder / "error.log"
    server = begin(f"Restart on\nErrorLog {log}", wait=False)
    assert eventually(lambda: log.exists() and "started workers" in log.read_text(), within=LONG)
    os.kill(serving_pid(server.pid), signal.SIGKILL)
    assert eventually(lambda: "server died: signal 9" in log.read_text(), within=LONG)
    assert eventually(lambda: log.read_text().count("started workers") == 2, within=LONG)
    assert "server died" in server.log()


@pytest.mark.parametrize("lines", ["Scheduler ReusePort", "Scheduler Fair"])
def test_no_client_is_refused_meanwhile(begin, lines):
    """Each connection is either answered, or cut because its server died; none is refused."""
    server = begin(f"Restart on\nWorkers 2\n{lines}")
    port, results, over = server.port, [], threading.Event()

    def ask():
        while not over.is_set():
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=LONG) as sock:
                    sock.sendall(http.request("/a.txt", headers={"Connection": "close"}))
                    results.append(b"text" in sock.recv(4096))
            except ConnectionRefusedError:
                results.append(None)
            except OSError:
                results.append(False)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for count in range(1, 3):
        os.kill(serving_pid(server.pid), signal.SIGKILL)
        assert eventually(lambda: server.log().count("started workers=") == count + 1, within=LONG)
    done = len(results)
    assert eventually(lambda: results[done:].count(True) > 50, within=LONG)
    over.set()
    for thread in threads:
        thread.join(LONG)
    assert None not in results


def test_queue_waits_for_the_next_server(begin):
    """Nobody accepts while the second start waits; the client is answered after it."""
    server = begin()
    die(server)
    assert server.raw_until_cut(http.request("/fault", headers={"Connection": "close"})) == b""
    with server.connect(timeout=LONG) as connection:
        assert connection.request("/a.txt").text == "text"
    assert 'next="in 100 ms"' in deaths(server)[1]


def test_unix_socket_stays(begin, open_folder):  # noqa: F811
    path = open_folder / "http.sock"
    server = begin(f"Restart on\nListen 127.0.0.1:0\nListen unix:{path}")
    inode = path.stat().st_ino
    die(server)
    assert path.stat().st_ino == inode
    with server.connect(str(path)) as connection:
        assert connection.request("/a.txt").text == "text"
    server.stop()
    assert not path.exists()


def test_two_addresses_with_ports_of_the_kernel(begin):
    server = begin("Restart on\nListen 127.0.0.1:0\nListen 127.0.0.1:0")
    ports = server.addresses[:2]
    die(server)
    assert server.addresses[2:] == ports and ports[0] != ports[1]


@pytest.mark.parametrize("lines, sockets", [("Scheduler Fair", 1), ("Workers 2\nScheduler ReusePort", 2)])
def test_every_address_in_a_kernel_without_ipv6(begin, lines, sockets):
    """There "every address" is every address of IPv4, for the next server as for the first one."""
    server = begin(f"Restart on\nListen [::]:0\n{lines}", wrapper=[tools.helper("refuse.c"), "EAFNOSUPPORT", "socket_ipv6"])
    assert server.addresses[0].startswith("0.0.0.0:")
    die(server)
    assert server.addresses[1] == server.addresses[0]
    assert len(listening(serving_pid(server.pid))) == sockets
    assert server.get("/a.txt").text == "text"


def test_two_threads_crash_at_once(begin):
    server = begin("Restart on\nWorkers 4")
    connections = [server.connect(timeout=LONG) for _ in range(4)]
    for connection in connections:
        connection.send(http.request("/fault"))
    for connection in connections:
        assert connection.rest_until_cut() == b""
    assert 1 <= len(deaths(server)) <= 4
    with server.connect(timeout=LONG) as connection:
        assert connection.request("/a.txt").text == "text"


def test_begins_with_the_configuration_in_force(begin):
    """What was written meanwhile waits for a reload, faults or not."""
    server = begin()
    server.reload(expect="configuration reloaded", server="Restart on", host="Header X-Version 2", extra=dying(),
                  handlers="Match ^/fault dies", files={"a.txt": "text"})
    server.config.write(server="Tiemout 5", host="Header X-Version 3", extra=dying())
    die(server)
    assert server.get("/a.txt").header("X-Version") == "2"


def test_begins_with_the_old_one_after_a_failed_reload(begin):
    server = begin()
    server.reload(expect="stays in force", server="Restart on\nListen 127.0.0.1:0\nListen 192.0.2.1:80", extra=dying())
    die(server)
    assert server.get("/a.txt").text == "text"


@pytest.mark.parametrize("user", USERS)
def test_crash_during_a_reload(begin, user):
    """The configuration that a server died of is not that of the next one."""
    server = begin(user, host="Header X-Version 1")
    server.config.write(server=user, host="Header X-Version 2", extra=dying("restart"), files={"a.txt": "text"})
    server.signal(signal.SIGHUP)
    assert eventually(lambda: server.log().count("started workers=") == 2, within=LONG), server.log()
    assert server.get("/a.txt").header("X-Version") == "1"
    server.reload(expect="configuration reloaded", server=user, host="Header X-Version 3", extra=dying(),
                  files={"a.txt": "text"})
    assert server.get("/a.txt").header("X-Version") == "3"


def test_reload_while_no_server_is_there(begin):
    """A configuration that lets the server die can be repaired."""
    server = begin()
    for _ in range(2):
        die(server)
    assert server.raw_until_cut(http.request("/fault", headers={"Connection": "close"})) == b""
    server.wait_for_log('next="in 1000 ms"', within=LONG)
    server.config.write(server="Restart on", host="Header X-Version 2", extra=dying(), files={"a.txt": "text"})
    server.signal(signal.SIGHUP)
    with server.connect(timeout=LONG) as connection:
        assert connection.request("/a.txt").header("X-Version") == "2"


@pytest.mark.parametrize("user", USERS)
def test_reload_between_death_and_reaping(begin, user):
    """The signal reaches the keeper while it does not know yet that its server is dead."""
    server = begin(user, host="Header X-Version 1")
    serving = serving_pid(server.pid)
    server.config.write(server=user, host="Header X-Version 2", extra=dying(), files={"a.txt": "text"})
    server.signal(signal.SIGSTOP)
    assert eventually(lambda: status(server.pid)["State"][0] == "T", within=LONG)
    os.kill(serving, signal.SIGKILL)
    assert eventually(lambda: not is_alive(serving), within=LONG)
    server.signal(signal.SIGHUP)
    server.signal(signal.SIGCONT)
    assert eventually(lambda: server.log().count("started workers=") == 2, within=LONG), server.log()
    assert server.get("/a.txt").header("X-Version") == "2"


@needs_root
def test_scripts_of_a_server_that_root_did_not_start_are_warned_of(start_open):  # noqa: F811
    script = '#!/bin/sh\necho Content-Type: text/plain\necho\necho fine\n'
    server = cgi.start_site(start_open, {"script": script}, wrapper=as_nobody())
    said = "scripts run as the user of the server itself: they can end it"
    assert server.log().count(said) == 1
    checked = subprocess.run([*as_nobody(), binary(), "--configdir", server.conf, "--test"], capture_output=True,
                             text=True, check=True, timeout=LONG)
    assert (checked.stdout + checked.stderr).count(said) == 1


@pytest.mark.skipif(is_sanitized(), reason="a sanitizer has handlers of its own")
def test_log_names_what_a_stack_overflow_was_in(begin):
    server = begin(handlers="Match ^/overflow dies")
    assert server.raw_until_cut(http.request("/overflow", headers={"Connection": "close"})) == b""
    line = server.wait_for_log(r"server died: .*", within=LONG)[0]
    assert f"signal {int(signal.SIGSEGV)} " in line and ' plugin=dies hook=on_handle target="/overflow"' in line


@pytest.mark.skipif(is_sanitized(), reason="a sanitizer has handlers of its own")
def test_log_names_where_the_main_thread_overflowed_its_stack(begin):
    server = begin()
    server.config.write(server="Restart on", extra=dying("overflow"), files={"a.txt": "text"})
    server.signal(signal.SIGHUP)
    line = server.wait_for_log(r"server died: .*", within=LONG)[0]
    assert f"signal {int(signal.SIGSEGV)} " in line and re.search(r" code=\S*dies\S*\+0x", line), line


def test_a_start_that_fails_late_ends(start):
    """All workers have slept for more than a second when one of them says that it cannot serve."""
    server = start(wait=False, server="Workers 2", extra=dying("slowly"))
    assert server.expect_exit(within=LONG) != 0
    assert "it took too long" in server.log()


def test_removed_address_is_no_longer_kept(begin):
    server = begin("Restart on\nListen 127.0.0.1:0\nListen 127.0.0.1:0", wait=True)
    second = int(server.addresses[1].rpartition(":")[2])
    server.reload(expect="configuration reloaded", server="Restart on\nListen 127.0.0.1:0", extra=dying())

    def is_refused():
        try:
            socket.create_connection(("127.0.0.1", second), timeout=LONG).close()
            return False
        except ConnectionRefusedError:
            return True

    assert eventually(is_refused, within=LONG)


def test_crash_during_a_graceful_stop_is_the_end(begin):
    server = begin(at="stop")
    server.signal(signal.SIGTERM)
    assert server.expect_exit(LONG) == 128 + (signal.SIGKILL if is_sanitized() else signal.SIGSEGV)
    assert 'next="none: it was stopping"' in server.log()
    assert server.log().count("started workers=") == 1


def test_crash_before_the_server_serves_is_the_end(begin):
    server = begin(at="start", wait=False)
    assert server.expect_exit(LONG) == 128 + (signal.SIGKILL if is_sanitized() else signal.SIGSEGV)
    assert 'next="none: it had not served yet"' in server.log()
    assert "started workers=" not in server.log()


def test_stop_while_the_next_start_waits(begin):
    server = begin()
    for _ in range(2):
        die(server)
    server.raw_until_cut(http.request("/fault", headers={"Connection": "close"}))
    server.wait_for_log('next="in 1000 ms"', within=LONG)
    server.signal(signal.SIGTERM)
    assert server.expect_exit(LONG) == 0
    assert server.log().count("started workers=") == 3


@pytest.mark.parametrize("user", ["Restart off", pytest.param("Restart off\nUser nobody", marks=needs_root)])
def test_off(begin, user):
    server = begin(user)
    server.raw_until_cut(http.request("/kill", headers={"Connection": "close"}))
    code = server.expect_exit(LONG)
    if "nobody" in user:
        assert code == 128 + signal.SIGKILL and 'next="none: Restart is off"' in server.log()
    else:
        assert code == -signal.SIGKILL


def test_foreground_is_one_process(begin):
    server = begin("")
    assert children(server.pid) == []


def test_daemon_restarts(tmp_path):
    with Daemon(tmp_path, files={"a.txt": "text"}) as daemon:
        assert daemon.parent.returncode == 0
        os.kill(serving_pid(daemon.pid), signal.SIGKILL)
        assert eventually(lambda: daemon.log().count("started workers=") == 2, within=LONG)
        with Connection(("127.0.0.1", daemon.port)) as connection:
            assert connection.request("/a.txt").text == "text"
        assert int(daemon.pid_file.read_text()) == daemon.pid
    assert not daemon.pid_file.exists()


@pytest.mark.parametrize("user", USERS)
def test_signals_reach_the_next_server(begin, user, open_folder):  # noqa: F811
    pid_file = open_folder / "run.pid"
    server = begin(f"{user}\nPidFile {pid_file}")
    die(server)
    server.reload(expect="configuration reloaded")
    since = len(server.log())
    server.signal(signal.SIGUSR1)
    server.wait_for_log("logs reopened", since, within=LONG)
    assert int(pid_file.read_text()) == server.pid
    server.stop()
    assert not pid_file.exists()


def test_descriptors_of_keeper_and_server_stay_the_same(begin):
    server = begin()
    die(server)

    def counts():
        return [len(os.listdir(f"/proc/{pid}/fd")) for pid in (server.pid, serving_pid(server.pid))]

    def settled():
        """Once the keeper has closed what only the start of a server takes."""
        last, now = None, counts()
        while now != last:
            time.sleep(0.3)
            last, now = now, counts()
        return now

    before = settled()
    server.reload(expect="configuration reloaded")
    die(server)
    assert eventually(lambda: counts() == before, within=LONG), (before, counts())


def test_port_is_closed_when_a_stop_begins(begin):
    """The keeper's copy of a listening socket must not let clients wait for nobody."""
    server = begin(handlers="Match ^/echo echo")
    port = server.port
    with server.connect() as connection:
        connection.send(http.request("/echo", "POST", headers={"Content-Length": "10"}) + b"hello")
        server.signal(signal.SIGTERM)
        server.wait_for_log("stopping reason", within=LONG)

        def is_refused():
            try:
                socket.create_connection(("127.0.0.1", port), timeout=LONG).close()
                return False
            except ConnectionRefusedError:
                return True

        assert eventually(is_refused, within=LONG)
        connection.send(b"world")
        assert connection.response("POST").body.endswith(b"helloworld")


@pytest.mark.slow
@pytest.mark.limit(150)
def test_more_than_ten_deaths_in_a_minute_are_the_end(begin):
    server = begin()
    for count in range(2, 12):
        os.kill(serving_pid(server.pid), signal.SIGKILL)
        assert eventually(lambda: server.log().count("started workers=") == count, within=LONG), server.log()
    os.kill(serving_pid(server.pid), signal.SIGKILL)
    assert server.expect_exit(LONG) == 128 + signal.SIGKILL
    assert "none: 11 deaths in a minute" in server.log()


@pytest.mark.skipif(is_sanitized(), reason="a sanitizer's start has calls of its own")
@pytest.mark.plain
def test_what_is_done_from_death_to_the_next_start(begin, tmp_path):
    """System calls of the keeper and of the next server, in its first thread; none of them waits."""
    trace = tmp_path / "trace"
    server = begin("Restart on\nWorkers 1", wrapper=[tools.require("strace"), "-D", "-f", "-s", "200", "-o", trace])
    serving = serving_pid(server.pid)
    os.kill(serving, signal.SIGKILL)
    assert eventually(lambda: server.log().count("started workers=") == 2, within=LONG), server.log()
    follower = serving_pid(server.pid)
    server.stop()
    lines = trace.read_text().splitlines()
    death = next(n for n, line in enumerate(lines) if line.startswith(f"{serving} ") and "killed by SIGKILL" in line)
    start = next(n for n, line in enumerate(lines) if n > death and "started workers=" in line)
    done = [line for line in lines[death:start] if line.split()[0] in (str(server.pid), str(follower)) and " resumed>" not in line]
    print(f"{len(done)} system calls")
    assert not [line for line in done if re.search(r"nanosleep|= 0 \(Timeout\)", line)], done
    assert len(done) <= CALLS_TO_START


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.skipif(is_sanitized(), reason="sanitizers take time")
@pytest.mark.limit(600)
def test_time_from_death_to_the_next_answer(begin):
    """Of several servers, since one that dies twice within a minute waits."""
    times = []
    for _ in range(20):
        server = begin()
        serving = serving_pid(server.pid)
        started = time.monotonic()
        os.kill(serving, signal.SIGKILL)
        while is_alive(serving):
            time.sleep(0.0002)
        with server.connect(timeout=LONG) as connection:
            assert connection.request("/a.txt").text == "text"
        times.append(time.monotonic() - started)
        server.stop()
    assert statistics.median(times) <= 0.015, times
