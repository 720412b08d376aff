# SPDX-License-Identifier: Apache-2.0
"""The clock steps back, as after a wrong battery clock meets its time server. Only Date may follow it."""

import time

import pytest

from harness import process, tools
from harness.client import PATIENCE, eventually

pytestmark = pytest.mark.slow


class SteppedClock:
    """A wall clock that a test moves; monotonic time and the times of files stay real, as in life."""

    def __init__(self, folder):
        self.file = folder / "offset"
        self.step("+0s")
        self.environment = {
            "LD_PRELOAD": tools.libfaketime(), "FAKETIME_TIMESTAMP_FILE": str(self.file), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}

    def step(self, offset):
        self.file.write_text(offset)


@pytest.fixture
def clock(tmp_path):
    if process.is_sanitized():
        pytest.skip("libfaketime and a sanitizer's runtime cannot both be preloaded; the plain build runs this")
    return SteppedClock(tmp_path)


@pytest.mark.parametrize("offset, seconds", [("-2h", -7200), ("-3000d", -259_200_000), ("+2h", 7200)])
def test_date_follows_and_service_goes_on(start, clock, offset, seconds):
    server = start(env=clock.environment, files={"a.txt": "text"}, server="KeepAliveTimeout 60")
    with server.connect() as connection:
        assert abs(connection.request("/a.txt").date("Date") - time.time()) < 3
        clock.step(offset)
        for _ in range(20):
            assert connection.request("/a.txt").text == "text"
        assert eventually(lambda: abs(connection.request("/a.txt").date("Date") - time.time() - seconds) < 5)


def test_timeouts_do_not_care(start, clock):
    server = start(env=clock.environment, files={"a.txt": "text"}, server="KeepAliveTimeout 1\nTimeout 1")
    for offset in ("-2h", "+2h"):
        begin = time.monotonic()
        with server.connect() as idle, server.connect() as silent:
            assert idle.request("/a.txt").status == 200
            clock.step(offset)
            assert idle.is_closed()
            assert silent.is_closed()
            assert 0.9 < time.monotonic() - begin < PATIENCE


def test_changed_files_are_still_seen(start, clock):
    server = start(env=clock.environment, files={"a.txt": "old"})
    assert server.get("/a.txt").text == "old"
    clock.step("-2h")
    (server.root / "a.txt").write_text("new text")
    assert eventually(lambda: server.get("/a.txt").text == "new text")


def test_conditional_requests_stay_right(start, clock):
    """A file from the future is no reason for 412 or a wrong 304."""
    server = start(env=clock.environment, files={"a.txt": "text"})
    first = server.get("/a.txt")
    clock.step("-2h")
    assert server.get("/a.txt", {"If-None-Match": first.header("ETag")}).status == 304
    assert server.get("/a.txt", {"If-Modified-Since": first.header("Last-Modified")}).status in (200, 304)
    assert server.get("/a.txt", {"If-None-Match": '"other"'}).status == 200
