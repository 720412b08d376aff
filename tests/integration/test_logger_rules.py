# SPDX-License-Identifier: Apache-2.0
"""Which requests have a line in the access log: LogIf and Sample."""

import pytest

from harness.client import eventually
from harness.logs import lines_of, logging, wait_for_lines

FORMAT = "FlushTimeout 0\nFormat '%m %U %s'\n"
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


def test_a_sample_has_its_part(start):
    server = start(**logging(FORMAT + "Sample 1/4", log="AccessLog access.log", files={"a.txt": ""}))
    with server.connect() as connection:
        for _ in range(20):
            connection.send(b"GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n" * 50)
            for _ in range(50):
                connection.response()
    server.stop()
    assert 150 < len(lines_of(server.conf / "access.log")) < 350  # of 1,000; the deviation is 14
