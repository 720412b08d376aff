# SPDX-License-Identifier: Apache-2.0
"""Error answers: small HTML with everything escaped, or the site's own page."""

import pathlib
import re

import pytest

from harness import http

ATTACKS = ["/%3Cscript%3Ealert(1)%3C/script%3E", "/%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E", "/'%3Csvg/onload=alert(1)%3E",
           "/?%3Cscript%3E", "/missing?q=<script>", "/%26lt;script%26gt;"]


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(files={"a.txt": "x", "none/x": ""})


@pytest.mark.parametrize("target, method, status", [
    ("/missing", "GET", 404), ("/none/", "GET", 403), ("/a.txt", "POST", 405), ("/a.txt", "BREW", 501), ("/../x", "GET", 403)])
def test_a_small_page_names_the_status(server, target, method, status):
    response = server.request(target, method)
    assert response.status == status
    assert response.header("Content-Type").replace(" ", "").lower() == "text/html;charset=utf-8"
    assert str(status) in response.text
    assert "<!doctype html>" in response.text.lower()
    assert len(response.body) < 2000


def test_a_small_page_looks_like_the_welcome_page(server):
    """Its colours, light and dark, in one small answer without anything from outside."""
    page = server.get("/missing").text
    welcome = (pathlib.Path(__file__).parents[2] / "htdocs" / "style.css").read_text()
    colours = set(re.findall("#[0-9a-f]{6}", page))
    assert len(colours) == 6 and colours <= set(re.findall("#[0-9a-f]{6}", welcome))
    assert 'name="color-scheme" content="light dark"' in page and "prefers-color-scheme:dark" in page
    assert not re.search(r"src=|href=|url\(|@import", page)
    assert len(page) < 700


@pytest.mark.parametrize("target", ATTACKS)
def test_a_path_never_becomes_markup(server, target):
    answer = server.raw(http.request(target, headers={"Connection": "close"}))
    assert not re.search(rb"<(script|img|svg)", answer, re.I)


@pytest.mark.parametrize("fields", [{"Host": "<script>"}, {"Referer": "<script>"}, {"User-Agent": "<script>"}, *(
    pytest.param({name: "<script>"}, marks=pytest.mark.connection("fields of framing"))
    for name in ("Expect", "Transfer-Encoding", "Content-Length"))])
def test_a_field_never_becomes_markup(server, fields):
    answer = server.raw(http.request("/missing", headers={"Connection": "close", **fields}))
    assert b"<script" not in answer


def test_an_error_may_not_be_cached_as_the_file(server):
    response = server.get("/missing")
    assert response.header("ETag") is None
    assert response.header("Last-Modified") is None


def test_own_page_for_a_status(start):
    server = start(files={"404.html": "<p>own page", "forbidden.html": "<p>keep out", "none/x": ""},
                   error_pages="404 404.html\n403 /forbidden.html")
    missing, forbidden = server.get("/missing"), server.get("/none/")
    assert (missing.status, missing.text) == (404, "<p>own page")
    assert (forbidden.status, forbidden.text) == (403, "<p>keep out")
    assert missing.header("Content-Type").startswith("text/html")
    assert missing.header("ETag") is None


def test_own_page_for_a_head_request(start):
    server = start(files={"404.html": "<p>own page"}, error_pages="404 404.html")
    response = server.head("/missing")
    assert (response.status, response.body) == (404, b"")
    assert response.header("Content-Length") == str(len("<p>own page"))


def test_own_page_ignores_range_and_conditions(start):
    server = start(files={"404.html": "<p>own page"}, error_pages="404 404.html")
    tag = server.get("/404.html").header("ETag")
    for headers in ({"Range": "bytes=0-1"}, {"If-None-Match": tag}, {"If-None-Match": "*"}):
        response = server.get("/missing", headers)
        assert (response.status, response.text) == (404, "<p>own page")


def test_own_page_that_is_missing_gives_the_built_in_one(start):
    server = start(error_pages="404 nowhere.html")
    response = server.get("/missing")
    assert response.status == 404
    assert "404" in response.text


@pytest.mark.connection("a malformed question is an error of the call")
def test_own_page_for_a_malformed_request(start):
    """Before a host is known the default site speaks."""
    server = start(files={"400.html": "<p>own page"}, error_pages="400 400.html")
    response = http.parse_one(server.raw(b"GET / HTTP/1.1\r\nX : y\r\n\r\n"))
    assert response.status == 400
    assert response.text == "<p>own page" or "400" in response.text


def test_own_page_is_itself_a_file(start):
    server = start(files={"404.html": "<p>own page"}, error_pages="404 404.html")
    assert server.get("/404.html").status == 200


def test_large_own_page(start):
    page = "<p>" + "long " * 50000
    server = start(files={"404.html": page}, error_pages="404 404.html")
    with server.connect() as connection:
        for _ in range(3):
            response = connection.request("/missing")
            assert (response.status, response.text) == (404, page)


def test_hide_version(start):
    shown, hidden = start(), start(server="HideVersion on")
    assert re.search(r"Monkey/\d", shown.get("/missing").header("Server"))
    response = hidden.get("/missing")
    assert not re.search(r"\d", response.header("Server", ""))
    assert not re.search(r"Monkey/\d", response.text)


def test_own_page_may_be_made_by_a_handler(start):
    """By GET, with the status of the error; the source of a script is never sent."""
    server = start(files={"404.php": "the source", "empty/a": "", "a.txt": "text"}, handlers="Match \\.php$ echo",
                   error_pages="404 404.php\n403 /forbidden.php")
    with server.connect() as connection:
        for target, status in [("/missing?x=1", 404), ("/.hidden", 403), ("/empty/", 403)]:
            response = connection.request(target)
            assert response.status == status
            assert f"GET {target} HTTP/1.1" in response.text and "the source" not in response.text
            response = connection.request(target, "HEAD")
            assert (response.status, response.body) == (status, b"")
        assert connection.request("/missing", "POST", body=b"form").status == 405
        assert connection.request("/a.txt").text == "text"
    assert server.get("/404.php").status == 200


def test_a_status_of_try_files_may_be_a_handlers_page(start):
    server = start(host="TryFiles $uri =410", handlers="Match ^/gone$ echo", error_pages="410 /gone")
    response = server.get("/missing")
    assert response.status == 410 and "GET /missing HTTP/1.1" in response.text


@pytest.mark.parametrize("name", ["./own/404.html", "own//404.html", "/own/../own/404.html", "own/40%34.html"])
def test_own_page_may_be_written_in_any_way(start, name):
    server = start(files={"own/404.html": "<p>own page"}, error_pages=f"404 {name}")
    assert server.get("/missing").text == "<p>own page"
