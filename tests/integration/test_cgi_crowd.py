# SPDX-License-Identifier: Apache-2.0
"""CGI under crowds and accidents: never more processes than allowed, none left behind, nothing lost."""

import contextlib
import os
import shutil
import signal
import sys
import threading
import time

import pytest

from harness import applications, family, http, process, tools
from harness.client import Connection, eventually
from harness.program import is_alive, needs_root, open_folder  # noqa: F401

pytestmark = pytest.mark.slow

CROWD = 1000
MOST = 8
STRANGER = 61000 + os.getpid() % 4000  # a user that nobody is, nor another run of the tests beside us
ALLOWED = 120     # processes of that user


def install(server, name, source):
    """A program compiled for the test, or the text of a script."""
    target = server.root / name
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.endswith(".c"):
        shutil.copy(tools.helper(source), target)
    else:
        target.write_text(source)
    target.chmod(0o755)


def read_or_be_cut(connection):
    """0 for an answer that was broken off after its head."""
    answer = connection.rest_until_cut()
    return 0 if http.is_cut_off(answer) else http.parse_one(answer).status


def crowd(server, target, count, read=lambda connection: connection.response(), headers=None):
    """So many clients ask at once, and read their answers."""
    connections = [Connection(("127.0.0.1", server.port), timeout=120) for _ in range(count)]
    try:
        for connection in connections:
            connection.send(http.request(target, headers=headers))
        return [read(connection) for connection in connections]
    finally:
        for connection in connections:
            connection.close()


def settled_descriptors(server):
    """How many there are when the connections of the last crowd are closed."""
    time.sleep(0.5)
    return server.open_descriptors()


@pytest.fixture
def server(start):
    tools.raise_descriptor_limit(3 * CROWD)
    server = start(server="MaxConnections 2000", **applications.cgi("^/cgi-bin/", f"MaxProcesses {MOST}\nTimeout 60"))
    install(server, "cgi-bin/alive", "alive.c")
    install(server, "cgi-bin/sleeps", "#!/bin/sh\nexec sleep 100\n")
    install(server, "cgi-bin/half", "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nhalf'\nexec sleep 100\n")
    install(server, "cgi-bin/quick", "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nquick'\n")
    return server


def test_a_thousand_at_once_and_at_most_eight_alive(server, tmp_path):
    folder = tmp_path / "alive"
    folder.mkdir()
    crowd(server, f"/cgi-bin/alive?{folder}", 50)
    before, spawner = settled_descriptors(server), family.spawner(server)
    private = []
    for _ in range(3):
        answers = crowd(server, f"/cgi-bin/alive?{folder}", CROWD)
        assert {answer.status for answer in answers} == {200}
        assert max(int(answer.body) for answer in answers) <= MOST
        assert family.have_ended(server)
        private.append(family.private_kb(server.pid) + family.private_kb(spawner))
    assert family.spawner(server) == spawner
    assert not family.zombies(server)
    assert eventually(lambda: server.open_descriptors() <= before), "descriptors are left"
    assert process.is_sanitized() or private[2] <= max(private[:2]) + 1000, private  # a sanitizer keeps what was freed
    assert list(folder.iterdir()) == []


def test_clients_that_leave_while_they_wait(server):
    """Their places in the queue are free, and what had begun is ended."""
    crowd(server, "/cgi-bin/quick", 50)
    before = settled_descriptors(server)
    for _ in range(3):
        connections = [Connection(("127.0.0.1", server.port)) for _ in range(100)]
        for connection in connections:
            connection.send(http.request("/cgi-bin/sleeps"))
        assert eventually(lambda: len(family.scripts(server)) == MOST)
        for connection in connections:
            connection.close()
        assert family.have_ended(server)
    assert server.get("/cgi-bin/quick").body == b"quick"
    assert family.have_ended(server) and not family.zombies(server)
    assert eventually(lambda: server.open_descriptors() <= before)


def test_the_spawner_is_killed_with_scripts_in_flight(server):
    server.get("/cgi-bin/quick")
    old = family.spawner(server)
    waiting = [server.connect(timeout=30) for _ in range(4)]
    begun = server.connect(timeout=30)
    for connection in waiting:
        connection.send(http.request("/cgi-bin/sleeps"))
    begun.send(http.request("/cgi-bin/half"))
    assert http.read_head(begun.stream).status == 200
    assert begun.stream.line() == b"4" and begun.stream.exactly(6) == b"half\r\n"
    assert eventually(lambda: len(family.scripts(server)) == 5)
    scripts = family.scripts(server)
    os.kill(old, signal.SIGKILL)
    assert {connection.response().status for connection in waiting} <= {502, 504}
    assert begun.rest_until_cut() == b"", "no last chunk: the client sees that something is missing"
    assert eventually(lambda: not any(map(is_alive, scripts))), "scripts outlive who started them"
    answer = eventually(lambda: server.get("/cgi-bin/quick").body == b"quick")
    assert answer, server.log()
    assert family.spawner(server) != old
    assert not family.zombies(server)


