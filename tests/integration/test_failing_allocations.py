# SPDX-License-Identifier: Apache-2.0
"""Allocation 1, 2, ... n fails: in start-up, in a request, in a reload. Never a crash; a refusal or an error answer."""

import itertools

import pytest

from harness import http, process
from harness.client import eventually
from harness.config import Config

pytestmark = [pytest.mark.slow, pytest.mark.limit(600)]

FILES = {"index.html": "welcome", "a.txt": "text", "a.txt.gz": "zip", "dir/x": "", "404.html": "own page", "medium.bin": b"m" * 40_000}
CONFIG = dict(host="Header X-A b\nHeader X-V ${PATH} at $host\nHeader X-F ${PATH}\nCacheControl *.txt max-age=60\nTryFiles $uri $uri/ /of/$host$uri /index.html =404\nPrecompressed on",
              handlers="Match ^/echo echo\nMatch ^/re.ex$ echo", error_pages="404 404.html", files=FILES,
              site="[LOCATION]\n    Path /dir\n    Header X-A c\n[LOCATION]\n    Match \\.bin$\n    TryFiles $uri =410\n"
                   "[LOCATION]\n    Path /led\n    Redirect https://$host/x$uri?$query\n[LOCATION]\n    Path /said\n    Answer 200 \"$path\"\n")


def starts_or_refuses(server, allocations):
    assert eventually(lambda: "server started" in server.log() or not server.is_running()), "it hangs"
    if not server.is_running():
        assert server.expect_exit() > 0, f"it ended with {server.process.returncode}"
        assert server.log().strip(), "it ended without a word"
        return
    allocations.disarm()
    assert server.get("/a.txt").status == 200
    server.stop()


@pytest.mark.parametrize("scheduler", ["Fair", "ReusePort"])
def test_start_up(tmp_path, allocations, scheduler):
    """It refuses to start and says so, or it serves."""
    config = Config(tmp_path)
    config.write(server=f"Scheduler {scheduler}", **CONFIG)
    for number in itertools.count(1):
        allocations.arm(number)
        server = process.Server(tmp_path, config, env=allocations.environment)
        try:
            starts_or_refuses(server, allocations)
        except AssertionError as fault:
            raise AssertionError(f"allocation {number}: {fault}\n{server.log()}") from None
        finally:
            server.kill()
        if not allocations.failed:
            break
    assert number > 20, "hardly any allocation was seen: is the helper preloaded?"


REQUESTS = {
    "file": http.request("/a.txt"),
    "new file": http.request("/medium.bin"),
    "compressed": http.request("/a.txt", headers={"Accept-Encoding": "gzip"}),
    "ranges": http.request("/medium.bin", headers={"Range": "bytes=0-9,20-29,100-"}),
    "fallback": http.request("/no/such/name"),
    "error": http.request("/../x"),
    "echo": http.request("/echo", "POST", body=b"x" * 10_000),
    "regex": http.request("/regex", "POST", headers={"Transfer-Encoding": "chunked"}, body=http.chunked(b"a" * 5000, b"b")),
    "large head": http.request("/a.txt", headers={"X-Large": "x" * 20_000}),
    "pipeline": http.request("/a.txt") * 5 + http.request("/missing") * 5,
    "malformed": b"GET / HTTP/1.1\r\nX : y\r\n\r\n",
}


@pytest.mark.parametrize("lines", ["Workers 1", "Workers 1\nFDT off", "Workers 1\nScheduler Fair"])
@pytest.mark.parametrize("name", REQUESTS)
def test_request(start, allocations, name, lines):
    """An answer, an error answer, or a closed connection; the next request is served."""
    server = start(server=lines, env=allocations.environment, **CONFIG)
    assert server.request("*", "OPTIONS").status == 204  # the worker is there, and no file is known yet

    def next_is_served():
        assert server.get("/a.txt").text == "text"

    allocations.until_no_request_fails(server, REQUESTS[name], next_is_served)


@pytest.mark.parametrize("scheduler", ["Fair", "ReusePort"])
def test_start_up(tmp_path, allocations, scheduler):
    """It refuses to start and says so, or it serves."""
    config = Config(tmp_path)
    config.write(server=f"Scheduler {scheduler}", **CONFIG)
    for number in itertools.count(1):
        allocations.arm(number)
        server = process.Server(tmp_path, config, env=allocations.environment)
        try:
            starts_or_refuses(server, allocations)
        except AssertionError as fault:
            raise AssertionError(f"allocation {number}: {fault}\n{server.log()}") from None
        finally:
            server.kill()
        if not allocations.failed:
            break
    assert number > 20, "hardly any allocation was seen: is the helper preloaded?"


REQUESTS = {
    "file": http.request("/a.txt"),
    "new file": http.request("/medium.bin"),
    "compressed": http.request("/a.txt", headers={"Accept-Encoding": "gzip"}),
    "ranges": http.request("/medium.bin", headers={"Range": "bytes=0-9,20-29,100-"}),
    "fallback": http.request("/no/such/name"),
    "redirect": http.request("/led/to"),
    "answer": http.request("/said/so"),
    "error": http.request("/../x"),
    "echo": http.request("/echo", "POST", body=b"x" * 10_000),
    "regex": http.request("/regex", "POST", headers={"Transfer-Encoding": "chunked"}, body=http.chunked(b"a" * 5000, b"b")),
    "large head": http.request("/a.txt", headers={"X-Large": "x" * 20_000}),
    "pipeline": http.request("/a.txt") * 5 + http.request("/missing") * 5,
    "malformed": b"GET / HTTP/1.1\r\nX : y\r\n\r\n",
}


@pytest.mark.parametrize("lines", ["Workers 1", "Workers 1\nFDT off", "Workers 1\nScheduler Fair"])
@pytest.mark.parametrize("name", REQUESTS)
def test_request(start, allocations, name, lines):
    """An answer, an error answer, or a closed connection; the next request is served."""
    server = start(server=lines, env=allocations.environment, **CONFIG)
    assert server.request("*", "OPTIONS").status == 204  # the worker is there, and no file is known yet
    data = REQUESTS[name]
    for number in itertools.count(1):
        allocations.arm(number)
        with server.connect() as connection:
            try:
                connection.send(data)
                connection.finish_sending()
            except OSError:
                pass  # it was closed at once
            answer = connection.rest_until_cut()
        assert not answer or answer.startswith(b"HTTP/1.1 "), answer[:100]
        assert server.is_running(), f"allocation {number}\n{server.log()}"
        allocations.disarm()
        assert server.get("/a.txt").text == "text", f"after allocation {number}"
        if not allocations.failed:
            break


@pytest.mark.parametrize("scheduler", ["Fair", "ReusePort"])
def test_reload(start, allocations, scheduler):
    """The old configuration or the new one, never something between."""
    lines = f"Scheduler {scheduler}"
    server = start(server=lines, env=allocations.environment, **CONFIG)
    server.wait_for_log("server started")
    for number in itertools.count(1):
        config = dict(CONFIG, host=f"Header X-Version {number}")
        server.config.write(server=lines, **config)
        allocations.arm(number)
        server.reload()
        allocations.disarm()
        response = server.get("/a.txt")
        assert response.status == 200
        if not allocations.failed:
            assert response.header("X-Version") == str(number)
            break
        if number % 20 == 0:
            server.reload()
            assert server.get("/a.txt").header("X-Version") == str(number)
