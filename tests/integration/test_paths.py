# SPDX-License-Identifier: Apache-2.0
"""No path leads out of the document root, and names that begin with a dot stay hidden."""

import pytest

from harness import http
from harness.config import section

SECRET = "the secret outside"


@pytest.fixture(scope="module", params=["SymLink off", "SymLink on"])
def server(start_shared, request):
    server = start_shared(server=request.param, files={
        "index.html": "root", "dir/a.txt": "a", ".hidden": "hidden", ".git/config": "hidden", "dir/.htpasswd": "hidden",
        ".well-known/acme-challenge/token": "token", "..a": "hidden", "...": "hidden", "a..b": "dots", "dir./x": "dot at the end",
        ".well-known/.secret": "hidden", "dir/.well-known/x": "nested", ".well-knownx": "hidden"})
    (server.root.parent / "secret.txt").write_text(SECRET)
    return server


TRAVERSALS = [
    "/../secret.txt", "/dir/../../secret.txt", "/dir/../dir/../../secret.txt", "/./../secret.txt", "//../secret.txt",
    "/%2e%2e/secret.txt", "/%2E%2E%2Fsecret.txt", "/.%2e/secret.txt", "/%2e./secret.txt", "/dir%2f..%2f..%2fsecret.txt",
    "/..%2fsecret.txt", "/%2f..%2fsecret.txt", "/dir/..%2f../secret.txt", "/..", "/../", "/dir/../..",
    "/" + "../" * 40 + "etc/passwd", "/" + "%2e%2e/" * 40 + "etc/passwd", "/dir/" + "../" * 40 + "etc/passwd",
]


@pytest.mark.parametrize("target", TRAVERSALS)
def test_path_above_the_root_is_403(server, target):
    response = server.get(target)
    assert response.status == 403
    assert SECRET not in response.text and "root:" not in response.text


OTHERS = [
    "/%252e%252e/secret.txt", "/%25%32%65%25%32%65/secret.txt", "/..%252fsecret.txt", "/..;/secret.txt", "/..%3b/secret.txt",
    "/..%5csecret.txt", "/..%5c..%5csecret.txt", "/dir/..%5c../..%5csecret.txt", "/%c0%ae%c0%ae/secret.txt", "/%uff0e%uff0e/secret.txt",
    "/..%00/secret.txt", "/..%0a/secret.txt", "/%2e%2e%3fsecret.txt", "/....//secret.txt", "/.../secret.txt", "/secret.txt",
    "/dir/%2e%2e%20/secret.txt", "/proc/self/environ", "/~/secret.txt", "/index.html/../../secret.txt",
]


@pytest.mark.parametrize("target", OTHERS)
def test_other_tricks_find_nothing(server, target):
    response = server.get(target)
    assert response.status in (400, 403, 404)
    assert SECRET not in response.text


def test_backslash_is_no_separator(server):
    answer = http.parse_one(server.raw(http.request("/..\\secret.txt", headers={"Connection": "close"})))
    assert answer.status in (400, 403, 404)


@pytest.mark.parametrize("target", ["/.hidden", "/.git/config", "/.git/", "/.git", "/dir/.htpasswd", "/%2ehidden",
                                    "/..a", "/.a..", "/.well-knownx", "/.well-known/.secret", "/dir/../.hidden"])
def test_dot_files_are_refused(server, target):
    response = server.get(target)
    assert response.status in (403, 404)
    assert "hidden" not in response.text.replace("/.hidden", "").replace("/%2ehidden", "")


@pytest.mark.parametrize("target", ["/.missing", "/.git/missing"])
def test_dot_files_that_exist_are_not_told_from_others(server, target):
    assert server.get(target).status == server.get("/.git/config").status


def test_well_known_is_served(server):
    """RFC 8615"""
    assert server.get("/.well-known/acme-challenge/token").text == "token"


@pytest.mark.parametrize("target, wanted", [("/a..b", "dots"), ("/dir./x", "dot at the end"), ("/dir/../index.html", "root"),
                                            ("/dir/%2e%2e/index.html", "root"), ("/./index.html", "root")])
def test_harmless_dots_are_served(server, target, wanted):
    assert server.get(target).text == wanted


@pytest.mark.parametrize("length, status", [(255, (404,)), (256, (403, 404, 414)), (4094, (403, 404, 414)), (8000, (403, 404, 414))])
def test_long_names_are_refused(server, length, status):
    assert server.get("/" + "n" * length).status in status


def test_deep_paths_are_refused(server):
    assert server.get("/d" * 4000).status in (403, 404, 414)


@pytest.mark.parametrize("make", [lambda n: "/" + "n" * (n - 1), lambda n: "/d" * (n // 2), lambda n: "/%41" * (n // 4),
                                  lambda n: "/echo/" + "e" * (n - 6), lambda n: "/~x/" + "u" * (n - 4),
                                  lambda n: "/../" * (n // 4), lambda n: "/" + "x/" * (n // 2 - 1) + "y"])
def test_target_of_eight_thousand_bytes_is_supported(start, make):
    """RFC 9112 section 3: a request line of 8,000 bytes at least. No file has such a name, handlers may."""
    server = start(server="UserDir public_html", host="TryFiles $uri $uri.html $uri/\nPrecompressed on",
                   site=section("HANDLERS", "Match ^/echo/ echo"))
    target = make(8000)
    assert len(target) == 8000
    for method in ("GET", "HEAD"):
        answer = server.get(target) if method == "GET" else server.head(target)
        assert answer.status == (200 if "echo" in target else 403 if ".." in target else 404)
    assert server.get("/").status != 503
