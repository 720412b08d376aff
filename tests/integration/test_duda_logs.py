# SPDX-License-Identifier: Apache-2.0
"""What services log, and their cooperative threads."""

import pathlib
import re
import uuid

import pytest

from harness import duda
from harness.client import eventually

TIME = r"\[\d\d/[A-Z][a-z][a-z]/\d{4} \d\d:\d\d:\d\d [+-]\d{4}\]"


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


@pytest.fixture
def server(start, tmp_path, logs):
    duda.build(tmp_path / "services", "obj_logs", level=2)
    return start(**duda.config(tmp_path / "services", duda.service("obj_logs", LogDir=logs)))


def test_lines_are_appended(server, logs):
    head = len("[20/Nov/2026 20:50:23 +0000] ")
    assert server.get("/obj_logs/logs").body == f"{head + 8} {head + 14} 0 1 0".encode()
    assert eventually(lambda: re.fullmatch(f"{TIME} first 1\n{TIME} last\n", (logs / "a.log").read_text()))
    assert eventually(lambda: re.fullmatch(f"{TIME} without an end", (logs / "b.log").read_text()))
    assert (logs / "a.log").stat().st_mode & 0o777 == 0o600


def test_lines_are_whole_when_there_are_too_many(server, logs):
    assert server.get("/obj_logs/flood").body == b"2000"
    server.stop()
    lines = (logs / "a.log").read_text().splitlines()
    assert lines and all(re.fullmatch(TIME + r" \d{999}", line) for line in lines)
    numbers = [int(line[-4:]) for line in lines]
    assert numbers == sorted(set(numbers))


def test_debug_appends_to_the_messages(start, tmp_path, logs):
    name = f"obj_logs_{uuid.uuid4().hex}"
    path = pathlib.Path(f"/tmp/{name}.duda.messages")
    duda.build(tmp_path / "services", "obj_logs", name=name, level=2)
    server = start(**duda.config(tmp_path / "services", duda.service(name, LogDir=logs)))
    line = TIME + r" \[fd=\d+\] \[obj_logs.c:\d+\] text of the service\n"
    try:
        for times in (1, 2):
            assert server.get(f"/{name}/debugs").status == 200
            assert eventually(lambda: path.exists() and re.fullmatch(line * times, path.read_text()))
    finally:
        path.unlink(missing_ok=True)


def test_messages_do_not_follow_a_link(start, tmp_path, logs):
    name = f"obj_logs_{uuid.uuid4().hex}"
    path = pathlib.Path(f"/tmp/{name}.duda.messages")
    duda.build(tmp_path / "services", "obj_logs", name=name, level=2)
    server = start(**duda.config(tmp_path / "services", duda.service(name, LogDir=logs)))
    path.symlink_to(tmp_path / "precious")
    try:
        assert server.get(f"/{name}/debugs").status == 200
        server.stop()
        assert not (tmp_path / "precious").exists()
    finally:
        path.unlink()


def test_producer_and_consumer(server):
    assert server.get("/obj_logs/fibonacci").body == b"2 1: 0 1 1 2 3 5 8 13 21 34"
