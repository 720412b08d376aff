# SPDX-License-Identifier: Apache-2.0
"""The shell when something is missing: memory, descriptors, a worker, its user."""

import contextlib
import ctypes
import itertools
import json
import os
import pathlib
import resource
import time

import pytest

from harness import process, tools, turns
from harness.client import PATIENCE, eventually
from harness.shell import Shell, ask, configured

COMMANDS = ["help", "config", "plugins", "status", "vhosts", "workers", "connections", "metrics", "reload", "loglevel", "no"]


def said(place, line):
    """The reply, or nothing when the session ended without one."""
    try:
        return ask(place, line)
    except (BrokenPipeError, ConnectionResetError):
        return ""


@contextlib.contextmanager
def held_worker(server):
    """Stop the thread of the second worker, as a debugger does."""
    seize, interrupt, detach, wall = 0x4206, 0x4207, 17, 0x40000000
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    thread, = [int(path.parent.name) for path in pathlib.Path(f"/proc/{server.pid}/task").glob("*/comm")
               if path.read_text().strip().endswith("1")]
    if libc.ptrace(seize, thread, None, None) < 0:
        pytest.skip(f"a thread cannot be held here: {os.strerror(ctypes.get_errno())}")
    try:
        assert libc.ptrace(interrupt, thread, None, None) == 0
        os.waitpid(thread, wall)
        yield
    finally:
        libc.ptrace(detach, thread, None, None)


@pytest.mark.slow
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
            failed = command == "reload" and answer.get("reload", "").startswith("failed")
            assert (failed or answer.keys() == whole.keys() or
                    answer in ({"error": "closed"}, {"error": "out of memory"})), number
            assert server.is_running(), f"allocation {number}\n{server.log()}"
            if not allocations.failed:
                break
        assert number > 1, "no allocation was seen: is the helper preloaded?"
        assert "level" in witness.ask("loglevel")
        assert ask(tmp_path / "shell", "loglevel") == "level: info\n"


@pytest.mark.slow
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


def descriptors(server):
    """number -> what it is"""
    found = {}
    for path in pathlib.Path(f"/proc/{server.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found[int(path.name)] = os.readlink(path)
    return found


def metrics_of(shell):
    shell.send("metrics\nloglevel")
    return shell.read_until(rb"level: info\n")


def test_without_descriptors_it_waits_and_does_not_spin(start, tmp_path):
    server = start(**configured(tmp_path / "shell"))
    with Shell(tmp_path / "shell") as shell:
        shell.ask("uptime")
        # The last descriptor that the program opens for itself is the one by which it waits for signals.
        assert eventually(lambda: any("signalfd" in what for what in descriptors(server).values()))
        before = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        highest = max(descriptors(server))
        assert len(descriptors(server)) == highest + 1, "there are gaps"
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (highest + 1, before[1]))
        late = [Shell(tmp_path / "shell") for _ in range(4)]
        late[0].send("loglevel")
        assert turns.made_in(2.5, lambda: metrics_of(shell)) <= turns.FEW
        late[0].sock.settimeout(0)
        with pytest.raises(BlockingIOError):
            late[0].line()
        assert shell.ask("loglevel") == {"level": "info"}
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, before)
        late[0].sock.settimeout(PATIENCE)
        assert late[0].line() == "level: info\n"
        for each in late:
            assert each.ask("loglevel") == {"level": "info"}
            each.close()


@pytest.mark.timed
@pytest.mark.slow
def test_worker_that_hangs_is_named_as_the_reason(start, tmp_path):
    server = start(**configured(tmp_path / "shell"))
    with Shell(tmp_path / "shell") as shell:
        shell.ask("connections")
        with held_worker(server):
            shell.send("connections")
            began = time.monotonic()
            assert ask(tmp_path / "shell", "loglevel") == "level: info\n"
            assert shell.line() == "error: a worker did not answer within 5 s\n"
            assert 4.5 < time.monotonic() - began < 8
            with Shell(tmp_path / "shell") as leaver:
                leaver.send("connections")
        assert shell.ask("connections")["total"] == 0


@pytest.mark.slow
def test_idle_session_ends_after_ten_minutes(start, tmp_path):
    if process.is_sanitized():
        pytest.skip("libfaketime and a sanitizer's runtime cannot both be preloaded; the plain build runs this")
    (tmp_path / "offset").write_text("+0s")
    env = {"LD_PRELOAD": tools.libfaketime(), "FAKETIME_TIMESTAMP_FILE": str(tmp_path / "offset"), "FAKETIME_NO_CACHE": "1"}
    start(env=env, **configured(tmp_path / "shell"))
    with Shell(tmp_path / "shell") as idle, Shell(tmp_path / "shell") as silent:
        idle.ask("uptime")
        (tmp_path / "offset").write_text("+590s")
        with Shell(tmp_path / "shell") as other:
            assert other.ask("uptime")["uptime_seconds"] >= 590
            assert idle.ask("loglevel") == {"level": "info"}
            (tmp_path / "offset").write_text("+1180s")
            assert idle.ask("loglevel") == {"level": "info"}
            assert silent.to_the_end() == b""
            (tmp_path / "offset").write_text("+1800s")
            ask(tmp_path / "shell", "loglevel")
            assert idle.to_the_end() == other.to_the_end() == b""


def test_more_connections_than_are_shown(start, tmp_path):
    tools.raise_descriptor_limit(2000)
    server = start(server="Workers 1\nTimeout 60", **configured(tmp_path / "shell"))
    clients = [server.connect() for _ in range(1010)]
    answer = eventually(lambda: (found := json.loads(ask(tmp_path / "shell", "connections --json")))["total"] == 1010 and found)
    assert (answer["total"], answer["shown"], len(answer["connections"])) == (1010, 1000, 1000)
    for client in clients:
        client.close()
