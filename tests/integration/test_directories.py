# SPDX-License-Identifier: Apache-2.0
"""Directories: the redirect to the slash, index files, and nothing of a directory without one."""

import pytest

from harness import http

FILES = {
    "index.html": "root", "dir/index.html": "dir", "both/index.html": "html", "both/default.htm": "htm",
    "second/default.htm": "htm only", "none/file.txt": "x", "sp ace/index.html": "space", "ünï/index.html": "uni",
    "quo'te\"<b>/index.html": "quote", "index/index.html/file": "index is a directory",
}


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(server="Indexfile index.html default.htm", files=FILES)


@pytest.mark.parametrize("target, wanted", [
    ("/", "root"), ("/dir/", "dir"), ("/both/", "html"), ("/second/", "htm only"), ("/sp%20ace/", "space"),
    ("/dir/index.html", "dir"), ("/dir/.", "dir"), ("/none/..", "root"), ("/dir//", "dir"),
])
def test_index_file_in_order(server, target, wanted):
    response = server.get(target)
    assert response.text == wanted


def test_index_type_is_that_of_the_file(start):
    server = start(server="Indexfile index.txt", files={"index.txt": "x"})
    assert server.get("/").header("Content-Type").startswith("text/plain")


def location_path(server, response):
    """Relative or absolute, the Location must lead to the same server."""
    location = response.header("Location")
    for origin in (f"http://localhost:{server.port}", "http://localhost"):
        if location.startswith(origin):
            return location[len(origin):]
    return location


@pytest.mark.parametrize("target, wanted", [
    ("/dir", "/dir/"),
    ("/dir?a=b&c=%20d", "/dir/?a=b&c=%20d"),
    ("/dir?", "/dir/?"),
    ("/sp%20ace", "/sp%20ace/"),
    ("/%C3%BCn%C3%AF", "/%C3%BCn%C3%AF/"),
    ("/none", "/none/"),
    ("/dir/../dir", "/dir/"),
])
def test_directory_without_slash_is_redirected(server, target, wanted):
    response = server.get(target)
    assert response.status == 301
    assert location_path(server, response) in (wanted, wanted.rstrip("?"))


@pytest.mark.parametrize("target", ["//example.org/dir/..", "//dir", "///dir", "/%2Fdir", "/%5Cdir", "/\\dir"])
def test_redirect_leads_to_no_other_host(server, target):
    """`Location: //evil/` would be another host (RFC 3986 4.2)."""
    response = http.parse_one(server.raw(http.request(target, headers={"Connection": "close"})))
    if response.status == 301:
        assert not response.header("Location").startswith(("//", "/\\", "/%5C"))
        assert location_path(server, response) == "/dir/"


def test_redirect_is_escaped(server):
    """The name of a directory is text in Location and in the page."""
    response = server.get("/quo'te%22%3Cb%3E")
    assert response.status == 301
    assert '"' not in response.header("Location") and "<" not in response.header("Location")
    assert "<b>" not in response.text


def test_redirect_cannot_be_split(server):
    """CR LF in a path or a query never becomes a header line."""
    for target in ("/dir%0d%0aSet-Cookie:a=b", "/dir?%0d%0aSet-Cookie:a=b"):
        assert server.get(target).header("Set-Cookie") is None


def test_directory_without_index_is_refused(server):
    response = server.get("/none/")
    assert response.status in (403, 404)
    assert "file.txt" not in response.text


def test_an_index_that_is_a_directory_is_no_index(server):
    assert server.get("/index/").status in (301, 403, 404)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_redirect_keeps_the_connection(server, method):
    with server.connect() as connection:
        assert connection.request("/dir", method).status == 301
        assert connection.request("/dir/").text == "dir"


def test_post_on_a_directory_is_405(server):
    assert server.request("/dir/", "POST").status == 405
