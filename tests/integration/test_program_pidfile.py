# SPDX-License-Identifier: Apache-2.0
"""The pid file: locked for the life of the process, removed at its end."""

import pytest

from harness import process
from harness.program import needs_root, open_folder, start_open  # noqa: F401


@pytest.fixture
def pid_file(open_folder):  # noqa: F811
    return open_folder / "run.pid"


def second_start(server, *arguments):
    return process.run("-c", server.conf, *arguments)


def test_has_the_pid_until_the_end(start, pid_file):
    server = start(server=f"PidFile {pid_file}")
    assert pid_file.read_text() == f"{server.pid}\n"
    assert pid_file.stat().st_mode & 0o777 == 0o644
    server.stop()
    assert not pid_file.exists()


@needs_root
def test_is_the_keepers(start_open, pid_file):  # noqa: F811
    server = start_open(server=f"PidFile {pid_file}\nUser nobody")
    assert pid_file.read_text() == f"{server.pid}\n"
    server.stop()
    assert not pid_file.exists()


@pytest.mark.parametrize("more", ["", pytest.param("User nobody", marks=needs_root)])
def test_second_start_says_who_runs(start_open, pid_file, more):  # noqa: F811
    server = start_open(server=f"PidFile {pid_file}\n{more}", files={"a.txt": "text"})
    for arguments in ([], ["--daemon"]):
        result = second_start(server, *arguments)
        assert result.returncode == 1
        assert str(pid_file) in result.stderr and str(server.pid) in result.stderr
    assert pid_file.read_text() == f"{server.pid}\n"
    assert server.get("/a.txt").text == "text"


def test_check_is_allowed_while_it_runs(start, pid_file):
    server = start(server=f"PidFile {pid_file}")
    assert second_start(server, "--test").returncode == 0
    assert pid_file.read_text() == f"{server.pid}\n"


def test_stale_file_is_taken_over(start, pid_file):
    pid_file.write_text("1\n")  # a process that runs, but not a server that holds the lock
    server = start(server=f"PidFile {pid_file}")
    assert pid_file.read_text() == f"{server.pid}\n"


def test_killed_server_blocks_nobody(start, pid_file):
    start(server=f"PidFile {pid_file}").kill()
    assert pid_file.exists()
    server = start(server=f"PidFile {pid_file}")
    assert pid_file.read_text() == f"{server.pid}\n"


def test_link_is_not_followed(start, pid_file):
    target = pid_file.parent / "target"
    target.write_text("precious\n")
    pid_file.symlink_to(target)
    server = start(server=f"PidFile {pid_file}", wait=False)
    assert server.expect_exit() == 1
    assert "symbolic link" in server.log()
    assert target.read_text() == "precious\n"


def test_directory_is_missing(start, pid_file):
    server = start(server=f"PidFile {pid_file.parent}/none/run.pid", wait=False)
    assert server.expect_exit() == 1
    assert "none/run.pid" in server.log() and "does not exist" in server.log()


def test_failed_start_leaves_none(start, pid_file):
    taken = start()
    server = start(server=f"Listen 127.0.0.1:{taken.port}\nPidFile {pid_file}", wait=False)
    assert server.expect_exit() == 1
    assert not pid_file.exists()
