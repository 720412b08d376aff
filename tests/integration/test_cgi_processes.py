# SPDX-License-Identifier: Apache-2.0
"""The processes of scripts: how many there are, when they end, and that nothing of them is left."""

import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

import pytest

from harness import http, process
from harness.cgi import load, start_site
from harness.client import PATIENCE, eventually
from harness.config import Config, section
from harness.family import have_ended, scripts, spawner, spawners
from harness.program import as_nobody, is_alive, needs_root, open_folder, start_open, status  # noqa: F401

HEAD = "#!/bin/sh\necho 'Content-Type: text/plain'\necho\n"
SLEEPS = HEAD + "echo $$\nsleep 60 & echo $!\nwait\n"
PALM = pathlib.Path(process.binary()).parent / "plugins" / "monkey-palm"


def is_gone(pid):
    return not is_alive(pid)


def read_lines(connection, count):
    """Lines of a body that goes on."""
    head = http.read_head(connection.stream)
    assert head.status == 200
    text = b""
    while text.count(b"\n") < count:
        size = int(connection.stream.line(), 16)
        text += connection.stream.exactly(size)
        connection.stream.line()
    return text.decode().split()


def started(server, path="/cgi-bin/sleeps"):
    connection = server.connect()
    connection.send(http.request(path))
    return connection, [int(pid) for pid in read_lines(connection, 2)]


@pytest.mark.parametrize("how", ["close", "reset", "finish_sending"])
def test_client_that_leaves_ends_the_group(start, how):
    server = start_site(start, {"sleeps": SLEEPS})
    connection, pids = started(server)
    getattr(connection, how)()
    assert eventually(lambda: all(map(is_gone, pids)))
    assert have_ended(server)


def test_group_that_does_not_want_to_end_is_killed(start):
    server = start_site(start, {"stubborn": HEAD + "trap '' TERM\necho $$\n(trap '' TERM; echo $$; while :; do sleep 1; done)\n"})
    connection, pids = started(server, "/cgi-bin/stubborn")
    connection.close()
    time.sleep(1)
    assert any(map(is_alive, pids))
    assert have_ended(server)


def test_what_a_script_leaves_behind_in_its_group_ends_with_the_answer(start):
    server = start_site(start, {"leaves": HEAD + "sleep 60 >/dev/null 2>&1 & echo $!\n"})
    pid = int(server.get("/cgi-bin/leaves").text)
    assert eventually(lambda: is_gone(pid))
    assert have_ended(server)


def test_script_may_finish_what_it_does_behind_its_answer(start, tmp_path):
    mark = tmp_path / "mark"
    server = start_site(start, {"late": "#!/bin/sh\necho 'Content-Type: a/b'\necho 'Content-Length: 2'\necho\necho ok\n"
                                        f"exec >&-\nsleep 1\necho done >{mark}\n".replace("echo ok", "printf ok")})
    assert server.get("/cgi-bin/late").text == "ok"
    assert not mark.exists()
    assert eventually(mark.exists)


def test_output_that_is_closed_is_an_end(start):
    server = start_site(start, {"late": HEAD + "echo ok\nexec >&-\nsleep 90\n"})
    began = time.monotonic()
    assert server.get("/cgi-bin/late").text == "ok\n"
    assert time.monotonic() - began < PATIENCE


def test_script_that_does_nothing_is_ended(start):
    server = start_site(start, {"silent": "#!/bin/sh\nsleep 60\n", "half": HEAD + "echo half\nsleep 60\n"}, "Timeout 1")
    assert server.get("/cgi-bin/silent").status == 504
    assert http.is_cut_off(server.raw_until_cut(http.request("/cgi-bin/half")))
    assert have_ended(server)
    server.wait_for_log("was silent for too long url=\"/")


