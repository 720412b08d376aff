# SPDX-License-Identifier: Apache-2.0
"""Log files that others rename, cut or write to, under load."""

import os
import shutil
import signal

from harness.client import eventually
from harness.logs import PATIENT, Crowd, check_numbers, lines_of, logging, told_lost
from harness.program import needs_root, open_folder, start_open  # noqa: F401


def test_rotation_loses_no_line_under_load(start):
    server = start(**logging("FlushTimeout 1", server=f"Workers 2\n{PATIENT}", files={"index.html": "hello"}))
    log = server.conf / "access.log"
    with Crowd(server.port) as crowd:
        for number in range(10):
            size = crowd.answers
            assert eventually(lambda: crowd.answers > size + 1000)
            os.rename(log, server.conf / f"access.log.{number}")
            server.signal(signal.SIGUSR1)
            assert eventually(log.exists)
    assert crowd.faults == []
    server.stop()
    lines = [line for path in server.conf.glob("access.log*") for line in lines_of(path)]
    assert told_lost(server) == 0
    assert check_numbers(lines, crowd.answers) == crowd.answers


def test_the_old_file_is_let_go(start):
    server = start(**logging())
    log = server.conf / "access.log"
    server.get("/")
    os.rename(log, server.conf / "old")
    server.signal(signal.SIGUSR1)
    assert eventually(lambda: log.exists() and not any(
        os.path.realpath(f"/proc/{server.pid}/fd/{fd}") == str(server.conf / "old")
        for fd in os.listdir(f"/proc/{server.pid}/fd") if os.path.exists(f"/proc/{server.pid}/fd/{fd}")))
    server.get("/")
    assert eventually(lambda: lines_of(log))


def test_a_log_that_cannot_be_opened_again_goes_on_in_the_old_file(start):
    server = start(**logging("FlushTimeout 0", log="AccessLog logs/access.log", extra={"logs/x": ""}))
    server.get("/")
    os.rename(server.conf / "logs", server.conf / "gone")
    server.signal(signal.SIGUSR1)
    server.wait_for_log("log cannot be reopened path=.*access.log")
    server.get("/")
    assert eventually(lambda: len(lines_of(server.conf / "gone/access.log")) == 2)


def test_a_file_that_others_cut_goes_on_at_its_new_end(start):
    """As `copytruncate` of logrotate does: no hole of NUL bytes is left where the lines were."""
    server = start(**logging())
    log = server.conf / "access.log"
    for _ in range(5):
        server.get("/")
    assert eventually(lambda: len(lines_of(log)) == 5)
    os.truncate(log, 0)
    server.get("/after")
    assert eventually(lambda: len(lines_of(log)) == 1)
    assert b"\0" not in log.read_bytes()


def test_what_others_add_is_kept(start):
    server = start(**logging("FlushTimeout 0\nFormat '%U'"))
    log = server.conf / "access.log"
    server.get("/1")
    assert eventually(lambda: lines_of(log) == ["/1"])
    with open(log, "a") as theirs:
        theirs.write("theirs\n")
    server.get("/2")
    assert eventually(lambda: lines_of(log) == ["/1", "theirs", "/2"])


def test_full_files_are_renamed_under_load(start):
    server = start(**logging("FlushTimeout 0\nRotateSize 64K\nRotateCount 100",
                             server=f"Workers 2\n{PATIENT}", files={"index.html": "hello"}))
    log = server.conf / "access.log"
    with Crowd(server.port) as crowd:
        assert eventually((server.conf / "access.log.5").exists, within=30)
    assert crowd.faults == []
    server.stop()
    files = [log, *server.conf.glob("access.log.*")]
    assert all(0 < path.stat().st_size <= 64 << 10 for path in files)
    lines = [line for path in files for line in lines_of(path)]
    assert told_lost(server) == 0 and len(files) < 100
    assert check_numbers(lines, crowd.answers) == crowd.answers


def take_away(log, name):
    """Rename a log as logrotate does; between the two names of its own rotation there is none."""
    try:
        os.rename(log, log.with_name(name))
    except FileNotFoundError:
        return False
    return True


def test_others_rename_what_the_server_renames(start):
    server = start(**logging("FlushTimeout 0\nRotateSize 64K\nRotateKeep 100",
                             server=f"Workers 2\n{PATIENT}", files={"index.html": "hello"}))
    log = server.conf / "access.log"
    with Crowd(server.port) as crowd:
        for number in range(5):
            size = crowd.answers
            assert eventually(lambda: crowd.answers > size + 500)
            assert eventually(lambda: take_away(log, f"moved.{number}"))
            server.signal(signal.SIGUSR1)
        assert eventually((server.conf / "access.log.3").exists, within=30)
    assert crowd.faults == []
    server.stop()
    files = [*server.conf.glob("access.log*"), *server.conf.glob("moved.*")]
    lines = [line for path in files for line in lines_of(path)]
    assert told_lost(server) == 0 and len(files) < 100
    assert check_numbers(lines, crowd.answers) == crowd.answers


def test_files_of_yesterday_are_renamed_and_old_ones_go(start, tmp_path):
    log = tmp_path / "access"
    for name, text in {"access": "yesterday\n", "access.1": "one\n", "access.2": "two\n"}.items():
        (tmp_path / name).write_text(text)
    os.utime(log, (1, 1))
    server = start(**logging("FlushTimeout 0\nFormat '%U'\nRotateDaily on\nRotateCount 2", log=f"AccessLog {log}"))
    server.get("/new")
    assert eventually(lambda: log.exists() and lines_of(log) == ["/new"])  # between the two names there is none
    assert lines_of(tmp_path / "access.1") == ["yesterday"]
    assert lines_of(tmp_path / "access.2") == ["one"]
    assert not (tmp_path / "access.3").exists()


def test_a_folder_that_is_removed_and_comes_back(start):
    """Nothing stalls meanwhile; the lines are in the file that has no name any more."""
    server = start(**logging("FlushTimeout 0\nFormat '%U'\nRotateSize 64K", log="AccessLog logs/access.log", extra={"logs/x": ""}))
    log = server.conf / "logs/access.log"
    shutil.rmtree(log.parent)
    with server.connect() as connection:
        for _ in range(70):
            assert connection.request("/" + "a" * 1000).status == 404
    server.wait_for_log("log cannot be rotated, and grows path=.*access.log")
    server.signal(signal.SIGUSR1)
    server.wait_for_log("log cannot be reopened path=.*access.log")
    assert server.get("/none").status == 404
    log.parent.mkdir()
    server.signal(signal.SIGUSR1)
    assert eventually(log.exists)
    assert eventually(lambda: server.get("/after").status == 404 and lines_of(log))  # the file is there before it is used
    assert set(lines_of(log)) <= {"/none", "/after"}


@needs_root
def test_the_keeper_opens_logs_that_only_root_may_open(start_open, open_folder):  # noqa: F811
    (open_folder / "logs").mkdir(mode=0o700)
    log = open_folder / "logs/access.log"
    server = start_open(**logging("FlushTimeout 0\nFormat '%U'", log=f"AccessLog {log}", server="User nobody"))
    server.get("/1")
    assert eventually(lambda: lines_of(log) == ["/1"])
    os.rename(log, open_folder / "logs/old")
    server.signal(signal.SIGUSR1)
    assert eventually(log.exists)
    server.get("/2")
    assert eventually(lambda: lines_of(log) == ["/2"])
