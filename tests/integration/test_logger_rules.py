# SPDX-License-Identifier: Apache-2.0
"""Which requests have a line in the access log: LogIf and Sample."""

import pytest

from harness.client import eventually
from harness.config import section
from harness.executable import plugin
from harness.http2 import Frames
from harness.logs import lines_of, logging, wait_for_lines

FORMAT = "FlushTimeout 0\nFormat '%m %U %s'\n"
TRUSTED = "TrustedProxies 127.0.0.1"
PATHS = ["/a.txt", "/api/1", "/api", "/none"]


def logged(start, settings, log="AccessLog access.log"):
    """The lines of requests for PATHS, and at last of a PUT that every case logs."""
    server = start(**logging(FORMAT + settings, log=log, files={"a.txt": "", "api/1": ""}, server="Workers 1"))
    with server.connect() as connection:
        for path in PATHS:
            connection.request(path)
        connection.request("/a.txt", "PUT")
    assert eventually(lambda: lines_of(server.conf / "access.log")[-1:] == ["PUT /a.txt 405"])
    return [line.split(" ", 1)[1] for line in lines_of(server.conf / "access.log")[:-1]]


CASES = [
    ("status", "LogIf status>=400", ["/none 404"]),
    ("one of two lines", "LogIf status=200\nLogIf status=405", ["/a.txt 200", "/api/1 200"]),
    ("all of a line", "LogIf status=200 path=/api/*\nLogIf method=PUT", ["/api/1 200"]),
    ("a whole path", "LogIf path=/a.txt", ["/a.txt 200"]),
    ("another path", "LogIf path!=/api/*", ["/a.txt 200", "/api 301", "/none 404"]),
    ("method", "LogIf method!=GET", []),
    ("less", "LogIf status<301\nLogIf status>404", ["/a.txt 200", "/api/1 200"]),
    ("a time", "LogIf time>=10m\nLogIf method=PUT", []),
    ("a short time", "LogIf time<=10m", ["/a.txt 200", "/api/1 200", "/api 301", "/none 404"]),
    ("the other name of it", "LogIf request_time>=10m\nLogIf method=PUT", []),
    ("a pattern of a name", "LogIf path=*.txt status=200\nLogIf method=PUT", ["/a.txt 200"]),
    ("an expression", "LogIf path=^/(none|api)$\nLogIf method=PUT", ["/api 301", "/none 404"]),
    ("a network", "LogIf remote=127.0.0.0/8 status=404\nLogIf method=PUT", ["/none 404"]),
    ("another network", "LogIf remote!=127.0.0.1\nLogIf remote=10.0.0.0/8\nLogIf method=PUT", []),
    ("no sample", "Sample 1/1", ["/a.txt 200", "/api/1 200", "/api 301", "/none 404"]),
    ("errors in each sample", "Sample 1/1000000 errors", ["/none 404"]),
    ("the other name of it", "LogSample 1/1000000 errors", ["/none 404"]),
]


@pytest.mark.parametrize("settings, lines", [pytest.param(*rest, id=name) for name, *rest in CASES])
def test_what_is_logged(start, settings, lines):
    assert logged(start, settings) == lines


def test_lines_of_a_site_replace_those_of_the_file(start):
    assert logged(start, "LogIf status=405\nLogIf status=301",
                  log="AccessLog access.log\nLogIf status>=404") == ["/none 404"]


def test_errors_of_requests_without_a_line_are_in_the_error_log(start):
    server = start(**logging(FORMAT + "LogIf status<400", log="AccessLog access.log\nErrorLog error.log"))
    server.get("/none")
    assert "status=404" in wait_for_lines(server.conf / "error.log", 1)[0]
    assert lines_of(server.conf / "access.log") == []