@pytest.mark.slow
def test_slow_reader_is_not_the_scripts_fault(start):
    server = start_site(start, {"much": HEAD + "head -c 20000000 /dev/zero\n"}, "Timeout 2")
    with server.connect(receive_buffer=4096) as connection:
        connection.send(http.request("/cgi-bin/much"))
        time.sleep(4)
        assert len(connection.response().body) == 20000000


@pytest.mark.slow
def test_reader_that_pauses_is_not_the_scripts_fault(start):
    """Output that came while the client had no room for it was given in time."""
    script = "#!/usr/bin/python3\nimport os, time\nos.write(1, b'Content-Type: a/b\\n\\n')\n" \
             "for _ in range(100):\n    os.write(1, b'x' * 200000)\n    time.sleep(0.005)\n"
    server = start_site(start, {"much": script}, "Timeout 1")
    with server.connect(receive_buffer=4096) as connection:
        connection.send(http.request("/cgi-bin/much"))
        for _ in range(3):
            assert connection.sock.recv(30000)
            time.sleep(1.5)
        size = 0
        while data := connection.sock.recv(1 << 20):
            size += len(data)
            if data.endswith(b"\r\n0\r\n\r\n"):
                break
        assert size > 19900000


def test_as_many_as_allowed_run_at_once_and_the_others_wait(start, tmp_path):
    """The bar is a thousand requests; each notes how many run beside it."""
    script = HEAD + f"cd {tmp_path}/alive && : >$$ && set -- * && echo $# && rm $$\n"
    (tmp_path / "alive").mkdir()
    server = start_site(start, {"count": script}, "MaxProcesses 8", server="Workers 2")
    server.get("/cgi-bin/count")
    before = server.open_descriptors()
    answers = ask_many(server, "/cgi-bin/count", 1000, at_once=250)
    assert [a.status for a in answers if a.status != 200] == []
    assert max(int(a.text) for a in answers) <= 8
    assert len(answers) == 1000
    assert have_ended(server)
    # Each worker keeps the folder of the site open from its first request on.
    assert eventually(lambda: server.open_descriptors() <= before + 1)


