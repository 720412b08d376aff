# SPDX-License-Identifier: Apache-2.0
"""`Header NAME VALUE` on every answer of a site, and `CacheControl GLOB VALUE` on files."""

import pytest

from harness import carriers, http, process
from harness.backend import Backend, configured
from harness.config import Config

SCHEME = "https" if carriers.is_secure() else "http"

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


# -- variables in Header


VARIABLES = "Header X-Where $scheme://$http_host$request_uri for $remote_addr at $host, $$host and $5"


@pytest.fixture(scope="module", params=["FDT on", "FDT off"])
def varied(start_shared, request):
    return start_shared(server=request.param, files=FILES, handlers="Match ^/echo echo", host=f"{VARIABLES}\nHeader X-Path a$uri\nHeader X-Fixed $$x",
                        site="[LOCATION]\n    Path /dir\n    Header X-Path $query\n")


@pytest.mark.parametrize("target, method, status", [
    ("/a.txt?q", "GET", 200), ("/a.txt", "HEAD", 200), ("/missing", "GET", 404), ("/a.txt", "POST", 405), ("/dir?x=%0d%0a", "GET", 301),
    ("/a.txt", "BREW", 501), ("/echo", "POST", 200), ("/large.txt", "GET", 200), ("/dir/?a", "GET", 200)])
def test_a_variable_has_its_value_on_every_answer(varied, target, method, status):
    response = varied.request(target, method, host="shop.test:81")
    assert response.status == status
    where = response.header("X-Where")
    assert where.split(" for ")[0] == f"{SCHEME}://shop.test:81{target}"
    assert where.split(" for ")[1].split(" at ")[1] == "shop.test, $host and $5"
    assert response.header("X-Path") == (target.split("?")[1] if target.startswith("/dir") else "a" + target.split("?")[0])
    assert response.header("X-Fixed") == "$x"


def test_a_variable_is_of_each_request(varied):
    tag = varied.get("/a.txt").header("ETag")
    for headers, status in (({"If-None-Match": tag}, 304), ({"Range": "bytes=0-0"}, 206), ({"Range": "bytes=9-"}, 416)):
        for query in "ab":
            response = varied.get(f"/a.txt?{query}", headers, host="x.test")
            assert response.status == status
            assert response.header("X-Where").startswith(f"{SCHEME}://x.test/a.txt?{query} for ")


def test_what_a_client_sends_ends_no_line(varied):
    response = varied.get("/a%0d%0aX-Evil:%201/%00%ff%7f?%0d%0aX-Evil:%201")
    assert response.header("X-Evil") is None
    response = varied.get("/a%0d%0aX-Evil:%201/%ff%7f?%0d%0aX-Evil:%201")
    assert response.status == 404 and response.header("X-Evil") is None
    assert response.header("X-Path") == "a/a%0D%0AX-Evil:%201/%FF%7F"


def test_a_line_without_a_value_is_left_out(varied):
    assert varied.get("/dir/").all("X-Path") == []
    assert varied.get("/dir/?").all("X-Path") == []


def test_a_line_that_a_client_makes_too_long_is_left_out(start):
    server = start(files={"a.txt": "x"}, host="Header X-Q $query$query\nHeader X-Path $uri\nHeader X-End $host")
    response = server.get("/a.txt?" + 4100 * "q", host="x.test")
    assert response.status == 200 and response.text == "x"
    assert [response.header(name) for name in ("X-Q", "X-Path", "X-End")] == [None, "/a.txt", "x.test"]
    assert server.get("/a.txt?" + 4000 * "q", host="x.test").header("X-Q") == 8000 * "q"


@pytest.mark.socket("its bytes are those of HTTP/1")
def test_a_variable_of_a_refused_request_is_empty(start):
    server = start(host="ServerName own.test\nHeader X-Host $http_host\nHeader X-Own $host")
    for request in (b"GET / HTTP/1.1\r\nX : y\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\x01b\r\n\r\n", b"oops\r\n\r\n"):
        response = http.parse_one(server.raw(request))
        assert response.status == 400 and response.header("X-Own") == "own.test" and response.header("X-Host") is None
    assert http.parse_one(server.raw(b"GET / HTTP/1.0\r\n\r\n")).header("X-Own") == "own.test"


def test_a_variable_takes_the_place_of_the_own_field(start):
    server = start(host="Header Server at $host\nHeader Content-Location $uri", files={"a.txt": "x"})
    response = server.get("/a.txt", host="x.test")
    assert response.all("Server") == ["at x.test"] and response.header("Content-Location") == "/a.txt"


@pytest.mark.socket("a backend is behind it")
def test_a_variable_of_a_proxied_answer(start):
    with Backend() as backend:
        server = start(**configured("", backend, host="Header X-Where $host$uri"))
        response = server.get("/a%20b", host="x.test:8080")
        assert response.status == 200 and response.all("X-Where") == ["x.test/a%20b"]
