# SPDX-License-Identifier: Apache-2.0
"""The shell without memory and without descriptors."""

import itertools
import json
import os
import resource

import pytest

from harness import process
from harness.client import eventually
from harness.failing import FailingAllocations
from harness.shell import Shell, ask, configured

COMMANDS = ["help", "config", "plugins", "status", "vhosts", "workers", "connections", "metrics", "reload", "loglevel", "no"]


@pytest.fixture
def allocations(tmp_path):
    if process.is_sanitized():
        pytest.skip("a sanitizer brings its own malloc; the plain build runs this")
    return FailingAllocations(tmp_path)


def said(place, line):
    """The reply, or nothing when the session ended without one."""
    try:
        return ask(place, line)
    except (BrokenPipeError, ConnectionResetError):
        return ""


@pytest.mark.parametrize("command", COMMANDS)
def test_command_while_an_allocation_fails(start, tmp_path, allocations, command):
    server = start(env=allocations.environment, **configured(tmp_path / "shell"))
    with Shell(tmp_path / "shell") as witness:
        whole = witness.ask(command)
        for number in itertools.count(1):
            allocations.arm(number)
            reply = said(tmp_path / "shell", f"{command} --json")
            if command == "reload":
                server.wait_for_log("reload")
            allocations.disarm()
            answer = json.loads(reply) if reply else {"error": "closed"}
            assert answer.keys() == whole.keys() or answer in ({"error": "closed"}, {"error": "out of memory"}), number
            assert server.is_running(), f"allocation {number}\n{server.log()}"
            if not allocations.failed:
                break
        assert number > 1, "no allocation was seen: is the helper preloaded?"
        assert "level" in witness.ask("loglevel")
        assert ask(tmp_path / "shell", "loglevel") == "level: info\n"


def test_start_while_an_allocation_fails(tmp_path, allocations):
    """It refuses to start and says so, or its shell answers and its socket goes with it."""
    config = process.Config(tmp_path)
    config.write(server="Workers 1", **configured(tmp_path / "shell"))
    for number in itertools.count(1):
        allocations.arm(number)
        server = process.Server(tmp_path, config, env=allocations.environment)
        try:
            assert eventually(lambda: "server started" in server.log() or not server.is_running()), "it hangs"
            if server.is_running():
                allocations.disarm()
                assert ask(tmp_path / "shell", "loglevel") == "level: info\n"
                server.stop()
            else:
                assert server.expect_exit() > 0
            assert not (tmp_path / "shell").exists(), f"allocation {number}"
        finally:
            server.kill()
        if not allocations.failed:
            break
    assert number > 20, "hardly any allocation was seen: is the helper preloaded?"


def test_without_descriptors_it_waits_and_does_not_spin(start, tmp_path):
    server = start(**configured(tmp_path / "shell"))
    with Shell(tmp_path / "shell") as shell:
        shell.ask("uptime")
        before = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        highest = max(int(name) for name in os.listdir(f"/proc/{server.pid}/fd"))
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (highest + 1, before[1]))
        late = [Shell(tmp_path / "shell") for _ in range(4)]
        late[0].send("loglevel")
        ticks = server.cpu_ticks()
        late[0].sock.settimeout(2.5)
        with pytest.raises(TimeoutError):
            late[0].line()
        assert server.cpu_ticks() - ticks < 20
        assert shell.ask("loglevel") == {"level": "info"}
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, before)
        late[0].sock.settimeout(10)
        assert late[0].line() == "level: info\n"
        for each in late:
            assert each.ask("loglevel") == {"level": "info"}
            each.close()