def ask_many(server, path, count, at_once):
    answers, faults = [], []
    lock = threading.Lock()

    def ask(number):
        for _ in range(count // at_once):
            try:
                answer = server.get(path)
            except (OSError, AssertionError) as fault:
                faults.append(repr(fault))
                continue
            with lock:
                answers.append(answer)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    return answers


def test_too_many_that_wait_are_turned_away(start):
    server = start_site(start, {"sleeps": SLEEPS}, "MaxProcesses 1\nQueueLength 1\nQueueTimeout 1")
    first, _ = started(server)
    with server.connect() as second:
        second.send(http.request("/cgi-bin/sleeps"))
        time.sleep(0.2)
        third = server.get("/cgi-bin/sleeps")
        assert (third.status, third.header("Retry-After")) == (503, "5")
        response = second.response()  # when it has waited for long enough
        assert (response.status, response.header("Retry-After")) == (503, "5")
    first.close()


def test_who_waits_is_served_when_another_leaves(start):
    server = start_site(start, {"sleeps": SLEEPS, "quick": HEAD + "echo quick\n"}, "MaxProcesses 1")
    first, _ = started(server)
    with server.connect() as second:
        second.send(http.request("/cgi-bin/quick"))
        time.sleep(0.2)
        first.close()
        assert second.response().text == "quick\n"


def test_who_leaves_while_waiting_takes_no_place(start):
    server = start_site(start, {"sleeps": SLEEPS, "quick": HEAD + "echo quick\n"}, "MaxProcesses 1\nQueueLength 2")
    first, _ = started(server)
    for _ in range(5):
        waiting = server.connect()
        waiting.send(http.request("/cgi-bin/quick"))
        time.sleep(0.05)
        waiting.close()
        time.sleep(0.05)
    with server.connect() as last:
        last.send(http.request("/cgi-bin/quick"))
        time.sleep(0.2)
        first.close()
        assert last.response().text == "quick\n"


def test_spawner_that_is_killed_is_started_again(start, tmp_path):
    server = start_site(start, {"sleeps": SLEEPS, "silent": f"#!/bin/sh\n>{tmp_path}/begun\nsleep 60\n", "quick": HEAD + "echo quick\n"})
    connection, pids = started(server)
    with server.connect() as silent:
        silent.send(http.request("/cgi-bin/silent"))
        assert eventually((tmp_path / "begun").exists)
        os.kill(spawner(server), signal.SIGKILL)
        assert silent.response().status == 502
    assert not connection.rest_until_cut().endswith(b"0\r\n\r\n")
    assert eventually(lambda: all(map(is_gone, pids)))
    assert server.get("/cgi-bin/quick").text == "quick\n"
    server.wait_for_log("monkey-palm started again")


def test_start_without_a_spawner_is_refused(start, tmp_path):
    server = start_site_unstarted(start, "Spawner /bin/false")
    assert server.expect_exit() == 1
    assert "/bin/false cannot be started: it failed" in server.log()


def test_a_user_without_an_account_is_told_before_the_start(tmp_path):
    config = Config(tmp_path)
    config.write(site=section("CGI", "User no-such-user"), sites={"number": "[HOST]\n    DocumentRoot /\n[CGI]\n    User 54321\n"},
                 extra=load())
    checked = process.run("--configdir", config.folder, "--test")
    assert "default:" in checked.stderr and checked.stderr.count('warning: User: there is no account "no-such-user"') == 1
    assert "54321" not in checked.stderr and checked.returncode == 0


def start_site_unstarted(start, settings):
    return start(handlers="Match ^/cgi-bin/ cgi", site=section("CGI", settings), extra=load(), wait=False)


def test_spawner_ends_with_the_server(start):
    server = start_site(start, {"sleeps": SLEEPS})
    palm = spawner(server)
    _, pids = started(server)
    server.kill()
    assert eventually(lambda: is_gone(palm) and all(map(is_gone, pids)))


def test_stop_waits_for_scripts(start, tmp_path):
    server = start_site(start, {"slow": HEAD + f">{tmp_path}/begun\nsleep 1\necho slow\n"})
    with server.connect() as connection:
        connection.send(http.request("/cgi-bin/slow"))
        assert eventually((tmp_path / "begun").exists)
        server.signal(signal.SIGTERM)
        assert connection.response().text == "slow\n"
    palms = spawners(server)
    server.process.wait(30)
    assert eventually(lambda: all(map(is_gone, palms)))


def test_scripts_survive_a_reload(start):
    server = start_site(start, {"slow": HEAD + "sleep 1\necho slow\n", "quick": HEAD + "echo quick\n"}, "MaxProcesses 4")
    palm = spawner(server)
    with server.connect() as connection:
        connection.send(http.request("/cgi-bin/slow"))
        time.sleep(0.2)
        for _ in range(3):
            server.reload(expect="configuration reloaded")
        assert connection.response().text == "slow\n"
    assert server.get("/cgi-bin/quick").text == "quick\n"
    assert spawner(server) == palm


def test_limits(start):
    script = HEAD + "ulimit -n\nulimit -t\nulimit -v\n"
    server = start_site(start, {"limits": script}, "MaxFiles 77\nMaxCPUTime 5\nMaxMemory 300M")
    assert server.get("/cgi-bin/limits").text.split() == ["77", "5", str(300 * 1024)]


@pytest.mark.parametrize("settings, given", [("", "1"), ("NoNewPrivileges on", "1"), ("NoNewPrivileges off", "0")])
def test_scripts_gain_no_rights_by_what_they_execute(start, settings, given):
    script = HEAD + "grep NoNewPrivs /proc/self/status\n"
    if status("self")["NoNewPrivs"] == "1":
        pytest.skip("this machine gives none away already")
    server = start_site(start, {"rights": script}, settings)
    assert server.get("/cgi-bin/rights").text.split() == ["NoNewPrivs:", given]


@needs_root
@pytest.mark.parametrize("server, scripts, said", [
    ("User nobody", "", "nobody"), ("User nobody", "User nobody", "nobody"), ("User root", "", "root"),
    ("#User", "", "nobody"), ("User nobody", "User daemon", None), ("User daemon", "User nobody", None)])
def test_scripts_with_the_rights_of_the_server_are_a_warning(tmp_path, server, scripts, said):
    """One of them ended the server."""
    config = Config(tmp_path)
    config.write(server=server, handlers="Match ^/cgi-bin/ cgi", site=section("CGI", scripts) if scripts else "", extra=load())
    checked = process.run("--configdir", config.folder, "--test")
    assert checked.returncode == 0, checked.stderr
    assert checked.stderr.count(f"scripts run as {said}") == (1 if said else 0), checked.stderr
    assert said or "scripts run as" not in checked.stderr


def test_script_that_burns_time_is_ended(start):
    server = start_site(start, {"burns": "#!/bin/sh\nwhile :; do :; done\n"}, "MaxCPUTime 1")
    assert server.get("/cgi-bin/burns").status == 502
    assert have_ended(server)


def test_nothing_is_inherited(start):
    script = "#!/usr/bin/python3\nimport os\nprint('Content-Type: text/plain\\n')\nfor fd in os.listdir('/proc/self/fd'):\n" \
             "    try:\n        print(fd, os.readlink('/proc/self/fd/' + fd).partition(':')[0])\n    except OSError:\n" \
             "        pass\nprint(os.getpgrp() == os.getpid(), open('/proc/self/status').read().partition('SigBlk:')[2].split()[0])\n"
    server = start_site(start, {"fds": script})
    lines = server.get("/cgi-bin/fds").text.splitlines()
    assert sorted(lines[:-1]) == ["0 /dev/null", "1 pipe", "2 pipe"]
    assert lines[-1] == "True 0000000000000000"


@needs_root
def test_user_of_the_server_and_another(start_open):  # noqa: F811
    who = {"who": HEAD + "id -u\nid -g\nid -G\n"}
    server = start_site(start_open, who, server="User nobody")
    assert server.get("/cgi-bin/who").text.split()[:1] == ["65534"]
    other = start_site(start_open, who, "User daemon", server="User nobody")
    assert other.get("/cgi-bin/who").text.split() == ["1", "1", "1"]
    palm = spawner(other)
    os.kill(palm, signal.SIGKILL)
    assert eventually(lambda: is_gone(palm))
    assert other.get("/cgi-bin/who").text.split() == ["1", "1", "1"]


@needs_root
@pytest.mark.parametrize("user, told", [("daemon", True), ("65534", False), ("", False)])
def test_user_that_cannot_be_had_is_told(user, told):
    """Only root can become another one."""
    words = [*as_nobody(), PALM, user]
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        palm = subprocess.Popen(words, stdin=theirs, stderr=subprocess.PIPE, text=True)
        assert palm.wait(30) == 0
    with palm.stderr:
        assert ("only root may become daemon" in palm.stderr.read()) == told


@needs_root
@pytest.mark.slow
def test_fork_bomb_is_bounded(start_open):  # noqa: F811
    bomb = "#!/bin/sh\nbomb() { bomb | bomb & }\nbomb\nsleep 60\n"
    server = start_site(start_open, {"bomb": bomb, "quick": HEAD + "echo quick\n"},
                        "User games\nMaxUserProcesses 60\nTimeout 3", server="User nobody")
    connection = server.connect()
    connection.send(http.request("/cgi-bin/bomb"))
    time.sleep(1)
    assert len(scripts(server)) <= 60
    connection.close()
    assert have_ended(server)
    assert server.get("/cgi-bin/quick").text == "quick\n"
