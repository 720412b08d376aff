# SPDX-License-Identifier: Apache-2.0
"""What only starting and reloading need is given back when they are over: its code too."""

import pathlib
import re

import pytest

from harness import process
from harness.client import eventually

WITHIN = 5.0  # seconds; it is given back after one


def resident_for_the_start(pid):
    """KB of the mapping that src/layout.ld makes: code that is left out of dumps."""
    mappings = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", pathlib.Path(f"/proc/{pid}/smaps").read_text(), flags=re.M)
    return sum(int(re.search(r"^Rss: +(\d+) kB", mapping, re.M)[1]) for mapping in mappings
               if re.search(r"^VmFlags:.* ex .*\bdd\b", mapping, re.M) and "monkey" in mapping)


def has_given_back(server):
    return re.search(r"^VmFlags:.* ex .*\bdd\b", pathlib.Path(f"/proc/{server.pid}/smaps").read_text(), re.M) and \
        resident_for_the_start(server.pid) == 0


def ask_all_sorts(server):
    assert server.get("/a.txt").text == "text"
    assert server.head("/").status == 200
    assert server.get("/folder").status == 301
    assert server.get("/none").status == 404
    assert server.get("/a.txt", {"Range": "bytes=1-2"}).text == "ex"
    assert server.get("/a.txt", {"If-Modified-Since": "Fri, 13 Nov 2099 10:00:00 GMT"}).status == 304
    assert server.get("/a.txt", {"Accept-Encoding": "gzip", "Host": "[::1]:80", "Cookie": "a=b"}).status == 200
    assert server.request("/echo", "POST", body=b"body").status == 200
    assert server.request("/echo", "POST", headers={"Transfer-Encoding": "chunked"}, body=b"1\r\nx\r\n0\r\n\r\n").status == 200
    with server.connect() as connection:
        assert [connection.request("/a.txt").status for _ in range(2)] == [200, 200]


@pytest.mark.skipif(process.is_sanitized(), reason="only what is shipped is laid out so")
def test_code_for_the_start_is_given_back(start):
    config = {"handlers": "Match ^/echo echo", "files": {"a.txt": "text", "index.html": "index", "folder/b.txt": "text"}}
    server = start(**config)
    assert eventually(lambda: has_given_back(server), within=WITHIN)
    ask_all_sorts(server)
    assert has_given_back(server), "a usual request needs code for the start"
    server.reload(**config, host="Header X-Version 2")
    assert server.get("/a.txt").header("X-Version") == "2"
    assert eventually(lambda: has_given_back(server), within=WITHIN)
