# SPDX-License-Identifier: Apache-2.0
"""Objects of services: arguments that cannot be, and what stays when a service is replaced or its server ends."""

import pathlib
import re
import shutil
import uuid

import pytest

from harness import duda
from harness.client import eventually


def test_no_argument_harms_the_server(start, tmp_path):
    duda.build(tmp_path / "services", "obj_null")
    server = start(**duda.config(tmp_path / "services", "obj_null"))
    for _ in range(3):
        assert server.get("/obj_null/calls").body == b"0"
    assert "global->init() works in duda_main() only" in server.log()


def test_threads_of_a_service_outlive_a_reload(start, tmp_path):
    services = tmp_path / "services"
    duda.build(services, "obj_events", level=2)
    server = start(**duda.config(services, "obj_events", server="Workers 2\n"))
    for _ in range(3):
        assert eventually(lambda: server.get("/obj_events/counts").body.startswith(b"1 "))
        assert server.get("/obj_events/signals").body == b"0"
        fresh = services / "obj_events.fresh"
        shutil.copy(services / "obj_events.duda", fresh)
        fresh.rename(services / "obj_events.duda")
        server.reload()
    assert eventually(lambda: server.get("/obj_events/threads").body == b"1 1 1 1")
    assert server.get("/obj_events/ticks").body == b"tick tick tick "


@pytest.fixture
def bound(start, tmp_path):
    """A service that owns its site and whose messages are the output of the process; their file."""
    name = f"obj_calls_{uuid.uuid4().hex}"
    duda.build(tmp_path / "services", "obj_calls", name=name)
    path = pathlib.Path(f"/tmp/{name}.duda.messages")
    yield start(wait=False, **duda.config(tmp_path / "services", name)).wait_until_listening(), path
    path.unlink(missing_ok=True)


@pytest.mark.parametrize("method, bits", [("GET", "10000"), ("POST", "01000"), ("PUT", "00010"), ("DELETE", "00001")])
def test_a_request_knows_its_method(bound, method, bits):
    body = b"text" if method in ("POST", "PUT") else b""
    answer = bound[0].request("/", method, body=body, headers={"Content-Type": "text/plain"})
    assert answer.body == f"{bits} 1 1".encode() and answer.header("X-Row") == "yes"
    assert bound[0].request("/", method, body=body, headers={"Content-Type": "text/plain; q"}).text == f"{bits} 0 1"


def test_the_output_of_the_process_is_bound_to_the_messages(bound):
    server, path = bound
    begin = re.compile(r"\[.*\] messages of .* begin, process \d+\n")
    assert eventually(lambda: path.exists() and begin.match(path.read_text()))
    assert server.get("/say").status == 200
    assert eventually(lambda: "plain text of the service\n" in path.read_text())
