# SPDX-License-Identifier: Apache-2.0
"""When plugins begin and end: at the start, on every worker, at a reload, and when something fails on the way."""

import re
import signal

import pytest

from harness import plugins, process
from harness.client import eventually

WORKERS = 3


class Life:
    """A server with the plugin that writes down its life."""

    def __init__(self, start, life, **config):
        self.start, self.server = start, None
        self.config = dict(server=f"Workers {WORKERS}", handlers="Match ^/tag life\nMatch ^/echo echo", **config)
        self.begin(life)

    def write(self, life, names=("life",)):
        return dict(self.config, extra={"plugins.load": plugins.load(*names),
                                        "plugins/life/life.conf": f"[LIFE]\n    Trace ../../trace\n{life}"})

    def begin(self, life):
        wait = "Fail start" not in life and "Fail worker" not in life
        self.server = self.start(wait=wait, **self.write(life))
        if wait:
            self.server.wait_for_log("started workers")

    @property
    def trace(self):
        file = self.server.conf.parent.parent / "trace"
        return file.read_text().splitlines() if file.exists() else []

    def ended(self, tag):
        return [line for line in self.trace if line.startswith(f"{tag} worker_stop")]

    def wait_for(self, *lines):
        assert eventually(lambda: set(lines) <= set(self.trace)), self.trace

    def reload(self, life, expect, names=("life",)):
        return self.server.reload(expect=expect, **self.write(life, names))


@pytest.fixture
def live(start):
    return lambda life: Life(start, life)


def on_each(line):
    return [f"{line} {worker}" for worker in range(WORKERS)]


def test_a_life_has_its_order(live):
    life = live("    Tag a\n")
    assert life.server.get("/tag").body == b"a"
    life.server.stop()
    trace = life.trace
    assert trace[:2] == ["a check", "a start after nothing"]
    assert sorted(trace[2:2 + WORKERS]) == on_each("a worker_start")
    assert sorted(trace[2 + WORKERS:-1]) == on_each("a worker_stop")
    assert trace[-1] == "a stop"


def test_a_check_begins_nothing(live):
    life = live("    Tag a\n")
    life.server.stop()
    before = life.trace
    assert process.run("--configdir", life.server.conf, "--test").returncode == 0
    assert life.trace == [*before, "a check"]


def test_a_reload_begins_the_new_before_it_ends_the_old(live):
    life = live("    Tag a\n")
    life.reload("    Tag b\n", "configuration reloaded")
    assert life.server.get("/tag").body == b"b"
    life.wait_for("a stop")
    trace = life.trace[2 + WORKERS:]
    assert trace[:2] == ["b check", "b start after a"]
    assert sorted(trace[2:2 + WORKERS]) == on_each("b worker_start")
    assert sorted(trace[2 + WORKERS:-1]) == on_each("a worker_stop")
    assert trace[-1] == "a stop"


def test_the_old_ends_behind_its_last_request(live):
    """A request that is still being read keeps its configuration alive on its worker, and only there."""
    life = live("    Tag a\n")
    with life.server.connect() as connection:
        connection.send(b"POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\na")
        eventually(lambda: False, within=0.3)
        life.reload("    Tag b\n", "configuration reloaded")
        assert eventually(lambda: len(life.ended("a")) == WORKERS - 1), life.trace
        eventually(lambda: False, within=0.3)
        assert len(life.ended("a")) == WORKERS - 1 and "a stop" not in life.trace
        connection.send(b"b")
        assert connection.rest().endswith(b"\r\n\r\n")
    life.wait_for("a stop")
    assert sorted(life.ended("a")) == on_each("a worker_stop")


def test_a_failing_start_ends_the_server_with_its_reason(live):
    life = live("    Tag a\n    Fail start\n")
    assert life.server.expect_exit() == 1
    assert 'the plugin "life" cannot start: told to fail with tag a' in life.server.log()
    assert life.trace == ["a check", "a start after nothing"]


def test_a_failing_worker_ends_the_server_and_what_had_begun(live):
    life = live("    Tag a\n    Fail worker\n    FailWorker 1\n")
    assert life.server.expect_exit() == 1
    assert 'the plugin "life" cannot start: a limit was exceeded' in life.server.log()
    assert sorted(life.trace[2:]) == ["a stop", "a worker_start 0", "a worker_start 2", "a worker_stop 0", "a worker_stop 2"]
    assert life.trace[-1] == "a stop"


@pytest.mark.parametrize("fail, reason", [("check", "told to fail in check"),
                                          ("silently", 'the plugin "life" refuses its configuration: permission denied')])
def test_a_failing_check_is_a_fault(live, fail, reason):
    life = live("    Tag a\n")
    life.reload(f"    Tag b\n    Fail {fail}\n", "old configuration stays in force")
    assert reason in life.server.log()
    assert life.server.get("/tag").body == b"a"
    assert "b start after a" not in life.trace


@pytest.mark.parametrize("fail, begun", [("start", []), ("worker\n    FailWorker 2", [0, 1])], ids=["start", "worker"])
def test_a_reload_that_cannot_begin_changes_nothing(live, fail, begun):
    life = live("    Tag a\n")
    life.reload(f"    Tag b\n    Fail {fail}\n", "old configuration stays in force")
    assert 'reload failed: the plugin "life" cannot start: ' in life.server.log()
    for _ in range(8):
        assert life.server.get("/tag").body == b"a"
    trace = life.trace[2 + WORKERS:]
    assert trace[:2] == ["b check", "b start after a"]
    stopped = ["b stop"] if begun else []
    assert sorted(trace[2:]) == sorted([f"b worker_{what} {n}" for n in begun for what in ("start", "stop")] + stopped)
    life.reload("    Tag c\n", "configuration reloaded")
    assert life.server.get("/tag").body == b"c"
    life.wait_for("c start after a", "a stop")


def test_other_plugins_need_a_restart(live):
    life = live("    Tag a\n")
    log = life.reload("    Tag b\n", "configuration reloaded", names=("life", "sections"))
    assert re.search(r"level=warn .*setting needs a restart key=Load", log), log
    assert life.server.get("/tag").body == b"b"
    log = life.reload("    Tag c\n", "configuration reloaded", names=())
    assert "key=Load" in log
    assert life.server.get("/tag").body == b"c"
    log = life.reload("    Tag d\n", "configuration reloaded")
    assert "key=Load" not in log


def test_many_reloads_end_all_that_began(live):
    life = live("    Tag 0\n")
    for number in range(1, 8):
        life.reload(f"    Tag {number}\n", "configuration reloaded")
    life.server.signal(signal.SIGTERM)
    life.server.process.wait(30)
    trace = life.trace
    for number in range(8):
        assert sorted(line for line in trace if line.startswith(f"{number} worker_start")) == on_each(f"{number} worker_start")
        assert sorted(line for line in trace if line.startswith(f"{number} worker_stop")) == on_each(f"{number} worker_stop")
        assert trace.count(f"{number} stop") == 1


@pytest.mark.parametrize("then, told", [("Fixed one", False), ("Fixed two", True), ("", True)])
def test_a_key_of_a_plugin_that_needs_a_restart_is_told(live, then, told):
    life = live("    Tag a\n    Fixed one\n")
    text = life.reload(f"    Tag b\n    {then}\n", "configuration reloaded")
    assert ('setting needs a restart key="[LIFE] Fixed"' in text) == told
