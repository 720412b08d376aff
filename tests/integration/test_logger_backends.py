# SPDX-License-Identifier: Apache-2.0
"""What access logs say of backends: which one it was, and how long each part of its answer took."""

import json
import socket
import threading

import pytest

from harness import fastcgi, logs
from harness.backend import Backend, configured
from harness.h2_backend import H2Backend

FORMAT = "FlushTimeout 0\nFormat json path status backend backend_address backend_connect_ms backend_first_ms backend_whole_ms duration_ms\n"


def with_log(config):
    """The same configuration with an access log of these members."""
    log = logs.logging(FORMAT)
    files = {**log["extra"], **config["extra"]}
    files["plugins.load"] = config["extra"]["plugins.load"] + "    Load logger\n"
    return {**config, "extra": files, "site": log["site"] + config.get("site", "")}


def entry_of(server, count=1):
    return json.loads(logs.wait_for_lines(server.conf / "access.log", count)[-1])


def check_times(entry):
    assert 0 <= entry["backend_connect_ms"] <= entry["backend_first_ms"] <= entry["backend_whole_ms"]
    assert entry["backend_whole_ms"] < entry["duration_ms"] + 50  # the other clock is read once a turn


def test_a_backend_of_the_proxy(start):
    waits = threading.Event()  # nobody sets it
    with Backend(each=lambda c, q: waits.wait(0.3) or c.answer(b"hello")) as backend:
        server = start(**with_log(configured("", backend)))
        assert server.get("/a").status == 200
        entry = entry_of(server)
        assert (entry["path"], entry["status"]) == ("/a", 200)
        assert entry["backend"] == entry["backend_address"] == backend.address
        check_times(entry)
        assert entry["backend_first_ms"] >= 290 > entry["backend_connect_ms"]


def test_a_backend_that_is_not_there(start):
    with Backend(each=lambda c, q: c.answer(b"")) as backend:
        config = with_log(configured("", backend))
    server = start(**config)
    assert server.get("/a").status == 502
    entry = entry_of(server)
    assert entry["backend"] is not None and entry["backend_whole_ms"] >= 0
    assert entry["backend_connect_ms"] is None and entry["backend_first_ms"] is None
    assert entry["backend_address"] is None


@pytest.mark.parametrize("flag", ["", " h2c"])
def test_the_address_of_a_name(start, flag):
    """A kept connection has it too. Over HTTP/2 the connection is shared."""
    with H2Backend() if flag else Backend() as backend:
        config = with_log(configured("", f"localhost:{backend.port}{flag}"))
        server = start(**config)
        for count in (1, 2):
            assert server.get("/a").status == 200
            entry = entry_of(server, count)
            assert (entry["backend"], entry["backend_address"]) == (f"localhost:{backend.port}", f"127.0.0.1:{backend.port}")


def test_the_address_of_a_unix_socket(start, tmp_path):
    path = tmp_path / "backend"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        with Backend(listener=listener):
            server = start(**with_log(configured("", f"unix:{path}")))
            assert server.get("/a").status == 200
            assert entry_of(server)["backend_address"] == f"unix:{path}"


@pytest.mark.parametrize("keep", ["off", "on"])
def test_a_fastcgi_server(start, keep):
    with fastcgi.Application(lambda call: call.answer(b"hello")) as application:
        server = start(**with_log(fastcgi.config(application, location=f"Mount /\nKeepAlive {keep}")))
        for count in (1, 2):
            assert server.get("/a").status == 200
            entry = entry_of(server, count)
            assert entry["backend"] is not None
            assert entry["backend_address"] == (f"unix:{application.path}" if application.path else f"127.0.0.1:{application.port}")
            assert 0 <= entry["backend_connect_ms"] <= entry["backend_first_ms"]


def test_a_request_without_a_backend(start):
    server = start(**with_log({"extra": {"plugins.load": "[PLUGINS]\n"}}))
    server.get("/none")
    assert entry_of(server) == {"path": "/none", "status": 404, "backend": None, "backend_address": None, "backend_connect_ms": None,
                                "backend_first_ms": None, "backend_whole_ms": None,
                                "duration_ms": entry_of(server)["duration_ms"]}