def ids_of(start, server=TRUSTED, settings="Sample 1/4", count=100):
    """The ids of 100 requests, given by a proxy, that have a line, in their order."""
    if not plugin("trace"):
        pytest.skip("this build has no such plugin")
    config = logging("FlushTimeout 0\nFormat '%{request_id}n'\n" + settings, server=f"Workers 1\n{server}", files={"a.txt": ""})
    config["extra"]["plugins.load"] += f"    Load {plugin('trace')}\n"
    running = start(**{**config, "site": config["site"] + section("TRACE", "TraceParent off")})
    with running.connect() as connection:
        for number in range(count):
            connection.request("/a.txt", headers={"X-Request-ID": f"request-{number}"})
    running.stop()
    return lines_of(running.conf / "access.log")


def test_a_sample_by_ids_is_the_same_on_each_server(start):
    """Of a trusted proxy: all servers that a request passes have it in their logs, or none has."""
    chosen = ids_of(start)
    assert 10 < len(chosen) < 40 and len(set(chosen)) == len(chosen)
    assert ids_of(start) == chosen
    assert set(ids_of(start, settings="Sample 1/10")) < set(chosen)


def test_clients_do_not_choose_by_ids(start):
    assert not set(ids_of(start, server="")) & {f"request-{number}" for number in range(100)}


def test_a_reload_changes_the_rules(start):
    server = start(**logging(FORMAT + "LogIf status=404", files={"a.txt": ""}))
    server.get("/a.txt")
    server.reload(**logging(FORMAT + "LogIf status=200", files={"a.txt": ""}, log=f"AccessLog {server.folder}/other.log"))
    server.get("/none")
    server.get("/a.txt")
    assert wait_for_lines(server.folder / "other.log", 1) == ["GET /a.txt 200"]
    assert lines_of(server.conf / "access.log") == []


def test_a_client_at_a_unix_socket_has_no_address(start, tmp_path):
    server = start(**logging(FORMAT + "LogIf remote=::/0\nLogIf remote!=0.0.0.0/0 status=404",
                             server=f"Listen 127.0.0.1:0\nListen unix:{tmp_path}/socket", files={"a.txt": ""}))
    with server.connect(str(tmp_path / "socket")) as connection:
        connection.request("/a.txt")
        connection.request("/none")
    assert wait_for_lines(server.conf / "access.log", 1) == ["GET /none 404"]


def test_two_sites_with_two_files(start):
    """Each with rules of its own, or with those of the plugin's file."""
    two = "[HOST]\n    ServerName two.example\n    DocumentRoot /tmp\n" + section(
        "LOGGER", "AccessLog two.log\nLogIf method=PUT\nLogIf path=/2 status=404")
    server = start(**logging(FORMAT + "LogIf path=/1", host="ServerName one.example", sites={"two": two}))
    for site in ("one", "two"):
        for path in ("/1", "/2", "/3"):
            server.get(path, headers={"Host": f"{site}.example"}, host=None)
    assert wait_for_lines(server.conf / "two.log", 1) == ["GET /2 404"]
    assert wait_for_lines(server.conf / "access.log", 1) == ["GET /1 404"]


def test_over_http2(start):
    if not plugin("http2"):
        pytest.skip("this build has no such plugin")
    config = logging(FORMAT + "LogIf path=/n* method=GET remote=127.0.0.1 status=404", server="Listen 127.0.0.1:0 h2\nWorkers 1")
    config["extra"]["plugins.load"] += f"    Load {plugin('http2')}\n"
    server = start(**config, files={"a.txt": "a"})
    with Frames(("127.0.0.1", server.port)) as client:
        for stream, path in ((1, "/a.txt"), (3, "/none"), (5, "/other")):
            client.send(client.head(stream, path))
            client.answer(stream)
    assert wait_for_lines(server.conf / "access.log", 1) == ["GET /none 404"]


def test_a_sample_has_its_part(start):
    server = start(**logging(FORMAT + "Sample 1/4", log="AccessLog access.log", files={"a.txt": ""}))
    with server.connect() as connection:
        for _ in range(20):
            connection.send(b"GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n" * 50)
            for _ in range(50):
                connection.response()
    server.stop()
    assert 150 < len(lines_of(server.conf / "access.log")) < 350  # of 1,000; the deviation is 14
