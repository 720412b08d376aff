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


def test_a_name_that_begins_with_three_dots_is_no_dot_file(start):
    server = start(files={"...and more.txt": "more", ".../x.txt": "x", "..two.txt": "hidden", ".one.txt": "hidden"})
    answers = {path: server.get(path).status for path in ("/...and%20more.txt", "/.../x.txt", "/..two.txt", "/.one.txt")}
    assert answers == {"/...and%20more.txt": 200, "/.../x.txt": 200, "/..two.txt": 403, "/.one.txt": 403}


def test_a_handlers_folder_is_redirected_to_where_the_site_says_so(start):
    handlers = "Match ^/dav/ echo\nMatch ^/a.b/.* echo\nMatch ^/c\\.d/(.*)$ echo\nMatch ^/(x|y)/ echo"
    server = start(host="SlashRedirect on", handlers=handlers, files={"dav.txt": "x"})
    answer = server.get("/dav?a=b")
    assert (answer.status, answer.header("Location")) == (301, "/dav/?a=b")
    answers = {path: server.get(path).status for path in ("/DAV", "/dav/", "/davy", "/dav.txt", "/x", "/acb", "/c.d", "/cxd")}
    assert answers == {"/DAV": 301, "/dav/": 200, "/davy": 404, "/dav.txt": 200, "/x": 404, "/acb": 404, "/c.d": 301, "/cxd": 404}
    assert server.request("/dav", "POST", headers={"Content-Length": "0"}).status in (404, 405)


def test_a_handlers_folder_is_not_redirected_to_by_itself(start):
    server = start(handlers="Match ^/dav/ echo")
    assert server.get("/dav").status == 404


@pytest.mark.parametrize("pattern", ["^/", "/", ".*", "^/.*$"])
def test_no_root_is_needed_where_a_handler_has_every_path(start, pattern):
    site = f"[HOST]\n    ServerName app.test\n[HANDLERS]\n    Match {pattern} echo\n"
    server = start(sites={"app": site})
    assert server.get("/any/thing", host="app.test").status == 200


def test_a_root_is_needed_where_handlers_have_some_paths(start):
    site = "[HOST]\n    ServerName app.test\n[HANDLERS]\n    Match ^/app/ echo\n"
    server = start(sites={"app": site}, wait=False)
    assert server.expect_exit() != 0
    assert "sites/app:1:1: error: [HOST] needs a DocumentRoot" in server.log()