def test_the_spawner_is_killed_again_and_again(server, tmp_path):
    """Everybody is answered, by the script or with an error."""
    folder = tmp_path / "alive"
    folder.mkdir()
    crowd(server, "/cgi-bin/quick", 50)
    before = settled_descriptors(server)
    stop = threading.Event()

    def kill_often():
        while not stop.wait(0.15):
            for pid in family.spawners(server):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_often)
    killer.start()
    try:
        statuses = {status for _ in range(3) for status in crowd(server, f"/cgi-bin/alive?{folder}", 100, read_or_be_cut,
                                                                 {"Connection": "close"})}
    finally:
        stop.set()
        killer.join()
    assert statuses <= {0, 200, 502, 503, 504}, statuses
    assert eventually(lambda: server.get("/cgi-bin/quick").status == 200, every=0.2), server.log()
    assert family.have_ended(server) and not family.zombies(server)
    assert eventually(lambda: server.open_descriptors() <= before)


@needs_root
def test_the_keeper_restarts_the_spawner(open_folder):  # noqa: F811
    """Where rights were dropped, only the process that kept them may start another one."""
    server = process.start(open_folder, server="User nobody", **applications.cgi("^/cgi-bin/"))
    try:
        install(server, "cgi-bin/who", "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nid -u\n")
        for _ in range(3):
            assert eventually(lambda: server.get("/cgi-bin/who").text == "65534\n", every=0.1), server.log()
            os.kill(family.spawner(server), signal.SIGKILL)
        assert eventually(lambda: server.get("/cgi-bin/who").status == 200, every=0.1), server.log()
        assert not family.zombies(server)
    finally:
        server.stop()


BOMB = "#!/bin/sh\nb() { b & b & exec sleep 100; }\nb\n"  # who cannot fork ends; all others stay
AS_STRANGER = [sys.executable, "-c", "import os, resource, sys; os.setgroups([]); os.setgid({0}); os.setuid({0});"
               "resource.setrlimit(resource.RLIMIT_NPROC, ({1}, {1})); os.execv(sys.argv[1], sys.argv[1:])".format(STRANGER, ALLOWED)]


@needs_root
def test_a_fork_bomb_is_bounded(open_folder):  # noqa: F811
    """As an ordinary user, whom the system allows some processes; the script's time ends, and with it all that it started."""
    assert not family.of_user(STRANGER)
    open_folder.chmod(0o777)
    try:
        server = process.start(open_folder, wrapper=AS_STRANGER, server="Workers 1",
                               **applications.cgi("^/cgi-bin/", "Timeout 5"), files={"a.txt": "a file"})
        install(server, "cgi-bin/bomb", BOMB)
        install(server, "cgi-bin/quick", "#!/bin/sh\necho 'Content-Type: text/plain\n\nquick'\n")
        assert server.get("/cgi-bin/quick").status == 200
        bomb = server.connect(timeout=30)
        began = time.monotonic()
        bomb.send(http.request("/cgi-bin/bomb"))
        assert eventually(lambda: len(family.of_user(STRANGER)) > 30), "this is no bomb"
        assert server.get("/a.txt").body == b"a file", "files are served meanwhile"
        assert bomb.response().status in (502, 504)
        assert time.monotonic() - began < 15
        assert eventually(lambda: all(pid == server.pid or family.is_palm(pid) for pid in family.of_user(STRANGER)))
        assert server.get("/cgi-bin/quick").body.strip() == b"quick"
        server.stop()
    finally:
        family.end_all_of_user(STRANGER)


def test_a_reload_while_scripts_run(server):
    """What runs goes on, with the spawner that it has."""
    server.get("/cgi-bin/quick")
    begun = server.connect(timeout=30)
    install(server, "cgi-bin/late", "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nfirst'\nsleep 1\nprintf second\n")
    begun.send(http.request("/cgi-bin/late"))
    assert http.read_head(begun.stream).status == 200
    server.reload()
    assert begun.stream.line() == b"5" and begun.stream.exactly(7) == b"first\r\n"
    assert begun.stream.line() == b"6" and begun.stream.exactly(8) == b"second\r\n"
    assert server.get("/cgi-bin/quick").body == b"quick"
    family.spawner(server)


def test_a_server_that_ends_leaves_no_process(start, tmp_path):
    server = start(server="GracefulTimeout 1", **applications.cgi("^/cgi-bin/"))
    install(server, "cgi-bin/sleeps", "#!/bin/sh\nexec sleep 100\n")
    server.connect().send(http.request("/cgi-bin/sleeps"))
    assert eventually(lambda: family.scripts(server))
    below = [family.spawner(server), *family.scripts(server)]
    server.stop()
    assert eventually(lambda: not any(map(is_alive, below)))


def test_a_server_that_is_killed_leaves_no_process(start):
    server = start(**applications.cgi("^/cgi-bin/"))
    install(server, "cgi-bin/sleeps", "#!/bin/sh\nexec sleep 100\n")
    server.connect().send(http.request("/cgi-bin/sleeps"))
    assert eventually(lambda: family.scripts(server))
    below = [family.spawner(server), *family.scripts(server)]
    server.kill()
    assert eventually(lambda: not any(map(is_alive, below)))
