# SPDX-License-Identifier: Apache-2.0
"""Each call of each object and package, with NULL, with a request that is over or has been answered, and in the wrong place."""

import pytest

from harness import duda, every_call, http
from harness.client import Connection

pytestmark = pytest.mark.limit(240)

PACKAGES = [name for name in ("base64", "json", "kv", "mariadb", "memcached", "postgresql", "redis", "sha1", "sha256", "sqlite", "ssls",
                              "websocket") if (duda.packages() / f"{name}.dpkg").is_file()]
# What cannot be asked of a call: why.
NOT_MADE = {}


@pytest.fixture(scope="module")
def made():
    duda.plugin()  # or they are skipped
    return [call for call in every_call.calls(PACKAGES) if call.shown not in NOT_MADE]


@pytest.fixture(autouse=True)
def _drops_results(monkeypatch):
    """Those that callers own are leaks of the service."""
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")


def serve(start, tmp_path, made, in_main=()):
    duda.build(tmp_path, every_call.source(made, PACKAGES, in_main), name="walk", level=3, flags=("-fcommon", "-w"))
    return start(**duda.config(tmp_path, "walk", server="Workers 1\n", duda={"PackagesRoot": duda.packages()}))


def ask(server, target):
    """@return what came; nothing where the call has taken the answer away"""
    came = b""
    with server.connect() as connection:
        connection.send(http.request(target, headers=[("Connection", "close")]))
        connection.sock.settimeout(0.2)
        try:
            while piece := connection.sock.recv(65536):
                came += piece
        except OSError:  # a time-out is one
            pass
    return came


def is_alive(server):
    return server.get("/walk/alive").body == b"alive"


@pytest.mark.parametrize("how", every_call.HOWS)
def test_each_call_in_a_request(start, tmp_path, made, how):
    server = serve(start, tmp_path, made)
    for n, call in enumerate(made):
        if how.startswith("old"):
            assert server.get("/walk/keep").status == 200
        came = ask(server, f"/walk/{how}/{n}")
        assert is_alive(server), call.shown
        if how.startswith(("none", "old", "ended")):
            assert came.startswith(b"HTTP/1.1 200 ") and came.endswith(b"before" if how.startswith("ended") else b"behind"), call.shown


def test_each_call_before_there_are_requests(start, tmp_path, made):
    server = serve(start, tmp_path, made, [n for n, call in enumerate(made) if not call.is_of_main])
    assert is_alive(server)


def test_all_calls_are_there(made):
    assert len(made) > 250
