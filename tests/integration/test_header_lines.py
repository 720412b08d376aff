# SPDX-License-Identifier: Apache-2.0
"""`Header NAME VALUE` on every answer of a site, and `CacheControl GLOB VALUE` on files."""

import pytest

from harness import http, process
from harness.config import Config

HOST = """
    Header X-Frame-Options DENY
    Header X-Two first value
    Header Strict-Transport-Security max-age=63072000; includeSubDomains
    Header Server
    Header Last-Modified
    CacheControl *.css max-age=3600
    CacheControl *.min.js public, max-age=31536000, immutable
    CacheControl /static/* max-age=86400
    CacheControl *.js no-cache
"""
FILES = {"a.txt": "x", "a.css": "x", "a.js": "x", "a.min.js": "x", "A.CSS": "x", "static/b.txt": "x", "static/deep/c.txt": "x", "large.txt": "x" * 50000,
         "dir/index.html": "x"}


@pytest.fixture(scope="module", params=["FDT on", "FDT off"])
def server(start_shared, request):
    return start_shared(server=request.param, host=HOST, files=FILES, handlers="Match ^/echo echo")


@pytest.mark.parametrize("target, method, status", [
    ("/a.txt", "GET", 200), ("/a.txt", "HEAD", 200), ("/missing", "GET", 404), ("/a.txt", "POST", 405), ("/dir", "GET", 301),
    ("/a.txt", "BREW", 501), ("*", "OPTIONS", 204), ("/echo", "POST", 200), ("/large.txt", "GET", 200)])
def test_header_line_is_on_every_answer(server, target, method, status):
    response = server.request(target, method)
    assert response.status == status or (status == 204 and response.status == 200)
    assert response.header("X-Frame-Options") == "DENY"
    assert response.header("X-Two") == "first value"
    assert response.header("Strict-Transport-Security") == "max-age=63072000; includeSubDomains"


def test_header_line_is_on_304_206_416(server):
    tag = server.get("/a.txt").header("ETag")
    for headers, status in (({"If-None-Match": tag}, 304), ({"Range": "bytes=0-0"}, 206), ({"Range": "bytes=9-"}, 416)):
        response = server.get("/a.txt", headers)
        assert response.status == status
        assert response.header("X-Frame-Options") == "DENY"


def test_header_line_is_on_a_malformed_request(server):
    assert http.parse_one(server.raw(b"GET / HTTP/1.1\r\nX : y\r\n\r\n")).header("X-Frame-Options") == "DENY"


@pytest.mark.parametrize("target", ["/a.txt", "/missing"])
def test_empty_value_removes_a_field(server, target):
    response = server.get(target)
    assert response.header("Server") is None
    assert response.header("Last-Modified") is None


def test_a_header_line_replaces_the_own_field(start):
    server = start(host="Header Server hidden\nHeader Content-Type text/x-own", files={"a.txt": "x"})
    response = server.get("/a.txt")
    assert response.header("Server") == "hidden"
    assert response.header("Content-Type") == "text/x-own"


def test_a_field_may_be_given_several_times(start):
    server = start(host="Header Link </a.css>; rel=preload\nHeader Link </b.css>; rel=preload", files={"a.txt": "x"})
    assert len(server.get("/a.txt").all("Link")) == 2


def test_header_lines_belong_to_their_site(start):
    server = start(host="Header X-Site default", files={"a.txt": "x"},
                   sites={"b": "[HOST]\n    ServerName b.org\n    DocumentRoot /\n    Header X-Site b\n"})
    assert server.get("/", host="b.org").header("X-Site") == "b"
    assert server.get("/", host="a.org").header("X-Site") == "default"


@pytest.mark.parametrize("name", ["Content-Length", "Transfer-Encoding", "Connection"])
def test_framing_cannot_be_set(start, name):
    server = start(wait=False, host=f"Header {name} 5")
    assert server.expect_exit() != 0
    assert name in server.log()


@pytest.mark.parametrize("target, wanted", [
    ("/a.css", "max-age=3600"),
    ("/a.min.js", "public, max-age=31536000, immutable"),
    ("/a.js", "no-cache"),
    ("/static/b.txt", "max-age=86400"),
    ("/static/deep/c.txt", "max-age=86400"),
    ("/a.txt", None),
])
def test_cache_control_by_the_first_glob_that_matches(server, target, wanted):
    assert server.get(target).header("Cache-Control") == wanted


def test_cache_control_is_not_on_errors(server):
    response = server.get("/missing.css")
    assert response.status == 404
    assert response.header("Cache-Control") is None


def test_cache_control_is_on_partial_answers(server):
    assert server.get("/a.css", {"Range": "bytes=0-0"}).header("Cache-Control") == "max-age=3600"


@pytest.mark.parametrize("line, cached, others", [
    ("^.*\\.(css|js)$ max-age=1", ["/a.css", "/a.js"], ["/a.txt"]),
    ("/static/* max-age=1", ["/static/b.txt", "/static/deep/c.txt"], ["/a.txt"]),
    ("?.css max-age=1", ["/a.css", "/A.CSS"], ["/a.min.js"]),
    ("/a.txt max-age=1", ["/a.txt"], ["/static/b.txt"]),
    ("b.txt max-age=1", ["/static/b.txt"], ["/a.txt"]),
])
def test_cache_control_by_pattern(start, line, cached, others):
    server = start(host=f"CacheControl {line}", files=FILES)
    assert [server.get(path).header("Cache-Control") for path in cached] == ["max-age=1"] * len(cached)
    assert [server.get(path).header("Cache-Control") for path in others] == [None] * len(others)


@pytest.mark.socket("the program checks its configuration")
@pytest.mark.parametrize("line, fault", [
    ("\\.css$ max-age=1", "a regular expression begins with ^"),
    ("~\\.css$ max-age=1", "a regular expression begins with ^"),
    (".css max-age=1", "expected a glob of files such as *.css"),
    ("/static/ max-age=1", "expected a glob of files such as *.css or /static/*"),
    ("text/css max-age=1", "a glob with a slash is compared with the whole path"),
    ("*.css \"max-age=1\"", "a value without quotes around it"),
    ("\"*.css\" max-age=1", "has no quotes around it"),
    ("^/(a max-age=1", "CacheControl: invalid regular expression"),
])
def test_cache_control_that_matches_nothing_is_an_error(tmp_path, line, fault):
    config = Config(tmp_path)
    config.write(host=f"CacheControl {line}")
    result = process.run("--configdir", config.folder, "--test")
    assert result.returncode == 1 and fault in result.stderr, result.stderr


@pytest.mark.socket("the program checks its configuration")
@pytest.mark.parametrize("line", ["/static max-age=1", "static max-age=1"])
@pytest.mark.parametrize("place", ["", "[LOCATION]\n    Path /x\n    "])
def test_cache_control_for_a_folder_is_an_error(tmp_path, line, place):
    config = Config(tmp_path)
    config.write(files=FILES, **({"site": f"{place}CacheControl {line}\n"} if place else {"host": f"CacheControl {line}"}))
    result = process.run("--configdir", config.folder, "--test")
    assert result.returncode == 1 and result.stderr.count("is a folder; for its files write /static/*") == 1, result.stderr
